// Meshes with their materials, lit: see `opaque_3d` and `transparent_3d`.
//
// What leaves this shader is radiance times the camera's exposure, linear, multiplied with alpha.

import quadrille_3d::clusters::{light_masks, slabs_at};
import quadrille_3d::dfg::{dfg_lut, dfg_polynomial};
import quadrille_3d::environment::environment_light;
import quadrille_3d::fog::with_fog;
import quadrille_3d::images::{Coordinates, NO_UV, coordinates_of, texel};
import quadrille_3d::light_textures::let_through;
import quadrille_3d::lightmaps::{baked_light, lightmaps};
import quadrille_3d::parallax::moved_in;
import quadrille_3d::rect_lights::light_of_rect;
import quadrille_3d::ranges::{fade, is_faded};
import quadrille_3d::rows::{Instance, to_world};
import quadrille_3d::lobes::{Coat, Lamp, Surface, ambient_light, reflected, transmitted, to_the_fifth};
import quadrille_3d::scene::{
    DIRECTIONAL, LIGHTS_LIGHTMAPPED, Light, Material, NO_TEXTURE, RECT, SEVERAL_SAMPLES, SPOT, View,
    camera, instances, lights, materials, seen, textures,
};
import quadrille_3d::shadows::{Place, shadow};


const RECEIVES: u32 = 1u;
const RECEIVES_BEHIND: u32 = 2u;
// From here on the number of the instance's lightmap begins; 0 for none.
const LIGHTMAP_BIT: u32 = 8u;

const UNLIT: u32 = 1u;
const DOUBLE_SIDED: u32 = 2u;
const FOG: u32 = 4u;
const FLIPS_Y: u32 = 8u;
const TWO_CHANNELS: u32 = 16u;
const METAL_IN_GREEN: u32 = 32u;

const ALPHA_PREMULTIPLIED: f32 = 3.0;
const ALPHA_ADD: f32 = 4.0;
const ALPHA_MULTIPLY: f32 = 5.0;

// The pipeline is for what may have holes: without them depth is known before the shader runs.
override HAS_HOLES: bool = true;
// The pipeline is for materials that have images.
override HAS_IMAGES: bool = true;
// The pipeline is for materials that need more than two lobes and images where they are.
override IS_RICH: bool = true;
// The world has lights that are rectangles.
override HAS_RECTS: bool = true;
// The pipeline's samples are covered by alpha.
override COVERS_SAMPLES: bool = false;
// The DFG term of the base layer comes from the table, not from the polynomial.
override DFG_LUT: bool = false;

// Half floats end at 65504.
const BRIGHTEST: f32 = 60000.0;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) @interpolate(flat) instance: u32,
    @location(4) uvs: vec4f,
    @location(5) tangent: vec4f,
}

@vertex
fn vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) uvs: vec4f,
    @location(4) tangent: vec4f,
) -> Corner {
    let place = seen[index];
    let instance = instances[place];
    let world = to_world(instance, position);
    // The cofactors are the inverse transpose up to the determinant, whose sign counts.
    let cofactor_x = cross(instance.row_y.xyz, instance.row_z.xyz);
    let cofactor_y = cross(instance.row_z.xyz, instance.row_x.xyz);
    let cofactor_z = cross(instance.row_x.xyz, instance.row_y.xyz);
    let turned = vec3f(dot(cofactor_x, normal), dot(cofactor_y, normal), dot(cofactor_z, normal));
    let side = select(1.0, -1.0, dot(instance.row_x.xyz, cofactor_x) < 0.0);
    let along = vec3f(
        dot(instance.row_x.xyz, tangent.xyz),
        dot(instance.row_y.xyz, tangent.xyz),
        dot(instance.row_z.xyz, tangent.xyz),
    );
    var corner: Corner;
    corner.position = camera.clip_from_world * vec4f(world, 1.0);
    // A step of depth is at most 2^-23 of it.
    corner.position.z *= 1.0 + materials[instance.material].depth_bias / 8388608.0;
    corner.world = world;
    corner.normal = unit_or_zero(turned) * side;
    corner.color = color;
    corner.instance = place;
    corner.uvs = uvs;
    corner.tangent = vec4f(unit_or_zero(along), tangent.w * side);
    return corner;
}

