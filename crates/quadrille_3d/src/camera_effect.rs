//! Camera effects: a component on cameras, with a uniform and images per view.
//!
//! ```text
//! Extract    list_cameras      cameras with the effect, and the images it needs (`EffectCameras`)
//! Prepare    prepare_targets   second color and depth images of these cameras
//!            prepare_view_transforms   matrices of their views (`ViewTransforms3d`)
//!            prepare_effect    images and uniform of each view with the component
//! passes     of the effect     read `EffectViews`, `EffectImages`, `PostProcess`
//! ```

mod images;
mod state;
mod view_transforms;

use std::marker::PhantomData;

use bevy_app::{App, First, Plugin};
use bevy_camera::{Camera, Camera3d};
use bevy_ecs::prelude::*;
use bevy_utils::prelude::DebugName;
use quadrille::ecs::{RenderStartup, Renderer, ShaderValue};
use quadrille::prelude::Render;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use images::{EffectImage, EffectImages};
pub use state::{EffectUniforms, EffectView, EffectViews};
pub use view_transforms::ViewTransforms3d;

use crate::components::camera_cut::CameraCut;
use crate::components::mip_bias::MipBias;
use crate::components::temporal_jitter::TemporalJitter;
use crate::prepare::camera_history::{reset_camera_histories, update_camera_histories};
use crate::prepare::targets::prepare_targets;
use crate::scene::camera_history::CameraHistories;
use crate::scene::effect_cameras::EffectCameras;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
pub(crate) use state::{EffectList, prepare_effect};
use state::{init_effect, list_cameras};
use view_transforms::{ViewTransformRows, init_view_transforms, prepare_view_transforms};

/// Camera effect: the component enables it and has its settings.
///
/// [`CameraEffectPlugin`] allocates the images and uploads the uniform of each view whose camera has the component;
/// the pass of the effect, a system in the set [`Self::STAGE`], finds these views in [`EffectViews`]. Without the
/// component nothing is allocated and no pass is recorded. The [guide](crate::guide) has a whole effect.
pub trait CameraEffect: Component {
    /// Uniform of the shader.
    type Uniform: ShaderValue;

    /// Set of its passes: [`EarlyPostProcess`](Pass3dSystems::EarlyPostProcess) or
    /// [`PostProcess`](Pass3dSystems::PostProcess) for scene-referred color (radiance times exposure, in half floats),
    /// [`Upscale`](Pass3dSystems::Upscale) for effects that scale it to the viewport's size
    /// ([`Self::render_scale`]), or
    /// [`AfterTonemapping`](Pass3dSystems::AfterTonemapping) for display-referred color in a format of the target.
    ///
    /// In `EarlyPostProcess` an effect and its images have the size of the view's images
    /// ([`View3d::size`](crate::View3d::size)), in other sets that after upscaling
    /// ([`View3d::output_size`](crate::View3d::output_size)). These differ for cameras that an effect upscales; depth and
    /// motion vectors always have the former.
    const STAGE: Pass3dSystems = Pass3dSystems::PostProcess;

    /// Whether the effect writes the color of the view by [`PostProcess::write`](crate::PostProcess::write). Its
    /// cameras have two color images (ping-pong), which begin with the clear color, or with the contents of the target
    /// if the camera keeps them. Before tone mapping these are tone mapped with the scene, as with `Hdr`.
    const REPLACES_COLOR: bool = true;

    /// Whether the effect reads the depth of the previous frame ([`View3d::previous_depth`](crate::View3d::previous_depth)). Its cameras
    /// have two depth images, which take turns, so that nothing is copied.
    const DEPTH_HISTORY: bool = false;

    /// Returns the fraction of the viewport's width and height at which a camera with one sample per pixel is drawn, if
    /// [`Self::STAGE`] is [`Upscale`](Pass3dSystems::Upscale). The pass of the effect scales its color to the viewport's size
    /// by [`PostProcess::upscale`](crate::PostProcess::upscale).
    fn render_scale(&self) -> f32 {
        1.0
    }

    /// Returns the set of the pass for a camera with or without `Hdr`. An effect with two sets has a system in each.
    fn stage(_is_hdr: bool) -> Pass3dSystems {
        Self::STAGE
    }

    /// Returns whether the effect of a camera, with or without `Hdr`, is drawn. A disabled effect costs as little as a
    /// missing one.
    fn is_enabled(&self, _is_hdr: bool) -> bool {
        true
    }

    /// Describes the first setting that the effect cannot be drawn with, and valid ones: "its `size` is NaN. Set a finite
    /// number." The effect of this camera is not drawn then; a warning says so when the component changes.
    fn invalid_setting(&self) -> Option<String> {
        None
    }

    /// Returns the uniform of a view in this frame.
    fn uniform(&self, frame: &EffectFrame) -> Self::Uniform;

    /// Lists the images of the effect for each view, in the order of their indices in [`EffectView::image`]. Images are
    /// recreated when the list or the size of the view changes.
    fn images(&self, _images: &mut Vec<EffectImage>) {}
}

