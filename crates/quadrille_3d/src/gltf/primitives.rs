//! Primitives that bevy_gltf 0.20 does not read as specified: triangle fans, line loops, quantized attributes
//! (KHR_mesh_quantization), a second set of joints, morph targets of meshes without normals, and out-of-range
//! indices of such meshes, on which it panics.

use bevy_asset::RenderAssetUsages;
use bevy_gltf::gltf::accessor::{DataType, Dimensions, Item, Iter};
use bevy_gltf::gltf::mesh::Mode;
use bevy_gltf::gltf::{self, Accessor, Primitive, Semantic, json};
use bevy_gltf::vertex_attributes::convert_attribute;
use bevy_math::Vec3;
use bevy_mesh::morph::MorphAttributes;
use bevy_mesh::{
    Indices, Mesh, MeshVertexAttribute, PrimitiveTopology, VertexAttributeValues as Values,
};
use bevy_platform::collections::HashMap;

use super::geometry::is_float;

/// Joint indices and weights per vertex, four each.
type JointsAndWeights = (Vec<[u16; 4]>, Vec<[f32; 4]>);

/// Inputs for reading a primitive.
pub(super) struct Source<'a> {
    pub buffers: &'a [Vec<u8>],
    pub custom: &'a HashMap<Box<str>, MeshVertexAttribute>,
    pub usages: RenderAssetUsages,
    /// Whether the forward axis is converted to -z.
    pub rotates: bool,
    /// Whether the file uses `KHR_mesh_quantization`, without which integer attributes are invalid.
    pub is_quantized: bool,
    /// Whether a node with a skin uses the mesh.
    pub is_skinned: bool,
}

/// Returns the mesh of a primitive that bevy_gltf does not read as specified; `None` for all others.
///
/// # Errors
/// The primitive is invalid, and is left to bevy_gltf.
pub(super) fn read(
    source: &Source<'_>,
    mesh: &gltf::Mesh<'_>,
    primitive: &Primitive<'_>,
) -> Result<Option<Mesh>, String> {
    let positions = primitive.get(&Semantic::Positions);
    let Some(positions) = positions.filter(|_| needs_conversion(source, primitive)) else {
        return Ok(None);
    };
    let count = positions.count();
    let list = source.triangles(primitive, count)?;
    let (topology, indices) = match list {
        Some(list) => list,
        None => (topology(primitive.mode())?, None),
    };
    let mut made = Mesh::new(topology, source.usages);
    for (semantic, accessor) in primitive.attributes() {
        // bevy has one set of joints; both are merged below.
        let is_joint = matches!(semantic, Semantic::Joints(_) | Semantic::Weights(_));
        if !is_joint && let Some((attribute, values)) = source.attribute(&semantic, &accessor)? {
            made.insert_attribute(attribute, values);
        }
    }
    if let Some((joints, weights)) = source.joints(primitive)? {
        made.insert_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, Values::Uint16x4(joints));
        made.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
    }
    let mut targets = source.targets(primitive, count)?;
    if let Some(indices) = indices {
        let is_flat = topology == PrimitiveTopology::TriangleList
            && made.attribute(Mesh::ATTRIBUTE_NORMAL).is_none();
        if is_flat {
            let of_target = |target: &[MorphAttributes]| -> Vec<MorphAttributes> {
                indices.iter().map(|&at| target[at as usize]).collect()
            };
            targets = targets.chunks(count).flat_map(of_target).collect();
        }
        made.insert_indices(Indices::U32(indices));
        if is_flat {
            made.duplicate_vertices();
            made.compute_flat_normals();
        }
    }
    if !targets.is_empty() {
        made.set_morph_targets(targets);
        if let Some(names) = target_names(mesh) {
            made.set_morph_target_names(names);
        }
    }
    Ok(Some(made))
}

