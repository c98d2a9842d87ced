// Meshes with their materials, lit: see `opaque_3d` and `transparent_3d`.
//
// What leaves this shader is radiance times the camera's exposure, linear, multiplied with alpha.

enable wgpu_binding_array;

struct Instance {
    // The rows of the affine matrix from the mesh's space to the world's.
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
    material: u32,
    flags: u32,
    unused: vec2u,
}

struct Fog {
    color: vec4f,
    light_color: vec4f,
    // Numbers of the falloff; last its kind, 0 for none.
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
    fog: Fog,
}

struct Material {
    base_color: vec4f,
    emissive: vec4f,
    specular: vec3f,
    perceptual_roughness: f32,
    metallic: f32,
    alpha: f32,
    flags: u32,
    unused: u32,
    // Places of the images of base colour, emission, metal and roughness, occlusion.
    textures: vec4u,
    uv_axes: mat2x2f,
    uv_offset: vec2f,
    unused_too: vec2f,
}

struct Light {
    place: vec3f,
    bits: u32,
    color: vec3f,
    inverse_range_squared: f32,
    axis: vec3f,
    cone_scale: f32,
    cone_offset: f32,
    depth_bias: f32,
    normal_bias: f32,
    unused: f32,
}

struct ShadowView {
    clip_from_world: mat4x4f,
    // Left, top, width and height in fractions of the image; zeros for none.
    tile: vec4f,
    far: f32,
    blend: f32,
    texel: f32,
    unused: f32,
}

@group(0) @binding(0) var<storage, read> instances: array<Instance>;
@group(0) @binding(1) var<storage, read> seen: array<u32>;
@group(0) @binding(2) var<storage, read> views: array<View>;
@group(0) @binding(3) var<storage, read> materials: array<Material>;
@group(0) @binding(4) var<storage, read> lights: array<Light>;
@group(0) @binding(5) var<storage, read> shadow_views: array<ShadowView>;
@group(0) @binding(6) var flat_shadows: texture_depth_2d;
@group(0) @binding(7) var face_shadows: texture_depth_2d;
@group(0) @binding(8) var shadow_sampler: sampler_comparison;
// Scale and bias of the light mirrored from all directions (dfg.rs).
@group(0) @binding(9) var<storage, read> dfg: array<vec2f>;

@group(1) @binding(0) var samplers: binding_array<sampler>;
@group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;

var<immediate> view_index: u32;

const PI: f32 = 3.14159265;
const DFG_SIDE: u32 = 32u;

const RECEIVES: u32 = 1u;

const UNLIT: u32 = 1u;
const DOUBLE_SIDED: u32 = 2u;
const FOG: u32 = 4u;

const DIRECTIONAL: u32 = 0u;
const POINT: u32 = 1u;
const SPOT: u32 = 2u;

// Half floats end at 65504.
const BRIGHTEST: f32 = 60000.0;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) @interpolate(flat) instance: u32,
    @location(4) uv: vec2f,
}

@vertex
fn vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) uv: vec2f,
) -> Corner {
    let place = seen[index];
    let instance = instances[place];
    let local = vec4f(position, 1.0);
    let world = vec3f(
        dot(instance.row_x, local),
        dot(instance.row_y, local),
        dot(instance.row_z, local),
    );
    // The cofactors are the inverse transpose up to the determinant, whose sign counts.
    let cofactor_x = cross(instance.row_y.xyz, instance.row_z.xyz);
    let cofactor_y = cross(instance.row_z.xyz, instance.row_x.xyz);
    let cofactor_z = cross(instance.row_x.xyz, instance.row_y.xyz);
    let turned = vec3f(dot(cofactor_x, normal), dot(cofactor_y, normal), dot(cofactor_z, normal));
    let is_mirrored = dot(instance.row_x.xyz, cofactor_x) < 0.0;
    var corner: Corner;
    corner.position = views[view_index].clip_from_world * vec4f(world, 1.0);
    corner.world = world;
    corner.normal = select(turned, -turned, is_mirrored);
    corner.color = color;
    corner.instance = place;
    corner.uv = uv;
    return corner;
}

const NO_TEXTURE: u32 = 0xffffffffu;

// What images say of a place; white where there is none.
fn texel(place: u32, uv: vec2f, along_x: vec2f, along_y: vec2f) -> vec4f {
    if place == NO_TEXTURE {
        return vec4f(1.0);
    }
    return textureSampleGrad(textures[place & 0xffffffu], samplers[place >> 24u], uv, along_x, along_y);
}

