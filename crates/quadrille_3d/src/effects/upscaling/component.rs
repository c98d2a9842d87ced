//! The component [`TemporalUpscaling`].

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use crate::components::mip_bias::MipBias;
use crate::components::prepass::MotionVectorPrepass;
use crate::components::temporal_jitter::TemporalJitter;

/// Temporal upscaling of a 3D camera: all passes before [`Pass3dSystems::Upscale`](crate::Pass3dSystems::Upscale) draw at a
/// fraction of the viewport's resolution, and the picture of the whole resolution is reconstructed from several frames.
///
/// Each frame samples other positions ([`TemporalJitter`]), and the samples are accumulated at the resolution of the viewport
/// along the motion of surfaces ([`MotionVectorPrepass`]). Effects that follow, such as bloom, tone mapping and
/// [`ContrastAdaptiveSharpening`](crate::ContrastAdaptiveSharpening), have the resolution of the viewport. The picture is
/// antialiased as well: the component takes the place of [`TemporalAntiAliasing`](crate::TemporalAntiAliasing), also at
/// a scale of 1.
///
/// The camera needs `Msaa::Off`. [`MipBias`] counts from the levels of the viewport's resolution.
/// `MainPassResolutionOverride` takes the place of `render_scale`. Blended surfaces have no motion of their own; pixels
/// with them are averaged over fewer frames, so that they leave no trail.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use quadrille_3d::prelude::*;
/// use quadrille_3d::{ContrastAdaptiveSharpening, TemporalUpscaling};
///
/// fn setup(mut commands: Commands) {
///     commands.spawn((
///         Camera3d::default(),
///         Msaa::Off,
///         TemporalUpscaling::BALANCED,
///         ContrastAdaptiveSharpening::default(),
///     ));
/// }
/// # bevy_ecs::system::assert_is_system(setup);
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(TemporalJitter, MipBias, MotionVectorPrepass)]
pub struct TemporalUpscaling {
    /// Fraction of the viewport's width and height that is drawn: from [`Self::MIN_SCALE`] to 1, otherwise clamped. NaN is an
    /// error, and draws the whole resolution.
    pub render_scale: f32,
    /// Ignores the frames before this one, for example after a camera cut; then it becomes false. A
    /// [`CameraCut`](crate::CameraCut) does the same for all effects.
    pub reset: bool,
}

impl TemporalUpscaling {
    /// 59 % of the pixels.
    pub const QUALITY: Self = Self::with_scale(0.77);
    /// 45 % of the pixels.
    pub const BALANCED: Self = Self::with_scale(0.67);
    /// 25 % of the pixels.
    pub const PERFORMANCE: Self = Self::with_scale(0.5);
    /// Least `render_scale`.
    pub const MIN_SCALE: f32 = 0.25;

    /// Upscaling from this fraction of the viewport's width and height.
    pub const fn with_scale(render_scale: f32) -> Self {
        Self {
            render_scale,
            reset: true,
        }
    }
}

impl Default for TemporalUpscaling {
    fn default() -> Self {
        Self::BALANCED
    }
}
