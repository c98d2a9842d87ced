// Temporal antialiasing: see `taa_3d`.
//
// The jittered pictures of some frames are averaged (Karis 2014, "High Quality Temporal Supersampling"), with the history of
// temporal.wgsl.

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::temporal::{
    ColorDistribution, NearestSurface, STILL_FRAMES, clip_history, color_of, expand, from_ycocg, motion_of, sample_catmull_rom,
    was_hidden,
};
import quadrille_3d::view_transforms::ViewTransforms;

@group(0) @binding(0) var picture: texture_2d<f32>;
// Color, and the number of averaged frames.
@group(0) @binding(1) var history: texture_2d<f32>;
@group(0) @binding(2) var motion_vectors: texture_2d<f32>;
@group(0) @binding(3) var depths: texture_depth_2d;
@group(0) @binding(4) var previous_depths: texture_depth_2d;
@group(0) @binding(5) var history_sampler: sampler;
// 1 or 0.
@group(0) @binding(6) var<uniform> history_is_valid: u32;
@group(0) @binding(7) var<uniform> view: ViewTransforms;
@group(0) @binding(8) var new_picture: texture_storage_2d<rgba16float, write>;
@group(0) @binding(9) var new_history: texture_storage_2d<rgba16float, write>;

// Averaged frames of a pixel that moves.
const MOVING_FRAMES: f32 = 10.0;

struct Output {
    color: vec4f,
    history: vec4f,
}

// Colors and depths of 3x3 pixels.
struct Neighborhood {
    nearest: NearestSurface,
    colors: ColorDistribution,
}

fn neighborhood_of(pixel: vec2i, size: vec2i) -> Neighborhood {
    var nearest = NearestSurface(pixel, -1.0);
    var colors = ColorDistribution(vec3f(0.0), vec3f(0.0), vec3f(1e30), vec3f(-1e30));
    var squares = vec3f(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(pixel + vec2i(x, y), vec2i(0), size - 1);
            let depth = textureLoad(depths, at, 0);
            if depth > nearest.depth {
                nearest = NearestSurface(at, depth);
            }
            let color = color_of(textureLoad(picture, at, 0));
            colors.mean += color / 9.0;
            squares += color * color / 9.0;
            colors.least = min(colors.least, color);
            colors.most = max(colors.most, color);
        }
    }
    colors.deviation = sqrt(max(squares - colors.mean * colors.mean, vec3f(0.0)));
    return Neighborhood(nearest, colors);
}

fn antialiased(pixel: vec2i) -> Output {
    let texel = textureLoad(picture, pixel, 0);
    let size = vec2i(view.viewport.zw);
    let begin = Output(texel, vec4f(clamp(texel.rgb, vec3f(0.0), vec3f(MAX_RADIANCE)), 1.0));
    if history_is_valid == 0u {
        return begin;
    }
    let found = neighborhood_of(pixel, size);
    let motion = motion_of(found.nearest, motion_vectors, view.viewport.zw);
    let is_still = all(motion == vec2f(0.0));
    let previous_uv = (vec2f(pixel) + 0.5) / view.viewport.zw - motion;
    if any(previous_uv != saturate(previous_uv)) || was_hidden(found.nearest, previous_uv, previous_depths, view) {
        return begin;
    }
    let previous_pixel = clamp(vec2i(previous_uv * view.viewport.zw), vec2i(0), size - 1);
    let previous_texel = textureLoad(history, previous_pixel, 0);
    var previous = previous_texel.rgb;
    if !is_still {
        previous = sample_catmull_rom(history, history_sampler, previous_uv, view.viewport.zw);
    }
    let clipped = clip_history(previous, found.colors, is_still, 0.0);
    // A history that is far off counts less.
    let frames = min(previous_texel.a * clipped.part + 1.0, select(MOVING_FRAMES, STILL_FRAMES, is_still));
    let mixed = mix(clipped.color, color_of(texel), 1.0 / frames);
    let color = expand(max(from_ycocg(mixed), vec3f(0.0)));
    return Output(vec4f(color, texel.a), vec4f(color, frames));
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    let output = antialiased(vec2i(at.xy));
    textureStore(new_picture, at.xy, output.color);
    textureStore(new_history, at.xy, output.history);
}
