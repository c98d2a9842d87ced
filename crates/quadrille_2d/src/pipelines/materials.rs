//! Pipelines of materials with a shader of their own.

use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::{Blend, PipelineState, PrimitiveTopology, VertexLayout};
use quadrille::vulkan::shader::{Constant, ShaderStage};
use quadrille_content::materials::{
    MATERIAL_ROWS, MATERIAL_VERTEX, MaterialLayout, RenderPipelineDescriptor, blend_of,
    check_material_output, material_entry_point,
};
use quadrille_content::meshes::PrimitiveKind;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::meshes::data::{MATERIAL_INSTANCE_LOCATION, Vertex};
use crate::scene::material_pipeline::MaterialPipelineState;
use crate::scene::materials::{
    BoundTextures, GLOBALS, MESH_ATTRIBUTES, MaterialKind, MaterialType, ShaderState, VIEW,
};

/// First binding of a material's textures and samplers, after the image and the instances of `vertex.wgsl`, the rows,
/// time and view of `bevy/mesh2d_view_bindings.wgsl`, and the attributes of programs.
pub(crate) const FIRST_IMAGE: u32 = 7;

/// Indices of a material type and of its variant.
pub(crate) type VariantId = (u32, u32);

/// Pipelines of material types, by variant.
pub(crate) struct MaterialPipelines {
    mesh: GpuShader,
    node: GpuShader,
    variants: HashMap<VariantId, TypePipelines>,
    /// Pipelines of types with a material whose resources do not fit its shader.
    wrong: HashMap<u32, TypePipelines>,
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
            variants: HashMap::default(),
            wrong: HashMap::default(),
        })
    }

    /// Whether a variant has pipelines.
    pub(crate) fn contains(&self, id: VariantId) -> bool {
        self.variants.contains_key(&id)
    }

    /// Removes the pipelines of a variant.
    pub(crate) fn remove(&mut self, id: VariantId) {
        self.variants.remove(&id);
    }

    /// Adds the pipelines of a type's materials whose resources do not fit its shader, unless it has them.
    ///
    /// # Errors
    /// A pipeline cannot be created.
    pub(crate) fn add_wrong(
        &mut self,
        gpu: &GpuDevice,
        of_type: u32,
        kind: MaterialKind,
    ) -> Result<(), ShaderError> {
        if !self.wrong.contains_key(&of_type) {
            let default = self.default_of(kind);
            let vertices = Vertices::new(kind, None, default);
            let desc = MaterialPipelineState::default().desc;
            let pipelines = TypePipelines::new(gpu, vertices, default, (&desc, &[]))?;
            self.wrong.insert(of_type, pipelines);
        }
        Ok(())
    }

    fn default_of(&self, kind: MaterialKind) -> &GpuShader {
        match kind {
            MaterialKind::Mesh | MaterialKind::Sprite => &self.mesh,
            MaterialKind::Node => &self.node,
        }
    }

    /// Adds the pipelines of a variant, if its shaders are loaded.
    ///
    /// # Errors
    /// Returns the message for the user if no pipeline can be created from the shaders.
    pub(crate) fn add(
        &mut self,
        gpu: &GpuDevice,
        id: VariantId,
        known: &MaterialType,
        layout: &MaterialLayout,
    ) -> Result<(), String> {
        let default = self.default_of(known.kind);
        let variant = &known.variants[id.1 as usize];
        let fallback = MaterialPipelineState::default();
        let (vertex, fragment, desc) = match &variant.shader {
            ShaderState::Loading => return Ok(()),
            ShaderState::Failed => (None, default, &fallback),
            ShaderState::Translated {
                vertex, fragment, ..
            } => {
                if let Some(vertex) = vertex {
                    check_resources((vertex, ShaderStage::Vertex), known.kind, layout)?;
                }
                check_resources((fragment, ShaderStage::Fragment), known.kind, layout)?;
                check_material_output(fragment)?;
                (vertex.as_ref(), fragment, &variant.pipeline)
            }
        };
        let shaders: Vec<_> = vertex.into_iter().chain([fragment]).collect();
        let constants = desc.desc.constants(&shaders)?;
        let own = vertex.map(|vertex| (vertex, desc.vertex_layout()));
        let vertices = Vertices::new(known.kind, own, default);
        let pipelines = TypePipelines::new(gpu, vertices, fragment, (&desc.desc, &constants));
        let pipelines = pipelines.map_err(|error| error.to_string())?;
        self.variants.insert(id, pipelines);
        Ok(())
    }

    /// Returns the pipeline of a batch; `None` while its shader is loading.
    pub(crate) fn get(
        &self,
        bound: &BoundTextures,
        primitive: PrimitiveKind,
    ) -> Option<&GraphicsPipeline> {
        let TypePipelines(pipelines) = match bound.is_wrong {
            true => self.wrong.get(&bound.of_type)?,
            false => self.variants.get(&(bound.of_type, bound.variant))?,
        };
        let index = match primitive {
            PrimitiveKind::Points => 0,
            PrimitiveKind::Lines => 1,
            PrimitiveKind::Triangles => 2,
        };
        Some(&pipelines[usize::from(bound.blends)][index])
    }
}

