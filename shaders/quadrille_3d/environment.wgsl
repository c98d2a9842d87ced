// Image-based lighting: environment maps of cameras and of light probes, irradiance volumes.
//
// f0: specular reflectance at normal incidence
// alpha: squared perceptual roughness
// dfg: scale and bias of the specular lobe's integral (dfg.wgsl)

enable wgpu_binding_array;

import quadrille_3d::constants::{KIND_IRRADIANCE_VOLUME, KIND_LIGHT_PROBE};
import quadrille_3d::ambient_occlusion::Occlusion;
import quadrille_3d::brdf::Surface;
import quadrille_3d::scene::View;

struct Environment {
    // Rows of the affine matrix from the world to the probe, whose sides are at -0.5 and 0.5; for
    // the environment of a camera the rotation.
    probe_from_world: array<vec4f, 3>,
    falloff: vec3f,
    intensity: f32,
    // Half extents of the box for parallax correction, in the probe's space; zeros: infinitely far.
    bounds: vec3f,
    // `KIND_LIGHT_PROBE` and others.
    kind: u32,
    // Indices in the table of cubes; for a volume the first is its index in the table of volumes.
    diffuse: u32,
    specular: u32,
    // Mip level of perceptual roughness 1.
    max_mip_level: f32,
    unused: u32,
}

@group(0) @binding(16) var<storage, read> environments: array<Environment>;

@group(2) @binding(0) var cube_samplers: binding_array<sampler>;
@group(2) @binding(1) var cubes: binding_array<texture_cube<f32>>;

@group(3) @binding(0) var volume_samplers: binding_array<sampler>;
@group(3) @binding(1) var volumes: binding_array<texture_3d<f32>>;

struct EnvironmentSamples {
    // Irradiance divided by pi.
    irradiance: vec3f,
    // Irradiance of the other side, divided by pi.
    back_irradiance: vec3f,
    // Prefiltered radiance for the base layer and for the clearcoat.
    radiance: vec3f,
    clearcoat: vec3f,
}

// Image-based light that a surface reflects to the view. `occlusion` has the parts that reach it;
// diffuse is skipped when a lightmap supplies it.
fn environment_light(surface: Surface, view: View, occlusion: Occlusion, has_diffuse: bool) -> vec3f {
    if view.environment_count == 0u {
        return vec3f(0.0);
    }
    let samples = sample_environments(surface, view);
    // Metals and dielectrics are evaluated apart: multiple scattering is not linear in f0.
    let metal = multiscatter_fresnel(surface.base, surface);
    let other = multiscatter_fresnel(surface.dielectric, surface);
    let multi_scatter = mix(other.multi_scatter, metal.multi_scatter, surface.metallic);
    let single_scatter = mix(other.single_scatter, metal.single_scatter, surface.metallic);
    let below = surface.diffuse * (1.0 - other.single_scatter - other.multi_scatter);
    var diffuse = vec3f(0.0);
    if has_diffuse {
        let volume = irradiance_volume_light(surface.world_position, surface.normal, view);
        diffuse = mix((multi_scatter + below) * samples.irradiance, surface.diffuse * volume.rgb, volume.a) * occlusion.diffuse;
    }
    var transmitted = vec3f(0.0);
    if any(surface.diffuse_transmission > vec3f(0.0)) {
        let volume = irradiance_volume_light(surface.world_position, -surface.normal, view);
        let left = surface.diffuse_transmission * (1.0 - other.single_scatter - other.multi_scatter);
        transmitted = left * mix(samples.back_irradiance, volume.rgb, volume.a);
    }
    let color = diffuse + single_scatter * samples.radiance * occlusion.specular;
    let clearcoat = surface.clearcoat.strength * (0.04 * surface.clearcoat.dfg.x + surface.clearcoat.dfg.y);
    return color * (1.0 - clearcoat) + samples.clearcoat * clearcoat * occlusion.specular + transmitted;
}

struct FresnelScattering {
    single_scatter: vec3f,
    multi_scatter: vec3f,
}

