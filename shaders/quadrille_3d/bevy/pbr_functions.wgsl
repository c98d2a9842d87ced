// Physically based shading, by bevy's names: `bevy_pbr::render::pbr_functions`. Lights, shadows and environments are
// those of pbr.wgsl.

import package::render::pbr_types::{
    PbrInput, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ADD, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ALPHA_TO_COVERAGE,
    STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MASK, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MULTIPLY,
    STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_RESERVED_BITS,
    STANDARD_MATERIAL_FLAGS_FLIP_NORMAL_MAP_Y, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT,
    STANDARD_MATERIAL_FLAGS_TWO_COMPONENT_NORMAL_MAP,
};
import quadrille_3d::brdf::{Surface, ambient_light, pow5};
import quadrille_3d::constants::{
    AMBIENT_AFFECTS_LIGHTMAPPED_MESHES, LIGHTMAP_SHIFT, MAX_RADIANCE, REFRACTS, SHADOW_RECEIVER,
    TRANSMITTED_SHADOW_RECEIVER,
};
import quadrille_3d::dfg::dfg_lut;
import quadrille_3d::display::display_transform;
import quadrille_3d::ambient_occlusion::indirect_occlusion;
import quadrille_3d::environment::environment_light;
import quadrille_3d::fog::apply_fog;
import quadrille_3d::pbr::{
    HAS_ALPHA_MASK, HAS_ENVIRONMENTS, HAS_EXTENDED_FEATURES, HAS_FOG, MAPS_TONES, ReceiverSides, dfg_term, refracted_light,
    shade_lights, split_diffuse_transmission,
};
import quadrille_3d::scene::camera;
import quadrille_3d::shadows::ShadowReceiver;
import quadrille_3d::transmission::{HAS_SPECULAR_TRANSMISSION, Interior};
import quadrille_3d::visibility_range::is_dithered_out;

// Alpha of opaque materials is 1; that of masks decides. Pipelines of opaque materials discard nothing, so that depth is
// tested before the shader runs.
fn alpha_discard(material_flags: u32, alpha_cutoff: f32, output_color: vec4f) -> vec4f {
    let mode = material_flags & STANDARD_MATERIAL_FLAGS_ALPHA_MODE_RESERVED_BITS;
    if mode == STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE {
        return vec4f(output_color.rgb, 1.0);
    }
    if mode == STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MASK || mode == STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ALPHA_TO_COVERAGE {
        if HAS_ALPHA_MASK && output_color.a < alpha_cutoff {
            discard;
        }
        return vec4f(output_color.rgb, 1.0);
    }
    return output_color;
}

// Discards pixels of a mesh that cross-fades (see `VisibilityRange`), by the dither level of the vertex output.
fn visibility_range_dither(frag_coord: vec4f, dither: i32) {
    if HAS_ALPHA_MASK && is_dithered_out(dither, frag_coord.xy) {
        discard;
    }
}

fn prepare_world_normal(world_normal: vec3f, double_sided: bool, is_front: bool) -> vec3f {
    return select(world_normal, -world_normal, double_sided && !is_front);
}

// Columns are tangent, bitangent and normal as baked: neither orthogonal nor normalized (mikktspace).
fn calculate_tbn_mikktspace(world_normal: vec3f, world_tangent: vec4f) -> mat3x3f {
    return mat3x3f(world_tangent.xyz, cross(world_normal, world_tangent.xyz) * world_tangent.w, world_normal);
}

// Normal in the world of a texel of a normal map.
fn apply_normal_mapping(
    standard_material_flags: u32,
    tbn: mat3x3f,
    double_sided: bool,
    is_front: bool,
    texel: vec3f,
) -> vec3f {
    var normal = texel * 2.0 - 1.0;
    if (standard_material_flags & STANDARD_MATERIAL_FLAGS_TWO_COMPONENT_NORMAL_MAP) != 0u {
        normal.z = sqrt(max(1.0 - dot(normal.xy, normal.xy), 0.0));
    }
    if (standard_material_flags & STANDARD_MATERIAL_FLAGS_FLIP_NORMAL_MAP_Y) != 0u {
        normal.y = -normal.y;
    }
    return normalize(tbn * select(normal, -normal, double_sided && !is_front));
}

// Direction to the view.
fn calculate_view(world_position: vec4f, is_orthographic: bool) -> vec3f {
    return select(normalize(camera.position - world_position.xyz), -camera.forward, is_orthographic);
}

