//! Pipelines of materials with a shader of their own.

use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::{Blend, PrimitiveTopology};
use quadrille::vulkan::shader::ShaderStage;
use quadrille_content::materials::{
    MATERIAL_ROWS, MaterialLayout, check_material_output, material_entry_point,
};
use quadrille_content::meshes::PrimitiveKind;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::meshes::data::Vertex;
use crate::scene::materials::{BoundTextures, MaterialKind, MaterialType, ShaderState};

/// First binding of a material's textures and samplers, after the image and the instances of `vertex.wgsl`.
pub(crate) const FIRST_IMAGE: u32 = 4;

/// Pipelines of material types, by type.
pub(crate) struct MaterialPipelines {
    mesh: GpuShader,
    node: GpuShader,
    types: HashMap<u32, TypePipelines>,
}

/// Pipelines of a material type: points, lines and triangles, opaque and blended.
struct TypePipelines([[GraphicsPipeline; 3]; 2]);

impl MaterialPipelines {
    pub(crate) fn new() -> Result<Self, ShaderError> {
        let mesh = include_str!("../../shaders/mesh_material.wgsl");
        let node = include_str!("../../shaders/node_material.wgsl");
        Ok(Self {
            mesh: GpuShader::wgsl("quadrille_2d/mesh_material.wgsl", mesh)?,
            node: GpuShader::wgsl("quadrille_2d/node_material.wgsl", node)?,
            types: HashMap::default(),
        })
    }

    /// Whether a type has pipelines.
    pub(crate) fn contains(&self, of_type: u32) -> bool {
        self.types.contains_key(&of_type)
    }

    /// Removes the pipelines of a type.
    pub(crate) fn remove(&mut self, of_type: u32) {
        self.types.remove(&of_type);
    }

    /// Adds the pipelines of a type, if its shader is loaded.
    ///
    /// # Errors
    /// Returns the message for the user if no pipeline can be created from the shader.
    pub(crate) fn add(
        &mut self,
        gpu: &GpuDevice,
        of_type: u32,
        known: &MaterialType,
        layout: &MaterialLayout,
    ) -> Result<(), String> {
        let vertex = match known.kind {
            MaterialKind::Mesh | MaterialKind::Sprite => &self.mesh,
            MaterialKind::Node => &self.node,
        };
        let fragment = match &known.shader {
            ShaderState::Loading => return Ok(()),
            ShaderState::Failed => vertex,
            ShaderState::Translated(shader) => {
                check_interface(shader, known.kind, layout)?;
                shader
            }
        };
        let pipelines = TypePipelines::new(gpu, known.kind, [vertex, fragment]);
        let pipelines = pipelines.map_err(|error| error.to_string())?;
        self.types.insert(of_type, pipelines);
        Ok(())
    }

    /// Returns the pipeline of a batch; `None` while its shader is loading.
    pub(crate) fn get(
        &self,
        bound: &BoundTextures,
        primitive: PrimitiveKind,
    ) -> Option<&GraphicsPipeline> {
        let TypePipelines(pipelines) = self.types.get(&bound.of_type)?;
        let index = match primitive {
            PrimitiveKind::Points => 0,
            PrimitiveKind::Lines => 1,
            PrimitiveKind::Triangles => 2,
        };
        Some(&pipelines[usize::from(bound.blends)][index])
    }
}

impl TypePipelines {
    fn new(
        gpu: &GpuDevice,
        kind: MaterialKind,
        [vertex, fragment]: [&GpuShader; 2],
    ) -> Result<Self, ShaderError> {
        use PrimitiveTopology::{Lines, Points, Triangles};
        let entry = material_entry_point(fragment);
        let instances = || match kind {
            MaterialKind::Mesh | MaterialKind::Sprite => Instance::order_layout(),
            MaterialKind::Node => NodeInstance::layout(),
        };
        let pipeline = |blend, topology| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                vertex_buffers: vec![Vertex::layout(), instances()],
                topology,
                blend,
                ..GraphicsPipelineDesc::new("2d material", (vertex, ""), (fragment, entry))
            })
        };
        let all = |blend: Blend| -> Result<_, ShaderError> {
            Ok([
                pipeline(blend, Points)?,
                pipeline(blend, Lines)?,
                pipeline(blend, Triangles)?,
            ])
        };
        Ok(Self([all(Blend::Opaque)?, all(Blend::Alpha)?]))
    }
}

/// Checks the resources that a fragment shader reads, and its output.
fn check_interface(
    fragment: &GpuShader,
    kind: MaterialKind,
    layout: &MaterialLayout,
) -> Result<(), String> {
    let images = FIRST_IMAGE..FIRST_IMAGE + layout.bindings.len() as u32;
    let is_bound = |name: &str, number: u32| match name {
        MATERIAL_ROWS => true,
        "instances" => kind != MaterialKind::Node,
        "image" | "image_sampler" if number < 2 => kind == MaterialKind::Sprite,
        _ => images.contains(&number),
    };
    let entries = fragment.entry_points().iter();
    for entry in entries.filter(|entry| entry.stage == ShaderStage::Fragment) {
        let bindings = entry.bindings.iter();
        let mut unknown = bindings.filter(|it| !is_bound(&it.name, it.binding));
        let names = unknown.next().map(|it| &it.name);
        let tables = entry.tables.iter().map(|it| &it.name);
        if let Some(name) = names.into_iter().chain(tables).next() {
            let content = match kind {
                MaterialKind::Mesh => "2D meshes are",
                MaterialKind::Sprite => "sprites are",
                MaterialKind::Node => "nodes are",
            };
            return Err(format!(
                "its entry point `{}` reads `{name}`, which {content} not drawn with. Make it a field of the material",
                entry.name
            ));
        }
    }
    check_material_output(fragment)
}
