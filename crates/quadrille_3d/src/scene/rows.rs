//! Rows of device tables and lists.

use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

use crate::constants::{DIRECTIONAL, MAX_CASCADES, MAX_SHADOW_VIEWS};
use crate::tables::table::UNIFORM_BYTES;

/// View row of shaders. `queue_views` creates it with all that its camera determines; the other fields are zeros until the
/// system that is named there fills them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/scene.wgsl", "View")]
pub(crate) struct ViewRow {
    pub(crate) clip_from_world: [f32; 16],
    pub(crate) position: [f32; 3],
    pub(crate) exposure: f32,
    /// Ambient radiance.
    pub(crate) ambient: [f32; 3],
    /// Index of its first light.
    pub(crate) first_light: u32,
    /// Forward direction.
    pub(crate) forward: [f32; 3],
    pub(crate) light_count: u32,
    /// Number of directional lights, which come first.
    pub(crate) directional_count: u32,
    /// Offset of its light masks (`prepare/clusters.rs`).
    pub(crate) first_mask: u32,
    /// Words of a light mask (`prepare/clusters.rs`).
    pub(crate) mask_words: u32,
    /// Number of summary words, whose bits mark nonzero words of a light mask (`prepare/clusters.rs`).
    pub(crate) mask_blocks: u32,
    /// Discriminant of `ShadowFilteringMethod`.
    pub(crate) shadow_filter: u32,
    /// Index of its first environment (`environment.rs`).
    pub(crate) first_environment: u32,
    pub(crate) environment_count: u32,
    /// Bit flags such as [`AMBIENT_AFFECTS_LIGHTMAPPED_MESHES`](crate::constants::AMBIENT_AFFECTS_LIGHTMAPPED_MESHES).
    /// `prepare_targets` and effects (`effects/ssao.rs`, `effects/transmission.rs`) add those of images.
    pub(crate) flags: u32,
    /// Distance fog (`effects/fog.rs`).
    pub(crate) fog: FogRow,
    /// Factor of the derivatives of texture coordinates: 2 to the power of [`MipBias`](crate::MipBias).
    pub(crate) mip_scale: f32,
    /// Offset of its decal masks (`prepare/decals.rs`).
    pub(crate) first_decal_mask: u32,
    /// Words of a decal mask; 0 without decals (`prepare/decals.rs`).
    pub(crate) decal_words: u32,
    pub(crate) unused: u32,
    /// Steps, thickness and length of contact shadows; zeros for none.
    pub(crate) contact_shadows: [f32; 4],
    /// Taps of the blur behind transmissive surfaces.
    pub(crate) transmission_taps: u32,
    /// Number of the frame for the noise of the blur; 0 without `TemporalJitter`.
    pub(crate) noise_frame: u32,
    /// Least and greatest perceptual roughness of surfaces that `ssr_3d` adds reflections to; zeros for none
    /// (`effects/ssr.rs`).
    pub(crate) reflected_roughness: [f32; 2],
}

const _: () = assert!(size_of::<ViewRow>() == UNIFORM_BYTES as usize);

/// Matrices of a view with effects, for shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/view_transforms.wgsl", "ViewTransforms")]
pub(crate) struct ViewTransformsRow {
    pub(crate) clip_from_world: [f32; 16],
    /// `clip_from_world` without its jitter.
    pub(crate) unjittered_clip_from_world: [f32; 16],
    pub(crate) world_from_clip: [f32; 16],
    pub(crate) view_from_world: [f32; 16],
    pub(crate) world_from_view: [f32; 16],
    pub(crate) clip_from_view: [f32; 16],
    pub(crate) view_from_clip: [f32; 16],
    /// `clip_from_world` of the previous frame without its jitter, or of this one without a valid history.
    pub(crate) previous_clip_from_world: [f32; 16],
    /// Left and top in pixels of the target; width and height of the view's images.
    pub(crate) viewport: [f32; 4],
    pub(crate) world_position: [f32; 3],
    pub(crate) exposure: f32,
    /// Offset of the sample positions in pixels (`TemporalJitter`), towards the right and bottom.
    pub(crate) jitter: [f32; 2],
    /// Number of submitted frames, modulo 2^32.
    pub(crate) frame_count: u32,
    /// 1 if the previous frame is the history of this one, else 0.
    pub(crate) history_is_valid: u32,
    /// First vertex with a row in [`PreviousPositions3d`](crate::resources::PreviousPositions3d); `u32::MAX` for none.
    pub(crate) first_deformed_vertex: u32,
    pub(crate) unused: u32,
    pub(crate) unused_pair: [u32; 2],
    /// Padding to a multiple of [`UNIFORM_BYTES`].
    pub(crate) padding: [[u32; 4]; 12],
}

