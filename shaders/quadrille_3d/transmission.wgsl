// Specular transmission: the color behind a surface, refracted through its thickness (KHR_materials_transmission and
// KHR_materials_volume) and blurred by its roughness. See `transmissive_3d`.
//
// eta: ratio of the indices of refraction outside and inside
// n_dot_v: cosine between normal and view direction

import quadrille_3d::constants::{HAS_TRANSMISSION_BACKGROUND, HAS_TRANSMISSION_DEPTHS, PI};
import quadrille_3d::contact_shadows::contact_depths;
import quadrille_3d::scene::{View, clamped_sampler};
import quadrille_3d::shadows::{moved_pixel, noise_angle};

// Materials of the pipeline have specular transmission.
override HAS_SPECULAR_TRANSMISSION: bool = false;

@group(0) @binding(23) var transmission_background: texture_2d<f32>;

// Interior of a transmissive object.
struct Interior {
    // Index of refraction.
    ior: f32,
    // Distance to the other side.
    thickness: f32,
    // Attenuation exponent of each channel per unit of thickness.
    attenuation: vec3f,
    perceptual_roughness: f32,
}

// Direction of the view ray inside of a surface, by Snell's law.
fn refracted_direction(normal: vec3f, to_view: vec3f, ior: f32) -> vec3f {
    let eta = 1.0 / max(ior, 1e-3);
    let n_dot_v = dot(normal, to_view);
    let inside = max(1.0 - eta * eta * (1.0 - n_dot_v * n_dot_v), 0.0);
    return (eta * n_dot_v - sqrt(inside)) * normal - eta * to_view;
}

// Roughness of transmitted light: none where nothing is refracted, all of it at an index of 1.5.
fn transmission_roughness(perceptual_roughness: f32, ior: f32) -> f32 {
    return perceptual_roughness * saturate(2.0 * ior - 2.0);
}

// Point of a world position in the picture, from 0 to 1 towards the right and bottom.
fn picture_position(world_position: vec3f, view: View) -> vec2f {
    let clip = view.clip_from_world * vec4f(world_position, 1.0);
    return clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5;
}

// Color behind a surface whose fragment is at `fragment` (pixel and depth), multiplied with its alpha: radiance times
// exposure. `exit` is the vector to the point where the refracted ray leaves the material.
fn transmitted_background(
    world_position: vec3f,
    exit: vec3f,
    fragment: vec3f,
    roughness: f32,
    view: View,
) -> vec4f {
    if (view.flags & HAS_TRANSMISSION_BACKGROUND) == 0u {
        return vec4f(0.0);
    }
    let size = vec2f(textureDimensions(transmission_background));
    // As a difference, so that without thickness it is the pixel itself.
    let moved = picture_position(world_position + exit, view) - picture_position(world_position, view);
    let center = fragment.xy / size + moved;
    if roughness == 0.0 {
        return background_at(center, fragment.z, view);
    }
    // Blur and noise are those of bevy: eight points a turn on a shrinking spiral (Jimenez 2014, "Next Generation
    // Post Processing in Call of Duty: Advanced Warfare"), each further turn smaller.
    let distance = max(dot(world_position - view.position, view.forward), 1e-3);
    let noise = noise_angle(moved_pixel(fragment.xy, view));
    let is_odd = (u32(fragment.x) + u32(fragment.y) + view.noise_frame) % 2u == 1u;
    let spread = roughness * roughness / distance * select(1.0, 0.9, is_odd);
    let taps = max(view.transmission_taps, 1u);
    let turns = f32((taps + 7u) / 8u);
    var sum = vec4f(0.0);
    for (var tap = 0u; tap < taps; tap++) {
        let turn = f32(tap / 8u);
        // Even points first, so that four of them are a whole turn.
        let point = f32(2u * (tap & 3u) + ((tap >> 2u) & 1u));
        let radius = (1.0 - point / 8.0) * (1.0 - 0.5 * (turn + 1.0) / turns);
        let angle = 0.75 * PI * (point + 1.0) - noise - 2.0 * PI * turn / turns;
        let offset = vec2f(cos(angle), sin(angle) * size.x / size.y);
        sum += background_at(center + offset * radius * spread, fragment.z, view);
    }
    return sum / f32(taps);
}

// Color of the background at a point of the picture; nothing where a nearer surface is.
fn background_at(at: vec2f, depth: f32, view: View) -> vec4f {
    if (view.flags & HAS_TRANSMISSION_DEPTHS) != 0u {
        let size = vec2i(textureDimensions(contact_depths));
        let pixel = clamp(vec2i(floor(at * vec2f(size))), vec2i(0), size - 1);
        if textureLoad(contact_depths, pixel, 0) > depth {
            return vec4f(0.0);
        }
    }
    let color = textureSampleLevel(transmission_background, clamped_sampler, at, 0.0);
    return vec4f(color.rgb * color.a, color.a);
}
