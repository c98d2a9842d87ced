//! Auto exposure of cameras: a histogram of luminance on the device, from which exposure follows.

mod component;
mod curve;

use std::ops::RangeInclusive;

use bevy_app::{App, Plugin};
use bevy_asset::{AssetApp as _, AssetEvent, AssetId, Assets, Handle};
use bevy_camera::Hdr;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::Vec2;
use bevy_time::Time;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, AnyAccess, StorageReadWrite, access_kind};
use quadrille::prelude::{
    BufferDesc, ComputePipeline, ComputePipelineDesc, GpuBuffer, GpuDevice, GpuImage, GpuShader,
    ImageDesc, ImageUsage, Recorder, Render, RenderStartup, ShaderType, Uploads,
};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::Format;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use component::AutoExposure;
pub use curve::{AutoExposureCompensationCurve, AutoExposureCompensationCurveError};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectList,
    EffectView, EffectViews, prepare_effect,
};
use crate::constants::EXPOSURE_TILE;
use crate::effects::lens::{is_2d, lens_effects_3d};
use crate::passes::display::ViewExposures;
use crate::prepare::view_colors::ViewColors;
use crate::scene::frame::Scene3d;
use crate::schedule::Prepare3dSystems;

/// Adds [`AutoExposure`]. As in bevy, apps that use it add this plugin.
#[derive(Clone, Copy, Debug, Default)]
pub struct AutoExposurePlugin;

impl Plugin for AutoExposurePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<AutoExposure>::default())
            .init_asset::<AutoExposureCompensationCurve>()
            .register_asset_reflect::<AutoExposureCompensationCurve>()
            .register_type::<AutoExposure>()
            .init_resource::<ExposureInputs>()
            .add_systems(RenderStartup, init_auto_exposure)
            .add_systems(
                Render,
                (
                    list_exposure_inputs.in_set(Prepare3dSystems::Extract),
                    list_exposures
                        .in_set(Prepare3dSystems::PrepareEffects)
                        .after(prepare_effect::<AutoExposure>),
                    auto_exposure_3d
                        .in_set(AutoExposure::STAGE)
                        .after(lens_effects_3d),
                ),
            );
    }
}

/// Uniform of the shaders.
#[derive(ShaderType)]
pub struct AutoExposureUniform {
    range: Vec2,
    filtered: Vec2,
    speed_brighten: f32,
    speed_darken: f32,
    transition_distance: f32,
}

impl CameraEffect for AutoExposure {
    type Uniform = AutoExposureUniform;
    /// Tone mapping applies the exposure.
    const REPLACES_COLOR: bool = false;

    fn is_enabled(&self, is_hdr: bool) -> bool {
        is_hdr
    }

    fn invalid_setting(&self) -> Option<String> {
        let ranges = [("range", &self.range), ("filter", &self.filter)];
        let is_valid = |range: &RangeInclusive<f32>| {
            range.start().is_finite() && range.end().is_finite() && range.start() < range.end()
        };
        if let Some((name, range)) = ranges.into_iter().find(|(_, range)| !is_valid(range)) {
            return Some(format!(
                "its {name} is {range:?}. Set a finite range that is not empty."
            ));
        }
        let numbers = [
            ("speed_brighten", self.speed_brighten),
            ("speed_darken", self.speed_darken),
            (
                "exponential_transition_distance",
                self.exponential_transition_distance,
            ),
        ];
        let is_valid = |number: f32| number.is_finite() && number >= 0.0;
        let (name, number) = numbers.into_iter().find(|(_, number)| !is_valid(*number))?;
        Some(format!(
            "its {name} is {number}. Set a finite number of at least 0."
        ))
    }

    fn uniform(&self, _: &EffectFrame) -> AutoExposureUniform {
        AutoExposureUniform {
            range: Vec2::new(*self.range.start(), *self.range.end()),
            filtered: Vec2::new(*self.filter.start(), *self.filter.end())
                .clamp(Vec2::ZERO, Vec2::ONE),
            speed_brighten: self.speed_brighten,
            speed_darken: self.speed_darken,
            transition_distance: self.exponential_transition_distance,
        }
    }

    /// One texel: exposure in stops, which begins with 0.
    fn images(&self, images: &mut Vec<EffectImage>) {
        let exposure = EffectImage::new("auto exposure", Format::R32_SFLOAT).fixed(1, 1);
        images.push(exposure.usage(ImageUsage::STORAGE).history());
    }
}

/// Push constants of the shaders of [`auto_exposure_3d`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/auto_exposure.wgsl", "Push")]
pub(crate) struct ExposurePush {
    /// Seconds since the previous frame.
    delta_time: f32,
    /// Luminance of the first entry of the curve, in stops.
    curve_start: f32,
    /// 1 / length of the curve.
    curve_scale: f32,
}

/// Histogram of a view, empty between views.
#[derive(Resource, Deref)]
pub struct ExposureHistogram(GpuBuffer);

/// Metering masks and compensation curves: a white mask and no compensation, then those of cameras.
#[derive(Resource, Default, Deref)]
pub struct ExposureImages(Vec<GpuImage>);

