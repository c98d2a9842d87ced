// Light from images of what lies around: environment maps of cameras and of probes.

enable wgpu_binding_array;

import quadrille_3d::lobes::Surface;
import quadrille_3d::scene::View;

struct Environment {
    // The rows of the affine matrix from the world to the probe, whose sides are at -0.5 and 0.5; of
    // an environment of a camera the rotation.
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
    falloff: vec3f,
    intensity: f32,
    // Half the size of what is mirrored, in the probe's space; zeros: it is infinitely far.
    bounds: vec3f,
    // `OF_PROBE` and others.
    kind: u32,
    // Places in the table of cubes; of a volume the first is its place in the table of these.
    diffuse: u32,
    specular: u32,
    // The mip level of perceptual roughness 1.
    last_level: f32,
    unused: u32,
}

@group(0) @binding(16) var<storage, read> environments: array<Environment>;

@group(2) @binding(0) var cube_samplers: binding_array<sampler>;
@group(2) @binding(1) var cubes: binding_array<texture_cube<f32>>;

@group(3) @binding(0) var volume_samplers: binding_array<sampler>;
@group(3) @binding(1) var volumes: binding_array<texture_3d<f32>>;

const OF_PROBE: u32 = 0u;
const VOLUME: u32 = 2u;

struct Around {
    // From all directions, each by its cosine: the irradiance divided by pi.
    scattered: vec3f,
    // The same from the other side.
    behind: vec3f,
    // What a rough mirror shows, and what the varnish shows.
    mirrored: vec3f,
    coat: vec3f,
}

// What a surface sends to the eye of the light around it. `open` is how much of that reaches it;
// what is scattered of it is left out where something better tells that.
fn environment_light(surface: Surface, view: View, open: f32, scatters: bool) -> vec3f {
    if view.environment_count == 0u {
        return vec3f(0.0);
    }
    let around = around_of(surface, view);
    // Metal and what is not are two surfaces: bounces between facets are not linear in f0.
    let metal = bounces(surface.base, surface);
    let other = bounces(surface.dielectric, surface);
    let further = mix(other.further, metal.further, surface.metallic);
    let once = mix(other.once, metal.once, surface.metallic);
    let below = surface.diffuse * (1.0 - other.once - other.further);
    var scattered = vec3f(0.0);
    if scatters {
        let volume = volume_light(surface.world, surface.normal, view);
        scattered = mix((further + below) * around.scattered, surface.diffuse * volume.rgb, volume.a) * open;
    }
    var transmitted = vec3f(0.0);
    if any(surface.through > vec3f(0.0)) {
        let volume = volume_light(surface.world, -surface.normal, view);
        let left = surface.through * (1.0 - other.once - other.further);
        transmitted = left * mix(around.behind, volume.rgb, volume.a);
    }
    let color = scattered + once * around.mirrored;
    let coat = surface.coat.strength * (0.04 * surface.coat.dfg.x + surface.coat.dfg.y);
    return color * (1.0 - coat) + around.coat * coat + transmitted;
}

struct Bounces {
    once: vec3f,
    further: vec3f,
}

// What is mirrored at once and after further bounces between the facets ("A Multiple-Scattering
// Microfacet Model for Real-Time Image-based Lighting", C. Fdez-Agüera).
fn bounces(f0: vec3f, surface: Surface) -> Bounces {
    let once = (f0 * surface.dfg.x + surface.dfg.y) * surface.f90;
    let lost = 1.0 - surface.dfg.x - surface.dfg.y;
    let mean = f0 + (1.0 - f0) / 21.0;
    return Bounces(once, once * mean / (1.0 - lost * mean) * lost);
}

fn around_of(surface: Surface, view: View) -> Around {
    let normal = bent_normal(surface);
    let roughness = surface.perceptual_roughness;
    let way = mirror_direction(normal, surface.to_view, roughness);
    let coat_rough = surface.coat.perceptual_roughness;
    let coat_way = mirror_direction(surface.coat.normal, surface.to_view, coat_rough);
    var around: Around;
    var total = 0.0;
    for (var number = 0u; number < view.environment_count; number++) {
        let environment = environments[view.first_environment + number];
        if environment.kind == VOLUME {
            continue;
        }
        var weight = 1.0 - total;
        // The camera's own comes last, for what is left.
        if environment.kind == OF_PROBE {
            weight = weight_of(environment, surface.world);
        }
        if weight <= 0.0001 {
            continue;
        }
        total += weight;
        weight *= environment.intensity;
        let specular = environment.specular;
        let level = environment.last_level;
        around.scattered += weight
            * look(environment, environment.diffuse, surface.world, normal, 0.0);
        around.mirrored += weight
            * look(environment, specular, surface.world, way, roughness * level);
        if any(surface.through > vec3f(0.0)) {
            around.behind += weight
                * look(environment, environment.diffuse, surface.world, -surface.normal, 0.0);
        }
        if surface.coat.strength > 0.0 {
            around.coat += weight
                * look(environment, specular, surface.world, coat_way, coat_rough * level);
        }
    }
    if total > 0.0 {
        around.scattered /= total;
        around.behind /= total;
        around.mirrored /= total;
        around.coat /= total;
    }
    return around;
}

