// Volumetric fog: rays are marched through boxes of fog between the camera and the depth of the scene.
//
// Symbols: sigma_t is the extinction (absorption and scattering) per unit of length, g the asymmetry of the phase function.
// Light scattered within a step is integrated analytically (Hillaire, "Physically Based and Unified Volumetric Rendering
// in Frostbite", 2015), so that uniform fog does not depend on the number of steps.

import quadrille_3d::constants::{DIRECTIONAL, FOG_HAS_TEXTURE, MAX_CASCADES, SPOT};
import quadrille_3d::scene::{Light, camera, shadow_views};
import quadrille_3d::shadows::{ShadowReceiver, fetch_shadow};
import quadrille_3d::view_transforms::{ViewTransforms, clip_position};

struct FogVolume {
    // Rows of the affine matrix from the world to the box, whose sides are 1.
    local_from_world: array<vec4f, 3>,
    fog_color: vec3f,
    density: f32,
    // With the factor of light.
    light_tint: vec3f,
    bounding_radius: f32,
    // Color times intensity.
    ambient: vec3f,
    step_count: u32,
    texture_offset: vec3f,
    absorption: f32,
    scattering: f32,
    asymmetry: f32,
    // Largest offset of the first step, in meters.
    jitter: f32,
    flags: u32,
    // Range in the list of volumetric lights.
    first_light: u32,
    light_count: u32,
    unused_pair: vec2u,
    unused: array<vec4u, 7>,
}

@group(0) @binding(21) var<uniform> volume: FogVolume;
@group(0) @binding(22) var<uniform> view: ViewTransforms;
@group(0) @binding(23) var<storage, read> volumetric_lights: array<Light>;
@group(0) @binding(24) var depths: texture_depth_2d;
@group(0) @binding(25) var multisampled_depths: texture_depth_multisampled_2d;
@group(0) @binding(26) var densities: texture_3d<f32>;
@group(0) @binding(27) var density_sampler: sampler;
@group(0) @binding(28) var picture: texture_storage_2d<rgba16float, read_write>;

// Left, top, width and height of the pixels that the volume may cover.
var<immediate> bounds: vec4u;

// 1 / (4 pi)
const INVERSE_SPHERE: f32 = 0.07957747;
// A distance beyond all surfaces.
const INFINITY: f32 = 1e30;
// Transmittance below which rays end.
const MIN_TRANSMITTANCE: f32 = 0.001;

struct Ray {
    origin: vec3f,
    // Unit vector.
    direction: vec3f,
    start: f32,
    end: f32,
}

// Ray of a pixel from the near plane to the surface at this depth.
fn view_ray(pixel: vec2f, depth: f32) -> Ray {
    let near = view.view_from_clip * clip_position(pixel, 1.0, view);
    let near_position = near.xyz / near.w;
    let is_orthographic = view.clip_from_view[3].w != 0.0;
    let direction = select(normalize(near_position), vec3f(0.0, 0.0, -1.0), is_orthographic);
    let origin = select(vec3f(0.0), near_position, is_orthographic);
    let surface = view.view_from_clip * clip_position(pixel, depth, view);
    var end = INFINITY;
    // Depth 0 is infinitely far under a perspective projection.
    if surface.w != 0.0 {
        end = (surface.z / surface.w - origin.z) / direction.z;
    }
    return Ray(
        (view.world_from_view * vec4f(origin, 1.0)).xyz,
        (view.world_from_view * vec4f(direction, 0.0)).xyz,
        (near_position.z - origin.z) / direction.z,
        end,
    );
}

fn to_local(vector: vec4f) -> vec3f {
    return vec3f(
        dot(volume.local_from_world[0], vector),
        dot(volume.local_from_world[1], vector),
        dot(volume.local_from_world[2], vector),
    );
}

// Clips a ray to the box (slab method, Kay and Kajiya 1986). An empty range: the ray misses it.
fn clip_to_box(ray: Ray, origin: vec3f, direction: vec3f) -> Ray {
    let tiny = abs(direction) < vec3f(1e-12);
    let inverse = 1.0 / select(direction, vec3f(1e-12), tiny);
    let a = (vec3f(-0.5) - origin) * inverse;
    let b = (vec3f(0.5) - origin) * inverse;
    let first = min(a, b);
    let last = max(a, b);
    return Ray(
        ray.origin,
        ray.direction,
        max(ray.start, max(first.x, max(first.y, first.z))),
        min(ray.end, min(last.x, min(last.y, last.z))),
    );
}

fn density_at(uvw: vec3f) -> f32 {
    if (volume.flags & FOG_HAS_TEXTURE) == 0u {
        return volume.density;
    }
    if any(uvw < vec3f(0.0)) || any(uvw > vec3f(1.0)) {
        return 0.0;
    }
    return volume.density * textureSampleLevel(densities, density_sampler, uvw + volume.texture_offset, 0.0).r;
}

// Phase function (Henyey and Greenstein 1941); the cosine is 1 where light goes on without turning.
fn henyey_greenstein(cosine: f32, g: f32) -> f32 {
    let base = 1.0 + g * g - 2.0 * g * cosine;
    return INVERSE_SPHERE * (1.0 - g * g) / (base * sqrt(base));
}

