//! Decodes mesh attributes of all formats, including compressed ones, to floats.

use bevy_math::{Vec2, Vec3, Vec4};
use bevy_mesh::{
    Mesh, MeshVertexAttribute, VertexAttributeValues as Values, octahedral_decode_signed,
    octahedral_decode_tangent,
};

/// Returns the values of an attribute, if the mesh has it.
///
/// # Errors
/// The data was released after an upload.
pub fn attribute(mesh: &Mesh, attribute: MeshVertexAttribute) -> Result<Option<&Values>, String> {
    mesh.try_attribute_option(attribute)
        .map_err(|error| error.to_string())
}

/// Returns the positions of a mesh; `z` is 0 for two-component formats. Positions of [`Mesh::compress_positions`] are
/// decompressed by the mesh's bounds.
///
/// # Errors
/// The mesh has no positions, or their format is unsupported.
pub fn positions(mesh: &Mesh) -> Result<Vec<Vec3>, String> {
    let values = attribute(mesh, Mesh::ATTRIBUTE_POSITION)?.ok_or("it has no positions")?;
    let (count, numbers) = floats(values).unwrap_or_default();
    if count < 2 {
        return Err("its positions are not two or more floats".to_owned());
    }
    let bounds = match (values, mesh.final_aabb) {
        (Values::Snorm16x4(_), Some(bounds)) => bounds,
        _ => {
            return Ok(numbers
                .iter()
                .map(|&four| Vec4::from(four).truncate())
                .collect());
        }
    };
    let (least, most) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
    let (middle, half) = ((least + most) / 2.0, (most - least) / 2.0);
    let place = |&four: &[f32; 4]| middle + half * Vec4::from(four).truncate();
    Ok(numbers.iter().map(place).collect())
}

/// Returns the normals of a mesh, if it has any, unnormalized. Two-component formats are octahedral-encoded, as by
/// [`Mesh::compress_normals`].
///
/// # Errors
/// Returns an error if the attribute has another format.
pub fn normals(mesh: &Mesh) -> Result<Option<Vec<Vec3>>, String> {
    let Some(values) = attribute(mesh, Mesh::ATTRIBUTE_NORMAL)? else {
        return Ok(None);
    };
    match floats(values) {
        Some((2, numbers)) => {
            let way = |&[x, y, ..]: &[f32; 4]| octahedral_decode_signed(Vec2::new(x, y));
            Ok(Some(numbers.iter().map(way).collect()))
        }
        Some((3 | 4, numbers)) => {
            let way = |&four: &[f32; 4]| Vec4::from(four).truncate();
            Ok(Some(numbers.iter().map(way).collect()))
        }
        _ => Err("its normals are not two or three floats".to_owned()),
    }
}

/// Returns the tangents of a mesh, if it has any. Two-component formats are octahedral-encoded with the sign, as by
/// [`Mesh::compress_tangents`].
///
/// # Errors
/// Returns an error if the attribute has another format.
pub fn tangents(mesh: &Mesh) -> Result<Option<Vec<[f32; 4]>>, String> {
    let Some(values) = attribute(mesh, Mesh::ATTRIBUTE_TANGENT)? else {
        return Ok(None);
    };
    match floats(values) {
        Some((2, numbers)) => {
            let tangent = |&[x, y, ..]: &[f32; 4]| {
                let (way, sign) = octahedral_decode_tangent(Vec2::new(x, y));
                way.extend(sign).to_array()
            };
            Ok(Some(numbers.iter().map(tangent).collect()))
        }
        Some((4, numbers)) => Ok(Some(numbers)),
        _ => Err("its tangents are not two or four floats".to_owned()),
    }
}

/// Returns the first or second texture coordinates of a mesh, if it has any. Those of [`Mesh::compress_uv0`] and
/// [`Mesh::compress_uv1`] are decompressed by the mesh's range.
///
/// # Errors
/// Returns an error if the attribute has another format.
pub fn uvs(mesh: &Mesh, second: bool) -> Result<Option<Vec<Vec2>>, String> {
    let which = match second {
        false => Mesh::ATTRIBUTE_UV_0,
        true => Mesh::ATTRIBUTE_UV_1,
    };
    let Some(values) = attribute(mesh, which)? else {
        return Ok(None);
    };
    let Some((2, numbers)) = floats(values) else {
        return Err("its texture coordinates are not two floats".to_owned());
    };
    let (least, size) = match (values, mesh.final_uv_ranges[usize::from(second)]) {
        (Values::Unorm16x2(_), Some(range)) => (range.min, range.max - range.min),
        _ => (Vec2::ZERO, Vec2::ONE),
    };
    let uv = |&[u, v, ..]: &[f32; 4]| least + size * Vec2::new(u, v);
    Ok(Some(numbers.iter().map(uv).collect()))
}

/// Returns the linear vertex colors of a mesh, if it has any; alpha is 1 for three-component formats.
///
/// # Errors
/// Returns an error if the attribute has another format.
pub fn colors(mesh: &Mesh) -> Result<Option<Vec<[f32; 4]>>, String> {
    let Some(values) = attribute(mesh, Mesh::ATTRIBUTE_COLOR)? else {
        return Ok(None);
    };
    match floats(values) {
        Some((3 | 4, numbers)) => Ok(Some(numbers)),
        _ => Err("its colors are not three or four floats".to_owned()),
    }
}

/// Returns the number of components, and the values extended to four by (0, 0, 0, 1). `None` for unnormalized
/// integers.
pub fn floats(values: &Values) -> Option<(usize, Vec<[f32; 4]>)> {
    fn four<const N: usize, T: Copy>(
        values: &[[T; N]],
        float: impl Fn(T) -> f32,
    ) -> Option<(usize, Vec<[f32; 4]>)> {
        let one = |numbers: &[T; N]| {
            let mut four = [0.0, 0.0, 0.0, 1.0];
            for (place, &number) in four.iter_mut().zip(numbers) {
                *place = float(number);
            }
            four
        };
        Some((N, values.iter().map(one).collect()))
    }
    // Vulkan's conversions from normalized integers (section "Conversion From Normalized Fixed-Point to
    // Floating-Point").
    let unorm8 = |number: u8| f32::from(number) / 255.0;
    let unorm16 = |number: u16| f32::from(number) / 65535.0;
    let snorm8 = |number: i8| (f32::from(number) / 127.0).max(-1.0);
    let snorm16 = |number: i16| (f32::from(number) / 32767.0).max(-1.0);
    match values {
        Values::Float32x2(values) => four(values, |number| number),
        Values::Float32x3(values) => four(values, |number| number),
        Values::Float32x4(values) => four(values, |number| number),
        Values::Float16x2(values) => four(values, |number| number.to_f32()),
        Values::Float16x4(values) => four(values, |number| number.to_f32()),
        Values::Unorm8x2(values) => four(values, unorm8),
        Values::Unorm8x4(values) => four(values, unorm8),
        Values::Unorm16x2(values) => four(values, unorm16),
        Values::Unorm16x4(values) => four(values, unorm16),
        Values::Snorm8x2(values) => four(values, snorm8),
        Values::Snorm8x4(values) => four(values, snorm8),
        Values::Snorm16x2(values) => four(values, snorm16),
        Values::Snorm16x4(values) => four(values, snorm16),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
