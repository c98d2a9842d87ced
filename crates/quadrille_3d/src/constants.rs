//! Constants that Rust and shaders share, declared here alone: shaders import `quadrille_3d::constants`.

use bevy_camera::primitives::CubemapLayout;
use bevy_light::ShadowFilteringMethod;

use crate::components::tonemapping::Tonemapping;

quadrille::vulkan::shader_constants! {
    /// The module of shaders.
    pub(crate) fn constants() -> "quadrille_3d::constants";

    /// Bit of views: ambient light falls also on what has a lightmap.
    pub(crate) const AMBIENT_AFFECTS_LIGHTMAPPED_MESHES: u32 = 1;
    /// Bit of views: pixels have more than one sample.
    pub(crate) const MULTISAMPLED: u32 = 2;
    /// Surfaces blend with the color behind the scene, which scene-referred views and those that are blended over their
    /// target lack.
    pub(crate) const HAS_BACKDROP: u32 = 4;

    /// Falloff of fog: linear.
    pub(crate) const FOG_LINEAR: f32 = 1.0;
    /// Falloff of fog: exponential.
    pub(crate) const FOG_EXPONENTIAL: f32 = 2.0;
    /// Falloff of fog: squared exponential.
    pub(crate) const FOG_EXPONENTIAL_SQUARED: f32 = 3.0;
    /// Falloff of fog: atmospheric.
    pub(crate) const FOG_ATMOSPHERIC: f32 = 4.0;

    /// [`ShadowFilteringMethod`] of one tap of the hardware's filter.
    pub(crate) const HARDWARE_2X2: u32 = ShadowFilteringMethod::Hardware2x2 as u32;
    /// [`ShadowFilteringMethod`] of weighted taps: nine, of point lights eight.
    pub(crate) const GAUSSIAN: u32 = ShadowFilteringMethod::Gaussian as u32;

    /// Kinds of lights.
    pub(crate) const DIRECTIONAL: u32 = 0;
    /// A point light.
    pub(crate) const POINT: u32 = 1;
    /// A spot light.
    pub(crate) const SPOT: u32 = 2;
    /// A rectangle that shines.
    pub(crate) const RECT: u32 = 3;

    /// Maximum cascades of a light, and the mask of their count in the bits of a light.
    pub(crate) const MAX_CASCADES: u32 = 15;
    /// Maximum number of shadow maps of cascades and spot lights: 16 MiB each at bevy's size.
    pub(crate) const MAX_ATLAS_TILES: u32 = 64;
    /// Maximum number of faces of shadow maps of point lights: 4 MiB each at bevy's size.
    pub(crate) const MAX_POINT_FACES: u32 = 96;
    /// Maximum number of shadow maps.
    pub(crate) const MAX_SHADOW_VIEWS: u32 = MAX_ATLAS_TILES + MAX_POINT_FACES;

    /// Layouts of light textures: bevy's [`CubemapLayout`]s, and those of other lights.
    pub(crate) const CROSS_VERTICAL: u32 = CubemapLayout::CrossVertical as u32;
    /// A cross that lies.
    pub(crate) const CROSS_HORIZONTAL: u32 = CubemapLayout::CrossHorizontal as u32;
    /// Six faces below each other.
    pub(crate) const SEQUENCE_VERTICAL: u32 = CubemapLayout::SequenceVertical as u32;
    /// The light is a cone, around which the image lies.
    pub(crate) const KIND_SPOT: u32 = 4;
    /// The image lies once around the light, two units wide.
    pub(crate) const KIND_DIRECTIONAL: u32 = 5;
    /// The image repeats in all directions.
    pub(crate) const KIND_DIRECTIONAL_TILED: u32 = 6;

    /// Slices of light clusters along each axis.
    pub(crate) const SLICES_PER_AXIS: u32 = 64;
    /// Slices of light clusters along all three axes.
    pub(crate) const TOTAL_SLICES: u32 = 3 * SLICES_PER_AXIS;

    /// Environment of a light probe.
    pub(crate) const KIND_LIGHT_PROBE: u32 = 0;
    /// Environment of a camera.
    pub(crate) const KIND_CAMERA: u32 = 1;
    /// Irradiance volume.
    pub(crate) const KIND_IRRADIANCE_VOLUME: u32 = 2;

    /// Bit of instances: shadows fall on it.
    pub(crate) const SHADOW_RECEIVER: u32 = 1;
    /// Bit of instances: shadows fall on its other side as well, where light comes through.
    pub(crate) const TRANSMITTED_SHADOW_RECEIVER: u32 = 2;
    /// First bit of the number of an instance's lightmap, which is 0 for none.
    pub(crate) const LIGHTMAP_SHIFT: u32 = 8;

    /// Bit of instances that cameras see, and kind of their views.
    pub(crate) const CAMERAS: u32 = 1;
    /// Bit of instances that cast shadows, and kind of the views of shadow maps.
    pub(crate) const SHADOWS: u32 = 2;
    /// Bit of instances that pass every frustum test.
    pub(crate) const NO_FRUSTUM_CULLING: u32 = 4;
    /// Phase of views without occlusion culling: draws all that is in the frustum.
    pub(crate) const SINGLE_PHASE: u32 = 0;
    /// Phase that draws instances that were visible in the previous frame.
    pub(crate) const EARLY_PHASE: u32 = 1;
    /// Phase that draws those of the rest that nothing hides.
    pub(crate) const LATE_PHASE: u32 = 2;
    /// Rounding error of a box, relative to its size.
    pub(crate) const CULL_EPSILON: f32 = 1e-5;
    /// Maximum number of instances of an indirect draw.
    pub(crate) const MAX_BATCH_INSTANCES: u32 = 256;

    /// Alpha of materials is 1.
    pub(crate) const ALPHA_OPAQUE: f32 = -1.0;
    /// Alpha blends.
    pub(crate) const ALPHA_BLEND: f32 = 2.0;
    /// Colors are multiplied with alpha already.
    pub(crate) const ALPHA_PREMULTIPLIED: f32 = 3.0;
    /// Colors are added.
    pub(crate) const ALPHA_ADD: f32 = 4.0;
    /// Colors multiply those behind.
    pub(crate) const ALPHA_MULTIPLY: f32 = 5.0;
    /// Alpha decides which samples are covered.
    pub(crate) const ALPHA_TO_COVERAGE: f32 = 6.0;
    /// Alpha below which blended surfaces cast no shadow, as in bevy.
    pub(crate) const MIN_SHADOW_ALPHA: f32 = 0.05;

    /// Bit of materials: no light falls on it.
    pub(crate) const UNLIT: u32 = 1;
    /// Bit of materials: back faces are lit from their side.
    pub(crate) const DOUBLE_SIDED: u32 = 2;
    /// Bit of materials: fog covers it.
    pub(crate) const FOG_ENABLED: u32 = 4;
    /// Bit of materials: the normal map's green runs down.
    pub(crate) const FLIP_NORMAL_MAP_Y: u32 = 8;
    /// Bit of materials: the normal map has two channels.
    pub(crate) const TWO_COMPONENT_NORMAL_MAP: u32 = 16;
    /// Bit of materials: the image of metal and roughness has two channels.
    pub(crate) const METALLIC_IN_GREEN: u32 = 32;

    /// First bit of a material's flags that is the index of its row in the table of its type, for materials with a shader
    /// of their own.
    pub(crate) const MATERIAL_ROW_SHIFT: u32 = 8;

    /// Packed index of a material without an image.
    pub(crate) const NO_TEXTURE: u32 = u32::MAX;
    /// Bit of a packed index: the second texture coordinates are used.
    pub(crate) const UV_1_BIT: u32 = 1 << 23;
    /// Bits of a packed index that are the image's index in the table.
    pub(crate) const IMAGE_MASK: u32 = UV_1_BIT - 1;
    /// First bit of a packed index that is the sampler's.
    pub(crate) const SAMPLER_SHIFT: u32 = 24;

    /// Texture coordinate of meshes without: images that are sampled by it are white, as in bevy.
    pub(crate) const NO_UV: f32 = -1e30;
    /// Words per vertex; the first three are its position.
    pub(crate) const VERTEX_WORDS: u32 = 18;
    /// Offset of a vertex' normal, in words.
    pub(crate) const NORMAL_OFFSET: u32 = 3;
    /// Offset of a vertex' tangent, in words; the sign of the bitangent follows.
    pub(crate) const TANGENT_OFFSET: u32 = 14;

    /// Joints or weights of an entity that has none.
    pub(crate) const NO_POSE: u32 = u32::MAX;
    /// Vertices per workgroup of `skin.wgsl`.
    pub(crate) const SKIN_WORKGROUP_SIZE: u32 = 64;
    /// Words per vertex: four joints of 16 bits, four weights.
    pub(crate) const INFLUENCE_WORDS: u32 = 6;
    /// Words per vertex and target: the differences of position, normal and tangent.
    pub(crate) const TARGET_WORDS: u32 = 9;
    /// Vertices per block. The words of a block lie together, those of joints and weights first and then those
    /// of each target, so that some blocks can be bound without the rest.
    pub(crate) const BLOCK_VERTICES: u32 = 64;

    /// Entries of the DFG LUT along each axis, the first for 0 and the last for 1.
    pub(crate) const DFG_LUT_SIZE: u32 = 32;
    /// Upper bound of radiance: half floats end at 65504, and a few suns of that must not add up to infinity.
    pub(crate) const MAX_RADIANCE: f32 = 60000.0;

    /// Bit of gradings: the hue rotates.
    pub(crate) const ROTATES_HUE: u32 = 1;
    /// Bit of gradings: the white point moves.
    pub(crate) const HAS_WHITE_BALANCE: u32 = 2;
    /// Bit of gradings: shadows, midtones and highlights differ.
    pub(crate) const HAS_SECTIONAL_GRADING: u32 = 4;
    /// Bit of gradings: the picture is dithered.
    pub(crate) const HAS_DITHER: u32 = 8;

    /// [`Tonemapping`] methods: no tone mapping, color grading or dithering.
    pub(crate) const TONEMAPPING_NONE: u32 = Tonemapping::None as u32;
    /// Reinhard per channel.
    pub(crate) const REINHARD: u32 = Tonemapping::Reinhard as u32;
    /// Reinhard on luminance.
    pub(crate) const REINHARD_LUMINANCE: u32 = Tonemapping::ReinhardLuminance as u32;
    /// Fit of the ACES reference transforms.
    pub(crate) const ACES_FITTED: u32 = Tonemapping::AcesFitted as u32;
    /// AgX.
    pub(crate) const AGX: u32 = Tonemapping::AgX as u32;
    /// Blend of both Reinhard operators.
    pub(crate) const SOMEWHAT_BORING_DISPLAY_TRANSFORM: u32 = Tonemapping::SomewhatBoringDisplayTransform as u32;
    /// Tony McMapface.
    pub(crate) const TONY_MC_MAPFACE: u32 = Tonemapping::TonyMcMapface as u32;
    /// Filmic view transform of Blender.
    pub(crate) const BLENDER_FILMIC: u32 = Tonemapping::BlenderFilmic as u32;
    /// PBR Neutral of Khronos.
    pub(crate) const KHRONOS_PBR_NEUTRAL: u32 = Tonemapping::KhronosPbrNeutral as u32;

    /// Side of the LUT of linearly transformed cosines (`lights/ltc.ktx2`), in texels.
    pub(crate) const LTC_LUT_SIZE: f32 = 64.0;
    /// Ratio of a circle's circumference to its diameter.
    pub(crate) const PI: f32 = std::f32::consts::PI;
}
