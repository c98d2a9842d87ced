// Physically based shading of meshes with materials: see `opaque_3d` and `transparent_3d`.
//
// Output is radiance times the camera's exposure, or with `MAPS_TONES` the display-referred color of it: linear,
// premultiplied with alpha.
//
// n_dot_v: cosine of normal and view direction
// f0, f90: reflectance at normal and at grazing incidence
// dfg: scale and bias of the specular lobe's integral (dfg.wgsl)

import quadrille_3d::constants::{
    ALPHA_ADD, ALPHA_MULTIPLY, ALPHA_PREMULTIPLIED, AMBIENT_AFFECTS_LIGHTMAPPED_MESHES, CASTS_CONTACT_SHADOWS,
    DIRECTIONAL, DOUBLE_SIDED, FLIP_NORMAL_MAP_Y, FOG_ENABLED, HAS_BACKDROP, LIGHTMAP_SHIFT, MAX_RADIANCE, METALLIC_IN_GREEN,
    MULTISAMPLED, NO_TEXTURE, RECT, REFRACTS, SHADOW_RECEIVER, SPOT, TRANSMITTED_SHADOW_RECEIVER,
    TWO_COMPONENT_NORMAL_MAP, UNLIT,
};
import quadrille_3d::ambient_occlusion::indirect_occlusion;
import quadrille_3d::clusters::{light_masks, slice_masks_at};
import quadrille_3d::contact_shadows::{HAS_CONTACT_SHADOWS, contact_shadow};
import quadrille_3d::display::display_transform;
import quadrille_3d::decals::{DecaledSurface, apply_decals};
import quadrille_3d::dfg::{dfg_lut, dfg_polynomial};
import quadrille_3d::environment::{environment_light, environment_radiance};
import quadrille_3d::fog::apply_fog;
import quadrille_3d::material_textures::{MIN_UV, TextureCoordinates, texture_coordinates, sample_texture};
import quadrille_3d::light_textures::sample_light_texture;
import quadrille_3d::lightmaps::{sample_lightmap, lightmaps};
import quadrille_3d::parallax::parallaxed_uv;
import quadrille_3d::rect_lights::rect_light;
import quadrille_3d::visibility_range::{visibility_range_dither_level, is_dithered_out};
import quadrille_3d::mesh_types::{Instance, Vertex, is_mirrored, to_world, to_world_normal, to_world_tangent};
import quadrille_3d::brdf::{Clearcoat, LightSample, Surface, ambient_light, evaluate_brdf, transmitted_light, pow5};
import quadrille_3d::transmission::{
    HAS_SPECULAR_TRANSMISSION, Interior, refracted_direction, transmission_roughness, transmitted_background,
};
import quadrille_3d::scene::{Light, Material, View, camera, instances, lights, materials, visible_instances, textures};
import quadrille_3d::shadows::{ShadowReceiver, fetch_shadow};
import quadrille_3d::sunlight::sun_transmittance;

// The pipeline may discard fragments: without that, depth is tested before the shader runs.
override HAS_ALPHA_MASK: bool = true;
// The pipeline is for materials with a base color texture; with other textures.
override HAS_BASE_COLOR_TEXTURE: bool = true;
override HAS_TEXTURES: bool = true;
// The pipeline has clearcoat, anisotropy, transmission, parallax mapping and lightmaps.
override HAS_EXTENDED_FEATURES: bool = true;
// Features of the frame's lighting: point, spot and rectangular lights, the last alone, shadow maps, environment maps
// or irradiance volumes, fog, textures of lights, clustered decals, atmospheres.
override HAS_RANGED_LIGHTS: bool = true;
override HAS_RECT_LIGHTS: bool = true;
override HAS_SHADOWS: bool = true;
override HAS_ENVIRONMENTS: bool = true;
override HAS_FOG: bool = true;
override HAS_LIGHT_TEXTURES: bool = true;
override HAS_DECALS: bool = true;
override HAS_ATMOSPHERE: bool = true;
// The pipeline uses alpha to coverage.
override HAS_ALPHA_TO_COVERAGE: bool = false;
// The DFG term of the base layer comes from the table, not from the polynomial.
override DFG_LUT: bool = false;
// Output is display-referred.
override MAPS_TONES: bool = false;

