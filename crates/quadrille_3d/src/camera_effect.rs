//! Camera effects: a component on cameras, with a uniform and images per view.
//!
//! ```text
//! Extract    list_cameras      cameras whose color the effect replaces (`EffectCameras`)
//! Prepare    prepare_targets   second color image of these cameras
//!            prepare_effect    images and uniform of each view with the component
//! passes     of the effect     read `EffectViews`, `EffectImages`, `PostProcess`
//! ```

mod images;
mod state;

use std::marker::PhantomData;

use bevy_app::{App, First, Plugin};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;
use quadrille::ecs::{RenderStartup, Renderer, ShaderValue};
use quadrille::prelude::Render;

pub use images::{EffectImage, EffectImages};
pub use state::{EffectUniforms, EffectView, EffectViews};

use crate::prepare::targets::prepare_targets;
use crate::scene::effect_cameras::EffectCameras;
use crate::schedule::Prepare3dSystems;
use state::{EffectList, init_effect, list_cameras, prepare_effect};

/// Camera effect: the component enables it and has its settings.
///
/// [`CameraEffectPlugin`] allocates the images and uploads the uniform of each view whose camera has the component;
/// the pass of the effect, a system in a set of [`Pass3dSystems`](crate::Pass3dSystems), finds these views in
/// [`EffectViews`]. Without the component nothing is allocated and no pass is recorded. The
/// [guide](crate::guide) has a whole effect.
pub trait CameraEffect: Component {
    /// Uniform of the shader.
    type Uniform: ShaderValue;

    /// Whether the effect writes the color of the view by [`PostProcess::write`](crate::PostProcess::write). Its
    /// cameras have two color images (ping-pong), in linear half floats.
    const REPLACES_COLOR: bool = true;

    /// Returns the uniform of a view in this frame.
    fn uniform(&self, frame: &EffectFrame) -> Self::Uniform;

    /// Lists the images of the effect for each view, in the order of their indices in [`EffectView::image`]. Images are
    /// recreated when the list or the size of the view changes.
    fn images(&self, _images: &mut Vec<EffectImage>) {}
}

/// Inputs of [`CameraEffect::uniform`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectFrame {
    /// Number of submitted frames, modulo 2^32; usable as a seed.
    pub index: u32,
    /// Width and height of the view, in pixels.
    pub size: [u32; 2],
    /// Whether the [previous images](EffectView::previous) have the contents of the previous frame. False in the first
    /// frame of a camera or its effect, after a change of size and after a [`CameraCut`]: they are black or older then.
    pub history_is_valid: bool,
}

/// Invalidates the history of a camera's effects by [`CameraCut::cut`], for example after teleporting the camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct CameraCut {
    count: u32,
}

impl CameraCut {
    /// Makes the next frame ignore the history.
    pub fn cut(&mut self) {
        self.count = self.count.wrapping_add(1);
    }
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
        app.init_resource::<EffectList<E>>()
            .init_resource::<EffectImages<E>>()
            .add_systems(RenderStartup, init_effect::<E>)
            .add_systems(
                Render,
                (
                    list_cameras::<E>.in_set(Prepare3dSystems::ExtractEffects),
                    prepare_effect::<E>.in_set(Prepare3dSystems::PrepareEffects),
                ),
            );
    }
}

/// Adds [`EffectCameras`] and its systems to an app.
pub(crate) fn add_effect_cameras(app: &mut App) {
    app.init_resource::<EffectCameras>()
        .register_type::<CameraCut>()
        .add_systems(First, count_submitted)
        .add_systems(
            Render,
            clear_effect_cameras
                .in_set(Prepare3dSystems::Extract)
                .before(Prepare3dSystems::ExtractEffects),
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
    cameras.cameras.clear();
}

/// Counts submitted frames, because images written in a failed frame are not valid history.
fn count_submitted(renderer: Option<Res<Renderer>>, mut cameras: ResMut<EffectCameras>) {
    if let Some(renderer) = renderer {
        cameras.submitted = renderer.submitted_frames();
    }
}
