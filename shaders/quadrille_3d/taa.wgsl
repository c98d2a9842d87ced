// Temporal antialiasing: see `taa_3d`.
//
// The jittered pictures of some frames are averaged (Karis 2014, "High Quality Temporal Supersampling"). The motion is that
// of the nearest surface of 3x3 pixels, so that edges move with what is in front. The history is sampled with a Catmull-Rom
// filter of five taps (Jimenez 2016, "Filmic SMAA"), and clipped to the box of mean and standard deviation of 3x3 colors
// (Salvi 2016, "An Excursion in Temporal Supersampling") in YCoCg, within their minimum and maximum. It is left out where it
// is not in the picture, and where the surface was hidden: what was there before is nearer than what is there now.

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::temporal::{color_of, compress, distance_of, expand, from_ycocg, part_in_box, sample_catmull_rom, to_ycocg};
import quadrille_3d::view_transforms::{ViewTransforms, clip_position};

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

// Averaged frames of pixels that rest, and that move.
const STILL_FRAMES: f32 = 64.0;
const MOVING_FRAMES: f32 = 10.0;
// Motion in pixels below which a pixel rests.
const STILL_MOTION: f32 = 0.01;
// Half size of the box of colors in standard deviations, of pixels that rest, and that move.
const STILL_DEVIATIONS: f32 = 2.0;
const MOVING_DEVIATIONS: f32 = 1.0;
// A surface that is farther than this part of its distance was visible.
const HIDDEN: f32 = 0.9;

struct Output {
    @location(0) color: vec4f,
    @location(1) history: vec4f,
}

// Colors and depths of 3x3 pixels.
struct Neighborhood {
    nearest_depth: f32,
    nearest_pixel: vec2i,
    mean: vec3f,
    deviation: vec3f,
    least: vec3f,
    most: vec3f,
}

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn neighborhood_of(pixel: vec2i, size: vec2i) -> Neighborhood {
    var found = Neighborhood(-1.0, pixel, vec3f(0.0), vec3f(0.0), vec3f(1e30), vec3f(-1e30));
    var squares = vec3f(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(pixel + vec2i(x, y), vec2i(0), size - 1);
            let depth = textureLoad(depths, at, 0);
            if depth > found.nearest_depth {
                found.nearest_depth = depth;
                found.nearest_pixel = at;
            }
            let color = color_of(textureLoad(picture, at, 0));
            found.mean += color / 9.0;
            squares += color * color / 9.0;
            found.least = min(found.least, color);
            found.most = max(found.most, color);
        }
    }
    found.deviation = sqrt(max(squares - found.mean * found.mean, vec3f(0.0)));
    return found;
}

// Motion of the nearest surface in texture coordinates; zero if it is less than a hundredth of a pixel.
fn motion_of(found: Neighborhood, size: vec2f) -> vec2f {
    let motion = textureLoad(motion_vectors, found.nearest_pixel, 0).xy;
    return select(motion, vec2f(0.0), all(abs(motion * size) < vec2f(STILL_MOTION)));
}

// Whether all that was at a pixel of the previous frame, and around it, is nearer than a surface of this frame.
fn was_hidden(found: Neighborhood, previous_uv: vec2f, size: vec2i) -> bool {
    let clip = clip_position(vec2f(found.nearest_pixel) + 0.5, found.nearest_depth, view);
    let previous = view.previous_clip_from_world * (view.world_from_clip * clip);
    let expected = distance_of(clamp(previous.z / previous.w, 0.0, 1.0), view);
    var farthest = 1.0;
    let pixel = vec2i(previous_uv * vec2f(size));
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(pixel + vec2i(x, y), vec2i(0), size - 1);
            farthest = min(farthest, textureLoad(previous_depths, at, 0));
        }
    }
    return distance_of(farthest, view) < HIDDEN * expected;
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> Output {
    let pixel = vec2i(position.xy);
    let texel = textureLoad(picture, pixel, 0);
    let size = vec2i(view.viewport.zw);
    let begin = Output(texel, vec4f(clamp(texel.rgb, vec3f(0.0), vec3f(MAX_RADIANCE)), 1.0));
    if history_is_valid == 0u {
        return begin;
    }
    let found = neighborhood_of(pixel, size);
    let motion = motion_of(found, view.viewport.zw);
    let is_still = all(motion == vec2f(0.0));
    let previous_uv = position.xy / view.viewport.zw - motion;
    if any(previous_uv != saturate(previous_uv)) || was_hidden(found, previous_uv, size) {
        return begin;
    }
    let previous_pixel = clamp(vec2i(previous_uv * view.viewport.zw), vec2i(0), size - 1);
    let previous_texel = textureLoad(history, previous_pixel, 0);
    var previous = previous_texel.rgb;
    if !is_still {
        previous = sample_catmull_rom(history, history_sampler, previous_uv, view.viewport.zw);
    }
    let deviations = select(MOVING_DEVIATIONS, STILL_DEVIATIONS, is_still);
    let least = max(found.least, found.mean - deviations * found.deviation);
    let most = min(found.most, found.mean + deviations * found.deviation);
    let center = (least + most) / 2.0;
    let unclipped = to_ycocg(compress(previous));
    let part = part_in_box(unclipped, center, (most - least) / 2.0);
    let clipped = center + (unclipped - center) * part;
    // A history that is far off counts less.
    let frames = min(previous_texel.a * part + 1.0, select(MOVING_FRAMES, STILL_FRAMES, is_still));
    let mixed = mix(clipped, color_of(texel), 1.0 / frames);
    let color = expand(max(from_ycocg(mixed), vec3f(0.0)));
    return Output(vec4f(color, texel.a), vec4f(color, frames));
}
