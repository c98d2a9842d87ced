//! The pass [`composite_3d`].

use bevy_ecs::prelude::*;
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, Rendering, access_kind,
};
use quadrille::prelude::{GpuImage, GraphicsPipeline, ImageUsage, Recorder};
use quadrille_content::views::{CameraTargets, draw_composite, draw_scaled_composite};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::pipelines::Pipelines3d;
use crate::prepare::targets::SceneColors;
use crate::prepare::view_colors::{CurrentColors, ViewColors};
use crate::scene::frame::{Composite, Scene3d, View3d, ViewOutput};

/// Composites the images of views over the targets, in display-referred colors: one pass for each view without `Hdr`
/// that does not draw to its target directly, and for each view with an effect after tone mapping or with
/// `MainPassResolutionOverride`, which is scaled to its viewport bilinearly. An image that replaces the whole target is
/// copied, which takes no time of the rasterizer.
pub fn composite_3d(
    mut recorder: Recorder,
    (colors, current): (ViewColors, Res<CurrentColors>),
    (copied, written): (
        AccessList<SceneColors, access_kind::TransferRead>,
        AccessList<CameraTargets, access_kind::TransferWrite>,
    ),
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
    (images, target_images): (Res<SceneColors>, Res<CameraTargets>),
    (scene, pipelines): (Res<Scene3d>, Res<Pipelines3d>),
    warnings: Res<RateLimitedWarnings>,
) {
    for view in scene.views() {
        match view.output {
            ViewOutput::Direct => continue,
            ViewOutput::Layer => {}
            ViewOutput::SceneReferred if current.display_image(view).is_none() => continue,
            ViewOutput::SceneReferred => {
                if !current.is_display_referred(view) {
                    warnings.warn_message(|| skipped_effects(view));
                    continue;
                }
            }
        }
        let Some(at) = current.of(view) else { continue };
        if let (Some(image), Some(target)) = (images.get(at), target_images.get(view.target()))
            && can_copy(view, image, target)
            && let (Some(color), Some(target)) = (copied.get(at), written.get(view.target()))
        {
            let uses = [color.as_declared(), target.as_declared()];
            let mut pass = recorder.pass_in_step(view.step(), "composite_3d", &uses);
            pass.transfer().copy_image(&color, &target);
            continue;
        }
        let (Some(color), Some(target)) = (colors.of(view), targets.get(view.target())) else {
            continue;
        };
        let uses = [color.as_declared(), target.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "composite_3d", &uses);
        let mut rendering = pass.render(output_attachment(view, &target));
        let pipeline = pipelines.composite(view.composite);
        draw_view(&mut rendering, pipeline, (&color, view.output_size()), view);
    }
}

/// Whether a copy of an image of a view to its target gives the pixels that a draw gives.
fn can_copy(view: &View3d, image: &GpuImage, target: &GpuImage) -> bool {
    let (from, to) = (image.desc(), target.desc());
    view.composite == Composite::Replace
        && view.queued.covers(target)
        && (from.extent, from.format) == (to.extent, to.format)
        && to.samples == 1
        && to.usage.contains(ImageUsage::TRANSFER_DST)
}

/// Draws an image of a view with this size over its viewport in the target, scaled where the viewport has another one.
pub(crate) fn draw_view(
    rendering: &mut Rendering<'_>,
    pipeline: &GraphicsPipeline,
    (image, size): (&AnyAccess<'_>, [u32; 2]),
    view: &View3d,
) {
    let viewport = view.viewport();
    let [left, top, width, height] = viewport;
    if size != [width, height] {
        draw_scaled_composite(rendering, pipeline, (image, size), viewport);
    } else {
        draw_composite(rendering, pipeline, image, viewport, [left, top]);
    }
}

fn skipped_effects(view: &View3d) -> String {
    format!(
        "effects after tone mapping of the camera {} are skipped: `tonemap_3d` does not run. Remove the run condition \
         of `Pass3dSystems::Tonemap`.",
        entity_name(view.camera())
    )
}

/// The target of a view as an attachment, cleared if the view has a clear color.
pub(crate) fn output_attachment(view: &View3d, target: &AnyAccess<'_>) -> Attachment {
    match view.queued.clear {
        Some(color) => target.clear(color),
        None => target.keep(),
    }
}
