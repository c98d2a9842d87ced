// Atmosphere of a view: what is behind it is attenuated, and scattered light is added. Samples of multisampled views are
// attenuated by one draw and lit by another.

import quadrille_3d::atmosphere::{
    INFINITY, PI, Path, Ray, atmosphere, camera_ray, distance_to_end, hits_ground, lut_sampler, lut_uv, march, march_sky,
    optical_depth, sky_view_unit, transmittance_to_top, view_direction,
};
import quadrille_3d::constants::MAX_RADIANCE;

@group(0) @binding(8) var sky_view_lut: texture_2d<f32>;
@group(0) @binding(9) var aerial_scattering_lut: texture_3d<f32>;
@group(0) @binding(10) var aerial_depth_lut: texture_3d<f32>;
@group(0) @binding(11) var depths: texture_depth_2d;
@group(0) @binding(12) var multisampled_depths: texture_depth_multisampled_2d;
@group(0) @binding(13) var picture: texture_storage_2d<rgba16float, read_write>;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn ndc_of(pixel: vec2f, size: vec2u) -> vec2f {
    let uv = pixel / vec2f(size);
    return vec2f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0);
}

// Distance in meters from the camera to a surface.
fn surface_distance(ndc: vec2f, depth: f32) -> f32 {
    let homogeneous = atmosphere.ray_from_clip * vec4f(ndc, depth, 1.0);
    let position = homogeneous.xyz / homogeneous.w;
    if atmosphere.is_orthographic != 0u {
        return max(dot(position, atmosphere.forward), 0.0) * atmosphere.scale;
    }
    return length(position) * atmosphere.scale;
}

// Steps up to a distance: fewer within 100 meters, as in bevy.
fn step_count(t: f32) -> u32 {
    return u32(mix(1.0, f32(atmosphere.sky_samples), saturate(t * 0.01)));
}

// Texture coordinates in an aerial-view LUT, and the part of its first slice that a distance is in.
fn aerial_uvw(ndc: vec2f, t: f32) -> vec4f {
    let size = textureDimensions(aerial_depth_lut);
    let uv = lut_uv(vec2f(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y), size.xy);
    let slices = t / atmosphere.aerial_distance * f32(size.z);
    return vec4f(uv, saturate((slices - 0.5) / f32(size.z)), saturate(slices));
}

fn aerial_depth(ndc: vec2f, t: f32) -> vec3f {
    let at = aerial_uvw(ndc, t);
    return textureSampleLevel(aerial_depth_lut, lut_sampler, at.xyz, 0.0).rgb * at.w;
}

fn aerial_scattering(ndc: vec2f, t: f32) -> vec3f {
    let at = aerial_uvw(ndc, t);
    return textureSampleLevel(aerial_scattering_lut, lut_sampler, at.xyz, 0.0).rgb * at.w;
}

// End of a camera ray in the atmosphere, for a surface at a distance from the camera.
fn ray_end(ray: Ray, t: f32) -> f32 {
    let mu = dot(ray.up, ray.direction);
    // Surfaces below the ground of the sphere are seen through the air at the ground.
    return min(t - ray.offset, select(distance_to_end(ray.altitude, mu), INFINITY, hits_ground(ray.altitude, mu)));
}

// Transmittance between the camera and a pixel.
fn attenuation(ndc: vec2f, depth: f32) -> vec3f {
    let ray = camera_ray(view_direction(ndc));
    if ray.offset == INFINITY {
        return vec3f(1.0);
    }
    if depth == 0.0 {
        let mu = dot(ray.up, ray.direction);
        // The planet hides what is behind it.
        return select(transmittance_to_top(ray.altitude, mu), vec3f(0.0), hits_ground(ray.altitude, mu));
    }
    let t = surface_distance(ndc, depth);
    if atmosphere.is_raymarched != 0u {
        return exp(-optical_depth(ray, 0.0, ray_end(ray, t), step_count(t)));
    }
    let within = min(t, atmosphere.aerial_distance);
    let beyond = optical_depth(ray, max(within - ray.offset, 0.0), ray_end(ray, t), atmosphere.sky_samples);
    return exp(-aerial_depth(ndc, within) - select(vec3f(0.0), beyond, t > within));
}