// What light meets.
struct Surface {
    world: vec3f,
    normal: vec3f,
    to_view: vec3f,
    normal_view: f32,
    // What is scattered.
    diffuse: vec3f,
    // What is mirrored at right angles, and at grazing ones.
    f0: vec3f,
    f90: f32,
    perceptual_roughness: f32,
    // Scale and bias of the lobe's integral.
    dfg: vec2f,
    // What further bounces between the facets add.
    compensation: vec3f,
    receives_shadows: bool,
}

@fragment
fn fragment_main(corner: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let view = views[view_index];
    let instance = instances[corner.instance];
    let material = materials[instance.material];
    let uv = material.uv_axes * corner.uv + material.uv_offset;
    let along_x = dpdx(uv);
    let along_y = dpdy(uv);
    let images = material.textures;
    var base = material.base_color * corner.color * texel(images.x, uv, along_x, along_y);
    if material.alpha < 0.0 {
        base.a = 1.0;
    } else if material.alpha <= 1.0 {
        if base.a < material.alpha {
            discard;
        }
        base.a = 1.0;
    }
    var color = base.rgb;
    if (material.flags & UNLIT) == 0u {
        let metal_rough = texel(images.z, uv, along_x, along_y);
        let surface =
            surface_of(corner, view, instance, material, base.rgb, metal_rough.bg, is_front);
        let open = texel(images.w, uv, along_x, along_y).r;
        var radiance = ambient_light(surface, view.ambient) * open;
        for (var at = 0u; at < view.light_count; at++) {
            radiance += light(surface, view, lights[view.first_light + at]);
        }
        let shining = material.emissive.rgb * texel(images.y, uv, along_x, along_y).rgb;
        let emissive = shining * mix(1.0, view.exposure, material.emissive.a);
        color = radiance * view.exposure + emissive * base.a;
    }
    if (material.flags & FOG) != 0u && view.fog.falloff.w > 0.0 {
        color = with_fog(color, corner.world, view);
    }
    color = clamp(color, vec3f(0.0), vec3f(BRIGHTEST));
    // Colours to be covered with are multiplied with alpha, unless they are already.
    if material.alpha == 4.0 {
        return vec4f(color * base.a, 0.0);
    }
    return vec4f(select(color * base.a, color, material.alpha == 3.0), base.a);
}

fn is_orthographic(view: View) -> bool {
    let matrix = view.clip_from_world;
    return matrix[0].w == 0.0 && matrix[1].w == 0.0 && matrix[2].w == 0.0;
}

fn surface_of(
    corner: Corner,
    view: View,
    instance: Instance,
    material: Material,
    base: vec3f,
    // What images say of metal and roughness.
    metal_rough: vec2f,
    is_front: bool,
) -> Surface {
    var surface: Surface;
    surface.world = corner.world;
    surface.to_view = normalize(view.position - corner.world);
    if is_orthographic(view) {
        surface.to_view = -view.forward;
    }
    // Lines and points may have none.
    let length_squared = dot(corner.normal, corner.normal);
    surface.normal = surface.to_view;
    if length_squared > 0.0 {
        surface.normal = corner.normal * inverseSqrt(length_squared);
    }
    if !is_front && (material.flags & DOUBLE_SIDED) != 0u {
        surface.normal = -surface.normal;
    }
    surface.normal_view = clamp(dot(surface.normal, surface.to_view), 0.0001, 1.0);
    let metallic = material.metallic * metal_rough.x;
    surface.diffuse = base * (1.0 - metallic);
    surface.f0 = mix(material.specular, base, metallic);
    // Below 2 % what looks mirrored is really hidden.
    surface.f90 = saturate(dot(surface.f0, vec3f(16.5)));
    // 0.089 is the smoothest.
    surface.perceptual_roughness = clamp(material.perceptual_roughness * metal_rough.y, 0.089, 1.0);
    surface.dfg = look_up_dfg(surface.normal_view, surface.perceptual_roughness);
    let one_bounce = surface.dfg.x + surface.dfg.y;
    surface.compensation = 1.0 + surface.f0 * (1.0 / one_bounce - 1.0);
    surface.receives_shadows = (instance.flags & RECEIVES) != 0u;
    return surface;
}