/// Inputs of [`CameraEffect::uniform`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectFrame {
    /// Number of submitted frames, modulo 2^32; usable as a seed.
    pub index: u32,
    /// Width and height of the color that the effect reads or, if it upscales, writes, in pixels.
    pub size: [u32; 2],
    /// Whether the [previous images](EffectView::previous) and the previous depth ([`CameraEffect::DEPTH_HISTORY`]) have
    /// the contents of the previous frame. False in the first frame of a camera or its effect, after a change of size, a
    /// [`CameraCut`] and the loss of a device: images are black or older then.
    pub history_is_valid: bool,
}

/// Manages images, uniforms and views of an effect. The app adds its pass and pipeline.
pub struct CameraEffectPlugin<E>(PhantomData<fn() -> E>);

impl<E: CameraEffect> Default for CameraEffectPlugin<E> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<E: CameraEffect> Plugin for CameraEffectPlugin<E> {
    fn build(&self, app: &mut App) {
        const {
            assert!(
                matches!(
                    E::STAGE,
                    Pass3dSystems::EarlyPostProcess
                        | Pass3dSystems::Upscale
                        | Pass3dSystems::PostProcess
                        | Pass3dSystems::AfterTonemapping
                ),
                "CameraEffect::STAGE is no stage of effects. Set it to EarlyPostProcess, Upscale, PostProcess or AfterTonemapping."
            );
        }
        app.init_resource::<EffectList<E>>()
            .init_resource::<EffectImages<E>>()
            .add_systems(RenderStartup, init_effect::<E>)
            .add_systems(
                Render,
                (
                    (
                        warn_of_cameras_without_3d::<E>,
                        warn_of_invalid_settings::<E>,
                        list_cameras::<E>,
                    )
                        .in_set(Prepare3dSystems::ExtractEffects),
                    prepare_effect::<E>.in_set(Prepare3dSystems::PrepareEffects),
                ),
            );
    }
}

/// Filter for cameras without a 3D scene that got a component.
type AddedWithout3d<E> = (Added<E>, With<Camera>, Without<Camera3d>);

/// Warns of cameras that get the component of an effect, but draw no 3D scene.
pub(crate) fn warn_of_cameras_without_3d<E: Component>(
    cameras: Query<Entity, AddedWithout3d<E>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for camera in &cameras {
        warnings.warn_message(|| {
            let (camera, effect) = (entity_name(camera), DebugName::type_name::<E>());
            let effect = effect.shortname();
            format!(
                "the camera {camera} has `{effect}`, but no `Camera3d`, so it is not drawn. Add `Camera3d`, or remove the \
                 effect."
            )
        });
    }
}

/// Filter for 3D cameras whose effect changed.
type ChangedEffect<E> = (Changed<E>, With<Camera3d>);

/// Warns of effects that are not drawn because of their settings, when these are set.
fn warn_of_invalid_settings<E: CameraEffect>(
    cameras: Query<(Entity, &E), ChangedEffect<E>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, effect) in &cameras {
        if let Some(setting) = effect.invalid_setting() {
            let (camera, effect) = (entity_name(camera), DebugName::type_name::<E>());
            let subject = format_args!("`{}` of the camera {camera}", effect.shortname());
            warnings.warn(subject, || setting);
        }
    }
}

/// Adds [`EffectCameras`], histories of cameras and their systems to an app.
pub(crate) fn add_effect_cameras(app: &mut App) {
    app.init_resource::<EffectCameras>()
        .init_resource::<CameraHistories>()
        .init_resource::<ViewTransformRows>()
        .register_type::<CameraCut>()
        .register_type::<TemporalJitter>()
        .register_type::<MipBias>()
        .add_systems(First, count_submitted)
        .add_systems(
            RenderStartup,
            (init_view_transforms, reset_camera_histories),
        )
        .add_systems(
            Render,
            (
                clear_effect_cameras
                    .in_set(Prepare3dSystems::Extract)
                    .before(Prepare3dSystems::ExtractEffects),
                update_camera_histories
                    .in_set(Prepare3dSystems::Prepare)
                    .before(prepare_targets),
                prepare_view_transforms.in_set(Prepare3dSystems::PrepareEffects),
            ),
        )
        .configure_sets(
            Render,
            (
                Prepare3dSystems::ExtractEffects.in_set(Prepare3dSystems::Extract),
                Prepare3dSystems::PrepareEffects
                    .in_set(Prepare3dSystems::Prepare)
                    .after(prepare_targets),
            ),
        );
}

/// Clears the cameras of the previous frame.
fn clear_effect_cameras(mut cameras: ResMut<EffectCameras>) {
    cameras.clear();
}

/// Counts submitted frames, because images written in a failed frame are not valid history.
fn count_submitted(renderer: Option<Res<Renderer>>, mut cameras: ResMut<EffectCameras>) {
    if let Some(renderer) = renderer {
        cameras.submitted = renderer.submitted_frames();
    }
}