// Light that is scattered between the camera and a pixel.
fn scattering(ndc: vec2f, depth: f32) -> vec3f {
    let direction = view_direction(ndc);
    if depth == 0.0 {
        if atmosphere.is_raymarched != 0u {
            return march_sky(direction, atmosphere.sky_samples);
        }
        let uv = lut_uv(sky_view_unit(direction), textureDimensions(sky_view_lut));
        return textureSampleLevel(sky_view_lut, lut_sampler, uv, 0.0).rgb;
    }
    let ray = camera_ray(direction);
    if ray.offset == INFINITY {
        return vec3f(0.0);
    }
    let t = surface_distance(ndc, depth);
    if atmosphere.is_raymarched != 0u {
        return march(ray, 0.0, ray_end(ray, t), step_count(t)).light;
    }
    let within = min(t, atmosphere.aerial_distance);
    var light = aerial_scattering(ndc, within);
    if t > within {
        let start = max(within - ray.offset, 0.0);
        let beyond = march(ray, start, ray_end(ray, t), atmosphere.sky_samples);
        light += exp(-aerial_depth(ndc, within)) * beyond.light;
    }
    return light;
}

// Angle between two unit vectors. Cosines of small angles are imprecise.
fn angle_between(a: vec3f, b: vec3f) -> f32 {
    return 2.0 * asin(min(0.5 * distance(a, b), 1.0));
}

// Disks of the lights behind the atmosphere. `step`: size of a pixel.
fn disks(ndc: vec2f, step: vec2f, depth: f32) -> vec3f {
    var light = vec3f(0.0);
    if depth != 0.0 {
        return light;
    }
    let direction = view_direction(ndc);
    // Half of the width of an edge: 0.64 pixels, half of the mean of `fwidth` over all directions.
    let width = angle_between(view_direction(ndc - vec2f(0.5 * step.x, 0.0)), view_direction(ndc + vec2f(0.5 * step.x, 0.0)));
    let height = angle_between(view_direction(ndc - vec2f(0.0, 0.5 * step.y)), view_direction(ndc + vec2f(0.0, 0.5 * step.y)));
    let edge = max(0.32 * (width + height), 1e-6);
    for (var i = 0u; i < atmosphere.light_count; i++) {
        let to_light = atmosphere.light_directions[i];
        let radius = 0.5 * to_light.w;
        if radius > 0.0 {
            let angle = angle_between(direction, to_light.xyz);
            let covered = 1.0 - smoothstep(radius - edge, radius + edge, angle);
            let color = atmosphere.light_colors[i];
            light += color.rgb * color.w * covered / (PI * radius * radius);
        }
    }
    return light;
}

// Light that is scattered in front of a pixel, and that of disks behind the air, of which `attenuated` passes.
fn light_of(ndc: vec2f, size: vec2u, depth: f32, attenuated: vec3f) -> vec3f {
    let light = disks(ndc, 2.0 / vec2f(size), depth) * attenuated + scattering(ndc, depth);
    return min(light, vec3f(MAX_RADIANCE));
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(depths);
    if any(at.xy >= size) {
        return;
    }
    let ndc = ndc_of(vec2f(at.xy) + 0.5, size);
    let depth = textureLoad(depths, at.xy, 0);
    let attenuated = attenuation(ndc, depth);
    let color = textureLoad(picture, at.xy);
    // Alpha stays that of what is behind the air, as in bevy.
    textureStore(picture, at.xy, vec4f(color.rgb * attenuated + light_of(ndc, size, depth, attenuated), color.a));
}

// The first sample stands for all of them, as in bevy.
@fragment
fn attenuate_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let depth = textureLoad(multisampled_depths, vec2i(position.xy), 0);
    return vec4f(attenuation(ndc_of(position.xy, textureDimensions(multisampled_depths)), depth), 1.0);
}

@fragment
fn scatter_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let depth = textureLoad(multisampled_depths, vec2i(position.xy), 0);
    let size = textureDimensions(multisampled_depths);
    let ndc = ndc_of(position.xy, size);
    return vec4f(light_of(ndc, size, depth, attenuation(ndc, depth)), 1.0);
}
