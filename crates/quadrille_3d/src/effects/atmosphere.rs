//! Atmospheres of cameras (Hillaire 2020), by the components of bevy: `Atmosphere` of planets, [`AtmosphereSettings`] of
//! cameras, `SunDisk` of directional lights.
//!
//! ```text
//! list_atmospheres     cameras with a planet whose medium is loaded; images of media and LUTs
//! attenuate_sunlight   transmittance between surfaces and directional lights
//! prepare_atmospheres  a row per view; LUTs that are out of date
//! atmosphere_luts_3d   writes these: transmittance, multiple scattering; sky view, aerial view; cubes of skies, which
//!                      `filter_env_3d` filters for `AtmosphereEnvironmentMapLight`
//! atmosphere_3d        attenuates sky and opaque surfaces, and adds scattered light and disks
//! ```
//!
//! Scattered light in LUTs of views is pre-exposed, as all colors are.

pub(crate) mod component;
mod luts;
mod medium;
mod prepare;
pub(crate) mod row;
mod sunlight;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, Compute, DeclaredView, PassUse, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, GraphicsPipeline,
    GraphicsPipelineDesc, Recorder, Render, RenderStartup, Uniform,
};
use quadrille::vulkan::pipeline::{Blend, BlendEquation};
use quadrille::vulkan::vk;

pub use component::{AtmosphereMode, AtmosphereSettings};
pub use luts::AtmosphereLuts3d;
use luts::{AtmosphereRows3d, LutCache, MEDIUM_LUTS, ViewLuts};
pub use medium::AtmosphereMedia3d;
use medium::Media;
use prepare::{RowList, init_atmosphere_buffers, list_atmospheres, prepare_atmospheres};
use row::AtmosphereRow;
use sunlight::attenuate_sunlight;

use crate::camera_effect::warn_of_cameras_without_3d;
use crate::effects::skybox::skybox_3d;
use crate::environment::filter::{filter_env_3d, prepare_filter_images};
use crate::passes::draw::SceneTargets3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::{SceneColors, SceneDepths};
use crate::prepare::views::queue_views;
use crate::scene::frame::{InitialColor, Scene3d, ScenePass, View3d};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds atmospheres.
pub(crate) struct AtmospherePlugin;

impl Plugin for AtmospherePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<AtmosphereSettings>()
            .init_resource::<Media>()
            .init_resource::<LutCache>()
            .init_resource::<RowList>()
            .add_systems(
                RenderStartup,
                (init_atmosphere_buffers, init_atmosphere_pipelines),
            )
            .add_systems(
                Render,
                (
                    (
                        warn_of_cameras_without_3d::<AtmosphereSettings>,
                        list_atmospheres,
                    )
                        .in_set(Prepare3dSystems::ExtractEffects),
                    attenuate_sunlight
                        .in_set(Prepare3dSystems::Queue)
                        .after(queue_views),
                    prepare_atmospheres
                        .in_set(Prepare3dSystems::PrepareEffects)
                        .before(prepare_filter_images),
                    atmosphere_luts_3d
                        .in_set(Pass3dSystems::Environment)
                        .before(filter_env_3d),
                    atmosphere_3d.in_set(Pass3dSystems::Skybox).after(skybox_3d),
                ),
            );
    }
}

/// Pipelines of [`atmosphere_luts_3d`] and [`atmosphere_3d`].
#[derive(Resource)]
pub struct AtmospherePipelines {
    transmittance: ComputePipeline,
    multiscattering: ComputePipeline,
    sky_view: ComputePipeline,
    aerial_view: ComputePipeline,
    sky_cube: ComputePipeline,
    /// Both of the others, for views with one sample per pixel.
    combine: ComputePipeline,
    attenuate: GraphicsPipeline,
    scatter: GraphicsPipeline,
}