const _: () = assert!((size_of::<ViewTransformsRow>() as u64).is_multiple_of(UNIFORM_BYTES));

/// Part of [`MaterialViewRow`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/bevy/view.wgsl", "ColorGrading")]
pub(crate) struct MaterialGradingRow {
    pub(crate) unused: [f32; 4],
}

/// View row of shaders of materials: `bevy_render::view::View`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/bevy/view.wgsl", "View")]
pub(crate) struct MaterialViewRow {
    pub(crate) clip_from_world: [f32; 16],
    pub(crate) unjittered_clip_from_world: [f32; 16],
    pub(crate) world_from_clip: [f32; 16],
    pub(crate) world_from_view: [f32; 16],
    pub(crate) view_from_world: [f32; 16],
    pub(crate) clip_from_view: [f32; 16],
    pub(crate) view_from_clip: [f32; 16],
    pub(crate) world_position: [f32; 3],
    pub(crate) exposure: f32,
    /// Left, top, width and height in pixels of the view's image: the first two are 0.
    pub(crate) viewport: [f32; 4],
    pub(crate) main_pass_viewport: [f32; 4],
    /// Half spaces of the frustum, whose normals point inwards.
    pub(crate) frustum: [[f32; 4]; 6],
    pub(crate) lod_view_world_position: [f32; 3],
    pub(crate) mip_bias: f32,
    pub(crate) color_grading: MaterialGradingRow,
    /// Number of submitted frames, modulo 2^32.
    pub(crate) frame_count: u32,
    pub(crate) unused: u32,
    pub(crate) unused_pair: [u32; 2],
    /// Padding to a multiple of [`UNIFORM_BYTES`].
    pub(crate) padding: [[u32; 4]; 8],
}

const _: () = assert!((size_of::<MaterialViewRow>() as u64).is_multiple_of(UNIFORM_BYTES));

/// [`DistanceFog`](crate::DistanceFog) for shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/scene.wgsl", "Fog")]
pub(crate) struct FogRow {
    /// Linear color; alpha is the maximum coverage.
    pub(crate) color: [f32; 4],
    /// Linear color of directional lights; alpha is the strength.
    pub(crate) light_color: [f32; 4],
    /// Start and end, density, or extinction; w is the falloff kind, 0 without fog.
    pub(crate) falloff: [f32; 4],
    /// Inscattering; w is the exponent of directional lights.
    pub(crate) inscattering: [f32; 4],
}

/// Light row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/scene.wgsl", "Light")]
pub(crate) struct LightRow {
    /// Position, or direction to a directional light.
    pub(crate) position_or_direction: [f32; 3],
    /// From bit 0: kind (2 bits); bit 2: shadow map count (4 bits); bit 6: contact shadows; bit 8: first shadow map.
    pub(crate) bits: u32,
    /// Illuminance in lux, or intensity in candela.
    pub(crate) color: [f32; 3],
    /// 1 / range².
    pub(crate) inverse_range_squared: f32,
    /// Direction of a spot light, or a half side of a rectangular light.
    pub(crate) axis: [f32; 3],
    /// Cone attenuation: `(cosine * scale + offset)²`, clamped to 0..1.
    pub(crate) cone_scale: f32,
    pub(crate) cone_offset: f32,
    pub(crate) depth_bias: f32,
    /// Normal bias in texels of the shadow map.
    pub(crate) normal_bias: f32,
    /// Radius of a spherical emitter.
    pub(crate) radius: f32,
    /// Index in the list of light textures plus 1; 0 for none.
    pub(crate) texture: u32,
    /// Rectangular light: from its centre to the middle of the upper edge; `axis`: to the middle of the right edge.
    /// Directional light: number of a LUT ([`LightAtmosphere`]), from 1 on, and angular diameter of the disk.
    pub(crate) up: [f32; 3],
}

/// Atmosphere between a view and a directional light, in units of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LightAtmosphere {
    /// Zenith of the camera.
    pub(crate) zenith: [f32; 3],
    /// Altitude of the camera.
    pub(crate) altitude: f32,
    /// Radius of the planet.
    pub(crate) radius: f32,
    /// Height of the atmosphere.
    pub(crate) height: f32,
    /// Index of the transmittance LUT in the table of textures.
    pub(crate) texture: u32,
}