fn unit_or_zero(way: vec3f) -> vec3f {
    let square = dot(way, way);
    return select(vec3f(0.0), way * inverseSqrt(max(square, 1e-38)), square > 0.0);
}

@fragment
fn fragment_main(corner: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let view = camera;
    let instance = instances[corner.instance];
    let material = materials[instance.material];
    if HAS_HOLES && is_faded(fade(instance, view.position), corner.position.xy) {
        discard;
    }
    let at = seen_at(corner, view, material, is_front);
    var base = material.base_color * corner.color * image(material.textures.x, at);
    let threshold = select(material.alpha, 0.5, COVERS_SAMPLES);
    var covered = 1.0;
    if COVERS_SAMPLES && (view.flags & SEVERAL_SAMPLES) != 0u {
        // From none to all of them within a pixel around the place where alpha is 0.5.
        covered = saturate((base.a - threshold) / max(fwidth(base.a), 1e-4) + 0.5);
        base.a = 1.0;
    } else if threshold < 0.0 {
        base.a = 1.0;
    } else if threshold <= 1.0 {
        if HAS_HOLES && base.a < threshold {
            discard;
        }
        base.a = 1.0;
    }
    var color = base.rgb;
    if (material.flags & UNLIT) == 0u {
        color = lit(corner, view, material, at, base, is_front);
    }
    if (material.flags & FOG) != 0u && view.fog.falloff.w > 0.0 {
        color = with_fog(color, corner.world, corner.position.xy, view);
    }
    color = clamp(color, vec3f(0.0), vec3f(BRIGHTEST));
    if COVERS_SAMPLES {
        return vec4f(color, covered);
    }
    // Colours to be covered with are multiplied with alpha, unless they are already.
    if material.alpha == ALPHA_ADD {
        return vec4f(color * base.a, 0.0);
    }
    if material.alpha == ALPHA_PREMULTIPLIED {
        return vec4f(color, base.a);
    }
    if material.alpha == ALPHA_MULTIPLY {
        // What is behind the scene comes later, so that it is dimmed by covering.
        let factor = mix(vec3f(1.0), color, base.a);
        return vec4f(factor, 1.0 - saturate((factor.r + factor.g + factor.b) / 3.0));
    }
    return vec4f(color * base.a, base.a);
}

// What an image says of a place; white where there is none.
fn image(place: u32, at: Coordinates) -> vec4f {
    if !HAS_IMAGES {
        return vec4f(1.0);
    }
    return texel(place, at);
}

// The texture coordinates of what is seen: of a deeper place, where a material has depths.
fn seen_at(corner: Corner, view: View, material: Material, is_front: bool) -> Coordinates {
    if !HAS_IMAGES {
        return Coordinates();
    }
    var at = coordinates_of(corner.uvs, material);
    if !IS_RICH {
        return at;
    }
    let has_tangents = dot(corner.tangent.xyz, corner.tangent.xyz) > 0.0;
    if material.last_textures.w != NO_TEXTURE && has_tangents && all(at.are_there) {
        let to_view = to_view_of(corner, view);
        let normal = geometric_normal(corner, to_view, material, is_front);
        let across = cross(normal, corner.tangent.xyz) * corner.tangent.w;
        let down = -vec3f(dot(to_view, corner.tangent.xyz), dot(to_view, across), dot(to_view, normal));
        let sets = select(2u, 1u, all(at.uvs[0] == at.uvs[1]));
        for (var channel = 0u; channel < sets; channel++) {
            at.uvs[channel] = moved_in(at.uvs[channel], down, material);
        }
        if sets == 1u {
            at.uvs[1] = at.uvs[0];
        }
    }
    return at;
}

