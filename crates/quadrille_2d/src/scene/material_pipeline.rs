//! State of materials' pipelines after `specialize`.

use bevy_mesh::{Mesh, VertexBufferLayout};
use quadrille::vulkan::pipeline::VertexLayout;
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    FragmentState, PulledAttributes, RenderPipelineDescriptor, VertexInputs,
};
use quadrille_content::meshes::MeshLayout;
use wgpu_types::{ColorTargetState, TextureFormat};

use crate::meshes::data::Vertex;

/// State of a material's pipelines for meshes of one layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MaterialPipelineState {
    /// Without its vertex buffers, which differ between layouts of one state.
    pub(crate) desc: RenderPipelineDescriptor,
    /// Vertex inputs, where `specialize` replaced those of all meshes.
    inputs: Option<VertexInputs>,
}

/// The state that `specialize` begins with. Meshes of any attributes have the positions, texture coordinates and colors of
/// [`Vertex`].
pub(crate) fn default_descriptor(layout: &MeshLayout) -> RenderPipelineDescriptor {
    let attributes = [
        Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
        Mesh::ATTRIBUTE_UV_0.at_shader_location(2),
        Mesh::ATTRIBUTE_COLOR.at_shader_location(4),
    ];
    let mut desc = RenderPipelineDescriptor {
        fragment: Some(FragmentState {
            targets: vec![Some(ColorTargetState::from(TextureFormat::Rgba16Float))],
            ..FragmentState::default()
        }),
        ..RenderPipelineDescriptor::default()
    };
    let buffers = layout.reference.0.get_layout(&attributes);
    desc.vertex.buffers = buffers.into_iter().collect();
    desc
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

    /// Vertex layout of the material's own vertex shader.
    pub(crate) fn vertex_layout(&self) -> VertexLayout {
        match &self.inputs {
            Some(inputs) => inputs.layout.clone(),
            None => Vertex::material_layout(),
        }
    }

    /// Attributes of programs that a vertex shader of the material reads.
    pub(crate) fn pulled(&self) -> Option<&PulledAttributes> {
        self.inputs.as_ref()?.pulled()
    }

    /// Shader defs of the fragment shader.
    pub(crate) fn fragment_defs(&self) -> &[ShaderDefVal] {
        let fragment = self.desc.fragment.as_ref();
        fragment.map_or(&[], |fragment| &fragment.shader_defs)
    }
}
