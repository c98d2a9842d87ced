//! Shared base of `quadrille_2d` and `quadrille_3d`: cameras and render targets, image assets on the device, mesh
//! allocation, gizmos, rate-limited warnings.
//!
//! Apps need not depend on this crate: `quadrille_2d` and `quadrille_3d` re-export its public items.
//!
//! # Model
//!
//! ```text
//! PostUpdate   update_cameras   sizes and projections of bevy's cameras
//! Declare      ContentSystems   Images: uploads within a budget; Views: active cameras, in order;
//!                               gizmo lines
//! passes       ContentSystems   Draw3d, then Draw2d
//! ```
//!
//! # Rooms
//!
//! Folders by stage, each importing only earlier ones (`tests/rooms.rs`): `affine`, `warnings`,
//! `buffers`, `meshes`, `images`, `shaders`, `materials`, `cameras`, `views`, `schedule`, `lines`, `plugin`.
//!
//! # Decisions
//!
//! - **Steps order cameras of both kinds.** 2D and 3D cameras are drawn by different passes in a fixed system order.
//!   If cameras of both kinds share an image, or one samples the output of an earlier one, their passes get steps
//!   ([`CameraView::step`]), so that they are drawn in `Camera::order`. Other frames have one step, in which all 3D
//!   passes come before 2D passes.
//! - **One list of cameras.** The first camera of an image, which clears it, is chosen among both kinds
//!   ([`CameraViews`]).
//! - **One list of gizmos**, which cameras of both kinds draw by their render layers.
//! - **Gizmos are drawn after bevy's `Last` schedule**, in which bevy completes their lists: an app with `GizmoPlugin`
//!   renders after that schedule, other apps before it.

mod affine;
mod buffers;
mod cameras;
mod images;
mod lines;
mod materials;
mod meshes;
mod plugin;
mod schedule;
mod shaders;
mod views;
mod warnings;

pub use affine::{AffineRows, affine_rows};
pub use buffers::block_allocator::{BlockAllocator, BlockKey};
pub use buffers::buffer_vec::{RawBufferVec, grow_buffer, instance_buffer};
pub use buffers::dirty_rows::DirtyRows;
pub use buffers::range_allocator::RangeAllocator;
pub use buffers::range_table::RangeTable;
pub use cameras::msaa::Msaa;
pub use cameras::projection::{InvalidCameras, limited_scale};
pub use cameras::target::{ManualTextureViews, TargetImages};
pub use cameras::visible_entities::unique_visible_entities;
pub use images::samplers::Samplers;
pub use images::{DeviceImages, ImageOrPlaceholder, PLACEHOLDER_SIZE, UploadBudget};
pub use lines::{GizmoLineBatch, GizmoLineBatches, GizmoLines, Line, publish_shader_modules};
pub use materials::layout::MaterialLayout;
pub use materials::rows::{MaterialRows, upload_material_rows};
pub use materials::shader::{
    MATERIAL_ROWS, MaterialImages, MaterialShaderForm, check_material_output, material_entry_point,
    translate_material,
};
pub use meshes::allocator::{MeshAllocation, MeshAllocator};
pub use meshes::assets::{DrawnMeshes, MeshAssets, is_released};
pub use meshes::attributes::{attribute, colors, floats, normals, positions, tangents, uvs};
pub use meshes::data::{MeshData, MeshVertex, PrimitiveKind};
pub use plugin::{ContentPlugin, add_plugin_if_missing};
pub use schedule::ContentSystems;
pub use shaders::{Shader, ShaderRef, shader_handle};
pub use views::composite::{composite_pipeline, draw_composite};
pub use views::{CameraOverlays, CameraTargets, CameraView, CameraViews};
pub use warnings::{
    RateLimitedWarnings, asset_label, entity_name, first_non_finite, is_finite,
    warn_undrawn_material,
};
