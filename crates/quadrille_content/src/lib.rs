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
//! `enabling`, `buffers`, `meshes`, `images`, `shaders`, `materials`, `cameras`, `views`, `schedule`, `lines`, `plugin`.
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
//!
//! [`CameraView::step`]: views::CameraView::step
//! [`CameraViews`]: views::CameraViews

pub mod affine;
pub mod buffers;
pub mod cameras;
pub mod enabling;
pub mod images;
pub mod lines;
pub mod materials;
pub mod meshes;
mod plugin;
mod schedule;
pub mod shaders;
pub mod views;
pub mod warnings;

pub use plugin::{ContentPlugin, add_plugin_if_missing};
pub use schedule::ContentSystems;
