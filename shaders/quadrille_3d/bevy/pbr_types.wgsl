// Inputs of physically based shading, by bevy's names: `bevy_pbr::render::pbr_types`.
//
// The flags are bevy's numbers, for shaders that set them; pbr_fragment.wgsl fills them from a row of materials.

const STANDARD_MATERIAL_FLAGS_DOUBLE_SIDED_BIT: u32 = 1u << 4u;
const STANDARD_MATERIAL_FLAGS_UNLIT_BIT: u32 = 1u << 5u;
const STANDARD_MATERIAL_FLAGS_TWO_COMPONENT_NORMAL_MAP: u32 = 1u << 6u;
const STANDARD_MATERIAL_FLAGS_FLIP_NORMAL_MAP_Y: u32 = 1u << 7u;
const STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT: u32 = 1u << 8u;
const STANDARD_MATERIAL_FLAGS_METALLIC_ROUGHNESS_RG_BIT: u32 = 1u << 20u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_RESERVED_BITS: u32 = 7u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE: u32 = 0u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MASK: u32 = 1u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_BLEND: u32 = 2u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_PREMULTIPLIED: u32 = 3u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ADD: u32 = 4u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MULTIPLY: u32 = 5u << 29u;
const STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ALPHA_TO_COVERAGE: u32 = 6u << 29u;

struct StandardMaterial {
    base_color: vec4f,
    // Last the part of the exposure that applies to it.
    emissive: vec4f,
    uv_transform: mat3x3f,
    reflectance: vec3f,
    perceptual_roughness: f32,
    metallic: f32,
    specular_transmission: f32,
    diffuse_transmission: f32,
    thickness: f32,
    ior: f32,
    // Color that is left after each unit of thickness, as the exponent of each channel.
    attenuation: vec3f,
    clearcoat: f32,
    clearcoat_perceptual_roughness: f32,
    anisotropy_strength: f32,
    anisotropy_rotation: vec2f,
    flags: u32,
    alpha_cutoff: f32,
    lightmap_exposure: f32,
}

fn standard_material_new() -> StandardMaterial {
    var material: StandardMaterial;
    material.base_color = vec4f(1.0);
    material.emissive = vec4f(0.0, 0.0, 0.0, 1.0);
    material.uv_transform = mat3x3f(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0));
    material.reflectance = vec3f(0.5);
    material.perceptual_roughness = 0.5;
    material.ior = 1.5;
    material.flags = STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE;
    material.alpha_cutoff = 0.5;
    return material;
}

struct PbrInput {
    material: StandardMaterial,
    diffuse_occlusion: vec3f,
    // Pixel of the view and depth.
    frag_coord: vec4f,
    world_position: vec4f,
    // Normal without the normal map, for shadows.
    world_normal: vec3f,
    // Normal with the normal map.
    N: vec3f,
    // Direction to the view.
    V: vec3f,
    lightmap_light: vec3f,
    clearcoat_N: vec3f,
    anisotropy_strength: f32,
    anisotropy_T: vec3f,
    anisotropy_B: vec3f,
    is_orthographic: bool,
    // Flags of the instance: mesh_types.wgsl.
    flags: u32,
}

fn pbr_input_new() -> PbrInput {
    var pbr_input: PbrInput;
    pbr_input.material = standard_material_new();
    pbr_input.diffuse_occlusion = vec3f(1.0);
    pbr_input.frag_coord = vec4f(0.0, 0.0, 0.0, 1.0);
    pbr_input.world_position = vec4f(0.0, 0.0, 0.0, 1.0);
    pbr_input.world_normal = vec3f(0.0, 0.0, 1.0);
    pbr_input.N = vec3f(0.0, 0.0, 1.0);
    pbr_input.V = vec3f(1.0, 0.0, 0.0);
    return pbr_input;
}