/// A camera with auto exposure, with indices of its images in [`ExposureImages`].
struct ExposureInput {
    camera: Entity,
    mask: usize,
    curve: usize,
    /// Luminance of the first entry of the curve in stops, and 1 / length of the curve.
    curve_range: [f32; 2],
}

/// Cameras of the frame, and curves on the device.
#[derive(Resource, Default)]
struct ExposureInputs {
    cameras: Vec<ExposureInput>,
    curves: Vec<(AssetId<AutoExposureCompensationCurve>, GpuImage)>,
}

/// Pipelines of [`auto_exposure_3d`].
#[derive(Resource)]
pub struct AutoExposurePipelines {
    add_to_histogram: ComputePipeline,
    adapt: ComputePipeline,
}

/// Creates pipelines, the histogram and placeholders, at the start and after a lost device.
fn init_auto_exposure(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    mut inputs: ResMut<ExposureInputs>,
) -> Result {
    let source = include_str!("../../shaders/auto_exposure.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/auto_exposure.wgsl", source)?;
    let compute = |name, entry| {
        let desc = ComputePipelineDesc::of(name, &shader);
        gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
    };
    commands.insert_resource(AutoExposurePipelines {
        add_to_histogram: compute("exposure histogram", "add_to_histogram")?,
        adapt: compute("exposure adaptation", "adapt")?,
    });
    let histogram = gpu.create_buffer(&BufferDesc::storage("exposure histogram", 256))?;
    uploads.write_buffer(&histogram, 0, &[0; 256]);
    commands.insert_resource(ExposureHistogram(histogram));
    inputs.curves.clear();
    let white = ImageDesc::sampled("white metering mask", [1, 1], Format::R8_UNORM);
    let white = gpu.create_image(&white)?;
    uploads.write_image(&white, &[255]);
    let none = upload_curve(
        &AutoExposureCompensationCurve::default(),
        &gpu,
        &mut uploads,
    )?;
    commands.insert_resource(ExposureImages(vec![white, none]));
    Ok(())
}

fn upload_curve(
    curve: &AutoExposureCompensationCurve,
    gpu: &GpuDevice,
    uploads: &mut Uploads,
) -> Result<GpuImage> {
    let width = curve.compensation.len() as u32;
    let desc = ImageDesc::sampled("exposure compensation", [width, 1], Format::R32_SFLOAT);
    let image = gpu.create_image(&desc)?;
    uploads.write_image(&image, bytemuck::cast_slice(&curve.compensation));
    Ok(image)
}

/// Assets and stores of [`list_exposure_inputs`].
#[derive(SystemParam)]
struct ExposureAssets<'w, 's> {
    images: Res<'w, DeviceImages>,
    curves: Res<'w, Assets<AutoExposureCompensationCurve>>,
    changes: MessageReader<'w, 's, AssetEvent<AutoExposureCompensationCurve>>,
    gpu: Res<'w, GpuDevice>,
    uploads: ResMut<'w, Uploads>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Lists masks and curves of cameras, and uploads changed curves.
fn list_exposure_inputs(
    cameras: Query<(Entity, Ref<AutoExposure>, Has<Hdr>)>,
    mut assets: ExposureAssets,
    (mut inputs, mut images): (ResMut<ExposureInputs>, ResMut<ExposureImages>),
) -> Result {
    let ExposureInputs {
        cameras: listed,
        curves,
    } = &mut *inputs;
    for change in assets.changes.read() {
        if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = change {
            curves.retain(|(known, _)| known != id);
        }
    }
    if cameras.is_empty() && listed.is_empty() {
        return Ok(());
    }
    listed.clear();
    images.0.truncate(2);
    for (camera, exposure, is_hdr) in &cameras {
        if exposure.is_changed() && !is_hdr {
            assets.warn_of_missing_hdr(camera);
        }
        let mask = match assets.images.image(&exposure.metering_mask) {
            Some(image) if is_2d(image) => {
                images.0.push(image.clone());
                images.0.len() - 1
            }
            Some(image) => {
                assets.warnings.warn_message(|| {
                    let (camera, name) = (entity_name(camera), image.name());
                    format!(
                        "auto exposure of the camera {camera} meters all pixels alike: its `metering_mask` `{name}` is a cube, an \
                         array or a volume. Set a 2D image."
                    )
                });
                0
            }
            None => 0,
        };
        let found = assets.curve(&exposure.compensation_curve, curves)?;
        let (curve, curve_range) = match found {
            Some((image, range)) => {
                images.0.push(image);
                (images.0.len() - 1, range)
            }
            None => (1, [0.0; 2]),
        };
        listed.push(ExposureInput {
            camera,
            mask,
            curve,
            curve_range,
        });
    }
    Ok(())
}

impl ExposureAssets<'_, '_> {
    /// Returns the image of a loaded curve, with its range.
    fn curve(
        &mut self,
        handle: &Handle<AutoExposureCompensationCurve>,
        known: &mut Vec<(AssetId<AutoExposureCompensationCurve>, GpuImage)>,
    ) -> Result<Option<(GpuImage, [f32; 2])>> {
        let Some(curve) = self.curves.get(handle) else {
            return Ok(None);
        };
        let [start, end] = curve.luminance;
        let range = [start, 1.0 / (end - start).max(f32::EPSILON)];
        if let Some((_, image)) = known.iter().find(|(id, _)| *id == handle.id()) {
            return Ok(Some((image.clone(), range)));
        }
        let image = upload_curve(curve, &self.gpu, &mut self.uploads)?;
        known.push((handle.id(), image.clone()));
        Ok(Some((image, range)))
    }