fn look_up_dfg(cosine: f32, perceptual_roughness: f32) -> vec2f {
    let most = f32(DFG_SIDE - 1u);
    let place = saturate(vec2f(cosine, perceptual_roughness)) * most;
    let low = vec2u(place);
    let high = min(low + 1u, vec2u(DFG_SIDE - 1u));
    let part = fract(place);
    let top = mix(dfg[low.y * DFG_SIDE + low.x], dfg[low.y * DFG_SIDE + high.x], part.x);
    let bottom = mix(dfg[high.y * DFG_SIDE + low.x], dfg[high.y * DFG_SIDE + high.x], part.x);
    return mix(top, bottom, part.y);
}

// Light of one radiance from all directions: what is not mirrored is scattered.
fn ambient_light(surface: Surface, ambient: vec3f) -> vec3f {
    let once = surface.f0 * surface.dfg.x + surface.f90 * surface.dfg.y;
    let mirrored = once * surface.compensation;
    return ambient * (mirrored + surface.diffuse * (1.0 - mirrored));
}

fn light(surface: Surface, view: View, light: Light) -> vec3f {
    let kind = light.bits & 3u;
    var to_light = light.place;
    var strength = 1.0;
    if kind != DIRECTIONAL {
        let way = light.place - surface.world;
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
    let normal_light = dot(surface.normal, to_light);
    if normal_light <= 0.0 || strength <= 0.0 {
        return vec3f(0.0);
    }
    strength *= shadow(surface, view, light, to_light);
    return light.color * (strength * normal_light) * reflected(surface, to_light, normal_light);
}

// What of the light from a direction goes to the eye.
fn reflected(surface: Surface, to_light: vec3f, normal_light: f32) -> vec3f {
    let half_way = normalize(to_light + surface.to_view);
    let normal_half = saturate(dot(surface.normal, half_way));
    let light_half = saturate(dot(to_light, half_way));
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let alpha_squared = alpha * alpha;
    // Trowbridge and Reitz: how many facets look half way.
    let spread = normal_half * normal_half * (alpha_squared - 1.0) + 1.0;
    let facets = alpha_squared / (PI * spread * spread);
    // Smith: how many of them are neither hidden nor in shadow.
    let n_v = surface.normal_view;
    let by_view = normal_light * sqrt(n_v * n_v * (1.0 - alpha_squared) + alpha_squared);
    let by_light = n_v * sqrt(normal_light * normal_light * (1.0 - alpha_squared) + alpha_squared);
    let visible = 0.5 / (by_view + by_light);
    let mirrored = surface.f0 + (surface.f90 - surface.f0) * to_the_fifth(1.0 - light_half);
    let specular = facets * visible * mirrored * surface.compensation;
    // Burley: rough surfaces throw more light back at grazing angles.
    let grazing = 0.5 + 2.0 * surface.perceptual_roughness * light_half * light_half;
    let scattered = (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - normal_light))
        * (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - n_v));
    return specular + surface.diffuse * (scattered / PI);
}

fn to_the_fifth(x: f32) -> f32 {
    let square = x * x;
    return square * square * x;
}

// How much of a light arrives.
fn shadow(surface: Surface, view: View, light: Light, to_light: vec3f) -> f32 {
    let count = (light.bits >> 2u) & 15u;
    let first = light.bits >> 8u;
    if count == 0u || !surface.receives_shadows {
        return 1.0;
    }
    let nearer = surface.world + light.depth_bias * to_light;
    let kind = light.bits & 3u;
    if kind == DIRECTIONAL {
        return cascade_shadow(surface, view, light, nearer, first, count);
    }
    let way = surface.world - light.place;
    if kind == SPOT {
        let offset = surface.normal * (light.normal_bias * dot(light.axis, way));
        return flat_shadow(first, nearer + offset);
    }
    let sides = abs(way);
    let farthest = max(sides.x, max(sides.y, sides.z));
    let place = nearer + surface.normal * (light.normal_bias * farthest);
    return face_shadow(first + face_of(place - light.place), place);
}

fn cascade_shadow(
    surface: Surface,
    view: View,
    light: Light,
    nearer: vec3f,
    first: u32,
    count: u32,
) -> f32 {
    let depth = dot(view.forward, surface.world - view.position);
    for (var at = 0u; at < count; at++) {
        let row = first + at;
        let far = shadow_views[row].far;
        if depth > far {
            continue;
        }
        let bias = surface.normal * light.normal_bias;
        let here = flat_shadow(row, nearer + bias * shadow_views[row].texel);
        let blend = shadow_views[row].blend;
        if at + 1u == count || depth <= blend {
            return here;
        }
        let next = flat_shadow(row + 1u, nearer + bias * shadow_views[row + 1u].texel);
        return mix(here, next, (depth - blend) / (far - blend));
    }
    return 1.0;
}

