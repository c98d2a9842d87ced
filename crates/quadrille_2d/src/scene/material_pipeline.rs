//! State of materials' pipelines after `specialize`.

use std::mem::offset_of;
use std::sync::LazyLock;

use bevy_mesh::{
    Mesh, MeshAttributeCompressionFlags, MeshVertexBufferLayout, MeshVertexBufferLayoutRef,
    VertexBufferLayout,
};
use bevy_platform::sync::Arc;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::{VertexAttribute, VertexLayout};
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{FragmentState, RenderPipelineDescriptor};
use wgpu_types::{ColorTargetState, TextureFormat, VertexFormat, VertexStepMode};

use crate::meshes::data::Vertex;

/// State of a material's pipelines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MaterialPipelineState {
    pub(crate) desc: RenderPipelineDescriptor,
}

/// Layout of the vertices of all 2D meshes, whatever attributes the mesh has.
static LAYOUT: LazyLock<MeshVertexBufferLayoutRef> = LazyLock::new(|| {
    let attribute = |format, offset: usize| wgpu_types::VertexAttribute {
        format,
        offset: offset as u64,
        shader_location: 0,
    };
    let ids = [
        Mesh::ATTRIBUTE_POSITION.id,
        Mesh::ATTRIBUTE_UV_0.id,
        Mesh::ATTRIBUTE_COLOR.id,
    ];
    let layout = VertexBufferLayout {
        array_stride: size_of::<Vertex>() as u64,
        step_mode: VertexStepMode::Vertex,
        attributes: vec![
            attribute(VertexFormat::Float32x3, offset_of!(Vertex, position)),
            attribute(VertexFormat::Float32x2, offset_of!(Vertex, uv)),
            attribute(VertexFormat::Float32x4, offset_of!(Vertex, color)),
        ],
    };
    let none = MeshAttributeCompressionFlags::empty();
    let layout = MeshVertexBufferLayout::new(ids.to_vec(), layout, none);
    MeshVertexBufferLayoutRef(Arc::new(layout))
});

/// Layout of the vertices of all 2D meshes.
pub(crate) fn mesh_layout() -> &'static MeshVertexBufferLayoutRef {
    &LAYOUT
}

impl Default for MaterialPipelineState {
    /// The state that `specialize` begins with.
    fn default() -> Self {
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
        let buffers = LAYOUT.0.get_layout(&attributes);
        desc.vertex.buffers = buffers.into_iter().collect();
        Self { desc }
    }
}

impl MaterialPipelineState {
    /// Vertex layout of the material's own vertex shader.
    pub(crate) fn vertex_layout(&self) -> VertexLayout {
        let attributes = self
            .desc
            .vertex
            .buffers
            .iter()
            .flat_map(|it| &it.attributes);
        let attributes = attributes.map(|attribute| VertexAttribute {
            location: attribute.shader_location,
            format: match attribute.format {
                VertexFormat::Float32x2 => Format::R32G32_SFLOAT,
                VertexFormat::Float32x3 => Format::R32G32B32_SFLOAT,
                _ => Format::R32G32B32A32_SFLOAT,
            },
            offset: attribute.offset as u32,
        });
        VertexLayout {
            attributes: attributes.collect(),
            ..Vertex::layout()
        }
    }

    /// Shader defs of the fragment shader.
    pub(crate) fn fragment_defs(&self) -> &[ShaderDefVal] {
        let fragment = self.desc.fragment.as_ref();
        fragment.map_or(&[], |fragment| &fragment.shader_defs)
    }
}