fn lit(
    corner: Corner,
    view: View,
    material: Material,
    at: Coordinates,
    base: vec4f,
    is_front: bool,
) -> vec3f {
    let instance = instances[corner.instance];
    var surface = surface_of(corner, view, material, at, base.rgb, is_front);
    var thickness = 0.0;
    if IS_RICH && material.through.a != 0.0 {
        thickness = share_with_other_side(&surface, material, instance);
    }
    let open = image(material.textures.w, at).r;
    let number = instance.flags >> LIGHTMAP_BIT;
    let is_baked = IS_RICH && number != 0u && lightmaps[number - 1u].texture != NO_TEXTURE
        && corner.uvs.z > NO_UV;
    var radiance = vec3f(0.0);
    if is_baked {
        radiance = baked_light(lightmaps[number - 1u], corner.uvs.zw) * material.lightmap_exposure;
        radiance *= surface.diffuse;
    }
    if !is_baked || (view.flags & LIGHTS_LIGHTMAPPED) != 0u {
        radiance += ambient_light(surface, dfg_term(surface.normal_view, 1.0), view.ambient, open);
    }
    radiance += environment_light(surface, view, open, !is_baked);
    let normal = geometric_normal(corner, surface.to_view, material, is_front);
    let sides = Sides(
        Place(corner.world, normal, corner.position.xy),
        thickness,
        (vec2u(instance.flags) & vec2u(RECEIVES, RECEIVES_BEHIND)) != vec2u(0u),
    );
    radiance += light_of_all(surface, sides, view);
    var emissive = material.emissive.rgb * image(material.textures.y, at).rgb;
    emissive *= mix(1.0, view.exposure, material.emissive.a);
    // A varnish is over what shines as well.
    let coat = surface.coat;
    emissive *= 1.0 - coat.strength * (0.04 + 0.96 * to_the_fifth(1.0 - coat.normal_view));
    return radiance * view.exposure + emissive * base.a;
}

// Where shadows fall.
struct Sides {
    place: Place,
    // How far behind the surface its other side lies.
    thickness: f32,
    // Whether they fall on the surface, and on its other side.
    receives: vec2<bool>,
}

// Takes what comes through from what is scattered back. Returns the thickness, larger or smaller with the mesh.
fn share_with_other_side(
    surface: ptr<function, Surface>,
    material: Material,
    instance: Instance,
) -> f32 {
    let normal = (*surface).normal;
    let scale = length(
        normal.x * instance.row_x.xyz + normal.y * instance.row_y.xyz + normal.z * instance.row_z.xyz,
    );
    let thickness = material.parallax.w * scale;
    let left = exp(-material.through.rgb * thickness);
    // A varnish keeps in what it mirrors.
    let coat = (*surface).coat;
    let out = 1.0 - coat.strength * (0.04 * coat.dfg.x + coat.dfg.y);
    (*surface).through = (*surface).diffuse * material.through.a * left * out;
    (*surface).diffuse *= 1.0 - material.through.a;
    return thickness;
}

fn is_orthographic(view: View) -> bool {
    let matrix = view.clip_from_world;
    return matrix[0].w == 0.0 && matrix[1].w == 0.0 && matrix[2].w == 0.0;
}

fn to_view_of(corner: Corner, view: View) -> vec3f {
    if is_orthographic(view) {
        return -view.forward;
    }
    return normalize(view.position - corner.world);
}

// The normal of the mesh. Lines and points may have none: they face the eye.
fn geometric_normal(corner: Corner, to_view: vec3f, material: Material, is_front: bool) -> vec3f {
    let square = dot(corner.normal, corner.normal);
    let normal = select(to_view, corner.normal * inverseSqrt(max(square, 1e-38)), square > 0.0);
    let flips = !is_front && (material.flags & DOUBLE_SIDED) != 0u;
    return select(normal, -normal, flips);
}