fn surface_of(in: PbrInput) -> Surface {
    let material = in.material;
    var surface: Surface;
    surface.world_position = in.world_position.xyz;
    surface.normal = in.N;
    surface.to_view = in.V;
    surface.n_dot_v = clamp(dot(in.N, in.V), 0.0001, 1.0);
    surface.base = material.base_color.rgb;
    surface.metallic = material.metallic;
    surface.diffuse = surface.base * (1.0 - material.metallic);
    surface.dielectric = 0.16 * material.reflectance * material.reflectance;
    surface.f0 = mix(surface.dielectric, surface.base, material.metallic);
    // f0 below 2 % is taken for occlusion.
    surface.f90 = saturate(dot(surface.f0, vec3f(16.5)));
    surface.perceptual_roughness = clamp(material.perceptual_roughness, 0.089, 1.0);
    surface.dfg = dfg_term(surface.n_dot_v, surface.perceptual_roughness);
    surface.energy_compensation = 1.0 + surface.f0 * (1.0 / (surface.dfg.x + surface.dfg.y) - 1.0);
    surface.anisotropy = in.anisotropy_strength;
    surface.anisotropy_tangent = in.anisotropy_T;
    surface.anisotropy_bitangent = in.anisotropy_B;
    surface.clearcoat.normal = in.world_normal;
    surface.clearcoat.n_dot_v = 1.0;
    if HAS_EXTENDED_FEATURES && material.clearcoat > 0.0 {
        surface.clearcoat.strength = material.clearcoat;
        surface.clearcoat.perceptual_roughness = clamp(material.clearcoat_perceptual_roughness, 0.089, 1.0);
        surface.clearcoat.normal = select(in.world_normal, in.clearcoat_N, any(in.clearcoat_N != vec3f(0.0)));
        surface.clearcoat.n_dot_v = clamp(dot(surface.clearcoat.normal, in.V), 0.0001, 1.0);
        surface.clearcoat.dfg = dfg_lut(surface.clearcoat.n_dot_v, surface.clearcoat.perceptual_roughness);
    }
    return surface;
}

// Radiance of a surface times the exposure, with the alpha of its base color.
fn apply_pbr_lighting(in: PbrInput) -> vec4f {
    var surface = surface_of(in);
    let material = in.material;
    let interior = Interior(material.ior, material.thickness, material.attenuation, material.perceptual_roughness);
    if HAS_SPECULAR_TRANSMISSION {
        surface.diffuse *= 1.0 - material.specular_transmission;
    }
    if HAS_EXTENDED_FEATURES && material.diffuse_transmission != 0.0 {
        split_diffuse_transmission(&surface, material.diffuse_transmission, interior);
    }
    let material_occlusion = dot(in.diffuse_occlusion, vec3f(1.0 / 3.0));
    let occlusion = indirect_occlusion(surface, camera, in.frag_coord.xy, material_occlusion);
    var radiance = in.lightmap_light * surface.diffuse;
    let has_lightmap = HAS_EXTENDED_FEATURES && (in.flags >> LIGHTMAP_SHIFT) != 0u;
    if !has_lightmap || (camera.flags & AMBIENT_AFFECTS_LIGHTMAPPED_MESHES) != 0u {
        radiance += ambient_light(surface, dfg_term(surface.n_dot_v, 1.0), camera.ambient, occlusion.diffuse);
    }
    if HAS_ENVIRONMENTS {
        radiance += environment_light(surface, camera, occlusion, !has_lightmap);
    }
    let sides = ReceiverSides(
        ShadowReceiver(in.world_position.xyz, in.world_normal, in.frag_coord.xy),
        material.thickness,
        (vec2u(in.flags) & vec2u(SHADOW_RECEIVER, TRANSMITTED_SHADOW_RECEIVER)) != vec2u(0u),
    );
    radiance += shade_lights(surface, sides, camera);
    if HAS_SPECULAR_TRANSMISSION && (camera.flags & REFRACTS) != 0u && material.specular_transmission > 0.0 {
        radiance += material.specular_transmission * refracted_light(surface, interior, in.frag_coord.xyz, camera);
    }
    var emissive = material.emissive.rgb * mix(1.0, camera.exposure, material.emissive.a);
    let clearcoat = surface.clearcoat;
    // The clearcoat attenuates emission as well.
    emissive *= 1.0 - clearcoat.strength * (0.04 + 0.96 * pow5(1.0 - clearcoat.n_dot_v));
    return vec4f(radiance * camera.exposure + emissive * material.base_color.a, material.base_color.a);
}

// Fog, the display transform of cameras without `Hdr`, and what blending expects of the alpha mode.
fn main_pass_post_lighting_processing(pbr_input: PbrInput, input_color: vec4f) -> vec4f {
    var color = input_color.rgb;
    let flags = pbr_input.material.flags;
    if HAS_FOG && (flags & STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT) != 0u && camera.fog.falloff.w > 0.0 {
        color = apply_fog(color, pbr_input.world_position.xyz, pbr_input.frag_coord.xy, camera);
    }
    color = clamp(color, vec3f(0.0), vec3f(MAX_RADIANCE));
    if MAPS_TONES {
        color = display_transform(color, pbr_input.frag_coord.xy);
    }
    return premultiply_alpha(flags, vec4f(color, input_color.a));
}

// Color as blending expects it of materials that add or multiply.
fn premultiply_alpha(standard_material_flags: u32, color: vec4f) -> vec4f {
    let mode = standard_material_flags & STANDARD_MATERIAL_FLAGS_ALPHA_MODE_RESERVED_BITS;
    if mode == STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ADD {
        return vec4f(color.rgb * color.a, 0.0);
    }
    if mode == STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MULTIPLY {
        return vec4f(color.rgb * color.a, color.a);
    }
    return color;
}