// Single and multiple scattering of the specular lobe ("A Multiple-Scattering
// Microfacet Model for Real-Time Image-based Lighting", C. Fdez-Agüera, 2019).
fn multiscatter_fresnel(f0: vec3f, surface: Surface) -> FresnelScattering {
    let single_scatter = (f0 * surface.dfg.x + surface.dfg.y) * surface.f90;
    let lost = 1.0 - surface.dfg.x - surface.dfg.y;
    let mean = f0 + (1.0 - f0) / 21.0;
    return FresnelScattering(single_scatter, single_scatter * mean / (1.0 - lost * mean) * lost);
}

fn sample_environments(surface: Surface, view: View) -> EnvironmentSamples {
    let normal = bent_normal(surface);
    let roughness = surface.perceptual_roughness;
    let ray = specular_dominant_direction(normal, surface.to_view, roughness);
    let clearcoat_roughness = surface.clearcoat.perceptual_roughness;
    let clearcoat_direction = specular_dominant_direction(surface.clearcoat.normal, surface.to_view, clearcoat_roughness);
    var samples: EnvironmentSamples;
    var total = 0.0;
    for (var number = 0u; number < view.environment_count; number++) {
        let environment = environments[view.first_environment + number];
        if environment.kind == KIND_IRRADIANCE_VOLUME {
            continue;
        }
        var weight = 1.0 - total;
        // The camera's own environment comes last, with the remaining weight.
        if environment.kind == KIND_LIGHT_PROBE {
            weight = probe_weight(environment, surface.world_position);
        }
        if weight <= 0.0001 {
            continue;
        }
        total += weight;
        weight *= environment.intensity;
        let specular = environment.specular;
        let level = environment.max_mip_level;
        samples.irradiance += weight
            * sample_cubemap(environment, environment.diffuse, surface.world_position, normal, 0.0);
        samples.radiance += weight
            * sample_cubemap(environment, specular, surface.world_position, ray, roughness * level);
        if any(surface.diffuse_transmission > vec3f(0.0)) {
            samples.back_irradiance += weight
                * sample_cubemap(environment, environment.diffuse, surface.world_position, -surface.normal, 0.0);
        }
        if surface.clearcoat.strength > 0.0 {
            samples.clearcoat += weight
                * sample_cubemap(environment, specular, surface.world_position, clearcoat_direction, clearcoat_roughness * level);
        }
    }
    if total > 0.0 {
        samples.irradiance /= total;
        samples.back_irradiance /= total;
        samples.radiance /= total;
        samples.clearcoat /= total;
    }
    return samples;
}

// Prefiltered radiance of environment maps from a direction, for light that passes a surface.
fn environment_radiance(world_position: vec3f, direction: vec3f, perceptual_roughness: f32, view: View) -> vec3f {
    var sum = vec3f(0.0);
    var total = 0.0;
    for (var number = 0u; number < view.environment_count; number++) {
        let environment = environments[view.first_environment + number];
        if environment.kind == KIND_IRRADIANCE_VOLUME {
            continue;
        }
        var weight = 1.0 - total;
        if environment.kind == KIND_LIGHT_PROBE {
            weight = probe_weight(environment, world_position);
        }
        if weight <= 0.0001 {
            continue;
        }
        total += weight;
        let level = perceptual_roughness * environment.max_mip_level;
        sum += weight * environment.intensity
            * sample_cubemap(environment, environment.specular, world_position, direction, level);
    }
    return sum / max(total, 0.0001);
}

// Irradiance of all volumes at a surface, divided by pi; last its weight.
fn irradiance_volume_light(world_position: vec3f, normal: vec3f, view: View) -> vec4f {
    var sum = vec3f(0.0);
    var total = 0.0;
    // Volumes come first in the list.
    for (var number = 0u; number < view.environment_count; number++) {
        let environment = environments[view.first_environment + number];
        if environment.kind != KIND_IRRADIANCE_VOLUME {
            break;
        }
        let weight = probe_weight(environment, world_position);
        if weight > 0.0001 {
            total += weight;
            sum += weight * environment.intensity * sample_ambient_cube(environment, world_position, normal);
        }
    }
    return vec4f(sum / max(total, 0.0001), min(total, 1.0));
}