// The normal that an image says. Tangents are as they were when the image was made: not at right
// angles to the normal, and not of length 1 between the corners (mikktspace).
fn mapped_normal(
    corner: Corner,
    material: Material,
    said: vec4f,
    has_two_channels: bool,
    is_front: bool,
) -> vec3f {
    var bent = said.xyz * 2.0 - 1.0;
    if has_two_channels {
        bent.z = sqrt(max(1.0 - dot(bent.xy, bent.xy), 0.0));
    }
    if (material.flags & FLIPS_Y) != 0u {
        bent.y = -bent.y;
    }
    if !is_front && (material.flags & DOUBLE_SIDED) != 0u {
        bent = -bent;
    }
    let across = cross(corner.normal, corner.tangent.xyz) * corner.tangent.w;
    return normalize(bent.x * corner.tangent.xyz + bent.y * across + bent.z * corner.normal);
}

fn surface_of(
    corner: Corner,
    view: View,
    material: Material,
    at: Coordinates,
    base: vec3f,
    is_front: bool,
) -> Surface {
    var surface: Surface;
    surface.world = corner.world;
    surface.to_view = to_view_of(corner, view);
    let geometric = geometric_normal(corner, surface.to_view, material, is_front);
    let has_tangents = dot(corner.tangent.xyz, corner.tangent.xyz) > 0.0;
    let normals = material.more_textures.x;
    surface.normal = geometric;
    if HAS_IMAGES && normals != NO_TEXTURE && has_tangents {
        let has_two = (material.flags & TWO_CHANNELS) != 0u;
        surface.normal = mapped_normal(corner, material, image(normals, at), has_two, is_front);
    }
    surface.normal_view = clamp(dot(surface.normal, surface.to_view), 0.0001, 1.0);
    var metal_rough = image(material.textures.z, at).bg;
    if (material.flags & METAL_IN_GREEN) != 0u {
        metal_rough = image(material.textures.z, at).gr;
    }
    let metallic = material.metallic * metal_rough.x;
    surface.diffuse = base * (1.0 - metallic);
    surface.base = base;
    surface.dielectric = mirrored_without_metal(material, at);
    surface.metallic = metallic;
    surface.f0 = mix(surface.dielectric, base, metallic);
    // Below 2 % what looks mirrored is really hidden.
    surface.f90 = saturate(dot(surface.f0, vec3f(16.5)));
    // 0.089 is the smoothest.
    surface.perceptual_roughness = clamp(material.perceptual_roughness * metal_rough.y, 0.089, 1.0);
    surface.dfg = dfg_term(surface.normal_view, surface.perceptual_roughness);
    let one_bounce = surface.dfg.x + surface.dfg.y;
    surface.compensation = 1.0 + surface.f0 * (1.0 / one_bounce - 1.0);
    surface.coat = coat_of(corner, material, at, geometric, surface.to_view, is_front);
    if IS_RICH && material.anisotropy != 0.0 && has_tangents {
        draw_out(&surface, corner, material, at);
    }
    return surface;
}

fn mirrored_without_metal(material: Material, at: Coordinates) -> vec3f {
    var reflectance = material.reflectance;
    if HAS_IMAGES && material.more_textures.y != NO_TEXTURE {
        reflectance *= 0.5 * image(material.more_textures.y, at).a;
    }
    reflectance *= image(material.more_textures.z, at).rgb;
    return 0.16 * reflectance * reflectance;
}

fn coat_of(
    corner: Corner,
    material: Material,
    at: Coordinates,
    geometric: vec3f,
    to_view: vec3f,
    is_front: bool,
) -> Coat {
    var coat: Coat;
    coat.normal = geometric;
    coat.normal_view = 1.0;
    if !IS_RICH || material.clearcoat == 0.0 {
        return coat;
    }
    coat.strength = material.clearcoat * image(material.more_textures.w, at).r;
    let rough = material.clearcoat_roughness * image(material.last_textures.x, at).g;
    coat.perceptual_roughness = clamp(rough, 0.089, 1.0);
    let normals = material.last_textures.y;
    if normals != NO_TEXTURE && dot(corner.tangent.xyz, corner.tangent.xyz) > 0.0 {
        coat.normal = mapped_normal(corner, material, image(normals, at), false, is_front);
    }
    coat.normal_view = clamp(dot(coat.normal, to_view), 0.0001, 1.0);
    coat.dfg = dfg_lut(coat.normal_view, coat.perceptual_roughness);
    return coat;
}