    /// Warns of auto exposure without `Hdr`.
    fn warn_of_missing_hdr(&self, camera: Entity) {
        self.warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!(
                "the camera {camera} has AutoExposure, but no Hdr, so its exposure stays. Add Hdr."
            )
        });
    }
}

/// Exposure of views in this and in the previous frame.
type Exposures<'w> = (
    AccessList<'w, EffectImages<AutoExposure>, access_kind::Sampled>,
    AccessList<'w, EffectImages<AutoExposure>, access_kind::StorageWrite>,
);

/// Resources of [`auto_exposure_3d`].
#[derive(SystemParam)]
pub struct AutoExposureParams3d<'w> {
    effects: EffectViews<'w, AutoExposure>,
    exposures: Exposures<'w>,
    images: AccessList<'w, ExposureImages, access_kind::Sampled>,
    histogram: StorageReadWrite<'w, ExposureHistogram>,
    inputs: Res<'w, ExposureInputs>,
    pipelines: Res<'w, AutoExposurePipelines>,
}

/// Lists the exposures of this frame's views for tone mapping.
fn list_exposures(
    scene: Res<Scene3d>,
    effects: Res<EffectList<AutoExposure>>,
    mut exposures: ResMut<ViewExposures>,
) {
    exposures.clear();
    for (view, image) in effects.images(&scene, 0) {
        exposures.insert(view, image);
    }
}

/// Adapts exposure, which tone mapping applies: two passes of the plan for each view with [`AutoExposure`].
pub fn auto_exposure_3d(
    mut recorder: Recorder,
    params: AutoExposureParams3d,
    colors: ViewColors,
    time: Option<Res<Time>>,
) {
    let delta_time = time.map_or(0.0, |time| time.delta_secs());
    for view in params.effects.iter() {
        params.draw(&mut recorder, &colors, &view, delta_time);
    }
}

impl AutoExposureParams3d<'_> {
    fn draw(
        &self,
        recorder: &mut Recorder,
        colors: &ViewColors,
        view: &EffectView,
        delta_time: f32,
    ) -> Option<()> {
        let (sampled, written) = &self.exposures;
        let (at, previous) = (view.image(0)?, view.previous(0)?);
        let (previous, written) = (sampled.get(previous)?, written.get(at)?);
        let cameras = &self.inputs.cameras;
        let input = cameras.iter().find(|it| it.camera == view.camera())?;
        let (mask, curve) = (self.images.get(input.mask)?, self.images.get(input.curve)?);
        let color = colors.of(view)?;
        let [curve_start, curve_scale] = input.curve_range;
        let push = ExposurePush {
            delta_time,
            curve_start,
            curve_scale,
        };
        self.add_to_histogram(recorder, view, [color, mask]);
        self.adapt(recorder, view, ([curve, previous, written], push));
        Some(())
    }

    fn add_to_histogram(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        [picture, mask]: [AnyAccess<'_>; 2],
    ) {
        let (uniforms, histogram) = (self.effects.uniforms(), self.histogram.any());
        let uses = [picture, mask, histogram, uniforms.any()].map(|used| used.as_declared());
        let [width, height] = view.output_size();
        let mut pass = recorder.pass_in_step(view.step(), "auto_exposure_3d", &uses);
        pass.compute(&self.pipelines.add_to_histogram)
            .bind("picture", &picture)
            .bind("mask", &mask)
            .bind("histogram", &self.histogram)
            .bind_bytes("settings", uniforms, view.uniform_bytes())
            .dispatch([
                width.div_ceil(EXPOSURE_TILE),
                height.div_ceil(EXPOSURE_TILE),
                1,
            ]);
    }

    fn adapt(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        ([curve, previous, exposure], push): ([AnyAccess<'_>; 3], ExposurePush),
    ) {
        let (uniforms, histogram) = (self.effects.uniforms(), self.histogram.any());
        let uses =
            [curve, previous, exposure, histogram, uniforms.any()].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "auto_exposure_3d", &uses);
        pass.compute(&self.pipelines.adapt)
            .bind("curve", &curve)
            .bind("previous_exposure", &previous)
            .bind("exposure", &exposure)
            .bind("histogram", &self.histogram)
            .bind_bytes("settings", uniforms, view.uniform_bytes())
            .push_bytes(bytemuck::bytes_of(&push))
            .dispatch([1, 1, 1]);
    }
}

#[cfg(test)]
mod tests;
