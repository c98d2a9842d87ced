//! State of materials' pipelines after `specialize`.

use bevy_mesh::{Mesh, MeshVertexAttribute, VertexBufferLayout};
use quadrille::vulkan::pipeline::VertexLayout;
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    FragmentState, PulledAttributes, RenderPipelineDescriptor, VertexInputs, VertexState,
};
use quadrille_content::meshes::MeshLayout;
use wgpu_types::{
    ColorTargetState, CompareFunction, DepthStencilState, Face, FrontFace, PrimitiveState,
    TextureFormat,
};

use crate::pipelines::custom::FixedState;
use crate::scene::keys::CullMode;
use crate::tables::mesh_vertex::{MaterialLocations, Vertex};

/// State of a material's pipelines for meshes of one layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MaterialPipelineState {
    /// Without its vertex buffers, which differ between layouts of one state.
    desc: RenderPipelineDescriptor,
    /// Vertex inputs, where `specialize` replaced those of all meshes.
    inputs: Option<VertexInputs>,
}

/// Attributes of meshes with bevy's locations and shader defs.
const ATTRIBUTES: [(MeshVertexAttribute, u32, &[&str]); 6] = [
    (Mesh::ATTRIBUTE_POSITION, 0, &["VERTEX_POSITIONS"]),
    (Mesh::ATTRIBUTE_NORMAL, 1, &["VERTEX_NORMALS"]),
    (Mesh::ATTRIBUTE_UV_0, 2, &["VERTEX_UVS", "VERTEX_UVS_A"]),
    (Mesh::ATTRIBUTE_UV_1, 3, &["VERTEX_UVS", "VERTEX_UVS_B"]),
    (Mesh::ATTRIBUTE_TANGENT, 4, &["VERTEX_TANGENTS"]),
    (Mesh::ATTRIBUTE_COLOR, 5, &["VERTEX_COLORS"]),
];

/// The state that `specialize` begins with.
pub(crate) fn default_descriptor(
    layout: &MeshLayout,
    cull_mode: Option<Face>,
) -> RenderPipelineDescriptor {
    let of_mesh = &layout.reference.0;
    let present = ATTRIBUTES.iter().filter(|it| of_mesh.contains(it.0));
    let mut shader_defs: Vec<ShaderDefVal> = Vec::new();
    for &name in present.clone().flat_map(|it| it.2) {
        if !shader_defs.iter().any(|def| def.name() == name) {
            shader_defs.push(name.into());
        }
    }
    let attributes: Vec<_> = present
        .map(|(attribute, location, _)| attribute.at_shader_location(*location))
        .collect();
    RenderPipelineDescriptor {
        vertex: VertexState {
            shader_defs: shader_defs.clone(),
            buffers: of_mesh.get_layout(&attributes).into_iter().collect(),
            ..VertexState::default()
        },
        primitive: PrimitiveState {
            cull_mode,
            ..PrimitiveState::default()
        },
        depth_stencil: Some(DepthStencilState {
            format: TextureFormat::Depth32Float,
            depth_write_enabled: None,
            depth_compare: Some(CompareFunction::GreaterEqual),
            stencil: wgpu_types::StencilState::default(),
            bias: wgpu_types::DepthBiasState::default(),
        }),
        fragment: Some(FragmentState {
            shader_defs,
            targets: vec![Some(ColorTargetState::from(TextureFormat::Rgba16Float))],
            ..FragmentState::default()
        }),
    }
}

impl MaterialPipelineState {
    /// The state of a descriptor that `specialize` has changed, and that had these vertex buffers before.
    pub(crate) fn new(
        mut desc: RenderPipelineDescriptor,
        before: &[VertexBufferLayout],
        layout: &MeshLayout,
    ) -> Self {
        let inputs = VertexInputs::take::<Vertex>(&mut desc, before, layout, Vertex::layout());
        Self { desc, inputs }
    }

    pub(crate) fn desc(&self) -> &RenderPipelineDescriptor {
        &self.desc
    }

    pub(crate) fn vertex_defs(&self) -> &[ShaderDefVal] {
        &self.desc.vertex.shader_defs
    }

    pub(crate) fn fragment_defs(&self) -> &[ShaderDefVal] {
        let fragment = self.desc.fragment.as_ref();
        fragment.map_or(&[], |fragment| &fragment.shader_defs)
    }

    /// Attributes in the vertex buffer of a vertex shader of the material (`is_own`), or of all meshes.
    pub(crate) fn vertex_layout(&self, is_own: bool, locations: MaterialLocations) -> VertexLayout {
        match self.inputs.as_ref().filter(|_| is_own) {
            Some(inputs) => inputs.layout.clone(),
            None => locations.layout(),
        }
    }

    /// Attributes of programs that a vertex shader of the material reads.
    pub(crate) fn pulled(&self) -> Option<&PulledAttributes> {
        self.inputs.as_ref()?.pulled()
    }

    /// Culled faces.
    pub(crate) fn cull(&self) -> CullMode {
        let PrimitiveState {
            cull_mode,
            front_face,
            ..
        } = self.desc.primitive;
        let culled = match (cull_mode, front_face) {
            (Some(Face::Back), FrontFace::Cw) => Some(Face::Front),
            (Some(Face::Front), FrontFace::Cw) => Some(Face::Back),
            (face, _) => face,
        };
        CullMode::new(culled)
    }

    /// The state by Vulkan's names.
    pub(crate) fn fixed_state(&self) -> FixedState {
        let (compare, depth_write) = self.desc.depth();
        FixedState {
            topology: self.desc.topology(),
            polygon: self.desc.polygon(),
            depth_compare: Some(compare),
            depth_write,
            blend: self.desc.blend(),
        }
    }
}

#[cfg(test)]
mod tests;