struct VertexOutput {
    // Equal in the prepass and in later passes.
    @invariant @builtin(position) position: vec4f,
    @location(0) world_position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) @interpolate(flat) instance: u32,
    @location(4) uvs: vec4f,
    @location(5) tangent: vec4f,
}

@vertex
fn vertex_main(@builtin(instance_index) index: u32, vertex: Vertex) -> VertexOutput {
    return transform_vertex(visible_instances[index], vertex);
}

// Outputs of a vertex, of prepasses as well.
fn transform_vertex(instance_index: u32, vertex: Vertex) -> VertexOutput {
    let instance = instances[instance_index];
    let world_position = to_world(instance, vertex.position);
    let world_normal = to_world_normal(instance, vertex.normal);
    var vertex_output: VertexOutput;
    vertex_output.position = camera.clip_from_world * vec4f(world_position, 1.0);
    // A step of depth is at most 2^-23 of it.
    vertex_output.position.z *= 1.0 + materials[instance.material].depth_bias / 8388608.0;
    vertex_output.world_position = world_position;
    vertex_output.normal = world_normal.xyz;
    vertex_output.color = vertex.color;
    vertex_output.instance = instance_index;
    vertex_output.uvs = vertex.uvs;
    vertex_output.tangent = to_world_tangent(instance, vertex.tangent, world_normal.w);
    return vertex_output;
}

@fragment
fn fragment_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) -> @location(0) vec4f {
    return surface_color(vertex_output, front_facing);
}

// Color of a fragment, for the blend mode of its material.
fn surface_color(vertex_output: VertexOutput, front_facing: bool) -> vec4f {
    let view = camera;
    let material = materials[instances[vertex_output.instance].material];
    // Only double-sided materials turn normals; mirrored transforms turn the winding.
    var is_front = true;
    if (material.flags & DOUBLE_SIDED) != 0u {
        is_front = front_facing != is_mirrored(instances[vertex_output.instance]);
    }
    if HAS_ALPHA_MASK && is_dithered_out(visibility_range_dither_level(instances[vertex_output.instance], view.position), vertex_output.position.xy) {
        discard;
    }
    let at = parallax_uv(vertex_output, view, material, is_front);
    var base = material.base_color * vertex_output.color * base_color_texture(material, at);
    let threshold = select(material.alpha, 0.5, HAS_ALPHA_TO_COVERAGE);
    var coverage = 1.0;
    if HAS_ALPHA_TO_COVERAGE && (view.flags & MULTISAMPLED) != 0u {
        coverage = saturate(base.a);
        base.a = 1.0;
    } else if threshold < 0.0 {
        base.a = 1.0;
    } else if threshold <= 1.0 {
        if HAS_ALPHA_MASK && base.a < threshold {
            discard;
        }
        base.a = 1.0;
    }
    var decaled: DecaledSurface;
    if HAS_DECALS && view.decal_words != 0u {
        let geometric = geometric_normal(vertex_output, to_view_of(vertex_output, view), is_front);
        let normal = shading_normal(vertex_output, material, at, geometric, is_front);
        decaled = apply_decals(base, normal, vertex_output.world_position, view);
        base = decaled.base;
    }
    var color = base.rgb;
    if (material.flags & UNLIT) == 0u {
        color = shade(vertex_output, view, material, at, base, is_front, decaled);
    }
    if HAS_FOG && (material.flags & FOG_ENABLED) != 0u && view.fog.falloff.w > 0.0 {
        color = apply_fog(color, vertex_output.world_position, vertex_output.position.xy, view);
    }
    color = clamp(color, vec3f(0.0), vec3f(MAX_RADIANCE));
    if MAPS_TONES {
        color = display_transform(color, vertex_output.position.xy);
    }
    if HAS_ALPHA_TO_COVERAGE {
        return vec4f(color, coverage);
    }
    // Blending takes premultiplied color.
    if material.alpha == ALPHA_ADD {
        return vec4f(color * base.a, 0.0);
    }
    if material.alpha == ALPHA_PREMULTIPLIED {
        return vec4f(color, base.a);
    }
    if material.alpha == ALPHA_MULTIPLY {
        let factor = mix(vec3f(1.0), color, base.a);
        if (view.flags & HAS_BACKDROP) != 0u {
            return vec4f(factor, base.a);
        }
        // The background is added later, so alpha has to dim it.
        return vec4f(factor, 1.0 - saturate((factor.r + factor.g + factor.b) / 3.0));
    }
    return vec4f(color * base.a, base.a);
}

