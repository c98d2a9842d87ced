//! How the pictures of cameras that share an image meet: by bevy's rules, without its main textures.
//!
//! bevy draws each camera to a main texture, which cameras of a target with equal settings share, and then
//! writes that to the target. Cameras here draw to the target itself, over what earlier cameras left, or over
//! their clear colour where bevy would have cleared the main texture.

use bevy_camera::MsaaWriteback;
use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;

/// Settings of a camera by which bevy finds its main texture: equal ones on a target share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MainTexture {
    /// Samples per pixel.
    pub(super) samples: u32,
    pub(super) is_hdr: bool,
    /// Bits of `CameraMainTextureUsages`.
    pub(super) usages: u32,
}

/// Kinds of targets, by who has written to them before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// Contents are undefined when a frame begins, also of the image that stands for a window.
    Window,
    /// Contents stay from frame to frame, once a camera has drawn to it.
    Asset,
    /// An image of the program's ([`ManualTextureViews`](crate::ManualTextureViews)), which its passes may have written.
    Manual,
}

/// One camera's picture of an image.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) camera: Entity,
    pub(super) is_3d: bool,
    /// Place of the image in `CameraTargets`.
    pub(super) target: u32,
    pub(super) kind: TargetKind,
    pub(super) main: MainTexture,
    pub(super) clip_from_world: Mat4,
    /// Left, top, width and height in pixels.
    pub(super) viewport: [u32; 4],
    /// Whether it has a `Viewport`, even if that covers the whole image.
    pub(super) has_viewport: bool,
    /// The viewport covers less than the image.
    pub(super) is_part: bool,
    /// Colour of `Camera::clear_color`.
    pub(super) color: Option<LinearRgba>,
    /// Clear colour of `Camera::output_mode`: that around the viewport of an image's first camera.
    pub(super) output_clear_color: Option<LinearRgba>,
    /// Whether it is `CameraOutputMode::Skip`.
    pub(super) is_skipped: bool,
    pub(super) writeback: MsaaWriteback,
}

/// Colours that the image is cleared with and the viewport is filled with, for the first camera of an image.
pub(super) fn first_camera_clear(
    layer: &Layer,
    is_initialized: bool,
) -> (Option<LinearRgba>, Option<LinearRgba>) {
    let is_undefined = match layer.kind {
        TargetKind::Window => true,
        TargetKind::Asset => !is_initialized,
        // `Uploads::clear_if_new` clears it before the program's passes of the frame may write to it.
        TargetKind::Manual => false,
    };
    // bevy's textures are zero before anything is drawn to them.
    let kept = is_undefined.then_some(LinearRgba::NONE);
    match (layer.color, layer.is_part) {
        (Some(color), false) => (Some(color), None),
        (Some(color), true) => (layer.output_clear_color.or(kept), Some(color)),
        (None, _) => (kept, None),
    }
}

/// The colour that the viewport of a later camera is filled with; none draws over what is there.
pub(super) fn later_camera_fill(layer: &Layer, earlier: &[Layer]) -> Option<LinearRgba> {
    layer.color.filter(|_| !keeps_contents(layer, earlier))
}

/// Whether bevy copies what earlier cameras drew into the samples of a camera before that draws, instead of
/// clearing these (`msaa_writeback.rs` of bevy_post_process).
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

/// Whether a camera contributes to its target: one that skips its output does where a later one
/// draws over the main texture that both share.
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