impl LightRow {
    /// Adds an atmosphere to a directional light, in fields that only other kinds of lights use.
    pub(crate) fn set_atmosphere(&mut self, atmosphere: &LightAtmosphere) {
        self.axis = atmosphere.zenith;
        self.cone_scale = atmosphere.altitude;
        self.cone_offset = atmosphere.radius;
        self.inverse_range_squared = atmosphere.height;
        self.up[0] = (atmosphere.texture + 1) as f32;
    }

    /// Whether it is a directional light with an atmosphere.
    pub(crate) fn has_atmosphere(&self) -> bool {
        self.kind() == DIRECTIONAL && self.up[0] > 0.0
    }

    /// Kind of the light: [`DIRECTIONAL`] or another constant.
    pub(crate) fn kind(&self) -> u32 {
        self.bits & 3
    }
}

/// Shadow map row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/mesh_types.wgsl", "ShadowView")]
pub(crate) struct ShadowViewRow {
    pub(crate) clip_from_world: [f32; 16],
    /// Left, top, width and height of its tile in texture coordinates; zeros without a tile.
    pub(crate) tile: [f32; 4],
    /// Far bound of a cascade: depth along the camera's forward axis.
    pub(crate) far: f32,
    /// Depth at which the blend to the next cascade begins.
    pub(crate) blend: f32,
    /// World size of a texel of a cascade.
    pub(crate) texel_size: f32,
    /// Size of the light for soft shadows; 0 without them.
    pub(crate) soft_size: f32,
}

/// Bytes of the maximum number of [`ShadowViewRow`]s, within the guaranteed `maxUniformBufferRange`.
pub(crate) const SHADOW_VIEWS_BYTES: u64 =
    MAX_SHADOW_VIEWS as u64 * size_of::<ShadowViewRow>() as u64;

const _: () = assert!(SHADOW_VIEWS_BYTES <= 1 << 14);

// The maximum is the mask of the count, which is 6 for point lights, in 4 bits of a light, before its flags.
const _: () =
    assert!((MAX_CASCADES + 1).is_power_of_two() && MAX_CASCADES >= 6 && MAX_CASCADES < 1 << 4);

/// Instance row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/mesh_types.wgsl", "Instance")]
pub(crate) struct InstanceRow {
    /// Rows of the affine matrix from local to world space.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Material index.
    pub(crate) material: u32,
    /// Bit flags; from bit [`LIGHTMAP_SHIFT`](crate::constants::LIGHTMAP_SHIFT): lightmap index plus 1, 0 for none.
    pub(crate) flags: u32,
    /// Visibility range, by [`pack_visibility_range`](crate::scene::visibility_range::pack_visibility_range).
    pub(crate) range: [u32; 2],
}

/// Transform of an instance in the previous frame, for shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/motion_vectors.wgsl", "PreviousInstance")]
pub(crate) struct PreviousInstanceRow {
    /// Rows of the affine matrix from local to world space.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// [`frame_stamp`] of the frame in which the instance moved from there; in others it rests.
    pub(crate) stamp: u32,
    pub(crate) unused: u32,
    pub(crate) unused_pair: [u32; 2],
}

/// Number of a frame after this number of submitted frames; 0 for none. A frame that is not submitted shares it with the next
/// one, so that motion is always since the last submitted frame.
pub(crate) fn frame_stamp(submitted: u64) -> u32 {
    (submitted as u32).wrapping_add(1)
}

/// Batch row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/cull.wgsl", "Batch")]
pub(crate) struct BatchRow {
    /// Offset in the table of batch instances.
    pub(crate) first_batch_instance: u32,
    /// Number of instances.
    pub(crate) count: u32,
    pub(crate) index_count: u32,
    pub(crate) first_index: u32,
    pub(crate) base_vertex: i32,
    /// Kinds of views that draw it: [`CAMERAS`](crate::constants::CAMERAS),
    /// [`SHADOWS`](crate::constants::SHADOWS).
    pub(crate) kinds: u32,
    pub(crate) unused: [u32; 2],
}

/// Light texture row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/light_textures.wgsl", "LightTexture")]
pub(crate) struct LightTextureRow {
    /// Rows of the affine matrix from world to light space.
    pub(crate) light_from_world: [[f32; 4]; 3],
    /// Packed texture index, as in materials.
    pub(crate) texture: u32,
    /// Discriminant of `CubemapLayout`, or [`KIND_SPOT`](crate::constants::KIND_SPOT) and others.
    pub(crate) kind: u32,
    /// Tangent of the outer angle of a spot light.
    pub(crate) slope: f32,
    pub(crate) unused: u32,
}
