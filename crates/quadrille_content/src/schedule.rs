//! Order of the systems that 2D and 3D share.

use bevy_ecs::prelude::*;

/// The order of what 2D and 3D share in a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentSystems {
    /// Images are uploaded; in [`RenderSystems::Declare`].
    Images,
    /// The cameras that draw are listed; in [`RenderSystems::Declare`], after the images.
    Views,
    /// Meshes are read; in [`RenderSystems::Declare`]. Behind it the data of those that only the renderer
    /// wants is released.
    Meshes,
    /// The passes that draw 3D to the images of cameras.
    Draw3d,
    /// The passes that draw 2D, after those of 3D in each step ([`CameraView::step`](crate::CameraView)).
    Draw2d,
}
