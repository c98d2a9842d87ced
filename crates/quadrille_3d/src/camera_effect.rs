//! The form of an effect: a component of cameras, with a uniform and images per view.
//!
//! ```text
//! Extract    list_cameras      cameras whose colour the effect replaces (`EffectCameras`)
//! Prepare    prepare_targets   their second colour image
//!            prepare_effect    images and uniform of each view with the component
//! passes     of the effect     `EffectViews`, `EffectImages`, `PostProcess`
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

/// An effect of cameras: the component switches it on, and holds its settings.
///
/// [`CameraEffectPlugin`] allocates the images and uploads the uniform of each view whose camera has the component;
/// the pass of the effect, a system in a set of [`Pass3dSystems`](crate::Pass3dSystems), finds these views in
/// [`EffectViews`]. Without the component nothing is allocated and no pass is recorded. The
/// [guide](crate::guide) has a whole effect.
pub trait CameraEffect: Component {
    /// Parameters as the shader reads them, from a uniform buffer.
    type Uniform: ShaderValue;

    /// Whether the effect writes the colour of the view, by [`PostProcess::write`](crate::PostProcess::write): its
    /// cameras get a second colour image, and draw linear light in half floats.
    const REPLACES_COLOR: bool = true;

    /// Parameters of one view in this frame.
    fn uniform(&self, frame: &EffectFrame) -> Self::Uniform;

    /// Lists the images that the effect has for each view: their order is their index in
    /// [`EffectView::image`]. Images are made again where the list or the size of the view changes.
    fn images(&self, _images: &mut Vec<EffectImage>) {}
}

/// Facts of a view and a frame that the uniform of an effect may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectFrame {
    /// Number of frames that were submitted before this one, modulo 2^32: a seed that changes.
    pub index: u32,
    /// Width and height of the view, in pixels.
    pub size: [u32; 2],
    /// Whether the [previous images](EffectView::previous) hold the frame before. They do not in the first frame of
    /// a camera or of its effect, after a change of size and after a [`CameraCut`]; then they are black, or hold
    /// an older picture.
    pub history_is_valid: bool,
}

/// Invalidates the history of a camera's effects, as after a jump to another place: [`CameraCut::cut`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct CameraCut {
    count: u32,
}

impl CameraCut {
    /// The next frame does not use the frames before it.
    pub fn cut(&mut self) {
        self.count = self.count.wrapping_add(1);
    }
}

/// Makes a component an effect: its images, its uniform and its views. The pass and its pipeline are the effect's own.
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

/// Adds the list of cameras with effects to an app.
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

/// Forgets the cameras of the frame before.
fn clear_effect_cameras(mut cameras: ResMut<EffectCameras>) {
    cameras.cameras.clear();
}

/// Counts submitted frames: images that were written in a frame which failed are not the last one's.
fn count_submitted(renderer: Option<Res<Renderer>>, mut cameras: ResMut<EffectCameras>) {
    if let Some(renderer) = renderer {
        cameras.submitted = renderer.submitted_frames();
    }
}