// Ambient cubes of a volume ("Shading in Valve's Source Engine", J. Mitchell): the texels of
// a third of the slices for each axis, in the upper half of the rows for normals that point along it.
fn sample_ambient_cube(volume: Environment, world_position: vec3f, normal: vec3f) -> vec3f {
    let image = volume.diffuse;
    let texels = vec3f(textureDimensions(volumes[image]));
    let count = texels / vec3f(1.0, 2.0, 3.0);
    let probe_position = (probe_from_world(volume, vec4f(world_position, 1.0)) + 0.5) * count;
    // Clamped so that filtering does not mix sides.
    let at = clamp(probe_position, vec3f(0.5), count - 0.5) / texels;
    let half = select(vec3f(0.0), vec3f(0.5), normal < vec3f(0.0));
    let weights = normal * normal;
    var light = vec3f(0.0);
    for (var axis = 0u; axis < 3u; axis++) {
        let side = at + vec3f(0.0, half[axis], f32(axis) / 3.0);
        light += weights[axis] * textureSampleLevel(volumes[image], volume_samplers[0], side, 0.0).rgb;
    }
    return light;
}

// Weight of a probe: 1 inside, less from where its falloff begins.
fn probe_weight(environment: Environment, world_position: vec3f) -> f32 {
    let probe_position = probe_from_world(environment, vec4f(world_position, 1.0));
    let weights = saturate((1.0 - 2.0 * abs(probe_position)) / (2.0 * max(environment.falloff, vec3f(0.0001))));
    return min(weights.x, min(weights.y, weights.z));
}

fn probe_from_world(environment: Environment, probe_position: vec4f) -> vec3f {
    return vec3f(
        dot(environment.probe_from_world[0], probe_position),
        dot(environment.probe_from_world[1], probe_position),
        dot(environment.probe_from_world[2], probe_position),
    );
}

fn sample_cubemap(environment: Environment, cube: u32, world_position: vec3f, ray: vec3f, level: f32) -> vec3f {
    var probe_direction = probe_from_world(environment, vec4f(ray, 0.0));
    if any(environment.bounds > vec3f(0.0)) {
        // Parallax correction: the first intersection of the ray with the box.
        let start = probe_from_world(environment, vec4f(world_position, 1.0));
        let slope = select(probe_direction, vec3f(1e-12), abs(probe_direction) < vec3f(1e-12));
        let low = (-environment.bounds - start) / slope;
        let high = (environment.bounds - start) / slope;
        let ahead = min(
            select(vec3f(1e30), low, low >= vec3f(0.0)),
            select(vec3f(1e30), high, high >= vec3f(0.0)),
        );
        probe_direction = start + probe_direction * min(ahead.x, min(ahead.y, ahead.z));
    }
    // Cubes are left-handed.
    let direction = vec3f(probe_direction.xy, -probe_direction.z);
    return textureSampleLevel(cubes[cube], cube_samplers[0], direction, level).rgb;
}

// Dominant direction of a rough specular lobe: closer to the normal than the reflected direction ("Moving
// Frostbite to Physically Based Rendering 3.0", listing 22).
fn specular_dominant_direction(normal: vec3f, to_view: vec3f, perceptual_roughness: f32) -> vec3f {
    let alpha = perceptual_roughness * perceptual_roughness;
    let smoothness = 1.0 - alpha;
    return mix(normal, reflect(-to_view, normal), smoothness * (sqrt(smoothness) + alpha));
}

// Normal bent by anisotropy, for reflections (glTF's KHR_materials_anisotropy).
fn bent_normal(surface: Surface) -> vec3f {
    if surface.anisotropy == 0.0 {
        return surface.normal;
    }
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let plane = cross(surface.anisotropy_bitangent, surface.to_view);
    let bent = cross(plane, surface.anisotropy_bitangent);
    let part = 1.0 - surface.anisotropy * (1.0 - alpha);
    let square = part * part;
    return normalize(mix(normalize(bent), surface.normal, square * square));
}