fn init_atmosphere_pipelines(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/atmosphere_luts.wgsl");
    let luts = GpuShader::wgsl("quadrille_3d/atmosphere_luts.wgsl", source)?;
    let compute = |name, entry| {
        let desc = ComputePipelineDesc::of(name, &luts);
        gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
    };
    let source = include_str!("../../shaders/atmosphere_sky.wgsl");
    let sky = GpuShader::wgsl("quadrille_3d/atmosphere_sky.wgsl", source)?;
    let sum = BlendEquation::sum;
    let (none, all) = (vk::BlendFactor::ZERO, vk::BlendFactor::ONE);
    let draw = |name, entry, color| {
        let (vertex, fragment) = ((&sky, "vertex_main"), (&sky, entry));
        gpu.graphics_pipeline(&GraphicsPipelineDesc {
            // Alpha stays that of what is behind the air, as in bevy.
            blend: Blend::Custom {
                color,
                alpha: sum(none, all),
            },
            ..GraphicsPipelineDesc::new(name, vertex, fragment)
        })
    };
    commands.insert_resource(AtmospherePipelines {
        transmittance: compute("atmosphere transmittance", "transmittance")?,
        multiscattering: compute("atmosphere multiscattering", "multiscattering")?,
        sky_view: compute("atmosphere sky view", "sky_view")?,
        aerial_view: compute("atmosphere aerial view", "aerial_view")?,
        sky_cube: compute("atmosphere sky cube", "sky_cube")?,
        combine: gpu.compute_pipeline(&ComputePipelineDesc::of("atmosphere", &sky))?,
        attenuate: draw(
            "atmosphere attenuation",
            "attenuate_main",
            sum(none, vk::BlendFactor::SRC_COLOR),
        )?,
        scatter: draw("atmosphere scattering", "scatter_main", sum(all, all))?,
    });
    Ok(())
}

/// Images of [`atmosphere_luts_3d`] and [`atmosphere_3d`].
#[derive(SystemParam)]
pub struct AtmosphereParams3d<'w> {
    rows: Uniform<'w, AtmosphereRows3d>,
    media: AccessList<'w, AtmosphereMedia3d, access_kind::Sampled>,
    luts: AccessList<'w, AtmosphereLuts3d, access_kind::Sampled>,
    cache: Res<'w, LutCache>,
    pipelines: Res<'w, AtmospherePipelines>,
    shared: Res<'w, Pipelines3d>,
}

/// Named images of a pass.
type NamedImages<'a> = Vec<(&'static str, AnyAccess<'a>)>;

/// Writes LUTs of atmospheres that are out of date: a pass of the plan each, on any queue.
pub fn atmosphere_luts_3d(
    mut recorder: Recorder,
    params: AtmosphereParams3d,
    written: AccessList<AtmosphereLuts3d, access_kind::StorageWrite>,
) {
    let pipelines = &params.pipelines;
    for (at, luts) in params.cache.media.iter().enumerate() {
        let Some(row) = luts.writer else { continue };
        for (lut, (name, pipeline)) in [
            ("atmosphere transmittance", &pipelines.transmittance),
            ("atmosphere multiscattering", &pipelines.multiscattering),
        ]
        .into_iter()
        .enumerate()
        {
            let Some(output) = written.get(at * MEDIUM_LUTS + lut) else {
                continue;
            };
            let mut inputs = params.medium_inputs(luts.first_medium_image, at, lut);
            inputs.push(("output", output));
            let [width, height, _] = luts.images[lut].extent();
            params.write(&mut recorder, (name, pipeline, row), &inputs, |compute| {
                match lut {
                    0 => compute.dispatch_invocations([width, height, 1]),
                    // A workgroup per texel.
                    _ => compute.dispatch([width, height, 1]),
                };
            });
        }
    }
    for (at, luts) in params.cache.views.iter().enumerate() {
        let Some(drawn) = luts.drawn else { continue };
        let first = params.cache.first_view_image(at);
        let outputs = [first, first + 1, first + 2].map(|image| written.get(image));
        let [Some(sky), Some(scattering), Some(depth)] = outputs else {
            continue;
        };
        if drawn.writes_sky {
            let mut inputs = params.lit_inputs(luts);
            inputs.push(("output", sky));
            let written = ("atmosphere sky view", &pipelines.sky_view, drawn.row);
            params.write(&mut recorder, written, &inputs, |compute| {
                compute.dispatch_invocations(luts.images[0].extent());
            });
        }
        if drawn.writes_aerial {
            let mut inputs = params.lit_inputs(luts);
            inputs.extend([("scattering_output", scattering), ("depth_output", depth)]);
            let [width, height, _] = luts.images[1].extent();
            let written = ("atmosphere aerial view", &pipelines.aerial_view, drawn.row);
            params.write(&mut recorder, written, &inputs, |compute| {
                compute.dispatch_invocations([width, height, 1]);
            });
        }
        if drawn.writes_cube
            && let Some(cube) = written.get(params.cache.cube_image(at))
            && let Some(sky) = params.luts.get(first)
        {
            params.write_cube(&mut recorder, sky, cube.mip(0), drawn.row);
        }
    }
}

