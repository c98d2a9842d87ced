//! Pipelines of the passes: compiled before their first use, or in the background (`meshes.rs`).

mod bevy_names;
pub(crate) mod constants;
pub(crate) mod custom;
pub(crate) mod deferred;
pub(crate) mod material_desc;
mod material_inputs;
pub(crate) mod meshes;
mod prepass;

use bevy_ecs::prelude::*;
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, GraphicsPipeline,
    GraphicsPipelineDesc, Sampler, SamplerDesc,
};
use quadrille::vulkan::pipeline::{Blend, Cull, DepthState, Formats};
use quadrille::vulkan::shader::ShaderModule;
use quadrille::vulkan::{ShaderError, vk};
use quadrille_content::views::composite_pipeline;

use custom::CustomPipelines;
use meshes::MeshPipelines;

pub(crate) use material_inputs::PREPASS_IMAGES;
pub(crate) use prepass::{PrepassShaders, PrepassTarget};

use crate::constants::constants;
use crate::scene::formats::SHADOW_FORMATS;
use crate::scene::frame::Composite;
use crate::scene::keys::CullMode;
use crate::tables::mesh_vertex::Vertex;

/// Guaranteed minimum of `maxComputeWorkGroupCount[0]` (Vulkan specification, Required Limits).
pub(crate) const MAX_WORKGROUP_COUNT_X: u32 = 65535;

/// Pipelines of all 3D passes.
#[derive(Resource)]
pub struct Pipelines3d {
    pub(crate) meshes: MeshPipelines,
    pub(crate) deferred: deferred::DeferredLighting,
    /// Shadow pipelines without and with alpha mask, by [`CullMode`].
    shadows: [[GraphicsPipeline; 3]; 2],
    /// By [`Composite`].
    composites: [GraphicsPipeline; 3],
    pub(crate) cluster: ComputePipeline,
    pub(crate) cull: ComputePipeline,
    pub(crate) shadow_sampler: Sampler,
    /// Linear sampler, clamp to edge.
    pub(crate) clamped_sampler: Sampler,
}

/// Importable shader modules.
const MODULES: [(&str, &str); 28] = [
    (
        "quadrille_3d::cube_faces",
        include_str!("../shaders/cube_faces.wgsl"),
    ),
    (
        "quadrille_3d::gbuffer",
        include_str!("../shaders/gbuffer.wgsl"),
    ),
    (
        "quadrille_3d::atmosphere",
        include_str!("../shaders/atmosphere.wgsl"),
    ),
    (
        "quadrille_3d::shadow_pass",
        include_str!("../shaders/shadow_pass.wgsl"),
    ),
    ("quadrille_3d::pbr", include_str!("../shaders/pbr.wgsl")),
    (
        "quadrille_3d::deferred_surface",
        include_str!("../shaders/deferred_surface.wgsl"),
    ),
    (
        "quadrille_3d::view_transforms",
        include_str!("../shaders/view_transforms.wgsl"),
    ),
    (
        "quadrille_3d::motion_vectors",
        include_str!("../shaders/motion_vectors.wgsl"),
    ),
    (
        "quadrille_3d::decals",
        include_str!("../shaders/decals.wgsl"),
    ),
    ("quadrille_3d::dfg", include_str!("../shaders/dfg.wgsl")),
    (
        "quadrille_3d::rect_lights",
        include_str!("../shaders/rect_lights.wgsl"),
    ),
    (
        "quadrille_3d::visibility_range",
        include_str!("../shaders/visibility_range.wgsl"),
    ),
    (
        "quadrille_3d::mesh_types",
        include_str!("../shaders/mesh_types.wgsl"),
    ),
    ("quadrille_3d::scene", include_str!("../shaders/scene.wgsl")),
    (
        "quadrille_3d::sunlight",
        include_str!("../shaders/sunlight.wgsl"),
    ),
    ("quadrille_3d::hash", include_str!("../shaders/hash.wgsl")),
    ("quadrille_3d::brdf", include_str!("../shaders/brdf.wgsl")),
    (
        "quadrille_3d::shadows",
        include_str!("../shaders/shadows.wgsl"),
    ),
    (
        "quadrille_3d::contact_shadows",
        include_str!("../shaders/contact_shadows.wgsl"),
    ),
    (
        "quadrille_3d::clusters",
        include_str!("../shaders/clusters.wgsl"),
    ),
    (
        "quadrille_3d::material_textures",
        include_str!("../shaders/material_textures.wgsl"),
    ),
    (
        "quadrille_3d::light_textures",
        include_str!("../shaders/light_textures.wgsl"),
    ),
    (
        "quadrille_3d::lightmaps",
        include_str!("../shaders/lightmaps.wgsl"),
    ),
    (
        "quadrille_3d::parallax",
        include_str!("../shaders/parallax.wgsl"),
    ),
    (
        "quadrille_3d::ambient_occlusion",
        include_str!("../shaders/ambient_occlusion.wgsl"),
    ),
    (
        "quadrille_3d::transmission",
        include_str!("../shaders/transmission.wgsl"),
    ),
    (
        "quadrille_3d::temporal",
        include_str!("../shaders/temporal.wgsl"),
    ),
    (
        "quadrille_3d::environment",
        include_str!("../shaders/environment.wgsl"),
    ),
];