// Samples the base color texture; white where there is none.
fn base_color_texture(material: Material, at: TextureCoordinates) -> vec4f {
    if !HAS_BASE_COLOR_TEXTURE {
        return vec4f(1.0);
    }
    return sample_texture(material.textures[0].x, at);
}

// Samples a texture other than the base color; white where there is none.
fn sample_or_white(texture_and_sampler: u32, at: TextureCoordinates) -> vec4f {
    if !HAS_TEXTURES {
        return vec4f(1.0);
    }
    return sample_texture(texture_and_sampler, at);
}

// Texture coordinates of a fragment, displaced by parallax mapping if the material has a depth map.
fn parallax_uv(vertex_output: VertexOutput, view: View, material: Material, is_front: bool) -> TextureCoordinates {
    if !HAS_BASE_COLOR_TEXTURE {
        return TextureCoordinates();
    }
    var at = texture_coordinates(vertex_output.uvs, material, view.mip_scale);
    if !HAS_EXTENDED_FEATURES {
        return at;
    }
    let has_tangents = dot(vertex_output.tangent.xyz, vertex_output.tangent.xyz) > 0.0;
    if material.textures[2].w != NO_TEXTURE && has_tangents && all(at.has_uvs) {
        let to_view = to_view_of(vertex_output, view);
        let normal = geometric_normal(vertex_output, to_view, is_front);
        let bitangent = cross(normal, vertex_output.tangent.xyz) * vertex_output.tangent.w;
        let down = -vec3f(dot(to_view, vertex_output.tangent.xyz), dot(to_view, bitangent), dot(to_view, normal));
        let sets = select(2u, 1u, all(at.uvs[0] == at.uvs[1]));
        for (var channel = 0u; channel < sets; channel++) {
            at.uvs[channel] = parallaxed_uv(at.uvs[channel], down, material);
        }
        if sets == 1u {
            at.uvs[1] = at.uvs[0];
        }
    }
    return at;
}

fn shade(
    vertex_output: VertexOutput,
    view: View,
    material: Material,
    at: TextureCoordinates,
    base: vec4f,
    is_front: bool,
    decaled: DecaledSurface,
) -> vec3f {
    let instance = instances[vertex_output.instance];
    var surface = surface_of(vertex_output, view, material, at, base.rgb, is_front, decaled);
    var interior = Interior();
    var specular_transmission = 0.0;
    let is_thin = HAS_EXTENDED_FEATURES && material.attenuation_and_diffuse_transmission.a != 0.0;
    if HAS_SPECULAR_TRANSMISSION || is_thin {
        interior.ior = material.ior;
        interior.thickness = world_thickness(surface.normal, material, instance, at);
        interior.attenuation = material.attenuation_and_diffuse_transmission.rgb;
        interior.perceptual_roughness = perceptual_roughness_of(material, at);
        if HAS_SPECULAR_TRANSMISSION {
            specular_transmission = material.specular_transmission * sample_or_white(material.textures[3].x, at).r;
            surface.diffuse *= 1.0 - specular_transmission;
        }
        if is_thin {
            let transmission = material.attenuation_and_diffuse_transmission.a;
            split_diffuse_transmission(&surface, transmission * sample_or_white(material.textures[3].z, at).a, interior);
        }
    }
    let material_occlusion = sample_or_white(material.textures[0].w, at).r;
    let occlusion = indirect_occlusion(surface, view, vertex_output.position.xy, material_occlusion);
    let number = instance.flags >> LIGHTMAP_SHIFT;
    let has_lightmap = HAS_EXTENDED_FEATURES && number != 0u && lightmaps[number - 1u].texture != NO_TEXTURE
        && vertex_output.uvs.z > MIN_UV;
    var radiance = vec3f(0.0);
    if has_lightmap {
        radiance = sample_lightmap(lightmaps[number - 1u], vertex_output.uvs.zw) * material.lightmap_exposure;
        radiance *= surface.diffuse;
    }
    if !has_lightmap || (view.flags & AMBIENT_AFFECTS_LIGHTMAPPED_MESHES) != 0u {
        radiance += ambient_light(surface, dfg_term(surface.n_dot_v, 1.0), view.ambient, occlusion.diffuse);
    }
    if HAS_ENVIRONMENTS {
        radiance += environment_light(surface, view, occlusion, !has_lightmap);
    }
    let normal = geometric_normal(vertex_output, surface.to_view, is_front);
    let receiver_sides = ReceiverSides(
        ShadowReceiver(vertex_output.world_position, normal, vertex_output.position.xy),
        interior.thickness,
        (vec2u(instance.flags) & vec2u(SHADOW_RECEIVER, TRANSMITTED_SHADOW_RECEIVER)) != vec2u(0u),
    );
    radiance += shade_lights(surface, receiver_sides, view);
    if HAS_SPECULAR_TRANSMISSION && (view.flags & REFRACTS) != 0u && specular_transmission > 0.0 {
        radiance += specular_transmission * refracted_light(surface, interior, vertex_output.position.xyz, view);
    }
    var emissive = material.emissive.rgb * sample_or_white(material.textures[0].y, at).rgb;
    if HAS_DECALS {
        emissive += decaled.emissive;
    }
    emissive *= mix(1.0, view.exposure, material.emissive.a);
    // The clearcoat attenuates emission as well.
    let clearcoat = surface.clearcoat;
    emissive *= 1.0 - clearcoat.strength * (0.04 + 0.96 * pow5(1.0 - clearcoat.n_dot_v));
    return radiance * view.exposure + emissive * base.a;
}