impl<'w> AtmosphereParams3d<'w> {
    /// Inputs of a LUT of a medium: that of multiple scattering reads the transmittance.
    fn medium_inputs(&self, medium_image: usize, medium: usize, lut: usize) -> NamedImages<'w> {
        let mut inputs = NamedImages::new();
        inputs.extend(self.media.get(medium_image).map(|it| ("densities", it)));
        if lut > 0 {
            let transmittance = self.luts.get(medium * MEDIUM_LUTS);
            inputs.extend(transmittance.map(|it| ("transmittance_lut", it)));
        }
        inputs
    }

    /// Inputs of scattered light in a view.
    fn lit_inputs(&self, view: &ViewLuts) -> NamedImages<'w> {
        let mut inputs = NamedImages::new();
        let Some(medium) = self.cache.media.get(view.medium) else {
            return inputs;
        };
        let first = view.medium * MEDIUM_LUTS;
        let images = [
            ("densities", self.media.get(medium.first_medium_image)),
            ("phases", self.media.get(medium.first_medium_image + 1)),
            ("transmittance_lut", self.luts.get(first)),
            ("multiscattering_lut", self.luts.get(first + 1)),
        ];
        inputs.extend(
            images
                .into_iter()
                .filter_map(|(name, it)| Some((name, it?))),
        );
        inputs
    }

    /// Inputs of the atmosphere in a view.
    fn sky_inputs(&self, at: usize, view: &ViewLuts) -> NamedImages<'w> {
        let mut inputs = self.lit_inputs(view);
        let first = self.cache.first_view_image(at);
        let names = ["sky_view_lut", "aerial_scattering_lut", "aerial_depth_lut"];
        let images = names.into_iter().zip(first..);
        inputs.extend(images.filter_map(|(name, it)| Some((name, self.luts.get(it)?))));
        inputs
    }

    /// Records a pass that writes the first level of a cube from the sky-view LUT.
    fn write_cube(
        &self,
        recorder: &mut Recorder,
        sky: AnyAccess<'_>,
        cube: DeclaredView<'_>,
        row: u32,
    ) {
        let [side, _, _] = cube.extent();
        let rows = self.rows.any();
        let uses = [sky.as_declared(), cube.as_declared(), rows.as_declared()];
        let mut pass = recorder.pass("atmosphere sky cube", &uses);
        pass.compute(&self.pipelines.sky_cube)
            .bind("sky_view_lut", &sky)
            .bind("cube_output", &cube)
            .sampler("lut_sampler", &self.shared.clamped_sampler)
            .bind_bytes("atmosphere", &self.rows, row_bytes(row))
            .dispatch_invocations([side, side, 6]);
    }

    /// Records a pass that writes LUTs.
    fn write(
        &self,
        recorder: &mut Recorder,
        (name, pipeline, row): (&'static str, &ComputePipeline, u32),
        images: &NamedImages<'_>,
        dispatch: impl FnOnce(&mut Compute<'_>),
    ) {
        let mut uses: Vec<PassUse> = images.iter().map(|(_, it)| it.as_declared()).collect();
        uses.push(self.rows.any().as_declared());
        let mut pass = recorder.pass(name, &uses);
        let mut compute = pass.compute(pipeline);
        for (name, image) in images {
            compute.bind(*name, image);
        }
        if images.iter().any(|(name, _)| *name == "transmittance_lut") {
            compute.sampler("lut_sampler", &self.shared.clamped_sampler);
        }
        compute.bind_bytes("atmosphere", &self.rows, row_bytes(row));
        dispatch(&mut compute);
    }
}

/// Byte range of a row in [`AtmosphereRows3d`].
fn row_bytes(row: u32) -> std::ops::Range<u64> {
    let bytes = size_of::<AtmosphereRow>() as u64;
    let first = u64::from(row) * bytes;
    first..first + bytes
}

/// Inputs of [`atmosphere_3d`] from a view.
#[derive(SystemParam)]
pub struct AtmosphereTargets3d<'w> {
    samples: SceneTargets3d<'w>,
    colors: AccessList<'w, SceneColors, access_kind::StorageReadWrite>,
    depths: AccessList<'w, SceneDepths, access_kind::Sampled>,
}

