//! What content in 2D and in 3D share: cameras and what they draw to, image assets on the device,
//! warnings about what cannot be drawn.
//!
//! Apps do not name this crate: `quadrille_2d` and `quadrille_3d` are on top of it, and give its
//! names on, so that a camera, an image and an [`Msaa`] are one thing in both.
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
//! # Decisions
//!
//! - **Cameras take turns.** Each kind is drawn by passes of its own, in one order of systems. Where cameras of both
//!   kinds meet on an image, or one shows what an earlier one draws, their passes get steps
//!   ([`CameraView::step`]), so that they are drawn by `Camera::order`; other frames have one step, in which all
//!   3D comes before all 2D.
//! - **One list of cameras.** Which of them is first on its image, and so clears it, is decided
//!   over both kinds ([`CameraViews`]).
//! - **One list of gizmos**, which the cameras of both kinds draw what they see of.
//! - **Gizmos are drawn after bevy's `Last`**, where it closes their lists: an app with its
//!   `GizmoPlugin` draws its frames after that schedule, any other app before it.

mod attributes;
mod camera;
mod camera_fields;
mod complaint;
mod device_ranges;
mod images;
mod lines;
mod mesh_assets;
mod mesh_data;
mod meshes;
mod msaa;
mod over;
mod plugin;
mod ranges;
mod samplers;
mod sent;
mod target;
mod views;
mod visible;

pub use attributes::{attribute, colors, floats, normals, positions, tangents, uvs};
pub use camera::{Blind, limited_scale};
pub use complaint::{Complaints, asset_label, first_odd, is_finite, named};
pub use device_ranges::{BlockKey, DeviceRanges};
pub use images::{DeviceImages, PLACEHOLDER_SIZE, Shown, UploadBudget};
pub use lines::{GizmoLines, Line, LineSet, LineSets};
pub use mesh_assets::{DrawnMeshes, MeshAssets, is_released};
pub use mesh_data::{MeshData, MeshVertex, Shape};
pub use meshes::{MeshPlace, MeshStore};
pub use msaa::Msaa;
pub use over::over_pipeline;
pub use plugin::{ContentPlugin, ContentSystems, add};
pub use ranges::Ranges;
pub use samplers::Samplers;
pub use sent::{SentList, instance_buffer};
pub use target::{ManualTargets, TargetImages};
pub use views::{CameraOverlays, CameraTargets, CameraView, CameraViews};
pub use visible::visible_once;