// Shadow receivers of the two sides of a surface.
struct ReceiverSides {
    receiver: ShadowReceiver,
    // Distance from the surface to its other side.
    thickness: f32,
    // Whether shadows fall on the surface, and on its other side.
    receives: vec2<bool>,
}

// Thickness along a normal, which scales with the mesh.
fn world_thickness(normal: vec3f, material: Material, instance: Instance, at: TextureCoordinates) -> f32 {
    let scale = length(
        normal.x * instance.world_from_local[0].xyz + normal.y * instance.world_from_local[1].xyz + normal.z * instance.world_from_local[2].xyz,
    );
    return material.parallax.w * sample_or_white(material.textures[3].y, at).g * scale;
}

// Perceptual roughness without the lower bound of reflections.
fn perceptual_roughness_of(material: Material, at: TextureCoordinates) -> f32 {
    let texel = sample_or_white(material.textures[0].z, at);
    return material.perceptual_roughness * select(texel.g, texel.r, (material.flags & METALLIC_IN_GREEN) != 0u);
}

// Radiance from behind a surface of specular transmission 1: of the picture, or where that has nothing of environment maps.
fn refracted_light(surface: Surface, interior: Interior, fragment: vec3f, view: View) -> vec3f {
    let direction = refracted_direction(surface.normal, surface.to_view, interior.ior);
    let exit = direction * interior.thickness;
    let roughness = transmission_roughness(interior.perceptual_roughness, interior.ior);
    let background = transmitted_background(surface.world_position, exit, fragment, roughness, view);
    var radiance = background.rgb / view.exposure;
    if HAS_ENVIRONMENTS && background.a < 1.0 {
        let behind = normalize(exit - surface.to_view);
        let environment = environment_radiance(surface.world_position, behind, surface.perceptual_roughness, view);
        radiance += (1.0 - background.a) * environment;
    }
    let cosine = saturate(-dot(surface.normal, direction));
    let reflected = surface.f0 + (surface.f90 - surface.f0) * pow5(1.0 - cosine);
    let left = exp(-interior.attenuation * interior.thickness);
    return (1.0 - reflected) * surface.base * left * radiance;
}

// Splits diffuse into reflection and transmission.
fn split_diffuse_transmission(surface: ptr<function, Surface>, transmission: f32, interior: Interior) {
    let left = exp(-interior.attenuation * interior.thickness);
    // The clearcoat keeps in the light that it reflects.
    let clearcoat = (*surface).clearcoat;
    let out = 1.0 - clearcoat.strength * (0.04 * clearcoat.dfg.x + clearcoat.dfg.y);
    (*surface).diffuse_transmission = (*surface).diffuse * transmission * left * out;
    (*surface).diffuse *= 1.0 - transmission;
}