fn topology(mode: Mode) -> Result<PrimitiveTopology, String> {
    Ok(match mode {
        Mode::Points => PrimitiveTopology::PointList,
        Mode::Lines => PrimitiveTopology::LineList,
        Mode::LineStrip => PrimitiveTopology::LineStrip,
        Mode::Triangles => PrimitiveTopology::TriangleList,
        Mode::TriangleStrip => PrimitiveTopology::TriangleStrip,
        Mode::LineLoop | Mode::TriangleFan => return Err(format!("{mode:?} is not a list")),
    })
}

/// Whether bevy_gltf does not read a primitive as specified.
fn needs_conversion(source: &Source<'_>, primitive: &Primitive<'_>) -> bool {
    let attribute = |semantic| primitive.get(&semantic);
    let is_quantized = |accessor: &Accessor<'_>| source.is_quantized && !is_float(accessor);
    let coordinates = [Semantic::TexCoords(0), Semantic::TexCoords(1)];
    let is_coarse = |it: &Accessor<'_>| {
        // bevy_gltf reads normalized unsigned coordinates, which glTF allows without the extension.
        let is_plain = it.normalized() && matches!(it.data_type(), DataType::U8 | DataType::U16);
        is_quantized(it) && !is_plain
    };
    let quantized = [Semantic::Positions, Semantic::Normals, Semantic::Tangents];
    let has_normals = attribute(Semantic::Normals).is_some();
    matches!(primitive.mode(), Mode::LineLoop | Mode::TriangleFan)
        || quantized
            .into_iter()
            .filter_map(attribute)
            .any(|it| is_quantized(&it))
        || coordinates
            .into_iter()
            .filter_map(attribute)
            .any(|it| is_coarse(&it))
        || primitive.morph_targets().any(|target| {
            let parts = [target.positions(), target.normals(), target.tangents()];
            parts.into_iter().flatten().any(|it| is_quantized(&it))
        })
        || (source.is_skinned && attribute(Semantic::Joints(1)).is_some())
        || (primitive.mode() == Mode::Triangles
            && !has_normals
            && (primitive.morph_targets().len() > 0 || source.has_wrong_indices(primitive)))
}

/// Names of morph targets, by the convention of `extras.targetNames`.
fn target_names(mesh: &gltf::Mesh<'_>) -> Option<Vec<String>> {
    let extras: json::Value = json::deserialize::from_str(mesh.extras().as_ref()?.get()).ok()?;
    let names = extras.get("targetNames")?.as_array()?.iter();
    names.map(|it| it.as_str().map(ToOwned::to_owned)).collect()
}

/// A topology, and the indices of its vertices.
type TopologyAndIndices = (PrimitiveTopology, Option<Vec<u32>>);

