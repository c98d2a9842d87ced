//! The pass [`filter_env_3d`]: generates cubes from images, and filters irradiance and prefiltered radiance.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, AnyAccess, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuImage, GpuShader, ImageDesc, Recorder,
    Sampler, SamplerDesc,
};
use quadrille::rows::ShaderRow;

/// Side of the mip level that irradiance is integrated from.
const IRRADIANCE_SOURCE_SIZE: u32 = 8;

/// Conversion and filtering of one image on the device.
#[derive(Clone)]
pub(crate) struct FilterJob {
    /// `None`: another pass writes the first level of the cube.
    pub(crate) source: Option<GpuImage>,
    /// Whether the source is equirectangular instead of a cube.
    pub(crate) is_equirectangular: bool,
    /// Source as a cube with all mip levels.
    pub(crate) cube: Option<GpuImage>,
    /// Whether the cube is also a skybox, and kept after filtering.
    pub(crate) keeps_cube: bool,
    /// Prefiltered radiance, rougher from level to level.
    pub(crate) radiance: Option<GpuImage>,
    /// Irradiance cube.
    pub(crate) irradiance: Option<GpuImage>,
}

/// Jobs of [`filter_env_3d`] in this frame.
#[derive(Resource, Default)]
pub struct FilterJobs3d(pub(crate) Vec<FilterJob>);

/// Source images of [`filter_env_3d`] in this frame.
#[derive(Resource, Default, Deref)]
pub struct FilterSources3d(Vec<GpuImage>);

/// Cubes that [`filter_env_3d`] generates from them.
#[derive(Resource, Default, Deref)]
pub struct FilterCubes3d(Vec<GpuImage>);

/// Filtered cubes of [`filter_env_3d`]: irradiance and prefiltered radiance.
#[derive(Resource, Default, Deref)]
pub struct FilterResults3d(Vec<GpuImage>);

/// Pipelines of [`filter_env_3d`].
#[derive(Resource)]
pub struct FilterPipelines3d {
    convert_to_cube: ComputePipeline,
    downsample: ComputePipeline,
    generate_irradiance_map: ComputePipeline,
    generate_radiance_map: ComputePipeline,
    sampler: Sampler,
}

impl FilterPipelines3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../shaders/environment_filter.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/environment_filter.wgsl", source)?;
        let make = |entry| {
            let desc = ComputePipelineDesc::of(entry, &shader);
            gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
        };
        Ok(Self {
            convert_to_cube: make("convert_to_cube")?,
            downsample: make("downsample")?,
            generate_irradiance_map: make("generate_irradiance_map")?,
            generate_radiance_map: make("generate_radiance_map")?,
            sampler: gpu.create_sampler(&SamplerDesc {
                name: "filtered cubes".to_owned(),
                ..SamplerDesc::linear()
            })?,
        })
    }
}

/// Lists the images of this frame's jobs.
pub(crate) fn prepare_filter_images(
    jobs: Res<FilterJobs3d>,
    mut sources: ResMut<FilterSources3d>,
    mut cubes: ResMut<FilterCubes3d>,
    mut results: ResMut<FilterResults3d>,
) {
    sources.0.clear();
    cubes.0.clear();
    results.0.clear();
    for job in &jobs.0 {
        sources.0.extend(job.source.clone());
        cubes.0.extend(job.cube.clone());
        results.0.extend(job.irradiance.clone());
        results.0.extend(job.radiance.clone());
    }
}

/// Images of [`filter_env_3d`].
#[derive(SystemParam)]
pub struct FilterImages3d<'w> {
    sources: AccessList<'w, FilterSources3d, access_kind::Sampled>,
    cubes: AccessList<'w, FilterCubes3d, access_kind::StorageWrite>,
    levels: AccessList<'w, FilterCubes3d, access_kind::Sampled>,
    results: AccessList<'w, FilterResults3d, access_kind::StorageWrite>,
    jobs: Res<'w, FilterJobs3d>,
    pipelines: Res<'w, FilterPipelines3d>,
}