fn is_orthographic(view: View) -> bool {
    let matrix = view.clip_from_world;
    return matrix[0].w == 0.0 && matrix[1].w == 0.0 && matrix[2].w == 0.0;
}

fn to_view_of(vertex_output: VertexOutput, view: View) -> vec3f {
    if is_orthographic(view) {
        return -view.forward;
    }
    return normalize(view.position - vertex_output.world_position);
}

// Normal of the mesh. Lines and points may have none: theirs points to the view.
fn geometric_normal(vertex_output: VertexOutput, to_view: vec3f, is_front: bool) -> vec3f {
    let square = dot(vertex_output.normal, vertex_output.normal);
    let normal = select(to_view, vertex_output.normal * inverseSqrt(max(square, 1e-38)), square > 0.0);
    return select(-normal, normal, is_front);
}

// Normal of a surface: from its normal map, or the geometric one.
fn shading_normal(vertex_output: VertexOutput, material: Material, at: TextureCoordinates, geometric: vec3f, is_front: bool) -> vec3f {
    let has_tangents = dot(vertex_output.tangent.xyz, vertex_output.tangent.xyz) > 0.0;
    let normals = material.textures[1].x;
    if !HAS_TEXTURES || normals == NO_TEXTURE || !has_tangents {
        return geometric;
    }
    let has_two = (material.flags & TWO_COMPONENT_NORMAL_MAP) != 0u;
    return mapped_normal(vertex_output, material, sample_or_white(normals, at), has_two, is_front);
}

// Normal from a normal map. Tangents are used as baked: not orthogonal
// to the normal, and not normalized between vertices (mikktspace).
fn mapped_normal(
    vertex_output: VertexOutput,
    material: Material,
    texel: vec4f,
    is_two_component: bool,
    is_front: bool,
) -> vec3f {
    var tangent_normal = texel.xyz * 2.0 - 1.0;
    if is_two_component {
        tangent_normal.z = sqrt(max(1.0 - dot(tangent_normal.xy, tangent_normal.xy), 0.0));
    }
    if (material.flags & FLIP_NORMAL_MAP_Y) != 0u {
        tangent_normal.y = -tangent_normal.y;
    }
    if !is_front {
        tangent_normal = -tangent_normal;
    }
    let bitangent = cross(vertex_output.normal, vertex_output.tangent.xyz) * vertex_output.tangent.w;
    return normalize(tangent_normal.x * vertex_output.tangent.xyz + tangent_normal.y * bitangent + tangent_normal.z * vertex_output.normal);
}

fn surface_of(
    vertex_output: VertexOutput,
    view: View,
    material: Material,
    at: TextureCoordinates,
    base: vec3f,
    is_front: bool,
    decaled: DecaledSurface,
) -> Surface {
    var surface: Surface;
    surface.world_position = vertex_output.world_position;
    surface.to_view = to_view_of(vertex_output, view);
    let geometric = geometric_normal(vertex_output, surface.to_view, is_front);
    let has_tangents = dot(vertex_output.tangent.xyz, vertex_output.tangent.xyz) > 0.0;
    surface.normal = shading_normal(vertex_output, material, at, geometric, is_front);
    let has_decals = HAS_DECALS && view.decal_words != 0u;
    if has_decals {
        surface.normal = decaled.normal;
    }
    surface.n_dot_v = clamp(dot(surface.normal, surface.to_view), 0.0001, 1.0);
    var metallic_roughness = sample_or_white(material.textures[0].z, at).bg;
    if (material.flags & METALLIC_IN_GREEN) != 0u {
        metallic_roughness = sample_or_white(material.textures[0].z, at).gr;
    }
    metallic_roughness *= vec2f(material.metallic, material.perceptual_roughness);
    if has_decals {
        metallic_roughness = metallic_roughness * decaled.kept + decaled.metallic_roughness;
    }
    let metallic = metallic_roughness.x;
    surface.diffuse = base * (1.0 - metallic);
    surface.base = base;
    surface.dielectric = dielectric_f0(material, at);
    surface.metallic = metallic;
    surface.f0 = mix(surface.dielectric, base, metallic);
    // f0 below 2 % is taken for occlusion.
    surface.f90 = saturate(dot(surface.f0, vec3f(16.5)));
    // Below this bound its fourth power (alpha squared) underflows half floats.
    surface.perceptual_roughness = clamp(metallic_roughness.y, 0.089, 1.0);
    surface.dfg = dfg_term(surface.n_dot_v, surface.perceptual_roughness);
    let one_bounce = surface.dfg.x + surface.dfg.y;
    surface.energy_compensation = 1.0 + surface.f0 * (1.0 / one_bounce - 1.0);
    surface.clearcoat = evaluate_clearcoat(vertex_output, material, at, geometric, surface.to_view, is_front);
    if HAS_EXTENDED_FEATURES && material.anisotropy != 0.0 && has_tangents {
        apply_anisotropy(&surface, vertex_output, material, at);
    }
    return surface;
}

