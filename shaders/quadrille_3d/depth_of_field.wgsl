// Depth of field. Thin lens model (Potmesil and Chakravarty 1981): the circle of confusion of a point at distance z has
// the diameter f^2 / N * |z - z_f| / (z (z_f - f)) on the sensor, with focal length f, f-number N and focal distance z_f.

import quadrille_3d::view_transforms::{ViewTransforms, clip_position};

struct Lens {
    // Meters.
    focal_distance: f32,
    sensor_height: f32,
    aperture_f_stops: f32,
    // Pixels.
    max_diameter: f32,
    // Per meter.
    inverse_max_depth: f32,
    // Width and height of the picture in pixels. Depths may have smaller ones, from which it was upscaled.
    picture_size: vec2f,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@group(0) @binding(2) var depths: texture_depth_2d;
@group(0) @binding(3) var multisampled_depths: texture_depth_multisampled_2d;
@group(0) @binding(4) var diameters: texture_2d<f32>;
@group(0) @binding(5) var<uniform> lens: Lens;
@group(0) @binding(6) var<uniform> view: ViewTransforms;
@group(0) @binding(7) var new_diameters: texture_storage_2d<r32float, write>;
@group(0) @binding(8) var new_picture: texture_storage_2d<rgba16float, write>;

const BOKEH_SAMPLES: u32 = 64;
// Angle between successive samples of the spiral (Vogel 1979), in radians.
const GOLDEN_ANGLE: f32 = 2.3999632;

// Diameter of the circle of confusion in pixels; negative in front of the focal distance.
fn signed_diameter(pixel: vec2f, depth: f32) -> f32 {
    // An orthographic projection has no lens.
    if view.clip_from_view[3].w != 0.0 {
        return 0.0;
    }
    let position = view.view_from_clip * clip_position(pixel, depth, view);
    let inverse_z = max(-position.w / position.z, lens.inverse_max_depth);
    // clip_from_view[1][1] is the cotangent of half the field of view.
    let focal_length = 0.5 * lens.sensor_height * abs(view.clip_from_view[1].y);
    let aperture = focal_length / lens.aperture_f_stops;
    let distance_to_focus = max(lens.focal_distance - focal_length, 1e-6);
    let on_sensor = aperture * focal_length * (1.0 - lens.focal_distance * inverse_z) / distance_to_focus;
    let diameter = on_sensor / lens.sensor_height * lens.picture_size.y;
    return clamp(diameter, -lens.max_diameter, lens.max_diameter);
}

@compute @workgroup_size(8, 8)
fn diameter_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_diameters)) {
        return;
    }
    let pixel = (vec2f(at.xy) + 0.5) * view.viewport.zw / lens.picture_size;
    let depth = textureLoad(depths, vec2i(pixel), 0);
    textureStore(new_diameters, at.xy, vec4f(signed_diameter(pixel, depth)));
}

@compute @workgroup_size(8, 8)
fn multisampled_diameter_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_diameters)) {
        return;
    }
    let depth = textureLoad(multisampled_depths, at.xy, 0);
    textureStore(new_diameters, at.xy, vec4f(signed_diameter(vec2f(at.xy) + 0.5, depth)));
}

// Diameters grow with depth: a sample behind the pixel counts, one in front of it only if its own blur, up to `reach`
// diameters wide, covers the pixel. Sharp surfaces do not bleed into blurred ones behind them.
fn sample_weight(own: f32, other: f32, away: f32, reach: f32) -> f32 {
    if other >= own {
        return 1.0;
    }
    return clamp(reach * abs(other) - away + 1.0, 0.0, 1.0);
}

fn blurred_line(at: vec2i, direction: vec2i) -> vec4f {
    let last = vec2i(textureDimensions(picture)) - 1;
    let own = textureLoad(diameters, at, 0).x;
    // A uniform disk of diameter d has the variance d^2 / 16 along each axis.
    let sigma = 0.25 * abs(own);
    let radius = i32(ceil(3.0 * sigma));
    var sum = textureLoad(picture, at, 0);
    var weights = 1.0;
    if sigma < 0.1 {
        return sum;
    }
    for (var i = -radius; i <= radius; i++) {
        if i == 0 {
            continue;
        }
        let other_at = clamp(at + i * direction, vec2i(0), last);
        let other = textureLoad(diameters, other_at, 0).x;
        let away = f32(abs(i));
        let gaussian = exp(-0.5 * away * away / (sigma * sigma));
        let weight = gaussian * sample_weight(own, other, away, 0.75);
        sum += weight * textureLoad(picture, other_at, 0);
        weights += weight;
    }
    return sum / weights;
}

@compute @workgroup_size(64)
fn horizontal_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    textureStore(new_picture, at.xy, blurred_line(vec2i(at.xy), vec2i(1, 0)));
}

@compute @workgroup_size(8, 8)
fn vertical_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    textureStore(new_picture, at.xy, blurred_line(vec2i(at.xy), vec2i(0, 1)));
}

fn blurred_disk(at: vec2i) -> vec4f {
    let size = vec2f(textureDimensions(picture));
    let position = vec2f(at) + 0.5;
    let own = textureLoad(diameters, at, 0).x;
    let radius = 0.5 * abs(own);
    let center = textureLoad(picture, at, 0);
    if radius < 0.25 {
        return center;
    }
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < BOKEH_SAMPLES; i++) {
        let away = radius * sqrt((f32(i) + 0.5) / f32(BOKEH_SAMPLES));
        let angle = f32(i) * GOLDEN_ANGLE;
        let other_at = clamp(position + away * vec2f(cos(angle), sin(angle)), vec2f(0.5), size - 0.5);
        let other = textureLoad(diameters, vec2i(other_at), 0).x;
        let weight = sample_weight(own, other, away, 0.5);
        sum += weight * textureSampleLevel(picture, picture_sampler, other_at / size, 0.0);
        weights += weight;
    }
    if weights < 1e-3 {
        return center;
    }
    return sum / weights;
}

@compute @workgroup_size(8, 8)
fn bokeh_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    textureStore(new_picture, at.xy, blurred_disk(vec2i(at.xy)));
}
