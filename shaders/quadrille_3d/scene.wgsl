// Resources of 3D shaders: views, materials, lights and shadow maps.

enable wgpu_binding_array;

import quadrille_3d::constants::{IMAGE_MASK, MAX_SHADOW_VIEWS, SAMPLER_SHIFT};
import quadrille_3d::mesh_types::{Instance, ShadowView};

struct Fog {
    color: vec4f,
    light_color: vec4f,
    // Parameters of the falloff; last its kind, 0 for none.
    falloff: vec4f,
    // Last the exponent of lights.
    inscattering: vec4f,
}

struct View {
    clip_from_world: mat4x4f,
    position: vec3f,
    exposure: f32,
    ambient: vec3f,
    first_light: u32,
    forward: vec3f,
    light_count: u32,
    // Directional lights come first.
    directional_count: u32,
    // Offset of its light masks: see `clusters.wgsl`.
    first_mask: u32,
    mask_words: u32,
    mask_blocks: u32,
    // Index of the method in `ShadowFilteringMethod`.
    shadow_filter: u32,
    // Offset in the list of environments.
    first_environment: u32,
    environment_count: u32,
    // `AMBIENT_AFFECTS_LIGHTMAPPED_MESHES` and others.
    flags: u32,
    fog: Fog,
    // Factor of the derivatives of texture coordinates: 2 to the power of `MipBias`.
    mip_scale: f32,
    // Offset of its decal masks, and words of a mask: see `decals.wgsl`.
    first_decal_mask: u32,
    decal_words: u32,
    unused: u32,
    // Steps, thickness and length of contact shadows; zeros for none.
    contact_shadows: vec4f,
    // Taps of the blur behind transmissive surfaces, and the number of the frame for its noise.
    transmission_taps: u32,
    noise_frame: u32,
    // Least and greatest perceptual roughness of surfaces that `ssr_3d` adds reflections to; zeros for none.
    reflected_roughness: vec2f,
}

struct Material {
    base_color: vec4f,
    emissive: vec4f,
    // Per channel; f0 is 0.16 times its square.
    reflectance: vec3f,
    perceptual_roughness: f32,
    metallic: f32,
    alpha: f32,
    flags: u32,
    depth_bias: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    anisotropy: f32,
    lightmap_exposure: f32,
    anisotropy_direction: vec2f,
    uv_offset: vec2f,
    uv_axes: mat2x2f,
    // Depth, layers and steps of parallax mapping; thickness.
    parallax: vec4f,
    // Attenuation exponent of each channel per unit of thickness; last the diffuse transmission.
    attenuation_and_diffuse_transmission: vec4f,
    specular_transmission: f32,
    // Index of refraction.
    ior: f32,
    unused: vec2f,
    // Texture indices: base color, emission, metal and roughness, occlusion;
    // normals, specular, specular tint, clearcoat;
    // clearcoat roughness, clearcoat normals, anisotropy, depth;
    // specular transmission, thickness, diffuse transmission.
    textures: array<vec4u, 4>,
}

struct Light {
    position_or_direction: vec3f,
    bits: u32,
    color: vec3f,
    inverse_range_squared: f32,
    axis: vec3f,
    cone_scale: f32,
    cone_offset: f32,
    depth_bias: f32,
    normal_bias: f32,
    // Radius of its sphere.
    radius: f32,
    // Number of its light texture, from 1 on; 0 for none.
    texture: u32,
    // Vector from the center of a rectangle to the middle of its upper edge; `axis` is that to its right one. Directional
    // lights have an atmosphere here: see `sunlight.wgsl`.
    up: array<f32, 3>,
}

@group(0) @binding(0) var<storage, read> instances: array<Instance>;
@group(0) @binding(1) var<storage, read> visible_instances: array<u32>;
@group(0) @binding(2) var<uniform> camera: View;
@group(0) @binding(3) var<storage, read> materials: array<Material>;
@group(0) @binding(4) var<storage, read> lights: array<Light>;
@group(0) @binding(5) var<uniform> shadow_views: array<ShadowView, MAX_SHADOW_VIEWS>;
@group(0) @binding(6) var shadow_atlas: texture_depth_2d;
@group(0) @binding(7) var point_shadow_faces: texture_depth_2d;
@group(0) @binding(8) var shadow_sampler: sampler_comparison;
// DFG LUT: scale and bias of the specular lobe's integral (dfg.rs).
@group(0) @binding(9) var dfg: texture_2d<f32>;
@group(0) @binding(19) var dfg_sampler: sampler;
// LTC LUT: matrices from specular lobes to the cosine (rect_lights.wgsl).
@group(0) @binding(20) var ltc_lut: texture_2d<f32>;

@group(1) @binding(0) var samplers: binding_array<sampler>;
@group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;

// Samples the first mip level of a texture.
fn sample_base_level(texture_and_sampler: u32, uv: vec2f) -> vec4f {
    return textureSampleLevel(textures[texture_and_sampler & IMAGE_MASK], samplers[texture_and_sampler >> SAMPLER_SHIFT], uv, 0.0);
}

