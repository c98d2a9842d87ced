//! The pass [`load_target_3d`].

use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::Recorder;
use quadrille_content::views::CameraTargets;

use crate::pipelines::Pipelines3d;
use crate::prepare::targets::{SceneColors, SceneMsaaColors, TargetCopies};
use crate::prepare::view_colors::CurrentColors;
use crate::scene::frame::{Composite, LoadedImage, Scene3d};

/// Fills the images of views with the contents of their targets, for effects of cameras that keep these
/// (`ClearColorConfig::None`): a copy and a pass in the plan per such view, none for others.
pub fn load_target_3d(
    mut recorder: Recorder,
    targets: AccessList<CameraTargets, access_kind::TransferRead>,
    (written, copies): (
        AccessList<TargetCopies, access_kind::TransferWrite>,
        AccessList<TargetCopies, access_kind::Sampled>,
    ),
    (samples, colors): (
        AccessList<SceneMsaaColors, access_kind::ColorTarget>,
        AccessList<SceneColors, access_kind::ColorTarget>,
    ),
    (scene, current): (Res<Scene3d>, Res<CurrentColors>),
    pipelines: Res<Pipelines3d>,
) {
    for view in scene.views() {
        let Some(load) = view.load else { continue };
        let (image, size) = match load.to {
            LoadedImage::Scene => (samples.get(view.images()), view.size()),
            LoadedImage::Display => {
                let image = current.display_image(view).and_then(|at| colors.get(at));
                (image, view.output_size())
            }
        };
        let copy = load.copy as usize;
        let (Some(image), Some(target), Some(written), Some(copy)) = (
            image,
            targets.get(view.target()),
            written.get(copy),
            copies.get(copy),
        ) else {
            continue;
        };
        let target = target.layer(0).mip(0);
        let uses = [target.as_declared(), written.as_declared()];
        recorder
            .pass_in_step(view.step(), "copy target", &uses)
            .transfer()
            .copy_image(&target, &written);
        let [left, top, width, height] = view.viewport().map(|length| length as f32);
        let [columns, lines] = size.map(|length| length as f32);
        let scale = [width / columns, height / lines];
        let uses = [image.as_declared(), copy.as_declared()];
        recorder
            .pass_in_step(view.step(), "load_target_3d", &uses)
            .render(image.discard())
            .pipeline(pipelines.composite(Composite::Replace))
            .bind("source", &copy)
            .push(&[-left / scale[0], -top / scale[1], scale[0], scale[1]])
            .draw(0..3, 0..1);
    }
}
