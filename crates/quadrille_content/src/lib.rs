//! Shared base of 2D and 3D content: cameras and their render targets, image assets on the device,
//! rate-limited warnings.
//!
//! Apps do not name this crate: `quadrille_2d` and `quadrille_3d` build on it and re-export its
//! names, so that a camera, an image and an [`Msaa`] are one thing in both.
//!
//! # Model
//!
//! ```text
//! PostUpdate   update_cameras   sizes and projections of bevy's cameras
//! Declare      ContentSystems   Images: uploads within a budget; Views: the cameras that draw, in order;
//!                               the lines of gizmos
//! passes       ContentSystems   Draw3d, then Draw2d
//! ```
//!
//! # Rooms
//!
//! Folders by stage, each importing only earlier ones (`tests/rooms.rs`): `affine`, `warnings`,
//! `buffers`, `meshes`, `images`, `cameras`, `views`, `schedule`, `lines`, `plugin`.
//!
//! # Decisions
//!
//! - **Cameras take turns.** Each kind is drawn by passes of its own, in one order of systems. Where cameras of both
//!   kinds share an image, or one shows the output of an earlier one, their passes get steps
//!   ([`CameraView::step`]), so that they are drawn by `Camera::order`; other frames have one step, in which all
//!   3D comes before all 2D.
//! - **One list of cameras.** The first camera of an image, which clears it, is decided
//!   over both kinds ([`CameraViews`]).
//! - **One list of gizmos**, which cameras of both kinds draw by their render layers.
//! - **Gizmos are drawn after bevy's `Last`**, where it closes their lists: an app with its
//!   `GizmoPlugin` draws its frames after that schedule, any other app before it.

mod affine;
mod buffers;
mod cameras;
mod images;
mod lines;
mod meshes;
mod plugin;
mod schedule;
mod views;
mod warnings;

pub use affine::{AffineRows, affine_rows};
pub use buffers::block_allocator::{BlockAllocator, BlockKey};
pub use buffers::buffer_vec::{RawBufferVec, instance_buffer};
pub use buffers::range_allocator::RangeAllocator;
pub use cameras::msaa::Msaa;
pub use cameras::projection::{InvalidCameras, limited_scale};
pub use cameras::target::{ManualTextureViews, TargetImages};
pub use cameras::visible_entities::unique_visible_entities;
pub use images::samplers::Samplers;
pub use images::{DeviceImages, ImageOrPlaceholder, PLACEHOLDER_SIZE, UploadBudget};
pub use lines::{GizmoLineBatch, GizmoLineBatches, GizmoLines, Line};
pub use meshes::allocator::{MeshAllocation, MeshAllocator};
pub use meshes::assets::{DrawnMeshes, MeshAssets, is_released};
pub use meshes::attributes::{attribute, colors, floats, normals, positions, tangents, uvs};
pub use meshes::data::{MeshData, MeshVertex, PrimitiveKind};
pub use plugin::{ContentPlugin, add_plugin_if_missing};
pub use schedule::ContentSystems;
pub use views::composite::composite_pipeline;
pub use views::{CameraOverlays, CameraTargets, CameraView, CameraViews};
pub use warnings::{RateLimitedWarnings, asset_label, entity_name, first_non_finite, is_finite};
