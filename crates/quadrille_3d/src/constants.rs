//! Constants that Rust and shaders share, declared only here: shaders import `quadrille_3d::constants`.

use bevy_camera::primitives::CubemapLayout;
use bevy_light::ShadowFilteringMethod;

use crate::components::order_independent_transparency::MAX_SORTED;

quadrille::vulkan::shader_constants! {
    /// The shader module of the constants.
    pub(crate) fn constants() -> "quadrille_3d::constants";

    /// Flag of views: ambient light also applies to meshes with a lightmap.
    pub(crate) const AMBIENT_AFFECTS_LIGHTMAPPED_MESHES: u32 = 1;
    /// Flag of views: pixels are multisampled.
    pub(crate) const MULTISAMPLED: u32 = 2;
    /// Flag of views: surfaces blend with the color behind the scene. Not set for scene-referred views, and for views
    /// that are composited over their target.
    pub(crate) const HAS_BACKDROP: u32 = 4;

    /// Flag of views: the images of its prepasses are multisampled.
    pub(crate) const MULTISAMPLED_PREPASS: u32 = 8;

    /// Flag of views: `ambient_occlusion_map` has the occlusion of its pixels.
    pub(crate) const HAS_AMBIENT_OCCLUSION_MAP: u32 = 16;

    /// Flag of views: transmissive surfaces refract the light behind them, as with
    /// [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission).
    pub(crate) const REFRACTS: u32 = 32;
    /// Flag of views: `transmission_background` has the color behind transmissive surfaces.
    pub(crate) const HAS_TRANSMISSION_BACKGROUND: u32 = 64;
    /// Flag of views: `contact_depths` has the depth before transmissive surfaces.
    pub(crate) const HAS_TRANSMISSION_DEPTHS: u32 = 128;

    /// Header of the lists of order-independent transparency, in words: number of fragments so far.
    pub(crate) const OIT_COUNT: u32 = 0;
    /// Width of the view in pixels.
    pub(crate) const OIT_WIDTH: u32 = 1;
    /// Number of fragments that there is memory for.
    pub(crate) const OIT_CAPACITY: u32 = 2;
    /// Fragments whose channels are all below it are left out.
    pub(crate) const OIT_THRESHOLD: u32 = 3;
    /// Offset of the fragments.
    pub(crate) const OIT_FIRST_NODE: u32 = 4;
    /// Offset of the numbers of the first fragment of each pixel, row by row.
    pub(crate) const OIT_FIRST_HEAD: u32 = 8;
    /// Words of a fragment: color in half floats, depth, number of the next one.
    pub(crate) const OIT_NODE_WORDS: u32 = 4;
    /// End of a list.
    pub(crate) const OIT_END: u32 = u32::MAX;
    /// Number of sorted fragments up to which the smaller pipeline suffices: the default of the settings.
    pub(crate) const OIT_FEW_SORTED: u32 = 8;
    /// Maximum number of fragments of a pixel that are sorted.
    pub(crate) const OIT_MAX_SORTED: u32 = MAX_SORTED;

    /// Default distance up to which [`ScreenSpaceAmbientOcclusion`](crate::ScreenSpaceAmbientOcclusion) finds occluders, in
    /// meters; levels of distances are made for it, as in bevy.
    pub(crate) const SSAO_RADIUS: f32 = 0.5 * 1.457;
    /// Levels of the images of distances of ambient occlusion.
    pub(crate) const SSAO_LEVELS: u32 = 4;
    /// Pixels a side of the square that a workgroup of the exposure histogram counts: a multiple of 16.
    pub(crate) const EXPOSURE_TILE: u32 = 32;

    /// Distance of the background; nothing farther occludes.
    pub(crate) const SSAO_FAR: f32 = 50000.0;

    /// Distances of edges of [`Smaa`](crate::Smaa) in the table of areas, from 0 on.
    pub(crate) const SMAA_AREA_SIDE: u32 = 65;
    /// Distances of diagonal edges, from 0 on.
    pub(crate) const SMAA_DIAGONAL_SIDE: u32 = 10;

    /// Fog falloff: linear.
    pub(crate) const FOG_LINEAR: f32 = 1.0;
    /// Fog falloff: exponential.
    pub(crate) const FOG_EXPONENTIAL: f32 = 2.0;
    /// Fog falloff: squared exponential.
    pub(crate) const FOG_EXPONENTIAL_SQUARED: f32 = 3.0;
    /// Fog falloff: atmospheric.
    pub(crate) const FOG_ATMOSPHERIC: f32 = 4.0;
    /// Flag of fog volumes: an image scales their density.
    pub(crate) const FOG_HAS_TEXTURE: u32 = 1;

    /// [`ShadowFilteringMethod`] with one hardware-filtered tap.
    pub(crate) const HARDWARE_2X2: u32 = ShadowFilteringMethod::Hardware2x2 as u32;
    /// [`ShadowFilteringMethod`] with weighted taps: nine, or eight for point lights.
    pub(crate) const GAUSSIAN: u32 = ShadowFilteringMethod::Gaussian as u32;
    /// [`ShadowFilteringMethod`] with eight taps on a spiral, which is turned per pixel.
    pub(crate) const SPIRAL: u32 = ShadowFilteringMethod::Temporal as u32;
    /// No [`ShadowFilteringMethod`]: shaders ask the view for it.
    pub(crate) const ANY_FILTER: u32 = 0xffff;

    /// Bit of lights: they cast contact shadows in views with [`ContactShadows`](crate::ContactShadows).
    pub(crate) const CASTS_CONTACT_SHADOWS: u32 = 64;

    /// Kind of light: directional light.
    pub(crate) const DIRECTIONAL: u32 = 0;
    /// Kind of light: point light.
    pub(crate) const POINT: u32 = 1;
    /// Kind of light: spot light.
    pub(crate) const SPOT: u32 = 2;
    /// Kind of light: rectangular area light.
    pub(crate) const RECT: u32 = 3;

    /// Maximum number of cascades of a light, and the mask of their count in the light's bits.
    pub(crate) const MAX_CASCADES: u32 = 15;
    /// Maximum number of shadow maps of cascades and spot lights: 16 MiB each at bevy's size.
    pub(crate) const MAX_ATLAS_TILES: u32 = 64;
    /// Maximum number of point light shadow faces: 4 MiB each at bevy's size.
    pub(crate) const MAX_POINT_FACES: u32 = 96;
    /// Maximum number of shadow maps.
    pub(crate) const MAX_SHADOW_VIEWS: u32 = MAX_ATLAS_TILES + MAX_POINT_FACES;

    /// Layouts of light textures: bevy's [`CubemapLayout`]s, and those of other kinds of lights.
    pub(crate) const CROSS_VERTICAL: u32 = CubemapLayout::CrossVertical as u32;
    /// Horizontal cross.
    pub(crate) const CROSS_HORIZONTAL: u32 = CubemapLayout::CrossHorizontal as u32;
    /// Six faces in a column.
    pub(crate) const SEQUENCE_VERTICAL: u32 = CubemapLayout::SequenceVertical as u32;
    /// Spot light: the image is projected onto the cone's cross-section.
    pub(crate) const KIND_SPOT: u32 = 4;
    /// Directional light: one copy of the image, two units wide, centred at the light.
    pub(crate) const KIND_DIRECTIONAL: u32 = 5;
    /// Directional light: the image repeats in all directions.
    pub(crate) const KIND_DIRECTIONAL_TILED: u32 = 6;

    /// Slices of light clusters along each axis.
    pub(crate) const SLICES_PER_AXIS: u32 = 64;
    /// Depth slices of light clusters begin at this distance.
    pub(crate) const FIRST_SLICE_DEPTH: f32 = 0.1;
    /// Depth slices of light clusters for each doubling of the distance.
    pub(crate) const SLICES_PER_OCTAVE: f32 = 4.0;
    /// Slices of light clusters along all three axes.
    pub(crate) const TOTAL_SLICES: u32 = 3 * SLICES_PER_AXIS;

    /// Kind of environment: light probe.
    pub(crate) const KIND_LIGHT_PROBE: u32 = 0;
    /// Kind of environment: that of a camera.
    pub(crate) const KIND_CAMERA: u32 = 1;
    /// Kind of environment: irradiance volume.
    pub(crate) const KIND_IRRADIANCE_VOLUME: u32 = 2;

    /// Flag of instances: receives shadows.
    pub(crate) const SHADOW_RECEIVER: u32 = 1;
    /// Flag of instances: also receives shadows on the opposite side, for transmitted light.
    pub(crate) const TRANSMITTED_SHADOW_RECEIVER: u32 = 2;
    /// First bit of an instance's lightmap index plus 1; 0 for none.
    pub(crate) const LIGHTMAP_SHIFT: u32 = 8;

    /// Flag of instances that are visible to cameras, and kind of camera views.
    pub(crate) const CAMERAS: u32 = 1;
    /// Flag of instances that cast shadows, and kind of shadow map views.
    pub(crate) const SHADOWS: u32 = 2;
    /// Flag of instances without frustum culling.
    pub(crate) const NO_FRUSTUM_CULLING: u32 = 4;
    /// Phase of views without occlusion culling: draws everything in the frustum.
    pub(crate) const SINGLE_PHASE: u32 = 0;
    /// Phase that draws the instances that were visible in the previous frame.
    pub(crate) const EARLY_PHASE: u32 = 1;
    /// Phase that draws the other instances that are not occluded.
    pub(crate) const LATE_PHASE: u32 = 2;
    /// Rounding error of a box, relative to its size.
    pub(crate) const CULL_EPSILON: f32 = 1e-5;
    /// Maximum number of instances of an indirect draw.
    pub(crate) const MAX_BATCH_INSTANCES: u32 = 256;

    /// Alpha mode: alpha is 1.
    pub(crate) const ALPHA_OPAQUE: f32 = -1.0;
    /// Alpha mode: alpha blending.
    pub(crate) const ALPHA_BLEND: f32 = 2.0;
    /// Alpha mode: premultiplied alpha.
    pub(crate) const ALPHA_PREMULTIPLIED: f32 = 3.0;
    /// Alpha mode: additive blending.
    pub(crate) const ALPHA_ADD: f32 = 4.0;
    /// Alpha mode: multiplicative blending.
    pub(crate) const ALPHA_MULTIPLY: f32 = 5.0;
    /// Alpha mode: alpha to coverage.
    pub(crate) const ALPHA_TO_COVERAGE: f32 = 6.0;
    /// Alpha below which blended surfaces cast no shadow, as in bevy.
    pub(crate) const MIN_SHADOW_ALPHA: f32 = 0.05;

    /// Flag of materials: unlit.
    pub(crate) const UNLIT: u32 = 1;
    /// Flag of materials: normals of back faces are flipped for lighting.
    pub(crate) const DOUBLE_SIDED: u32 = 2;
    /// Flag of materials: fog applies.
    pub(crate) const FOG_ENABLED: u32 = 4;
    /// Flag of materials: green of the normal map points down.
    pub(crate) const FLIP_NORMAL_MAP_Y: u32 = 8;
    /// Flag of materials: the normal map has two channels.
    pub(crate) const TWO_COMPONENT_NORMAL_MAP: u32 = 16;
    /// Flag of materials: the metallic-roughness image has two channels.
    pub(crate) const METALLIC_IN_GREEN: u32 = 32;

    /// Flag of materials with a shader of their own: the standard material that they extend is opaque.
    pub(crate) const BASE_IS_OPAQUE: u32 = 64;
    /// First bit of the row index in the table of a material's type, in the flags of materials with a shader of their
    /// own.
    pub(crate) const MATERIAL_ROW_SHIFT: u32 = 8;

    /// Packed index of a missing image.
    pub(crate) const NO_TEXTURE: u32 = u32::MAX;
    /// Flag of a packed index: uses the second texture coordinates.
    pub(crate) const UV_1_BIT: u32 = 1 << 23;
    /// Mask of the image's table index in a packed index.
    pub(crate) const IMAGE_MASK: u32 = UV_1_BIT - 1;
    /// First bit of the sampler's index in a packed index.
    pub(crate) const SAMPLER_SHIFT: u32 = 24;

    /// Texture coordinate of meshes without texture coordinates: images sampled at it are white, as in bevy.
    pub(crate) const NO_UV: f32 = -1e30;
    /// Words per vertex; the first three are its position.
    pub(crate) const VERTEX_WORDS: u32 = 18;
    /// Offset of a vertex's normal, in words.
    pub(crate) const NORMAL_OFFSET: u32 = 3;
    /// Offset of a vertex's tangent, in words; the sign of the bitangent follows it.
    pub(crate) const TANGENT_OFFSET: u32 = 14;

    /// Index of missing joints or weights.
    pub(crate) const NO_POSE: u32 = u32::MAX;
    /// Vertices per workgroup of `skin.wgsl`.
    pub(crate) const SKIN_WORKGROUP_SIZE: u32 = 64;
    /// Words per vertex: four joints of 16 bits, four weights.
    pub(crate) const INFLUENCE_WORDS: u32 = 6;
    /// Words per vertex and morph target: differences of position, normal and tangent.
    pub(crate) const TARGET_WORDS: u32 = 9;
    /// Vertices per block. The words of a block are contiguous: first joints and weights, then each target. So a range
    /// of blocks can be bound alone.
    pub(crate) const BLOCK_VERTICES: u32 = 64;

    /// Entries of the DFG LUT along each axis, the first for 0 and the last for 1.
    pub(crate) const DFG_LUT_SIZE: u32 = 32;
    /// Upper bound of radiance: half floats end at 65504, and the sum of several very bright values must not overflow.
    pub(crate) const MAX_RADIANCE: f32 = 60000.0;

    /// Flag of color gradings: rotates the hue.
    pub(crate) const ROTATES_HUE: u32 = 1;
    /// Flag of color gradings: has white balance.
    pub(crate) const HAS_WHITE_BALANCE: u32 = 2;
    /// Flag of color gradings: shadows, midtones and highlights differ.
    pub(crate) const HAS_SECTIONAL_GRADING: u32 = 4;
    /// Flag of color gradings: dithers the output.
    pub(crate) const HAS_DITHER: u32 = 8;

    /// [`Tonemapping`](crate::Tonemapping) methods: no tone mapping, color grading or dithering.
    pub(crate) const TONEMAPPING_NONE: u32 = 0;
    /// Reinhard per channel.
    pub(crate) const REINHARD: u32 = 2;
    /// Reinhard on luminance.
    pub(crate) const REINHARD_LUMINANCE: u32 = 3;
    /// Fit of the ACES reference transforms.
    pub(crate) const ACES_FITTED: u32 = 4;
    /// AgX.
    pub(crate) const AGX: u32 = 5;
    /// Blend of both Reinhard operators.
    pub(crate) const SOMEWHAT_BORING_DISPLAY_TRANSFORM: u32 = 6;
    /// Tony McMapface.
    pub(crate) const TONY_MC_MAPFACE: u32 = 7;
    /// Filmic view transform of Blender.
    pub(crate) const BLENDER_FILMIC: u32 = 8;
    /// PBR Neutral of Khronos.
    pub(crate) const KHRONOS_PBR_NEUTRAL: u32 = 9;

    /// Side of the LUT of linearly transformed cosines (`lights/ltc.ktx2`), in texels.
    pub(crate) const LTC_LUT_SIZE: f32 = 64.0;
    /// Pi.
    pub(crate) const PI: f32 = std::f32::consts::PI;
}