// The axes of long highlights.
fn draw_out(surface: ptr<function, Surface>, corner: Corner, material: Material, at: Coordinates) {
    var direction = material.anisotropy_direction;
    var strength = material.anisotropy;
    if material.last_textures.z != NO_TEXTURE {
        let said = image(material.last_textures.z, at).rgb;
        let turn = normalize(said.rg * 2.0 - 1.0);
        direction = mat2x2f(direction, vec2f(-direction.y, direction.x)) * turn;
        strength *= said.b;
    }
    let across = cross(corner.normal, corner.tangent.xyz) * corner.tangent.w;
    let along = normalize(direction.x * corner.tangent.xyz + direction.y * across);
    (*surface).along = along;
    (*surface).across = normalize(cross((*surface).normal, along));
    (*surface).anisotropy = saturate(strength);
}

fn dfg_term(n_dot_v: f32, perceptual_roughness: f32) -> vec2f {
    if DFG_LUT {
        return dfg_lut(n_dot_v, perceptual_roughness);
    }
    return dfg_polynomial(n_dot_v, perceptual_roughness);
}

// The light of all directional lights, and of those others whose bits all slabs around the place have.
// There is one call of `light`, which is most of this shader.
fn light_of_all(surface: Surface, sides: Sides, view: View) -> vec3f {
    var slabs = vec3u(0u);
    if view.mask_blocks != 0u {
        slabs = slabs_at(view, surface.world);
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
            while bits == 0u && (filled != 0u || block < view.mask_blocks) {
                if filled == 0u {
                    let at = slabs + view.mask_words + block;
                    filled = light_masks[at.x] & light_masks[at.y] & light_masks[at.z];
                    block += 1u;
                } else {
                    word = (block - 1u) * 32u + firstTrailingBit(filled);
                    filled &= filled - 1u;
                    let at = slabs + word;
                    bits = light_masks[at.x] & light_masks[at.y] & light_masks[at.z];
                }
            }
            if bits == 0u {
                break;
            }
            number += word * 32u + firstTrailingBit(bits);
            bits &= bits - 1u;
        }
        sum += light(surface, sides, view, lights[view.first_light + number]);
    }
    return sum;
}

fn light(surface: Surface, sides: Sides, view: View, light: Light) -> vec3f {
    let kind = light.bits & 3u;
    if kind == RECT {
        if !HAS_RECTS {
            return vec3f(0.0);
        }
        return light_of_rect(surface, light);
    }
    var to_light = light.place;
    var way = light.place;
    var strength = 1.0;
    if kind != DIRECTIONAL {
        way = light.place - surface.world;
        let distance_squared = dot(way, way);
        to_light = way * inverseSqrt(max(distance_squared, 1e-12));
        // The inverse square, brought to zero at the range.
        let part = distance_squared * light.inverse_range_squared;
        let window = saturate(1.0 - part * part);
        strength = window * window / max(distance_squared, 0.0001);
    }
    if kind == SPOT {
        let cone = saturate(dot(light.axis, -to_light) * light.cone_scale + light.cone_offset);
        strength *= cone * cone;
    }
    var faces = dot(surface.normal, to_light) > 0.0 || dot(surface.coat.normal, to_light) > 0.0;
    var place = sides.place;
    var receives = sides.receives.x;
    let is_behind = IS_RICH && any(surface.through > vec3f(0.0)) && dot(surface.normal, to_light) < 0.0;
    if is_behind {
        faces = true;
        receives = all(sides.receives);
        place.world -= place.normal * sides.thickness;
        place.normal = -place.normal;
    }
    if strength <= 0.0 || !(faces || light.radius > 0.0) {
        return vec3f(0.0);
    }
    if light.texture != 0u {
        strength *= let_through(light.texture, surface.world);
    }
    if receives && strength > 0.0 {
        strength *= shadow(place, view, light, to_light);
    }
    var to_eye = reflected(surface, Lamp(to_light, way, light.radius));
    if is_behind {
        to_eye += transmitted(surface, to_light);
    }
    return light.color * strength * to_eye;
}