impl<'s> Source<'s> {
    fn buffer(&self, buffer: &gltf::Buffer<'_>) -> Option<&'s [u8]> {
        self.buffers.get(buffer.index()).map(Vec::as_slice)
    }

    fn indices(&self, primitive: &Primitive<'_>) -> Option<Vec<u32>> {
        let reader = primitive.reader(|buffer| self.buffer(&buffer));
        reader.read_indices().map(|it| it.into_u32().collect())
    }

    fn has_wrong_indices(&self, primitive: &Primitive<'_>) -> bool {
        let count = primitive
            .get(&Semantic::Positions)
            .map_or(0, |it| it.count());
        let indices = self.indices(primitive);
        indices.is_some_and(|it| it.iter().any(|&at| at as usize >= count))
    }

    /// Converts loops and fans to lists, and removes triangles with out-of-range indices; `None` if nothing changes.
    fn triangles(
        &self,
        primitive: &Primitive<'_>,
        count: usize,
    ) -> Result<Option<TopologyAndIndices>, String> {
        let indices = self.indices(primitive);
        if primitive.indices().is_some() && indices.is_none() {
            return Err("its indices cannot be read".to_owned());
        }
        let vertices = u32::try_from(count).map_err(|_| "it has too many vertices".to_owned())?;
        let all = indices.unwrap_or_else(|| (0..vertices).collect());
        let is_there = |corners: &[u32]| corners.iter().all(|&at| at < vertices);
        Ok(Some(match primitive.mode() {
            Mode::Triangles => {
                let corners = all.as_chunks::<3>().0.iter();
                let valid = corners.filter(|it| is_there(&it[..]));
                (
                    PrimitiveTopology::TriangleList,
                    Some(valid.flatten().copied().collect()),
                )
            }
            // glTF specification, section 3.7.2.1: the first vertex is the last of each triangle.
            Mode::TriangleFan => {
                let rest = all.iter().skip(1).zip(all.iter().skip(2));
                let corners = rest.map(|(&second, &third)| [second, third, all[0]]);
                let valid = corners.filter(|it| is_there(it));
                (
                    PrimitiveTopology::TriangleList,
                    Some(valid.flatten().collect()),
                )
            }
            Mode::LineLoop => {
                let next = all.iter().skip(1).chain(all.first());
                let ends = all.iter().zip(next).map(|(&from, &to)| [from, to]);
                let valid = ends.filter(|it| is_there(it));
                (PrimitiveTopology::LineList, Some(valid.flatten().collect()))
            }
            mode if primitive.indices().is_some() => (topology(mode)?, Some(all)),
            _ => return Ok(None),
        }))
    }

    /// Reads an attribute other than joints and weights in bevy's format.
    fn attribute(
        &self,
        semantic: &Semantic,
        accessor: &Accessor<'_>,
    ) -> Result<Option<(MeshVertexAttribute, Values)>, String> {
        Ok(Some(match semantic {
            Semantic::Positions => {
                let positions = self.rotated(self.vectors::<3>(accessor)?);
                (Mesh::ATTRIBUTE_POSITION, Values::Float32x3(positions))
            }
            Semantic::Normals => {
                let normals = self.rotated(self.vectors::<3>(accessor)?);
                (Mesh::ATTRIBUTE_NORMAL, Values::Float32x3(normals))
            }
            Semantic::Tangents => {
                let tangents = self.rotated(self.vectors::<4>(accessor)?);
                (Mesh::ATTRIBUTE_TANGENT, Values::Float32x4(tangents))
            }
            Semantic::TexCoords(0) => (
                Mesh::ATTRIBUTE_UV_0,
                Values::Float32x2(self.vectors(accessor)?),
            ),
            Semantic::TexCoords(1) => (
                Mesh::ATTRIBUTE_UV_1,
                Values::Float32x2(self.vectors(accessor)?),
            ),
            Semantic::Colors(0) if accessor.dimensions() == Dimensions::Vec3 => {
                let colors = self.vectors::<3>(accessor)?.into_iter();
                let colors = colors
                    .map(|[red, green, blue]| [red, green, blue, 1.0])
                    .collect();
                (Mesh::ATTRIBUTE_COLOR, Values::Float32x4(colors))
            }
            Semantic::Colors(0) => (
                Mesh::ATTRIBUTE_COLOR,
                Values::Float32x4(self.vectors(accessor)?),
            ),
            Semantic::Extras(_) => {
                let buffers = self.buffers.to_vec();
                let (custom, semantic) = (self.custom, semantic.clone());
                let converted =
                    convert_attribute(semantic, accessor.clone(), &buffers, custom, false);
                return Ok(converted.ok());
            }
            _ => return Ok(None),
        }))
    }

    fn rotated<const N: usize>(&self, mut values: Vec<[f32; N]>) -> Vec<[f32; N]> {
        if self.rotates {
            for value in &mut values {
                value[0] = -value[0];
                value[2] = -value[2];
            }
        }
        values
    }

    /// Reduces up to eight joints to the four with the largest weights, rescaled to the sum of all.
    fn joints(&self, primitive: &Primitive<'_>) -> Result<Option<JointsAndWeights>, String> {
        let mut sets = Vec::new();
        for set in 0..2 {
            let joints = primitive.get(&Semantic::Joints(set));
            let weights = primitive.get(&Semantic::Weights(set));
            if let (true, Some(joints), Some(weights)) = (self.is_skinned, joints, weights) {
                sets.push((self.vectors::<4>(&joints)?, self.vectors::<4>(&weights)?));
            }
        }
        let Some((first, _)) = sets.first() else {
            return Ok(None);
        };
        let merged = (0..first.len()).map(|vertex| {
            let mut pairs: Vec<(u16, f32)> = Vec::with_capacity(8);
            for (joints, weights) in &sets {
                let (joints, weights) = (joints.get(vertex), weights.get(vertex));
                let joints = joints.into_iter().flatten().map(|&it| it as u16);
                pairs.extend(joints.zip(weights.into_iter().flatten().copied()));
            }
            pairs.resize(pairs.len().max(4), (0, 0.0));
            let sum: f32 = pairs.iter().map(|it| it.1).sum();
            pairs.sort_by(|one, other| other.1.total_cmp(&one.1));
            let kept: f32 = pairs[..4].iter().map(|it| it.1).sum();
            let scale = if kept > 0.0 { sum / kept } else { 1.0 };
            let four = [0, 1, 2, 3].map(|at| pairs[at]);
            (four.map(|it| it.0), four.map(|it| it.1 * scale))
        });
        Ok(Some(merged.unzip()))
    }

    /// Reads the morph targets, one after the other.
    fn targets(
        &self,
        primitive: &Primitive<'_>,
        count: usize,
    ) -> Result<Vec<MorphAttributes>, String> {
        let mut all = Vec::new();
        for target in primitive.morph_targets() {
            let part = |accessor: Option<Accessor<'_>>| -> Result<Vec<[f32; 3]>, String> {
                let values = accessor.map(|it| self.vectors::<3>(&it)).transpose()?;
                let mut values = self.rotated(values.unwrap_or_default());
                values.resize(count, [0.0; 3]);
                Ok(values)
            };
            let positions = part(target.positions())?;
            let (normals, tangents) = (part(target.normals())?, part(target.tangents())?);
            let normals = normals.into_iter().zip(tangents);
            all.extend(
                positions
                    .into_iter()
                    .zip(normals)
                    .map(|(position, (normal, tangent))| {
                        MorphAttributes::from([position, normal, tangent].map(Vec3::from))
                    }),
            );
        }
        Ok(all)
    }