/// Generates cubes from images, and filters them for image-based lighting. It records passes only in frames in which
/// such an image was added or changed.
pub fn filter_env_3d(mut recorder: Recorder, images: FilterImages3d) {
    let pipelines = &images.pipelines;
    let mut results = images.results.iter();
    let mut sources = images.sources.iter();
    let made = images.cubes.iter().zip(images.levels.iter());
    for (job, (cube, levels)) in images.jobs.0.iter().zip(made) {
        let source = job.source.as_ref().and_then(|_| sources.next());
        if let Some(source) = source {
            convert(&mut recorder, pipelines, job, [source, cube]);
        }
        downsample(&mut recorder, pipelines, job, [cube, levels]);
        if let Some(desc) = job.radiance.as_ref().map(GpuImage::desc)
            && let (Some(irradiance), Some(radiance)) = (results.next(), results.next())
        {
            let all = [levels, irradiance, radiance];
            filter(&mut recorder, pipelines, desc, all);
        }
    }
}

/// Converts an image to the first mip level of a cube.
fn convert(
    recorder: &mut Recorder,
    pipelines: &FilterPipelines3d,
    job: &FilterJob,
    [source, cube]: [AnyAccess<'_>; 2],
) {
    let Some(desc) = job.cube.as_ref().map(GpuImage::desc) else {
        return;
    };
    let first = cube.mip(0);
    let mut pass = recorder.pass(
        "filter_env_3d",
        &[source.as_declared(), first.as_declared()],
    );
    pass.compute(&pipelines.convert_to_cube)
        .bind("source", &source)
        .bind("destination", &first)
        .push_bytes(bytemuck::bytes_of(&FilterPush {
            kind: u32::from(job.is_equirectangular),
            alpha: 0.0,
        }))
        .dispatch_invocations([desc.extent[0], desc.extent[0], 6]);
}

/// Writes the other mip levels of a cube.
fn downsample(
    recorder: &mut Recorder,
    pipelines: &FilterPipelines3d,
    job: &FilterJob,
    [cube, levels]: [AnyAccess<'_>; 2],
) {
    let Some(desc) = job.cube.as_ref().map(GpuImage::desc) else {
        return;
    };
    for level in 1..desc.mip_levels {
        let (from, to) = (levels.mip(level - 1), cube.mip(level));
        let mut pass = recorder.pass("filter_env_3d", &[from.as_declared(), to.as_declared()]);
        pass.compute(&pipelines.downsample)
            .bind("source", &from)
            .bind("destination", &to)
            .dispatch_invocations([to.extent()[0], to.extent()[0], 6]);
    }
}

/// Push constants of the shaders `convert_to_cube` and `generate_radiance_map`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/environment_filter.wgsl", "Push")]
pub(crate) struct FilterPush {
    /// 1 if the image is equirectangular, not a cube; number of samples.
    kind: u32,
    /// Squared perceptual roughness.
    alpha: f32,
}

/// Returns the samples per texel: more for wider lobes.
fn sample_count(alpha: f32) -> u32 {
    (1024.0 * alpha).clamp(32.0, 256.0) as u32
}

/// Records the filtering of a cube to irradiance and prefiltered radiance.
fn filter(
    recorder: &mut Recorder,
    pipelines: &FilterPipelines3d,
    desc: &ImageDesc,
    [cube, irradiance, radiance]: [AnyAccess<'_>; 3],
) {
    let uses = [
        cube.as_declared(),
        irradiance.as_declared(),
        radiance.as_declared(),
    ];
    let mut pass = recorder.pass("filter_env_3d", &uses);
    let side = desc.extent[0];
    let small = side.ilog2() - IRRADIANCE_SOURCE_SIZE.ilog2();
    pass.compute(&pipelines.generate_irradiance_map)
        .bind("source", &cube.mip(small))
        .bind("destination", &irradiance)
        .dispatch_invocations([IRRADIANCE_SIZE, IRRADIANCE_SIZE, 6]);
    let last = desc.mip_levels - 1;
    for level in 0..=last {
        let perceptual = level as f32 / last as f32;
        let alpha = perceptual * perceptual;
        let push = FilterPush {
            kind: sample_count(alpha),
            alpha,
        };
        pass.compute(&pipelines.generate_radiance_map)
            .bind("destination", &radiance.mip(level))
            .bind("source_cube", &cube)
            .sampler("linear", &pipelines.sampler)
            .push_bytes(bytemuck::bytes_of(&push))
            .dispatch_invocations([side >> level, side >> level, 6]);
    }
}

/// Side of irradiance cubes.
pub(crate) const IRRADIANCE_SIZE: u32 = 16;