/// Adds atmospheres to the sky and opaque surfaces: one pass of the plan for each view with [`AtmosphereSettings`], of draws
/// if it is multisampled.
pub fn atmosphere_3d(
    mut recorder: Recorder,
    params: AtmosphereParams3d,
    targets: AtmosphereTargets3d,
    scene: Res<Scene3d>,
    mut uses: Local<Vec<PassUse>>,
) {
    for (index, view) in scene.views().iter().enumerate() {
        if !view.queued.effects.atmosphere {
            continue;
        }
        let mut found = params.cache.views.iter().enumerate();
        let inputs = found.find_map(|(at, luts)| {
            let drawn = luts.drawn.filter(|drawn| drawn.view == index)?;
            Some((params.sky_inputs(at, luts), drawn.row))
        });
        match (inputs, view.samples()) {
            (Some(inputs), 1) => params.compute(&mut recorder, view, (&targets, &mut uses), inputs),
            (None, 1) => None,
            (inputs, _) => params.draw(&mut recorder, view, (&targets, &mut uses), inputs),
        };
    }
}

impl AtmosphereParams3d<'_> {
    /// Records the pass of a view with one sample per pixel.
    fn compute(
        &self,
        recorder: &mut Recorder,
        view: &View3d,
        (targets, uses): (&AtmosphereTargets3d<'_>, &mut Vec<PassUse>),
        (inputs, row): (NamedImages<'_>, u32),
    ) -> Option<()> {
        let at = view.images();
        let (color, depth) = (targets.colors.get(at)?, targets.depths.get(at)?);
        uses.clear();
        uses.extend([color, depth, self.rows.any()].map(|it| it.as_declared()));
        uses.extend(inputs.iter().map(|(_, it)| it.as_declared()));
        let mut pass = recorder.pass_in_step(view.step(), "atmosphere_3d", uses);
        let mut compute = pass.compute(&self.pipelines.combine);
        compute.bind("depths", &depth).bind("picture", &color);
        for (name, image) in &inputs {
            compute.bind(*name, image);
        }
        let [width, height] = view.size();
        compute
            .sampler("lut_sampler", &self.shared.clamped_sampler)
            .bind_bytes("atmosphere", &self.rows, row_bytes(row))
            .dispatch_invocations([width, height, 1]);
        Some(())
    }

    /// Records the pass of a multisampled view, which resolves its samples, also without an atmosphere.
    fn draw(
        &self,
        recorder: &mut Recorder,
        view: &View3d,
        (targets, uses): (&AtmosphereTargets3d<'_>, &mut Vec<PassUse>),
        inputs: Option<(NamedImages<'_>, u32)>,
    ) -> Option<()> {
        let images = targets.samples.of(view, ScenePass::Atmosphere)?;
        let depth = targets.depths.get(view.images())?;
        uses.clear();
        images.add_color_uses(uses);
        if let Some((inputs, _)) = &inputs {
            uses.extend(inputs.iter().map(|(_, it)| it.as_declared()));
            uses.extend([depth.as_declared(), self.rows.any().as_declared()]);
        }
        let mut pass = recorder.pass_in_step(view.step(), "atmosphere_3d", uses);
        let mut rendering = pass.render(images.color(InitialColor::Keep));
        let (inputs, row) = inputs?;
        for pipeline in [&self.pipelines.attenuate, &self.pipelines.scatter] {
            rendering
                .pipeline(pipeline)
                .bind("multisampled_depths", &depth);
            for (name, image) in &inputs {
                if rendering.uses(*name) {
                    rendering.bind(*name, image);
                }
            }
            rendering
                .sampler("lut_sampler", &self.shared.clamped_sampler)
                .bind_bytes("atmosphere", &self.rows, row_bytes(row))
                .draw(0..3, 0..1);
        }
        Some(())
    }
}