fn dielectric_f0(material: Material, at: TextureCoordinates) -> vec3f {
    var reflectance = material.reflectance;
    if HAS_TEXTURES && material.textures[1].y != NO_TEXTURE {
        reflectance *= 0.5 * sample_or_white(material.textures[1].y, at).a;
    }
    reflectance *= sample_or_white(material.textures[1].z, at).rgb;
    return 0.16 * reflectance * reflectance;
}

fn evaluate_clearcoat(
    vertex_output: VertexOutput,
    material: Material,
    at: TextureCoordinates,
    geometric: vec3f,
    to_view: vec3f,
    is_front: bool,
) -> Clearcoat {
    var clearcoat: Clearcoat;
    clearcoat.normal = geometric;
    clearcoat.n_dot_v = 1.0;
    if !HAS_EXTENDED_FEATURES || material.clearcoat == 0.0 {
        return clearcoat;
    }
    clearcoat.strength = material.clearcoat * sample_or_white(material.textures[1].w, at).r;
    let rough = material.clearcoat_roughness * sample_or_white(material.textures[2].x, at).g;
    clearcoat.perceptual_roughness = clamp(rough, 0.089, 1.0);
    let normals = material.textures[2].y;
    if normals != NO_TEXTURE && dot(vertex_output.tangent.xyz, vertex_output.tangent.xyz) > 0.0 {
        clearcoat.normal = mapped_normal(vertex_output, material, sample_or_white(normals, at), false, is_front);
    }
    clearcoat.n_dot_v = clamp(dot(clearcoat.normal, to_view), 0.0001, 1.0);
    clearcoat.dfg = dfg_lut(clearcoat.n_dot_v, clearcoat.perceptual_roughness);
    return clearcoat;
}

// Sets the axes and the strength of anisotropy.
fn apply_anisotropy(surface: ptr<function, Surface>, vertex_output: VertexOutput, material: Material, at: TextureCoordinates) {
    var direction = material.anisotropy_direction;
    var strength = material.anisotropy;
    if material.textures[2].z != NO_TEXTURE {
        let texel = sample_or_white(material.textures[2].z, at).rgb;
        let turn = normalize(texel.rg * 2.0 - 1.0);
        direction = mat2x2f(direction, vec2f(-direction.y, direction.x)) * turn;
        strength *= texel.b;
    }
    let bitangent = cross(vertex_output.normal, vertex_output.tangent.xyz) * vertex_output.tangent.w;
    let anisotropy_tangent = normalize(direction.x * vertex_output.tangent.xyz + direction.y * bitangent);
    (*surface).anisotropy_tangent = anisotropy_tangent;
    (*surface).anisotropy_bitangent = normalize(cross((*surface).normal, anisotropy_tangent));
    (*surface).anisotropy = saturate(strength);
}

fn dfg_term(n_dot_v: f32, perceptual_roughness: f32) -> vec2f {
    if DFG_LUT {
        return dfg_lut(n_dot_v, perceptual_roughness);
    }
    return dfg_polynomial(n_dot_v, perceptual_roughness);
}