// Place in a shadow map, and depth there; the map has nothing to say where it is not in 0 to 1.
fn shadow_place(row: u32, world: vec3f) -> vec3f {
    let clip = shadow_views[row].clip_from_world * vec4f(world, 1.0);
    if clip.w <= 0.0 {
        return vec3f(-1.0);
    }
    let place = clip.xyz / clip.w;
    return vec3f(place.x * 0.5 + 0.5, 0.5 - place.y * 0.5, place.z);
}

fn is_in_map(place: vec3f) -> bool {
    return all(place.xy >= vec2f(0.0)) && all(place.xy <= vec2f(1.0)) && place.z >= 0.0;
}

// Nine comparisons of four texels each, the middle ones counting more.
fn flat_shadow(row: u32, world: vec3f) -> f32 {
    let place = shadow_place(row, world);
    let tile = shadow_views[row].tile;
    if !is_in_map(place) || tile.z == 0.0 {
        return 1.0;
    }
    let texel = 1.0 / vec2f(textureDimensions(flat_shadows));
    let middle = tile.xy + place.xy * tile.zw;
    // Other tiles have nothing to say.
    let least = tile.xy + 0.5 * texel;
    let most = tile.xy + tile.zw - 0.5 * texel;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            let at = clamp(middle + vec2f(vec2i(x, y)) * texel, least, most);
            sum += weight
                * textureSampleCompareLevel(flat_shadows, shadow_sampler, at, place.z);
        }
    }
    return sum / 16.0;
}

fn face_shadow(row: u32, world: vec3f) -> f32 {
    let place = shadow_place(row, world);
    let tile = shadow_views[row].tile;
    if !is_in_map(place) || tile.z == 0.0 {
        return 1.0;
    }
    let texel = 1.0 / vec2f(textureDimensions(face_shadows));
    let middle = tile.xy + place.xy * tile.zw;
    // Other tiles have nothing to say.
    let least = tile.xy + 0.5 * texel;
    let most = tile.xy + tile.zw - 0.5 * texel;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            let at = clamp(middle + vec2f(vec2i(x, y)) * texel, least, most);
            sum += weight
                * textureSampleCompareLevel(face_shadows, shadow_sampler, at, place.z);
        }
    }
    return sum / 16.0;
}

// Which of the six directions +x, -x, +y, -y, -z, +z is closest.
fn face_of(way: vec3f) -> u32 {
    let sides = abs(way);
    if sides.x >= sides.y && sides.x >= sides.z {
        return select(1u, 0u, way.x > 0.0);
    }
    if sides.y >= sides.z {
        return select(3u, 2u, way.y > 0.0);
    }
    return select(4u, 5u, way.z > 0.0);
}

fn with_fog(color: vec3f, world: vec3f, view: View) -> vec3f {
    let fog = view.fog;
    let way = world - view.position;
    let distance = length(way);
    var behind = fog.color.rgb;
    if fog.light_color.a > 0.0 {
        let direction = way / max(distance, 1e-6);
        var scattered = vec3f(0.0);
        for (var at = 0u; at < view.light_count; at++) {
            let light = lights[view.first_light + at];
            if (light.bits & 3u) == DIRECTIONAL {
                let along = max(dot(direction, light.place), 0.0);
                scattered += pow(along, fog.inscattering.w) * light.color * view.exposure;
            }
        }
        behind += fog.light_color.rgb * scattered * fog.light_color.a;
    }
    let kind = u32(fog.falloff.w);
    if kind == 4u {
        let dimmed = exp(-distance * fog.falloff.xyz);
        let added = 1.0 - exp(-distance * fog.inscattering.xyz);
        return mix(color, color * dimmed + behind * added, fog.color.a);
    }
    var covered = 0.0;
    if kind == 1u {
        let most = max(fog.falloff.y - fog.falloff.x, 1e-6);
        covered = 1.0 - saturate((fog.falloff.y - distance) / most);
    } else {
        let depth = distance * fog.falloff.x;
        covered = 1.0 - exp(-select(depth, depth * depth, kind == 3u));
    }
    return mix(color, behind, covered * fog.color.a);
}
