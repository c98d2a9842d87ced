//! The pass [`composite_3d`].

use bevy_ecs::prelude::*;
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, Rendering, access_kind,
};
use quadrille::prelude::{GraphicsPipeline, Recorder};
use quadrille_content::views::{CameraTargets, draw_composite, draw_scaled_composite};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::pipelines::Pipelines3d;
use crate::prepare::view_colors::{CurrentColors, ViewColors};
use crate::scene::frame::{Scene3d, View3d, ViewOutput};

/// Composites the images of views over the targets, in display-referred colors: one pass for each view without `Hdr`
/// that does not draw to its target directly, and for each view with an effect after tone mapping or with
/// `MainPassResolutionOverride`, which is scaled to its viewport bilinearly.
pub fn composite_3d(
    mut recorder: Recorder,
    (colors, current): (ViewColors, Res<CurrentColors>),
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
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
