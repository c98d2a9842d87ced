//! Screen-space transmission of cameras, between the opaque and the transparent passes.
//!
//! ```text
//! opaque_3d, skybox_3d   everything that is opaque, without transmissive meshes
//! transmission background, transmissive_3d   for each step: a copy of the color, then meshes that refract it
//! transparent_3d         blends over them
//! ```

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, DepthAttachment as _, PassUse, RenderStartup,
    access_kind,
};
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Recorder, Render};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::components::transmission::ScreenSpaceTransmission;
use crate::constants::{HAS_TRANSMISSION_BACKGROUND, HAS_TRANSMISSION_DEPTHS};
use crate::passes::draw::SceneTargets3d;
use crate::passes::sorted::SortedDraws3d;
use crate::prepare::pipelines::prepare_pipelines;
use crate::prepare::targets::{SceneColors, SceneMsaaColors, prepare_targets};
use crate::prepare::view_images::ViewImages;
use crate::scene::frame::{InitialColor, Scene3d, ScenePass, View3d};
use crate::scene::lists::ViewRows;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds screen-space transmission.
pub(crate) struct TransmissionPlugin;

impl Plugin for TransmissionPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ScreenSpaceTransmission>()
            .init_resource::<TransmissionBackgrounds3d>()
            .add_systems(RenderStartup, drop_backgrounds)
            .add_systems(
                Render,
                (
                    prepare_backgrounds
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_targets)
                        .before(prepare_pipelines),
                    transmissive_3d.in_set(Pass3dSystems::Transmissive),
                ),
            );
    }
}

/// Colors behind the transmissive meshes of views that see any, with one sample per pixel: radiance times exposure.
#[derive(Resource, Default)]
pub struct TransmissionBackgrounds3d(ViewImages);

impl std::ops::Deref for TransmissionBackgrounds3d {
    type Target = Vec<GpuImage>;

    fn deref(&self) -> &Vec<GpuImage> {
        &self.0
    }
}

/// Drops the images of a lost device.
fn drop_backgrounds(mut backgrounds: ResMut<TransmissionBackgrounds3d>) {
    *backgrounds = TransmissionBackgrounds3d::default();
}

/// Creates the images of this frame's views, and sets the flags of these views.
fn prepare_backgrounds(
    (scene, mut rows): (Res<Scene3d>, ResMut<ViewRows>),
    mut backgrounds: ResMut<TransmissionBackgrounds3d>,
    (gpu, warnings): (Res<GpuDevice>, Res<RateLimitedWarnings>),
) {
    let mut previous = backgrounds.0.begin();
    for view in &scene.views {
        if !view.queued.transmissive.needs_background() {
            continue;
        }
        let [width, height] = view.size();
        let name = "3d transmission background";
        let desc = ImageDesc::color_target(name, [width, height], view.format).transient();
        match backgrounds.0.add(&gpu, &mut previous, (view, &desc)) {
            Ok(()) => {
                let has_depth = view.samples == 1 && view.prepass.depth.is_some();
                let depths = if has_depth {
                    HAS_TRANSMISSION_DEPTHS
                } else {
                    0
                };
                rows.rows[view.row() as usize].flags |= HAS_TRANSMISSION_BACKGROUND | depths;
            }
            Err(error) => warnings.warn_message(|| {
                let camera = entity_name(view.camera());
                format!("transmissive meshes under the camera {camera} refract nothing: {error}")
            }),
        }
    }
}

/// Colors of views, and their copies.
#[derive(SystemParam)]
pub struct TransmissionColors3d<'w> {
    colors: AccessList<'w, SceneColors, access_kind::TransferRead>,
    samples: AccessList<'w, SceneMsaaColors, access_kind::ColorTarget>,
    copied: AccessList<'w, TransmissionBackgrounds3d, access_kind::TransferWrite>,
    resolved: AccessList<'w, TransmissionBackgrounds3d, access_kind::ColorTarget>,
    sampled: AccessList<'w, TransmissionBackgrounds3d, access_kind::Sampled>,
    copy_of_view: Res<'w, TransmissionBackgrounds3d>,
}

impl<'w> TransmissionColors3d<'w> {
    /// Copies the color of a view so far, or resolves its samples. Returns the copy; `None` for views without one.
    fn copy(&self, recorder: &mut Recorder, view: &View3d) -> Option<AnyAccess<'w>> {
        let at = self.copy_of_view.0.index(view)?;
        let name = "transmission background";
        if view.samples == 1 {
            let (from, to) = (self.colors.get(view.images())?, self.copied.get(at)?);
            let uses = [from.as_declared(), to.as_declared()];
            let mut pass = recorder.pass_in_step(view.step(), name, &uses);
            pass.transfer().copy_image(&from, &to);
        } else {
            let (from, to) = (self.samples.get(view.images())?, self.resolved.get(at)?);
            let uses = [from.as_declared(), to.as_declared()];
            let mut pass = recorder.pass_in_step(view.step(), name, &uses);
            pass.render(from.keep().resolve_to(&to));
        }
        self.sampled.get(at)
    }
}

/// Draws meshes with specular transmission back to front: for each step of a view that sees any a copy of the color and a
/// pass in the plan, and nothing for other views.
pub fn transmissive_3d(
    mut recorder: Recorder,
    sorted: SortedDraws3d,
    targets: SceneTargets3d,
    colors: TransmissionColors3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in sorted.views() {
        let steps = &view.queued.transmissive.steps;
        for (at, step) in steps.iter().enumerate() {
            let Some(images) = targets.of(view, ScenePass::Transmissive) else {
                continue;
            };
            let background = colors.copy(&mut recorder, view);
            let images = match at + 1 == steps.len() {
                true => images,
                false => images.unresolved(),
            };
            uses.clear();
            images.add_color_uses(&mut uses);
            uses.push(images.depth.as_declared());
            uses.extend(background.map(|image| image.as_declared()));
            sorted.add_uses(view, &mut uses);
            let mut pass = recorder.pass_in_step(view.step(), "transmissive_3d", &uses);
            let mut rendering = pass.render((
                images.color(InitialColor::Keep),
                images.depth.layer(0).keep_depth(),
            ));
            sorted.draw(&mut rendering, view, step.clone(), background);
        }
    }
}