    /// Reads vectors of any component type as floats (glTF specification, section 3.11).
    fn vectors<const N: usize>(&self, accessor: &Accessor<'_>) -> Result<Vec<[f32; N]>, String>
    where
        [f32; N]: Item,
        [i8; N]: Item,
        [u8; N]: Item,
        [i16; N]: Item,
        [u16; N]: Item,
        [u32; N]: Item,
    {
        if accessor.dimensions().multiplicity() != N {
            let (index, kind) = (accessor.index(), accessor.dimensions());
            return Err(format!(
                "accessor {index} is of {kind:?}, not of {N} components"
            ));
        }
        let is_normalized = accessor.normalized();
        let floats = |scale: f32| {
            move |value: f32| {
                if is_normalized {
                    (value / scale).max(-1.0)
                } else {
                    value
                }
            }
        };
        let read =
            match accessor.data_type() {
                DataType::F32 => self.items::<[f32; N], _>(accessor, |it| it),
                DataType::I8 => {
                    self.items::<[i8; N], _>(accessor, |it| it.map(f32::from).map(floats(127.0)))
                }
                DataType::U8 => {
                    self.items::<[u8; N], _>(accessor, |it| it.map(f32::from).map(floats(255.0)))
                }
                DataType::I16 => self
                    .items::<[i16; N], _>(accessor, |it| it.map(f32::from).map(floats(32_767.0))),
                DataType::U16 => self
                    .items::<[u16; N], _>(accessor, |it| it.map(f32::from).map(floats(65_535.0))),
                DataType::U32 => self.items::<[u32; N], _>(accessor, |it| it.map(|it| it as f32)),
            };
        read.ok_or_else(|| format!("accessor {} cannot be read", accessor.index()))
    }

    fn items<T: Item, R>(
        &self,
        accessor: &Accessor<'_>,
        convert: impl Fn(T) -> R,
    ) -> Option<Vec<R>> {
        let items = Iter::<T>::new(accessor.clone(), |buffer| self.buffer(&buffer))?;
        Some(items.map(convert).collect())
    }
}