// Light of all directional lights, and of the others whose bits all slices of the point have.
// A single call of `shade_light`, which is most of this shader, keeps the code small.
fn shade_lights(surface: Surface, receiver_sides: ReceiverSides, view: View) -> vec3f {
    var slice_masks = vec3u(0u);
    if HAS_RANGED_LIGHTS && view.mask_blocks != 0u {
        slice_masks = slice_masks_at(view, surface.world_position);
    }
    var directional = 0u;
    var block = 0u;
    var filled = 0u;
    var word = 0u;
    var bits = 0u;
    var sum = vec3f(0.0);
    loop {
        var number = directional;
        if directional < view.directional_count {
            directional += 1u;
        } else {
            while HAS_RANGED_LIGHTS && bits == 0u && (filled != 0u || block < view.mask_blocks) {
                if filled == 0u {
                    let at = slice_masks + view.mask_words + block;
                    filled = light_masks[at.x] & light_masks[at.y] & light_masks[at.z];
                    block += 1u;
                } else {
                    word = (block - 1u) * 32u + firstTrailingBit(filled);
                    filled &= filled - 1u;
                    let at = slice_masks + word;
                    bits = light_masks[at.x] & light_masks[at.y] & light_masks[at.z];
                }
            }
            if bits == 0u {
                break;
            }
            number += word * 32u + firstTrailingBit(bits);
            bits &= bits - 1u;
        }
        sum += shade_light(surface, receiver_sides, view, lights[view.first_light + number]);
    }
    return sum;
}

fn shade_light(surface: Surface, receiver_sides: ReceiverSides, view: View, light: Light) -> vec3f {
    var kind = DIRECTIONAL;
    var radius = 0.0;
    if HAS_RANGED_LIGHTS {
        kind = light.bits & 3u;
        radius = light.radius;
    }
    if kind == RECT {
        if !HAS_RECT_LIGHTS {
            return vec3f(0.0);
        }
        return rect_light(surface, light);
    }
    var to_light = light.position_or_direction;
    var to_center = light.position_or_direction;
    var strength = 1.0;
    if kind != DIRECTIONAL {
        to_center = light.position_or_direction - surface.world_position;
        let distance_squared = dot(to_center, to_center);
        to_light = to_center * inverseSqrt(max(distance_squared, 1e-12));
        // Inverse square law, windowed to zero at the range.
        let part = distance_squared * light.inverse_range_squared;
        let window = saturate(1.0 - part * part);
        strength = window * window / max(distance_squared, 0.0001);
    }
    if kind == SPOT {
        let cone = saturate(dot(light.axis, -to_light) * light.cone_scale + light.cone_offset);
        strength *= cone * cone;
    }
    var faces = dot(surface.normal, to_light) > 0.0 || dot(surface.clearcoat.normal, to_light) > 0.0;
    var receiver = receiver_sides.receiver;
    var receives = receiver_sides.receives.x;
    let is_transmitted = HAS_EXTENDED_FEATURES && any(surface.diffuse_transmission > vec3f(0.0)) && dot(surface.normal, to_light) < 0.0;
    if is_transmitted {
        faces = true;
        receives = all(receiver_sides.receives);
        receiver.world_position -= receiver.normal * receiver_sides.thickness;
        receiver.normal = -receiver.normal;
    }
    if strength <= 0.0 || !(faces || radius > 0.0) {
        return vec3f(0.0);
    }
    if HAS_LIGHT_TEXTURES && light.texture != 0u {
        strength *= sample_light_texture(light.texture, surface.world_position);
    }
    if HAS_SHADOWS && receives && strength > 0.0 {
        strength *= fetch_shadow(receiver, view, light, kind, to_light);
    }
    let casts_contact = HAS_CONTACT_SHADOWS && (light.bits & CASTS_CONTACT_SHADOWS) != 0u && view.contact_shadows.x > 0.0;
    if casts_contact && receives && !is_transmitted && strength > 0.0 {
        let reach = select(length(to_center), 1e9, kind == DIRECTIONAL);
        strength *= contact_shadow(receiver, view, to_light, reach);
    }
    var reflected_light = evaluate_brdf(surface, LightSample(to_light, to_center, radius));
    if is_transmitted {
        reflected_light += transmitted_light(surface, to_light);
    }
    var color = light.color;
    if HAS_ATMOSPHERE && kind == DIRECTIONAL && light.up[0] > 0.0 {
        color *= sun_transmittance(light, view, surface.world_position);
    }
    return color * strength * reflected_light;
}
