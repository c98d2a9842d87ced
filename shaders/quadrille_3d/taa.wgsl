// Temporal antialiasing: see `taa_3d`.
//
// The jittered pictures of some frames are averaged (Karis 2014, "High Quality Temporal Supersampling"). The motion is that
// of the nearest surface of 3x3 pixels, so that edges move with what is in front. The history is sampled with a Catmull-Rom
// filter of five taps (Jimenez 2016, "Filmic SMAA"), and clipped to the box of mean and standard deviation of 3x3 colors
// (Salvi 2016, "An Excursion in Temporal Supersampling") in YCoCg, within their minimum and maximum. It is left out where it
// is not in the picture, and where the surface was hidden: what was there before is nearer than what is there now.

import quadrille_3d::constants::MAX_RADIANCE;
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

// Compresses values above white to less than 2, so that one very bright sample does not outweigh all others. Colors of the
// display's range stay as they are: their mean is that of light.
fn compress(color: vec3f) -> vec3f {
    let brightest = max(color.r, max(color.g, color.b));
    return select(color, color * (2.0 - 1.0 / brightest) / brightest, brightest > 1.0);
}

fn expand(color: vec3f) -> vec3f {
    let brightest = max(color.r, max(color.g, color.b));
    let rest = max(2.0 - brightest, 1.0 / MAX_RADIANCE);
    return select(color, color / (brightest * rest), brightest > 1.0);
}

fn to_ycocg(color: vec3f) -> vec3f {
    return vec3f(
        dot(color, vec3f(0.25, 0.5, 0.25)),
        dot(color, vec3f(0.5, 0.0, -0.5)),
        dot(color, vec3f(-0.25, 0.5, -0.25)),
    );
}

fn from_ycocg(color: vec3f) -> vec3f {
    let rest = color.x - color.z;
    return vec3f(rest + color.y, color.x + color.z, rest - color.y);
}

// Color of a pixel, compressed, as YCoCg.
fn color_of(texel: vec4f) -> vec3f {
    return to_ycocg(compress(clamp(texel.rgb, vec3f(0.0), vec3f(MAX_RADIANCE))));
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

// Distance from the eye along the view direction.
fn distance_of(depth: f32) -> f32 {
    let position = view.view_from_clip * vec4f(0.0, 0.0, depth, 1.0);
    return -position.z / max(position.w, 1e-30);
}

// Whether all that was at a pixel of the previous frame, and around it, is nearer than a surface of this frame.
fn was_hidden(found: Neighborhood, previous_uv: vec2f, size: vec2i) -> bool {
    let clip = clip_position(vec2f(found.nearest_pixel) + 0.5, found.nearest_depth, view);
    let previous = view.previous_clip_from_world * (view.world_from_clip * clip);
    let expected = distance_of(clamp(previous.z / previous.w, 0.0, 1.0));
    var farthest = 1.0;
    let pixel = vec2i(previous_uv * vec2f(size));
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(pixel + vec2i(x, y), vec2i(0), size - 1);
            farthest = min(farthest, textureLoad(previous_depths, at, 0));
        }
    }
    return distance_of(farthest) < HIDDEN * expected;
}

// Catmull-Rom filter of 4x4 texels without the corners, by bilinear samples.
fn sample_history(uv: vec2f, size: vec2f) -> vec3f {
    let at = uv * size;
    let middle = floor(at - 0.5) + 0.5;
    let f = at - middle;
    let first = f * (-0.5 + f * (1.0 - 0.5 * f));
    let second = 1.0 + f * f * (-2.5 + 1.5 * f);
    let third = f * (0.5 + f * (2.0 - 1.5 * f));
    let fourth = f * f * (-0.5 + 0.5 * f);
    let inner = second + third;
    let low = (middle - 1.0) / size;
    let center = (middle + third / inner) / size;
    let high = (middle + 2.0) / size;
    var sum = history_at(center) * inner.x * inner.y;
    sum += history_at(vec2f(low.x, center.y)) * first.x * inner.y;
    sum += history_at(vec2f(high.x, center.y)) * fourth.x * inner.y;
    sum += history_at(vec2f(center.x, low.y)) * inner.x * first.y;
    sum += history_at(vec2f(center.x, high.y)) * inner.x * fourth.y;
    let weight = inner.x * inner.y + (first.x + fourth.x) * inner.y + inner.x * (first.y + fourth.y);
    return max(sum / weight, vec3f(0.0));
}

fn history_at(uv: vec2f) -> vec3f {
    return textureSampleLevel(history, history_sampler, uv, 0.0).rgb;
}

// Part of the way from the center of a box to a color that is in the box.
fn part_in_box(color: vec3f, center: vec3f, half_size: vec3f) -> f32 {
    let outside = abs(color - center) / max(half_size, vec3f(1e-4));
    return 1.0 / max(1.0, max(outside.x, max(outside.y, outside.z)));
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
        previous = sample_history(previous_uv, view.viewport.zw);
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
