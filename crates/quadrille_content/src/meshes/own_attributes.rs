//! Vertex attributes of programs, beside those that the vertices of 2D and 3D have.

use crate::meshes::data::VertexAttributes;
use bevy_mesh::{
    Mesh, MeshAttributeCompressionFlags, MeshVertexAttribute, MeshVertexAttributeId,
    MeshVertexBufferLayout, VertexBufferLayout,
};
use wgpu_types::{VertexAttribute, VertexFormat, VertexStepMode};

/// Attributes by bevy's names, of which renderers read what they know.
const STANDARD: [MeshVertexAttribute; 8] = [
    Mesh::ATTRIBUTE_POSITION,
    Mesh::ATTRIBUTE_NORMAL,
    Mesh::ATTRIBUTE_UV_0,
    Mesh::ATTRIBUTE_UV_1,
    Mesh::ATTRIBUTE_TANGENT,
    Mesh::ATTRIBUTE_COLOR,
    Mesh::ATTRIBUTE_JOINT_WEIGHT,
    Mesh::ATTRIBUTE_JOINT_INDEX,
];

/// Type of an attribute's components in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeScalar {
    /// `f32`.
    Float,
    /// `u32`.
    Uint,
    /// `i32`.
    Sint,
}

/// An attribute of a program in the words of a vertex: 32 bits for each component, whatever the format in the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnAttribute {
    /// The attribute.
    pub attribute: MeshVertexAttribute,
    /// Type of its components.
    pub scalar: AttributeScalar,
    /// Number of its components.
    pub components: u32,
    /// Its first word.
    pub offset: u32,
}

/// Attributes of one mesh that are not bevy's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnAttributes {
    /// All of them, by their ids.
    pub attributes: Vec<OwnAttribute>,
    /// Words of a vertex.
    pub stride: u32,
}

/// Reads one component from its bytes as a word.
type ReadWord = fn(&[u8]) -> u32;

/// Component type, number of components, their bytes in meshes, and the conversion; `None` for formats that cannot be read.
///
/// Normalized integers become floats by Vulkan's rules (section "Conversion From Normalized Fixed-Point to Floating-Point").
fn decode(format: VertexFormat) -> Option<(AttributeScalar, u32, usize, ReadWord)> {
    use AttributeScalar::{Float, Sint, Uint};
    use VertexFormat as F;
    let word: ReadWord = |it| u32::from_ne_bytes([it[0], it[1], it[2], it[3]]);
    let (scalar, bytes, read): (_, _, ReadWord) = match format {
        F::Float32 | F::Float32x2 | F::Float32x3 | F::Float32x4 => (Float, 4, word),
        F::Uint32 | F::Uint32x2 | F::Uint32x3 | F::Uint32x4 => (Uint, 4, word),
        F::Sint32 | F::Sint32x2 | F::Sint32x3 | F::Sint32x4 => (Sint, 4, word),
        F::Float16 | F::Float16x2 | F::Float16x4 => (Float, 2, |it| half(two(it)).to_bits()),
        F::Unorm16 | F::Unorm16x2 | F::Unorm16x4 => {
            (Float, 2, |it| (f32::from(two(it)) / 65535.0).to_bits())
        }
        F::Snorm16 | F::Snorm16x2 | F::Snorm16x4 => (Float, 2, |it| {
            (f32::from(two(it) as i16) / 32767.0).max(-1.0).to_bits()
        }),
        F::Uint16 | F::Uint16x2 | F::Uint16x4 => (Uint, 2, |it| two(it).into()),
        F::Sint16 | F::Sint16x2 | F::Sint16x4 => (Sint, 2, |it| i32::from(two(it) as i16) as u32),
        F::Unorm8 | F::Unorm8x2 | F::Unorm8x4 => {
            (Float, 1, |it| (f32::from(it[0]) / 255.0).to_bits())
        }
        F::Snorm8 | F::Snorm8x2 | F::Snorm8x4 => (Float, 1, |it| {
            (f32::from(it[0] as i8) / 127.0).max(-1.0).to_bits()
        }),
        F::Uint8 | F::Uint8x2 | F::Uint8x4 => (Uint, 1, |it| it[0].into()),
        F::Sint8 | F::Sint8x2 | F::Sint8x4 => (Sint, 1, |it| i32::from(it[0] as i8) as u32),
        _ => return None,
    };
    let components = format.size() / bytes as u64;
    Some((scalar, components as u32, bytes, read))
}