/// Vertex shader of a material's pipelines, with the layouts of its vertex buffers.
struct Vertices<'a> {
    shader: (&'a GpuShader, &'static str),
    buffers: Vec<VertexLayout>,
}

impl<'a> Vertices<'a> {
    /// The material's own vertex shader, or the default of its kind.
    fn new(
        kind: MaterialKind,
        own: Option<(&'a GpuShader, VertexLayout)>,
        default: &'a GpuShader,
    ) -> Self {
        if let Some((own, vertices)) = own {
            let order = Instance::order_layout_at(MATERIAL_INSTANCE_LOCATION);
            return Self {
                shader: (own, MATERIAL_VERTEX),
                buffers: vec![vertices, order],
            };
        }
        let instances = match kind {
            MaterialKind::Mesh | MaterialKind::Sprite => Instance::order_layout(),
            MaterialKind::Node => NodeInstance::layout(),
        };
        Self {
            shader: (default, ""),
            buffers: vec![Vertex::layout(), instances],
        }
    }
}

impl TypePipelines {
    fn new(
        gpu: &GpuDevice,
        vertices: Vertices<'_>,
        fragment: &GpuShader,
        (desc, constants): (&RenderPipelineDescriptor, &[(String, Constant)]),
    ) -> Result<Self, ShaderError> {
        use PrimitiveTopology::{Lines, Points, Triangles};
        let entry = material_entry_point(fragment);
        let pipeline = |blend, topology| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                vertex_buffers: vertices.buffers.clone(),
                topology: desc.topology().unwrap_or(topology),
                blend: desc.blend().map_or(blend, blend_of),
                constants: constants.to_vec(),
                state: PipelineState {
                    polygon: desc.polygon(),
                    ..PipelineState::default()
                },
                ..GraphicsPipelineDesc::new("2d material", vertices.shader, (fragment, entry))
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

/// Checks the resources that a stage reads.
fn check_resources(
    (shader, stage): (&GpuShader, ShaderStage),
    kind: MaterialKind,
    layout: &MaterialLayout,
) -> Result<(), String> {
    let images = FIRST_IMAGE..FIRST_IMAGE + layout.bindings.len() as u32;
    let is_bound = |name: &str, number: u32| match name {
        MATERIAL_ROWS | GLOBALS => true,
        VIEW => kind != MaterialKind::Node,
        MESH_ATTRIBUTES => kind == MaterialKind::Mesh,
        "instances" => kind != MaterialKind::Node,
        "image" | "image_sampler" if number < 2 => kind == MaterialKind::Sprite,
        _ => images.contains(&number),
    };
    let entries = shader.entry_points().iter();
    for entry in entries.filter(|entry| entry.stage == stage) {
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
    Ok(())
}
