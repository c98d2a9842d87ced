//! Sub-pixel jitter of a camera.

use bevy_ecs::prelude::*;
use bevy_math::{Mat4, UVec2, Vec2, Vec3};
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;

/// Moves the sample positions of a camera within their pixels, for temporal accumulation; bevy's component by name.
///
/// The program, or a temporal effect, sets another offset each frame. Effects read it as `jitter` of
/// `quadrille_3d::view_transforms::ViewTransforms`, whose `camera_motion` is without it. Unlike bevy's, it moves all depths
/// of an orthographic camera by the same amount.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct TemporalJitter {
    /// Offset from the center of each pixel towards the right and bottom, in pixels, from -0.5 to 0.5. Others are ignored, with a
    /// warning.
    pub offset: Vec2,
}

/// Returns the matrix that moves clip space, so that pixels of a view of this size are sampled at this offset in pixels.
pub(crate) fn jitter_matrix(offset: Vec2, size: UVec2) -> Mat4 {
    let clip = offset * Vec2::new(-2.0, 2.0) / size.as_vec2();
    Mat4::from_translation(Vec3::new(clip.x, clip.y, 0.0))
}