// The light that irradiance volumes say to fall on a surface, divided by pi; last how much they count.
fn volume_light(world: vec3f, normal: vec3f, view: View) -> vec4f {
    var sum = vec3f(0.0);
    var total = 0.0;
    // They come first.
    for (var number = 0u; number < view.environment_count; number++) {
        let environment = environments[view.first_environment + number];
        if environment.kind != VOLUME {
            break;
        }
        let weight = weight_of(environment, world);
        if weight > 0.0001 {
            total += weight;
            sum += weight * environment.intensity * cube_light(environment, world, normal);
        }
    }
    return vec4f(sum / max(total, 0.0001), min(total, 1.0));
}

// What the ambient cubes of a volume say ("Shading in Valve's Source Engine", J. Mitchell): the texels of
// a third of the slices for each axis, in the upper half of the rows for normals that point along it.
fn cube_light(volume: Environment, world: vec3f, normal: vec3f) -> vec3f {
    let image = volume.diffuse;
    let texels = vec3f(textureDimensions(volumes[image]));
    let count = texels / vec3f(1.0, 2.0, 3.0);
    let place = (to_probe(volume, vec4f(world, 1.0)) + 0.5) * count;
    // Not mixed with what another side says.
    let at = clamp(place, vec3f(0.5), count - 0.5) / texels;
    let half = select(vec3f(0.0), vec3f(0.5), normal < vec3f(0.0));
    let weights = normal * normal;
    var light = vec3f(0.0);
    for (var axis = 0u; axis < 3u; axis++) {
        let side = at + vec3f(0.0, half[axis], f32(axis) / 3.0);
        light += weights[axis] * textureSampleLevel(volumes[image], volume_samplers[0], side, 0.0).rgb;
    }
    return light;
}

// How much a probe counts: all of it within, less from where its falloff begins.
fn weight_of(environment: Environment, world: vec3f) -> f32 {
    let place = to_probe(environment, vec4f(world, 1.0));
    let weights = saturate((1.0 - 2.0 * abs(place)) / (2.0 * max(environment.falloff, vec3f(0.0001))));
    return min(weights.x, min(weights.y, weights.z));
}

fn to_probe(environment: Environment, place: vec4f) -> vec3f {
    return vec3f(
        dot(environment.row_x, place),
        dot(environment.row_y, place),
        dot(environment.row_z, place),
    );
}

fn look(environment: Environment, cube: u32, world: vec3f, way: vec3f, level: f32) -> vec3f {
    var to = to_probe(environment, vec4f(way, 0.0));
    if any(environment.bounds > vec3f(0.0)) {
        // Where the ray meets the box first.
        let start = to_probe(environment, vec4f(world, 1.0));
        let slope = select(to, vec3f(1e-12), abs(to) < vec3f(1e-12));
        let low = (-environment.bounds - start) / slope;
        let high = (environment.bounds - start) / slope;
        let ahead = min(
            select(vec3f(1e30), low, low >= vec3f(0.0)),
            select(vec3f(1e30), high, high >= vec3f(0.0)),
        );
        to = start + to * min(ahead.x, min(ahead.y, ahead.z));
    }
    // Cubes are left-handed.
    let direction = vec3f(to.xy, -to.z);
    return textureSampleLevel(cubes[cube], cube_samplers[0], direction, level).rgb;
}

// The middle of what a rough surface mirrors: less slanted than the mirrored direction ("Moving
// Frostbite to Physically Based Rendering 3.0", listing 22).
fn mirror_direction(normal: vec3f, to_view: vec3f, perceptual_roughness: f32) -> vec3f {
    let alpha = perceptual_roughness * perceptual_roughness;
    let smoothness = 1.0 - alpha;
    return mix(normal, reflect(-to_view, normal), smoothness * (sqrt(smoothness) + alpha));
}

// Long highlights mirror what lies across them (glTF's KHR_materials_anisotropy).
fn bent_normal(surface: Surface) -> vec3f {
    if surface.anisotropy == 0.0 {
        return surface.normal;
    }
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let plane = cross(surface.across, surface.to_view);
    let bent = cross(plane, surface.across);
    let part = 1.0 - surface.anisotropy * (1.0 - alpha);
    let square = part * part;
    return normalize(mix(normalize(bent), surface.normal, square * square));
}
