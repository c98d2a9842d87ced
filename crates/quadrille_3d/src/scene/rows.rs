//! Rows of views, lights and shadow maps, as shaders read them.

use bytemuck::{Pod, Zeroable};

use crate::shadow_maps::{MAX_ATLAS_TILES, MAX_POINT_FACES};
use crate::table::UNIFORM_BYTES;

/// A camera as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct ViewRow {
    pub(crate) clip_from_world: [f32; 16],
    pub(crate) position: [f32; 3],
    pub(crate) exposure: f32,
    /// Radiance from all directions.
    pub(crate) ambient: [f32; 3],
    /// Of the list of lights.
    pub(crate) first_light: u32,
    /// The direction that it looks into.
    pub(crate) forward: [f32; 3],
    pub(crate) light_count: u32,
    /// Those come first.
    pub(crate) directional_count: u32,
    /// Of the bits of lights: see `clusters.rs`.
    pub(crate) first_mask: u32,
    pub(crate) mask_words: u32,
    /// Words whose bits tell which of those are not 0.
    pub(crate) mask_blocks: u32,
    /// Place of the method in `ShadowFilteringMethod`.
    pub(crate) shadow_filter: u32,
    /// Of the list of environments.
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
    /// Of the sphere that it is.
    pub(crate) radius: f32,
    /// Which of the list of images it shines through, from 1 on; 0 for none.
    pub(crate) texture: u32,
    /// Of a rectangle: from its middle to the middle of its upper edge; `axis` is that to its right one.
    pub(crate) up: [f32; 3],
}

/// A shadow map as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct ShadowViewRow {
    pub(crate) clip_from_world: [f32; 16],
    /// Left, top, width and height of its tile in fractions of the image; all 0 if there is none.
    pub(crate) tile: [f32; 4],
    /// Of a cascade: where it ends, in distance along the camera's direction.
    pub(crate) far: f32,
    /// Of a cascade: from where on the next one is mixed in.
    pub(crate) blend: f32,
    /// Of a cascade: the size of a texel in the world.
    pub(crate) texel_size: f32,
    pub(crate) unused: f32,
}

/// Of all [`ShadowViewRow`]s that there may be, which is less than all devices let shaders see of a uniform buffer.
pub(crate) const SHADOW_VIEWS_BYTES: u64 =
    (MAX_ATLAS_TILES + MAX_POINT_FACES) as u64 * size_of::<ShadowViewRow>() as u64;

const _: () = assert!(SHADOW_VIEWS_BYTES <= 1 << 14);
