// Parts of temporal filters (taa.wgsl, upscaling.wgsl).
//
// The motion is that of the nearest surface of 3x3 pixels, so that edges move with what is in front. The history is sampled
// with a Catmull-Rom filter of five taps (Jimenez 2016, "Filmic SMAA"), and clipped to the box of mean and standard deviation
// of 3x3 colors (Salvi 2016, "An Excursion in Temporal Supersampling") in YCoCg, within their minimum and maximum. It is left
// out where it is not in the picture, and where the surface was hidden: what was there before is nearer than what is there now.

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::view_transforms::{ViewTransforms, clip_position};

// Averaged frames of a pixel that rests.
const STILL_FRAMES: f32 = 64.0;
// Motion in pixels below which a pixel rests.
const STILL_MOTION: f32 = 0.01;
// Half size of the box of colors in standard deviations, of pixels that rest, and that move.
const STILL_DEVIATIONS: f32 = 2.0;
const MOVING_DEVIATIONS: f32 = 1.0;
// A surface that is farther than this part of its distance was visible.
const HIDDEN: f32 = 0.9;

// Pixel and depth of the nearest surface of 3x3 pixels.
struct NearestSurface {
    pixel: vec2i,
    depth: f32,
}

// Distribution of the colors of 3x3 pixels.
struct ColorDistribution {
    mean: vec3f,
    deviation: vec3f,
    least: vec3f,
    most: vec3f,
}

struct ClippedHistory {
    color: vec3f,
    // 1 in the box of colors, and less the farther off the history was.
    part: f32,
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

// Distance from the eye along the view direction.
fn distance_of(depth: f32, view: ViewTransforms) -> f32 {
    let position = view.view_from_clip * vec4f(0.0, 0.0, depth, 1.0);
    return -position.z / max(position.w, 1e-30);
}

// Catmull-Rom filter of 4x4 texels without the corners, by bilinear samples.
fn sample_catmull_rom(history: texture_2d<f32>, history_sampler: sampler, uv: vec2f, size: vec2f) -> vec3f {
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
    var sum = textureSampleLevel(history, history_sampler, center, 0.0).rgb * inner.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(low.x, center.y), 0.0).rgb * first.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(high.x, center.y), 0.0).rgb * fourth.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(center.x, low.y), 0.0).rgb * inner.x * first.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(center.x, high.y), 0.0).rgb * inner.x * fourth.y;
    let weight = inner.x * inner.y + (first.x + fourth.x) * inner.y + inner.x * (first.y + fourth.y);
    return max(sum / weight, vec3f(0.0));
}

// Motion of the nearest surface in texture coordinates; zero if the pixel of a picture of this size rests.
fn motion_of(nearest: NearestSurface, motion_vectors: texture_2d<f32>, size: vec2f) -> vec2f {
    let motion = textureLoad(motion_vectors, nearest.pixel, 0).xy;
    return select(motion, vec2f(0.0), all(abs(motion * size) < vec2f(STILL_MOTION)));
}

// Whether all that was at a pixel of the previous frame, and around it, is nearer than a surface of this frame.
fn was_hidden(nearest: NearestSurface, previous_uv: vec2f, previous_depths: texture_depth_2d, view: ViewTransforms) -> bool {
    let clip = clip_position(vec2f(nearest.pixel) + 0.5, nearest.depth, view);
    let previous = view.previous_clip_from_world * (view.world_from_clip * clip);
    let expected = distance_of(clamp(previous.z / previous.w, 0.0, 1.0), view);
    var farthest = 1.0;
    let size = vec2i(view.viewport.zw);
    let pixel = vec2i(previous_uv * view.viewport.zw);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(pixel + vec2i(x, y), vec2i(0), size - 1);
            farthest = min(farthest, textureLoad(previous_depths, at, 0));
        }
    }
    return distance_of(farthest, view) < HIDDEN * expected;
}

// History in the box of colors around a pixel, which is larger by `extent`.
fn clip_history(history: vec3f, colors: ColorDistribution, is_still: bool, extent: f32) -> ClippedHistory {
    let deviations = select(MOVING_DEVIATIONS, STILL_DEVIATIONS, is_still) * colors.deviation;
    let least = max(colors.least, colors.mean - deviations);
    let most = min(colors.most, colors.mean + deviations);
    let center = (least + most) / 2.0;
    let away = to_ycocg(compress(history)) - center;
    let outside = abs(away) / max((most - least) / 2.0 + extent, vec3f(1e-4));
    let part = 1.0 / max(1.0, max(outside.x, max(outside.y, outside.z)));
    return ClippedHistory(center + away * part, part);
}
