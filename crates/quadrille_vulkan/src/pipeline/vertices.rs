//! Validation of vertex buffer layouts.

use ash::vk;

use super::state::{VertexAttribute, VertexLayout};
use crate::device::Device;
use crate::resources::format::{component_bytes, properties};

/// Guaranteed minimum of `maxVertexInputBindings`.
pub(crate) const MAX_BUFFERS: u32 = 16;

/// Required alignment of the offset of a vertex buffer, in bytes.
pub(super) fn alignment(layout: &VertexLayout) -> u32 {
    let formats = layout.attributes.iter().map(|attribute| attribute.format);
    formats.map(component_bytes).max().unwrap_or(1)
}

/// Describes why layouts are invalid (section "Vertex Input Description", the valid usage of
/// `VkVertexInputBindingDescription` and `VkVertexInputAttributeDescription`).
pub(super) fn problem(device: &Device, layouts: &[VertexLayout]) -> Option<String> {
    let limits = &device.limits;
    let most = limits.max_vertex_input_bindings.min(MAX_BUFFERS) as usize;
    if layouts.len() > most {
        let count = layouts.len();
        return Some(format!(
            "it has {count} vertex buffers; the device allows {most}"
        ));
    }
    let most = limits.max_vertex_input_binding_stride;
    if let Some(layout) = layouts.iter().find(|layout| layout.stride > most) {
        let stride = layout.stride;
        return Some(format!(
            "a vertex buffer has a stride of {stride} bytes; the device allows {most}"
        ));
    }
    if let Some(problem) = layouts.iter().find_map(alignment_problem) {
        return Some(problem);
    }
    let attributes = layouts.iter().flat_map(|layout| &layout.attributes);
    let attributes: Vec<_> = attributes.collect();
    let twice = attributes.iter().enumerate().find(|(at, attribute)| {
        let mut before = attributes[..*at].iter();
        before.any(|earlier| earlier.location == attribute.location)
    });
    if let Some((_, attribute)) = twice {
        let location = attribute.location;
        return Some(format!("two vertex attributes have location {location}"));
    }
    let mut attributes = attributes.into_iter();
    attributes.find_map(|attribute| attribute_problem(device, attribute))
}

/// Describes an attribute whose components are not aligned to their size (`vkCmdDraw`, VUID 10389 and 10390).
fn alignment_problem(layout: &VertexLayout) -> Option<String> {
    let stride = layout.stride;
    layout.attributes.iter().find_map(|attribute| {
        let (format, offset) = (attribute.format, attribute.offset);
        let bytes = component_bytes(format);
        let is_aligned = stride.is_multiple_of(bytes) && offset.is_multiple_of(bytes);
        (!is_aligned).then(|| {
            format!(
                "a vertex attribute of {format:?} has an offset of {offset} bytes and a stride of \
                 {stride}; both must be multiples of {bytes}"
            )
        })
    })
}

fn attribute_problem(device: &Device, attribute: &VertexAttribute) -> Option<String> {
    let limits = &device.limits;
    let VertexAttribute {
        location,
        format,
        offset,
    } = *attribute;
    let most = limits.max_vertex_input_attributes;
    if location >= most {
        return Some(format!(
            "a vertex attribute has location {location}; the device has those below {most}"
        ));
    }
    let most = limits.max_vertex_input_attribute_offset;
    if offset > most {
        return Some(format!(
            "the vertex attribute at location {location} has an offset of {offset} bytes; the \
             device allows {most}"
        ));
    }
    let properties = properties(device, format);
    let is_vertex = vk::FormatFeatureFlags::VERTEX_BUFFER;
    (!properties.buffer_features.contains(is_vertex)).then(|| {
        format!("the device reads no vertex attributes of {format:?}, as at location {location}")
    })
}
