//! Order of the systems that 2D and 3D share.

use bevy_ecs::prelude::*;

/// System sets shared by 2D and 3D, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentSystems {
    /// Replacement of transforms that no camera can have, in `PostUpdate`, after
    /// [`TransformSystems::Propagate`](bevy_transform::TransformSystems::Propagate).
    CheckCameras,
    /// Upload of images, in [`RenderSystems::Declare`](quadrille::prelude::RenderSystems::Declare).
    Images,
    /// Extraction of active cameras, in [`RenderSystems::Declare`](quadrille::prelude::RenderSystems::Declare), after `Images`.
    Views,
    /// Reading of meshes, in [`RenderSystems::Declare`](quadrille::prelude::RenderSystems::Declare). After it, the CPU data
    /// of meshes without `RenderAssetUsages::MAIN_WORLD` is released.
    Meshes,
    /// Passes of 3D that draw to camera targets.
    Draw3d,
    /// Passes of 2D, after those of 3D in each step ([`CameraView::step`](crate::views::CameraView)).
    Draw2d,
}