const CULL_MODES: [CullMode; 3] = [CullMode::None, CullMode::Front, CullMode::Back];

/// Publishes the shader modules, for built-in and custom shaders.
pub(crate) fn publish_shader_modules() -> Result<(), BevyError> {
    constants().publish()?;
    for (path, source) in MODULES {
        ShaderModule::new(path, source).publish()?;
    }
    bevy_names::publish()?;
    Ok(())
}

impl Pipelines3d {
    /// `waits`: [`crate::Quadrille3dPlugin::pipeline_wait`], resolved; `dfg_lut`:
    /// [`crate::Quadrille3dPlugin::dfg_lut`].
    pub(crate) fn new(gpu: &GpuDevice, waits: bool, dfg_lut: bool) -> Result<Self, BevyError> {
        let source = include_str!("../shaders/pbr.wgsl");
        let pbr = GpuShader::wgsl("quadrille_3d/pbr.wgsl", source)?;
        let source = include_str!("../shaders/oit.wgsl");
        let fragment_lists = GpuShader::wgsl("quadrille_3d/oit.wgsl", source)?;
        let source = include_str!("../shaders/shadow.wgsl");
        let shadow = GpuShader::wgsl("quadrille_3d/shadow.wgsl", source)?;
        let source = include_str!("../shaders/cluster.wgsl");
        let cluster = GpuShader::wgsl("quadrille_3d/cluster.wgsl", source)?;
        let source = include_str!("../shaders/cull.wgsl");
        let cull = GpuShader::wgsl("quadrille_3d/cull.wgsl", source)?;
        let compare = SamplerDesc {
            name: "shadows".to_owned(),
            compare: Some(vk::CompareOp::GREATER_OR_EQUAL),
            ..SamplerDesc::linear()
        };
        let shadows = |alpha_mask| {
            let [none, front, back] =
                CULL_MODES.map(|cull| shadow_pipeline(gpu, &shadow, cull, alpha_mask));
            Ok::<_, ShaderError>([none?, front?, back?])
        };
        Ok(Self {
            meshes: MeshPipelines::new(
                [pbr, fragment_lists],
                CustomPipelines::new()?,
                waits,
                dfg_lut,
            ),
            deferred: deferred::DeferredLighting::default(),
            shadows: [shadows(false)?, shadows(true)?],
            composites: [
                composite_pipeline(gpu, "3d copy", Blend::Opaque)?,
                composite_pipeline(gpu, "3d blend", Blend::Alpha)?,
                composite_pipeline(gpu, "3d over", Blend::Premultiplied)?,
            ],
            cluster: gpu.compute_pipeline(&ComputePipelineDesc::of("3d cluster", &cluster))?,
            cull: gpu.compute_pipeline(&ComputePipelineDesc {
                entry: "main",
                ..ComputePipelineDesc::of("3d cull", &cull)
            })?,
            shadow_sampler: gpu.create_sampler(&compare)?,
            clamped_sampler: gpu.create_sampler(&SamplerDesc {
                name: "clamped".to_owned(),
                address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
                ..SamplerDesc::linear()
            })?,
        })
    }

    /// Returns the pipeline that puts a view's own image over the target.
    pub(crate) fn composite(&self, composite: Composite) -> &GraphicsPipeline {
        &self.composites[composite as usize]
    }

    /// Returns the pipeline of shadow casters.
    pub(crate) fn shadow(&self, cull: CullMode, needs_alpha_mask: bool) -> &GraphicsPipeline {
        &self.shadows[usize::from(needs_alpha_mask)][cull as usize]
    }
}

fn shadow_pipeline(
    gpu: &GpuDevice,
    shader: &GpuShader,
    cull: CullMode,
    needs_alpha_mask: bool,
) -> Result<GraphicsPipeline, ShaderError> {
    let desc = GraphicsPipelineDesc {
        cull: to_cull(cull),
        depth: Some(DepthState::GREATER),
        ..GraphicsPipelineDesc::new(
            "3d shadow alpha mask",
            (shader, "alpha_mask_vertex_main"),
            (shader, "alpha_mask_fragment_main"),
        )
    };
    let pipeline = gpu.graphics_pipeline(&if needs_alpha_mask {
        GraphicsPipelineDesc {
            vertex_buffers: vec![Vertex::layout()],
            ..desc
        }
    } else {
        GraphicsPipelineDesc {
            name: "3d shadow",
            vertex: (shader, "vertex_main"),
            fragment: None,
            vertex_buffers: vec![Vertex::position_layout()],
            ..desc
        }
    })?;
    // Compiled in advance.
    for depth in SHADOW_FORMATS {
        pipeline.prepare(&Formats {
            depth,
            ..Formats::default()
        });
    }
    Ok(pipeline)
}

fn to_cull(cull: CullMode) -> Cull {
    match cull {
        CullMode::None => Cull::None,
        CullMode::Front => Cull::Front,
        CullMode::Back => Cull::Back,
    }
}
