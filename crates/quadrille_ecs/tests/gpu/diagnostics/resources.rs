//! Resources of wrong passes, which are right by themselves.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, DepthState, GraphicsPipeline, GraphicsPipelineDesc,
    VertexLayout,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage, Sampler, SamplerDesc,
};
use quadrille_vulkan::shader::GpuShader;

/// 8 by 8 texels, filled.
#[derive(Resource, Deref)]
pub(super) struct Map(pub(super) GpuImage);

/// 8 by 8 texels that are whole numbers, filled.
#[derive(Resource, Deref)]
pub(super) struct Counts(pub(super) GpuImage);

/// A target of 16 by 16 pixels.
#[derive(Resource, Deref)]
pub(super) struct Scene(pub(super) GpuImage);

/// Depth of 8 by 8 pixels.
#[derive(Resource, Deref)]
pub(super) struct Far(pub(super) GpuImage);

/// Bytes in the host's reach, and some that are not.
#[derive(Resource, Deref)]
pub(super) struct Small(pub(super) GpuBuffer);

/// Room for the arguments of four draws.
#[derive(Resource, Deref)]
pub(super) struct Draws(pub(super) GpuBuffer);

/// Not there.
#[derive(Resource, Deref)]
pub(super) struct Gone(pub(super) GpuBuffer);

#[derive(Resource)]
pub(super) struct Tools {
    /// Samples binding 0 with 1 into binding 2.
    pub(super) sample: ComputePipeline,
    /// Has two vectors of three as push constants.
    pub(super) measure: ComputePipeline,
    /// Draws without depth.
    pub(super) draw: GraphicsPipeline,
    /// Draws with depth.
    pub(super) solid: GraphicsPipeline,
    /// Draws from a vertex buffer.
    pub(super) mesh: GraphicsPipeline,
    pub(super) sampler: Sampler,
}

const SAMPLE: &str = "
    @group(0) @binding(0) var map: texture_2d<f32>;
    @group(0) @binding(1) var smoothly: sampler;
    @group(0) @binding(2) var<storage, read_write> to: array<vec4f>;
    @compute @workgroup_size(1) fn main() { to[0] = textureSampleLevel(map, smoothly, vec2f(0.5), 0.0); }";

const MEASURE: &str = "
    struct Ray { start: vec3f, end: vec3f }
    var<immediate> ray: Ray;
    @group(0) @binding(0) var<storage, read_write> to: array<f32>;
    @compute @workgroup_size(1) fn main() { to[0] = distance(ray.start, ray.end); }";

const DRAW: &str = "
    @vertex fn place() -> @builtin(position) vec4f { return vec4f(0.0, 0.0, 0.0, 1.0); }
    @fragment fn color() -> @location(0) vec4f { return vec4f(1.0); }";

const MESH: &str = "
    @vertex fn place(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
    @fragment fn color() -> @location(0) vec4f { return vec4f(1.0); }";

pub(super) fn setup(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let filled = ImageUsage::TRANSFER_DST | ImageUsage::TRANSFER_SRC;
    let map = ImageDesc::sampled("map", [8, 8], Format::R8G8B8A8_UNORM).with_usage(filled);
    let map = gpu.create_image(&map)?;
    uploads.write_image(&map, &[0; 256]);
    let counts = ImageDesc::color_target("counts", [8, 8], Format::R32_UINT).with_usage(filled);
    let counts = gpu.create_image(&counts)?;
    uploads.write_image(&counts, &[0; 256]);
    let scene = ImageDesc::color_target("scene", [16, 16], Format::R8G8B8A8_UNORM);
    let far = ImageDesc::depth("far", [8, 8], Format::D32_SFLOAT);
    let small = BufferDesc::new("small", 16, BufferUsage::STORAGE);
    let draws = BufferUsage::INDIRECT | BufferUsage::TRANSFER_DST;
    let draws = gpu.create_buffer(&BufferDesc::new("draws", 64, draws))?;
    uploads.write_buffer(&draws, 0, &[0; 64]);
    commands.insert_resource(Draws(draws));
    commands.insert_resource(Map(map));
    commands.insert_resource(Counts(counts));
    commands.insert_resource(Scene(gpu.create_image(&scene)?));
    commands.insert_resource(Far(gpu.create_image(&far)?));
    commands.insert_resource(Small(gpu.create_buffer(&small)?));
    commands.insert_resource(tools(&gpu)?);
    Ok(())
}

fn tools(gpu: &GpuDevice) -> Result<Tools> {
    let [sample, measure, draw, mesh] =
        [SAMPLE, MEASURE, DRAW, MESH].map(|source| GpuShader::wgsl("catalog.wgsl", source));
    let (sample, measure, draw, mesh) = (sample?, measure?, draw?, mesh?);
    let solid = GraphicsPipelineDesc {
        depth: Some(DepthState::LESS),
        ..GraphicsPipelineDesc::of("solid", &draw)
    };
    let mesh = GraphicsPipelineDesc {
        vertex_buffers: vec![VertexLayout::packed(0, &[Format::R32G32_SFLOAT])],
        ..GraphicsPipelineDesc::of("mesh", &mesh)
    };
    Ok(Tools {
        sample: gpu.compute_pipeline(&ComputePipelineDesc::of("sample", &sample))?,
        measure: gpu.compute_pipeline(&ComputePipelineDesc::of("measure", &measure))?,
        draw: gpu.graphics_pipeline(&GraphicsPipelineDesc::of("draw", &draw))?,
        solid: gpu.graphics_pipeline(&solid)?,
        mesh: gpu.graphics_pipeline(&mesh)?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    })
}