fn two(bytes: &[u8]) -> u16 {
    u16::from_ne_bytes([bytes[0], bytes[1]])
}

/// Value of a half float (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, f32::from(bits & 1023));
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    sign * match exponent {
        0 => fraction * (-24.0_f32).exp2(),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * (f32::from(exponent) - 15.0).exp2(),
    }
}

impl OwnAttributes {
    /// Lays out the attributes of a mesh; none if its data was released. Attributes of 64 bits, with packed components or
    /// with blue first are left out.
    pub fn of(mesh: &Mesh) -> Self {
        let mut own = Self::default();
        let Ok(attributes) = mesh.try_attributes() else {
            return own;
        };
        for (attribute, values) in attributes {
            let format = VertexFormat::from(values);
            // Programs may take an id of bevy's with another format.
            let is_standard =
                |it: &MeshVertexAttribute| (it.id, it.format) == (attribute.id, attribute.format);
            if STANDARD.iter().any(is_standard) {
                continue;
            }
            let Some((scalar, components, ..)) = decode(format) else {
                continue;
            };
            own.attributes.push(OwnAttribute {
                attribute: *attribute,
                scalar,
                components,
                offset: own.stride,
            });
            own.stride += components;
        }
        own
    }

    /// Reads the values of all vertices. Vertices that an attribute lacks are zeros.
    pub fn read(&self, mesh: &Mesh) -> Vec<u32> {
        if self.stride == 0 {
            return Vec::new();
        }
        let mut words = vec![0; mesh.count_vertices() * self.stride as usize];
        for own in &self.attributes {
            let values = mesh.try_attribute_option(own.attribute).ok().flatten();
            let Some(values) = values else {
                continue;
            };
            let Some((_, components, bytes, read)) = decode(VertexFormat::from(values)) else {
                continue;
            };
            let vertices = values.get_bytes().chunks_exact(bytes * components as usize);
            for (vertex, place) in vertices.zip(words.chunks_exact_mut(self.stride as usize)) {
                let places = &mut place[own.offset as usize..];
                for (value, place) in vertex.chunks_exact(bytes).zip(places) {
                    *place = read(value);
                }
            }
        }
        words
    }

    /// The layout that `specialize` of a material gets: `standard` has the attributes that a renderer's vertices have, of which
    /// those that `has` accepts are in the layout. Words of attributes of programs follow at `stride`.
    pub fn buffer_layout(
        &self,
        has: impl Fn(&MeshVertexAttribute) -> bool,
        standard: VertexAttributes,
        stride: u64,
    ) -> MeshVertexBufferLayout {
        let known = standard.iter().filter(|(attribute, ..)| has(attribute));
        let known = known.map(|&(attribute, format, offset)| (attribute.id, format, offset));
        let own = self.attributes.iter().map(|own| {
            let offset = stride + 4 * u64::from(own.offset);
            (own.attribute.id, own.attribute.format, offset)
        });
        let (ids, attributes): (Vec<MeshVertexAttributeId>, Vec<_>) = known
            .chain(own)
            .enumerate()
            .map(|(location, (id, format, offset))| {
                let attribute = VertexAttribute {
                    format,
                    offset,
                    shader_location: location as u32,
                };
                (id, attribute)
            })
            .unzip();
        let layout = VertexBufferLayout {
            array_stride: stride + 4 * u64::from(self.stride),
            step_mode: VertexStepMode::Vertex,
            attributes,
        };
        MeshVertexBufferLayout::new(ids, layout, MeshAttributeCompressionFlags::empty())
    }
}

#[cfg(test)]
mod tests;
