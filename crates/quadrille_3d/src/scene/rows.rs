//! Rows as shaders read them.

use bytemuck::{Pod, Zeroable};

use crate::tables::table::UNIFORM_BYTES;

/// A camera as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct ViewRow {
    pub(crate) clip_from_world: [f32; 16],
    pub(crate) position: [f32; 3],
    pub(crate) exposure: f32,
    /// Radiance from all directions.
    pub(crate) ambient: [f32; 3],
    /// Place in the list of lights.
    pub(crate) first_light: u32,
    /// The direction that it looks into.
    pub(crate) forward: [f32; 3],
    pub(crate) light_count: u32,
    /// Directional lights come first.
    pub(crate) directional_count: u32,
    /// Place in the bits of lights: see `clusters.rs`.
    pub(crate) first_mask: u32,
    pub(crate) mask_words: u32,
    /// Words whose bits tell which of those are not 0.
    pub(crate) mask_blocks: u32,
    /// Place of the method in `ShadowFilteringMethod`.
    pub(crate) shadow_filter: u32,
    /// Place in the list of environments.
    pub(crate) first_environment: u32,
    pub(crate) environment_count: u32,
    /// [`ViewRow::AMBIENT_AFFECTS_LIGHTMAPPED_MESHES`] and others.
    pub(crate) flags: u32,
    pub(crate) fog: FogRow,
    /// Up to [`UNIFORM_BYTES`].
    pub(crate) unused: [u32; 12],
}

const _: () = assert!(size_of::<ViewRow>() == UNIFORM_BYTES as usize);

impl ViewRow {
    /// Ambient light falls also on what has a lightmap.
    pub(crate) const AMBIENT_AFFECTS_LIGHTMAPPED_MESHES: u32 = 1;
    /// Pixels have more than one sample.
    pub(crate) const MULTISAMPLED: u32 = 2;
}

/// A [`DistanceFog`](crate::DistanceFog) as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct FogRow {
    /// Linear; alpha is the most that it covers.
    pub(crate) color: [f32; 4],
    /// Linear; alpha is how much.
    pub(crate) light_color: [f32; 4],
    /// Start and end, a density, or extinction; last the kind, 0 for none.
    pub(crate) falloff: [f32; 4],
    /// Inscattering; last the exponent of lights.
    pub(crate) inscattering: [f32; 4],
}

/// A light as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct LightRow {
    /// Where it is, or the direction to it.
    pub(crate) position_or_direction: [f32; 3],
    /// The kind, how many shadow maps (4 bits from bit 2 on), the first (from bit 8 on).
    pub(crate) bits: u32,
    /// Lux, or candela.
    pub(crate) color: [f32; 3],
    /// 1 / range².
    pub(crate) inverse_range_squared: f32,
    /// The direction that a spot light shines into, or one side of a rectangle.
    pub(crate) axis: [f32; 3],
    /// Its cone is `(cosine * scale + offset)²`, between 0 and 1.
    pub(crate) cone_scale: f32,
    pub(crate) cone_offset: f32,
    pub(crate) depth_bias: f32,
    /// In texels of the shadow map.
    pub(crate) normal_bias: f32,
    /// Radius of the sphere that emits the light.
    pub(crate) radius: f32,
    /// Number of its image in the list of light textures, from 1 on; 0 for none.
    pub(crate) texture: u32,
    /// For a rectangle, from its center to the middle of its upper edge; `axis` leads to the middle of the right one.
    pub(crate) up: [f32; 3],
}

/// A shadow map as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct ShadowViewRow {
    pub(crate) clip_from_world: [f32; 16],
    /// Left, top, width and height of its tile in fractions of the image; all 0 if there is none.
    pub(crate) tile: [f32; 4],
    /// Far end of a cascade: distance along the camera's direction.
    pub(crate) far: f32,
    /// Distance from which on the next cascade is mixed in.
    pub(crate) blend: f32,
    /// Size of a texel of a cascade in the world.
    pub(crate) texel_size: f32,
    pub(crate) unused: f32,
}

/// Bytes of the largest number of [`ShadowViewRow`]s: less than the `maxUniformBufferRange` of every device.
pub(crate) const SHADOW_VIEWS_BYTES: u64 =
    (MAX_ATLAS_TILES + MAX_POINT_FACES) as u64 * size_of::<ShadowViewRow>() as u64;

const _: () = assert!(SHADOW_VIEWS_BYTES <= 1 << 14);

/// Maximum number of shadow maps of cascades and spot lights: 16 MiB each at bevy's size.
pub(crate) const MAX_ATLAS_TILES: u32 = 64;
/// Maximum number of faces of shadow maps of point lights: 4 MiB each at bevy's size.
pub(crate) const MAX_POINT_FACES: u32 = 96;

/// One row of the table of instances.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct InstanceRow {
    /// The rows of the affine matrix from the mesh's space to the world's.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Place in the table of materials.
    pub(crate) material: u32,
    /// [`SHADOW_RECEIVER`]; above [`LIGHTMAP_SHIFT`] which row of the table of lightmaps it has, 0 for none.
    pub(crate) flags: u32,
    /// Between which distances it is seen: see [`pack_visibility_range`](crate::scene::visibility_range::pack_visibility_range).
    pub(crate) range: [u32; 2],
}

/// Shadows fall on it.
pub(crate) const SHADOW_RECEIVER: u32 = 1;
/// Shadows fall on its other side as well, where light comes through.
pub(crate) const TRANSMITTED_SHADOW_RECEIVER: u32 = 2;
/// From here on the number of its lightmap begins.
pub(crate) const LIGHTMAP_SHIFT: u32 = 8;

/// A chunk as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct BatchRow {
    /// Place in the table of batch instances.
    pub(crate) first_batch_instance: u32,
    /// How many there are.
    pub(crate) count: u32,
    pub(crate) index_count: u32,
    pub(crate) first_index: u32,
    pub(crate) base_vertex: i32,
    /// Kinds of views that it is culled for: [`CAMERAS`](crate::scene::cull_view::CAMERAS), [`SHADOWS`](crate::scene::cull_view::SHADOWS).
    pub(crate) kinds: u32,
    pub(crate) unused: [u32; 2],
}

/// An image of a light as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct LightTextureRow {
    /// The rows of the affine matrix from the world to the light's space.
    pub(crate) light_from_world: [[f32; 4]; 3],
    /// Place of the image, as those of materials.
    pub(crate) texture: u32,
    /// The place of a layout in `CubemapLayout`, or one of those below.
    pub(crate) layout: u32,
    /// Tangent of the outer angle of a spot light.
    pub(crate) slope: f32,
    pub(crate) unused: u32,
}
