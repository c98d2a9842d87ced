//! The pass [`filter_env_3d`]: cubes of images, and what surfaces scatter and mirror of them.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, AnyAccess, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuImage, GpuShader, ImageDesc, Recorder,
    Sampler, SamplerDesc,
};

use crate::environment::maps::SCATTERED_SIDE;

/// The side of the level that scattered light is the mean of.
const GATHERED_SIDE: u32 = 8;

/// What the device makes of an image.
#[derive(Clone)]
pub(crate) struct Filter {
    pub(crate) source: GpuImage,
    /// The source shows all directions by longitude and latitude.
    pub(crate) is_sphere: bool,
    /// The source as a cube with all mip levels.
    pub(crate) cube: Option<GpuImage>,
    /// The cube is seen, not just filtered.
    pub(crate) keeps_cube: bool,
    /// What mirrors show, rougher from level to level.
    pub(crate) mirrored: Option<GpuImage>,
    /// What surfaces scatter.
    pub(crate) scattered: Option<GpuImage>,
}

/// What [`filter_env_3d`] makes in this frame.
#[derive(Resource, Default)]
pub struct FilterJobs3d(pub(crate) Vec<Filter>);

/// The images that [`filter_env_3d`] reads in this frame.
#[derive(Resource, Default, Deref)]
pub struct FilterSources3d(Vec<GpuImage>);

/// The cubes that [`filter_env_3d`] makes of them.
#[derive(Resource, Default, Deref)]
pub struct FilterCubes3d(Vec<GpuImage>);

/// What [`filter_env_3d`] makes of the cubes: two for each that lights anything, of scattered and of
/// mirrored light.
#[derive(Resource, Default, Deref)]
pub struct FilterResults3d(Vec<GpuImage>);

/// The pipelines of [`filter_env_3d`].
#[derive(Resource)]
pub struct FilterPipelines3d {
    convert: ComputePipeline,
    halve: ComputePipeline,
    scatter: ComputePipeline,
    mirror: ComputePipeline,
    sampler: Sampler,
}

impl FilterPipelines3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../../../shaders/quadrille_3d/filter.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/filter.wgsl", source)?;
        let make = |entry| {
            let desc = ComputePipelineDesc::of(entry, &shader);
            gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
        };
        Ok(Self {
            convert: make("convert")?,
            halve: make("halve")?,
            scatter: make("scatter")?,
            mirror: make("mirror")?,
            sampler: gpu.create_sampler(&SamplerDesc {
                name: "filtered cubes".to_owned(),
                ..SamplerDesc::linear()
            })?,
        })
    }
}

/// Lists the images of the frame's jobs for the pass.
pub(crate) fn list_filtered(
    jobs: Res<FilterJobs3d>,
    mut sources: ResMut<FilterSources3d>,
    mut cubes: ResMut<FilterCubes3d>,
    mut results: ResMut<FilterResults3d>,
) {
    sources.0.clear();
    cubes.0.clear();
    results.0.clear();
    for job in &jobs.0 {
        sources.0.push(job.source.clone());
        cubes.0.extend(job.cube.clone());
        results.0.extend(job.scattered.clone());
        results.0.extend(job.mirrored.clone());
    }
}

/// The images of [`filter_env_3d`].
#[derive(SystemParam)]
pub struct Filtered3d<'w> {
    sources: AccessList<'w, FilterSources3d, access_kind::Sampled>,
    cubes: AccessList<'w, FilterCubes3d, access_kind::StorageWrite>,
    levels: AccessList<'w, FilterCubes3d, access_kind::Sampled>,
    results: AccessList<'w, FilterResults3d, access_kind::StorageWrite>,
    jobs: Res<'w, FilterJobs3d>,
    pipelines: Res<'w, FilterPipelines3d>,
}

/// The pass that makes cubes of images, and filters them for light: in frames in which such an image
/// came or changed, and in no others.
pub fn filter_env_3d(mut recorder: Recorder, images: Filtered3d) {
    let pipelines = &images.pipelines;
    let mut results = images.results.iter();
    let made = images.sources.iter().zip(images.cubes.iter());
    for ((job, (source, cube)), levels) in images.jobs.0.iter().zip(made).zip(images.levels.iter())
    {
        make_cube(&mut recorder, pipelines, job, [source, cube, levels]);
        if let Some(desc) = job.mirrored.as_ref().map(GpuImage::desc)
            && let (Some(scattered), Some(mirrored)) = (results.next(), results.next())
        {
            let all = [levels, scattered, mirrored];
            filter(&mut recorder, pipelines, desc, all);
        }
    }
}

/// A cube with all mip levels from the image.
fn make_cube(
    recorder: &mut Recorder,
    pipelines: &FilterPipelines3d,
    job: &Filter,
    [source, cube, levels]: [AnyAccess<'_>; 3],
) {
    let Some(desc) = job.cube.as_ref().map(GpuImage::desc) else {
        return;
    };
    let first = cube.mip(0);
    let mut pass = recorder.pass(
        "filter_env_3d",
        &[source.as_declared(), first.as_declared()],
    );
    pass.compute(&pipelines.convert)
        .bind(0, &source)
        .bind(1, &first)
        .push_bytes(bytemuck::bytes_of(&[u32::from(job.is_sphere), 0]))
        .dispatch(groups(desc.extent[0]));
    for level in 1..desc.mip_levels {
        let (from, to) = (levels.mip(level - 1), cube.mip(level));
        let mut pass = recorder.pass("filter_env_3d", &[from.as_declared(), to.as_declared()]);
        pass.compute(&pipelines.halve)
            .bind(0, &from)
            .bind(1, &to)
            .dispatch(groups(to.extent()[0]));
    }
}

/// What the shader `mirror` is told.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct MirrorPush {
    directions: u32,
    alpha: f32,
}

/// How many directions a texel of a roughness is the mean of: the wider the lobe, the more it takes.
fn directions(alpha: f32) -> u32 {
    (1024.0 * alpha).clamp(32.0, 256.0) as u32
}

/// What surfaces scatter and mirror of a cube.
fn filter(
    recorder: &mut Recorder,
    pipelines: &FilterPipelines3d,
    desc: &ImageDesc,
    [cube, scattered, mirrored]: [AnyAccess<'_>; 3],
) {
    let uses = [
        cube.as_declared(),
        scattered.as_declared(),
        mirrored.as_declared(),
    ];
    let mut pass = recorder.pass("filter_env_3d", &uses);
    let side = desc.extent[0];
    let small = side.ilog2() - GATHERED_SIDE.ilog2();
    pass.compute(&pipelines.scatter)
        .bind(0, &cube.mip(small))
        .bind(1, &scattered)
        .dispatch(groups(SCATTERED_SIDE));
    let last = desc.mip_levels - 1;
    for level in 0..=last {
        let perceptual = level as f32 / last as f32;
        let alpha = perceptual * perceptual;
        let push = MirrorPush {
            directions: directions(alpha),
            alpha,
        };
        pass.compute(&pipelines.mirror)
            .bind(1, &mirrored.mip(level))
            .bind(2, &cube)
            .sampler(3, &pipelines.sampler)
            .push_bytes(bytemuck::bytes_of(&push))
            .dispatch(groups(side >> level));
    }
}

/// Workgroups for the six faces of a level.
fn groups(side: u32) -> [u32; 3] {
    [side.div_ceil(8), side.div_ceil(8), 6]
}