// Light that fog at a position scatters along the ray, per scattering coefficient.
fn light_at(light: Light, position: vec3f, direction: vec3f, pixel: vec2f) -> vec3f {
    let kind = light.bits & 3u;
    let receiver = ShadowReceiver(position, vec3f(0.0), pixel);
    if kind == DIRECTIONAL {
        let count = (light.bits >> 2u) & MAX_CASCADES;
        // As in bevy, fog is dark without a cascade.
        if count == 0u {
            return vec3f(0.0);
        }
        let last = (light.bits >> 8u) + count - 1u;
        if dot(camera.forward, position - camera.position) > shadow_views[last].far {
            return vec3f(0.0);
        }
        let phase = henyey_greenstein(dot(direction, light.position_or_direction), volume.asymmetry);
        return light.color * phase * fetch_shadow(receiver, camera, light, kind, light.position_or_direction);
    }
    let to_center = light.position_or_direction - position;
    let distance_squared = dot(to_center, to_center);
    let part = distance_squared * light.inverse_range_squared;
    if part >= 1.0 {
        return vec3f(0.0);
    }
    let to_light = to_center * inverseSqrt(max(distance_squared, 1e-12));
    let window = 1.0 - part * part;
    var strength = window * window / max(distance_squared, 0.0001);
    if kind == SPOT {
        let cone = saturate(dot(light.axis, -to_light) * light.cone_scale + light.cone_offset);
        strength *= cone * cone;
    }
    if strength <= 0.0 {
        return vec3f(0.0);
    }
    // As in bevy without a phase function.
    return light.color * strength * fetch_shadow(receiver, camera, light, kind, to_light);
}

// Interleaved gradient noise that changes from frame to frame (Jimenez 2014).
fn frame_noise(pixel: vec2f) -> f32 {
    let moved = pixel + 5.588238 * f32(view.frame_count % 64u);
    return fract(52.9829189 * fract(dot(moved, vec2f(0.06711056, 0.00583715))));
}

// Light that the fog adds, and the part of the background that it hides.
fn march(pixel: vec2f, depth: f32) -> vec4f {
    let unclipped = view_ray(pixel, depth);
    let local_origin = to_local(vec4f(unclipped.origin, 1.0));
    let local_direction = to_local(vec4f(unclipped.direction, 0.0));
    let ray = clip_to_box(unclipped, local_origin, local_direction);
    if !(ray.end > ray.start) || volume.step_count == 0u {
        return vec4f(0.0);
    }
    let step_length = (ray.end - ray.start) / f32(volume.step_count);
    let first = ray.start + frame_noise(pixel) * volume.jitter;
    let extinction = volume.absorption + volume.scattering;
    let albedo = volume.scattering / max(extinction, 1e-12);
    var scattered = vec3f(0.0);
    var transmittance = 1.0;
    for (var step = 0u; step < volume.step_count; step++) {
        let away = first + f32(step) * step_length;
        let density = density_at(local_origin + local_direction * away + 0.5);
        let sigma_t = density * extinction;
        if sigma_t > 0.0 {
            let position = ray.origin + ray.direction * away;
            var light = vec3f(0.0);
            for (var i = 0u; i < volume.light_count; i++) {
                light += light_at(volumetric_lights[volume.first_light + i], position, ray.direction, pixel);
            }
            // Fog between the light and this position, by the size of the volume, as in bevy.
            light *= volume.light_tint * exp(-sigma_t * volume.bounding_radius) * camera.exposure;
            let step_transmittance = exp(-sigma_t * step_length);
            scattered += transmittance * (1.0 - step_transmittance) * albedo * light;
            // Ambient light is attenuated once more on its way in, as in bevy.
            let twice = 0.5 * (1.0 - step_transmittance * step_transmittance);
            scattered += transmittance * transmittance * twice * albedo * volume.ambient;
            transmittance *= step_transmittance;
        }
        if transmittance < MIN_TRANSMITTANCE {
            break;
        }
    }
    return vec4f(scattered * volume.fog_color, 1.0 - transmittance);
}

// Adds fog to a pixel, of which it does not change the alpha: the part of the target that is covered.
fn add_fog(pixel: vec2u, depth: f32) {
    let fog = march(vec2f(pixel) + 0.5, depth);
    if any(fog != vec4f(0.0)) {
        let color = textureLoad(picture, pixel);
        textureStore(picture, pixel, vec4f(color.rgb * (1.0 - fog.a) + fog.rgb, color.a));
    }
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    if all(at.xy < bounds.zw) {
        let pixel = bounds.xy + at.xy;
        add_fog(pixel, textureLoad(depths, pixel, 0));
    }
}

// The first sample stands for all of them, as in bevy.
@compute @workgroup_size(8, 8)
fn multisampled_compute_main(@builtin(global_invocation_id) at: vec3u) {
    if all(at.xy < bounds.zw) {
        let pixel = bounds.xy + at.xy;
        add_fog(pixel, textureLoad(multisampled_depths, pixel, 0));
    }
}
