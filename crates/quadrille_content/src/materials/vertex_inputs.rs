//! Vertex inputs of materials that replace those of all meshes.

use bevy_mesh::VertexBufferLayout;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::{VertexAttribute, VertexLayout};
use wgpu_types::VertexFormat;

use crate::materials::RenderPipelineDescriptor;
use crate::materials::shader::{PulledAttribute, PulledAttributes};
use crate::meshes::{MeshLayout, MeshVertex};

/// Vertex inputs of a material's own.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexInputs {
    /// Attributes in the vertex buffer.
    pub layout: VertexLayout,
    /// Attributes of programs.
    pulled: PulledAttributes,
}

impl VertexInputs {
    /// Takes the vertex buffers out of a descriptor, and returns the inputs that `specialize` has chosen from the layout of
    /// meshes with vertices of type `V`, whose buffer is `whole`. `None` if the buffers are still those of `before`.
    pub fn take<V: MeshVertex>(
        desc: &mut RenderPipelineDescriptor,
        before: &[VertexBufferLayout],
        layout: &MeshLayout,
        whole: VertexLayout,
    ) -> Option<Self> {
        let buffers = std::mem::take(&mut desc.vertex.buffers);
        if buffers == before {
            return None;
        }
        let mut inputs = Self {
            layout: VertexLayout {
                attributes: Vec::new(),
                ..whole
            },
            pulled: PulledAttributes {
                attributes: Vec::new(),
                stride: layout.own.stride,
            },
        };
        for attribute in buffers.iter().flat_map(|it| &it.attributes) {
            let (location, offset) = (attribute.shader_location, attribute.offset);
            let own_offset = |words: u32| size_of::<V>() as u64 + 4 * u64::from(words);
            let mut own = layout.own.attributes.iter();
            if let Some(own) = own.find(|it| own_offset(it.offset) == offset) {
                inputs.pulled.attributes.push(PulledAttribute {
                    location,
                    attribute: *own,
                });
            }
            let mut standard = V::ATTRIBUTES.iter();
            if let Some((_, format, _)) = standard.find(|it| it.2 == offset) {
                inputs.layout.attributes.push(VertexAttribute {
                    location,
                    format: match format {
                        VertexFormat::Float32x2 => Format::R32G32_SFLOAT,
                        VertexFormat::Float32x3 => Format::R32G32B32_SFLOAT,
                        _ => Format::R32G32B32A32_SFLOAT,
                    },
                    offset: offset as u32,
                });
            }
        }
        Some(inputs)
    }

    /// Attributes of programs that the vertex shader reads; `None` without any.
    pub fn pulled(&self) -> Option<&PulledAttributes> {
        (!self.pulled.attributes.is_empty()).then_some(&self.pulled)
    }
}
