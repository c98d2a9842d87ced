//! Validation of accessors, and the size of loaded geometry.

use bevy_gltf::gltf::Semantic;
use bevy_gltf::gltf::json::accessor::{Accessor, ComponentType};
use bevy_gltf::gltf::json::mesh::{Mode, Primitive};
use bevy_gltf::gltf::json::validation::Checked;
use bevy_gltf::gltf::json::{Index, Root};

use super::buffers::Buffers;

/// Bytes per vertex of a morph target (`MorphAttributes`).
const MORPH_BYTES: u64 = 48;
/// Bytes per element of a mesh attribute: four floats.
const ATTRIBUTE_BYTES: u64 = 16;

/// Checks all views and accessors against the buffers.
pub(super) fn check(root: &Root, buffers: &Buffers<'_>) -> Result<(), String> {
    for (index, view) in root.buffer_views.iter().enumerate() {
        if buffers.view(view).is_none() {
            return Err(format!(
                "view {index} has {} bytes from byte {} on, which buffer {} does not have",
                view.byte_length.0,
                view.byte_offset.unwrap_or_default().0,
                view.buffer.value()
            ));
        }
    }
    for (index, accessor) in root.accessors.iter().enumerate() {
        check_accessor(root, accessor).map_err(|problem| {
            let count = accessor.count.0;
            format!("accessor {index} of {count} elements {problem}")
        })?;
    }
    Ok(())
}

fn check_accessor(root: &Root, accessor: &Accessor) -> Result<(), String> {
    let (Checked::Valid(component), Checked::Valid(kind)) =
        (&accessor.component_type, &accessor.type_)
    else {
        return Err("has a type that glTF does not know".to_owned());
    };
    let size = (component.0.size() * kind.multiplicity()) as u64;
    if let Some(view) = accessor.buffer_view {
        let offset = accessor.byte_offset.unwrap_or_default().0;
        within(root, view, offset, accessor.count.0, size)?;
    }
    let Some(sparse) = &accessor.sparse else {
        return Ok(());
    };
    let (count, all) = (sparse.count.0, accessor.count.0);
    if count == 0 || count > all {
        return Err(format!("replaces {count} of them"));
    }
    let Checked::Valid(index) = &sparse.indices.component_type else {
        return Err("has sparse indices of a type that glTF does not know".to_owned());
    };
    let indices = &sparse.indices;
    let index_size = index.0.size() as u64;
    within(
        root,
        indices.buffer_view,
        indices.byte_offset.0,
        count,
        index_size,
    )?;
    let values = &sparse.values;
    within(root, values.buffer_view, values.byte_offset.0, count, size)
}

/// Checks that elements lie within a view.
fn within(
    root: &Root,
    view: Index<bevy_gltf::gltf::json::buffer::View>,
    offset: u64,
    count: u64,
    size: u64,
) -> Result<(), String> {
    let index = view.value();
    let Some(view) = root.buffer_views.get(index) else {
        return Err(format!("is in view {index}, and there is none"));
    };
    let stride = view.byte_stride.map_or(size, |stride| stride.0 as u64);
    let last = count.saturating_sub(1).checked_mul(stride);
    let end = last.and_then(|it| it.checked_add(offset)?.checked_add(size));
    if end.is_none_or(|end| end > view.byte_length.0) {
        let bytes = view.byte_length.0;
        return Err(format!("goes beyond the {bytes} bytes of view {index}"));
    }
    Ok(())
}

/// Bytes of loaded meshes, skins and animations. Accessors count once per use, because each use is a copy.
pub(super) fn loaded_bytes(root: &Root) -> u64 {
    let primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let meshes = primitives.map(|it| primitive_bytes(root, it));
    let channels = root.animations.iter().flat_map(|animation| {
        let channels = animation.channels.iter();
        channels.filter_map(|it| animation.samplers.get(it.sampler.value()))
    });
    let animations = channels.map(|sampler| {
        count(root, sampler.input)
            .saturating_mul(4)
            .saturating_add(count(root, sampler.output).saturating_mul(ATTRIBUTE_BYTES))
    });
    let skins = root.skins.iter().map(|skin| {
        let matrices = skin.inverse_bind_matrices.map_or(0, |it| count(root, it));
        matrices
            .saturating_mul(64)
            .saturating_add(32 * skin.joints.len() as u64)
    });
    let all = meshes.chain(animations).chain(skins);
    all.fold(0, u64::saturating_add)
}

fn primitive_bytes(root: &Root, primitive: &Primitive) -> u64 {
    let attributes = primitive.attributes.values();
    let largest = attributes.clone().map(|&it| count(root, it)).max();
    let normals = Checked::Valid(Semantic::Normals);
    let is_flat = !primitive.attributes.contains_key(&normals)
        && !matches!(primitive.mode, Checked::Valid(Mode::Points | Mode::Lines));
    let indices = primitive.indices.map_or(0, |it| count(root, it));
    // Without normals, bevy duplicates vertices per triangle; strips and fans yield three per index.
    let vertices = match primitive.mode {
        _ if !is_flat => largest.unwrap_or(0),
        Checked::Valid(Mode::Triangles) => largest.unwrap_or(0).max(indices),
        _ => largest.unwrap_or(0).max(indices).saturating_mul(3),
    };
    let targets = primitive.targets.as_ref().map_or(0, Vec::len) as u64;
    let kinds = primitive.attributes.len() as u64 + u64::from(is_flat);
    let vertex = kinds * ATTRIBUTE_BYTES + targets * MORPH_BYTES;
    vertices
        .saturating_mul(vertex)
        .saturating_add(indices.saturating_mul(12))
}

/// Element count of an accessor.
fn count(root: &Root, accessor: Index<Accessor>) -> u64 {
    let accessor = root.accessors.get(accessor.value());
    accessor.map_or(0, |it| it.count.0)
}

/// Whether the components of an accessor are floats.
pub(super) fn is_float(accessor: &bevy_gltf::gltf::Accessor<'_>) -> bool {
    accessor.data_type() == ComponentType::F32
}

#[cfg(test)]
mod tests;
