//! Compositing of cameras that share a target: bevy's results without its main textures.
//!
//! bevy draws each camera to a main texture, which cameras with equal settings share, and then writes that to
//! the target. Cameras here draw to the target itself: over the output of earlier cameras, or over their clear color
//! where bevy would have cleared the main texture.

use bevy_camera::MsaaWriteback;
use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;

/// Key of bevy's main textures: cameras with equal settings on one target share a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MainTexture {
    /// Samples per pixel.
    pub(super) samples: u32,
    pub(super) is_hdr: bool,
    /// Bits of `CameraMainTextureUsages`.
    pub(super) usages: u32,
}

/// Kind of a target, which determines its contents at the start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// Contents are undefined at the start of a frame, also those of a headless window's image.
    Window,
    /// Contents persist between frames once a camera has drawn to it.
    Asset,
    /// An image of [`ManualTextureViews`](crate::cameras::ManualTextureViews), which passes of the app may have written.
    Manual,
}

/// Compositing settings of one camera.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) camera: Entity,
    pub(super) is_3d: bool,
    /// Index of the target in `CameraTargets`.
    pub(super) target: u32,
    pub(super) kind: TargetKind,
    pub(super) main: MainTexture,
    pub(super) clip_from_world: Mat4,
    /// Left, top, width and height in physical pixels.
    pub(super) viewport: [u32; 4],
    /// Whether the camera has a `Viewport`, even one that covers the whole target.
    pub(super) has_viewport: bool,
    /// Whether the viewport is smaller than the target.
    pub(super) is_part: bool,
    /// Color of `Camera::clear_color`.
    pub(super) color: Option<LinearRgba>,
    /// Clear color of `Camera::output_mode`, for the target outside the first camera's viewport.
    pub(super) output_clear_color: Option<LinearRgba>,
    /// Whether the output mode is `CameraOutputMode::Skip`.
    pub(super) is_skipped: bool,
    pub(super) writeback: MsaaWriteback,
}

/// Clear color of the target and fill color of the viewport, for the first camera of a target.
pub(super) fn first_camera_clear(
    layer: &Layer,
    is_initialized: bool,
) -> (Option<LinearRgba>, Option<LinearRgba>) {
    let is_undefined = match layer.kind {
        TargetKind::Window => true,
        TargetKind::Asset => !is_initialized,
        // Cleared by `Uploads::clear_if_new` before any pass of the app writes it.
        TargetKind::Manual => false,
    };
    // bevy's main textures are zero-initialized.
    let kept = is_undefined.then_some(LinearRgba::NONE);
    match (layer.color, layer.is_part) {
        (Some(color), false) => (Some(color), None),
        (Some(color), true) => (layer.output_clear_color.or(kept), Some(color)),
        (None, _) => (kept, None),
    }
}

/// Fill color of the viewport for a later camera of a target; `None` keeps the contents.
pub(super) fn later_camera_fill(layer: &Layer, earlier: &[Layer]) -> Option<LinearRgba> {
    layer.color.filter(|_| !keeps_contents(layer, earlier))
}

/// Whether bevy keeps the output of earlier cameras in the main texture, by MSAA writeback instead of a clear
/// (`msaa_writeback.rs` of `bevy_post_process`).
fn keeps_contents(layer: &Layer, earlier: &[Layer]) -> bool {
    let shares = || {
        let mut earlier = earlier.iter();
        earlier.any(|it| it.target == layer.target && it.main == layer.main)
    };
    layer.main.samples > 1
        && match layer.writeback {
            MsaaWriteback::Off => false,
            MsaaWriteback::Auto => !layer.has_viewport && shares(),
            MsaaWriteback::Always => true,
        }
}

/// Whether a camera contributes to its target. One with `CameraOutputMode::Skip` does if a later camera shares its
/// main texture and writes it.
pub(super) fn is_written(layers: &[Layer], at: usize) -> bool {
    let layer = &layers[at];
    !layer.is_skipped
        || (at + 1..layers.len()).any(|later| {
            let other = &layers[later];
            !other.is_skipped
                && (other.target, other.main) == (layer.target, layer.main)
                && later_camera_fill(other, &layers[..later]).is_none()
        })
}

#[cfg(test)]
pub(super) mod tests;
