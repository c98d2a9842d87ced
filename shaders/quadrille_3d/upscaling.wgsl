// Temporal upscaling: see `temporal_upscaling_3d`.
//
// Jittered samples of some frames are accumulated at the resolution of the viewport (Karis 2014, "High Quality Temporal
// Supersampling"; Yang, Liu, Salvi 2020, "A Survey of Temporal Antialiasing Techniques", section 5). Each sample counts by its
// distance from the pixel, so that the sum tends to the scene filtered by that kernel, whatever the ratio of resolutions is.
// Motion, history samples, the box of colors and its space are those of temporal.wgsl.
//
// Details smaller than a texel are missed by all 3x3 texels of some frames, of which the box does not contain the history. So
// it is extended by the deviation of luma in time, for surfaces that have been in the history for some frames and that nothing
// passes. Blended surfaces have no motion vectors: where they change the color, the box is that of surfaces that move, and
// not extended.

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::temporal::{
    ColorDistribution, NearestSurface, STILL_FRAMES, clip_history, color_of, expand, from_ycocg, motion_of, sample_catmull_rom,
    was_hidden,
};
import quadrille_3d::view_transforms::ViewTransforms;

struct Upscaling {
    // Width and height of the picture after upscaling.
    output_size: vec2f,
    // 1 or 0.
    history_is_valid: u32,
    unused: u32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
// The picture before blended surfaces were drawn.
@group(0) @binding(1) var opaque_picture: texture_2d<f32>;
// Color, and the sum of the weights of samples in it.
@group(0) @binding(2) var history: texture_2d<f32>;
// Luma of the nearest sample, its variance in time, its change since the frame before, and `age_of` the pixel.
@group(0) @binding(3) var moments: texture_2d<f32>;
@group(0) @binding(4) var motion_vectors: texture_2d<f32>;
@group(0) @binding(5) var depths: texture_depth_2d;
@group(0) @binding(6) var previous_depths: texture_depth_2d;
@group(0) @binding(7) var history_sampler: sampler;
@group(0) @binding(8) var<uniform> upscaling: Upscaling;
@group(0) @binding(9) var<uniform> view: ViewTransforms;
@group(0) @binding(10) var new_picture: texture_storage_2d<rgba16float, write>;
@group(0) @binding(11) var new_history: texture_storage_2d<rgba16float, write>;
@group(0) @binding(12) var new_moments: texture_storage_2d<rgba16float, write>;

// Width of the slopes of the kernel of samples in pixels of the output: 0 is a box.
const SLOPE: f32 = 0.4;
// Exponent of the kernel of a frame alone by squared distance in texels.
const FRAME_KERNEL: f32 = 3.0;
// Weight of the mean of a frame alone, which is the color of pixels without a sample and a history.
const FRAME_WEIGHT: f32 = 0.005;
// Sum of weights in frames of a pixel that moves.
const MOVING_FRAMES: f32 = 5.0;
// Extent of the box of colors in standard deviations in time.
const TIME_DEVIATIONS: f32 = 1.5;
// Part of a frame in the variance in time.
const TIME_PART: f32 = 0.15;
// Frames from which on the box is extended, and after which it is by the whole deviation: before, another surface may be left in
// the history.
const YOUNG: f32 = 8.0;
const OLD: f32 = 16.0;
// Difference of the motion of neighbors in pixels at which one covers the other.
const DIVERGENCE: f32 = 0.25;
// Difference of a color by blended surfaces at which a pixel counts as moving without motion vectors.
const BLENDED: f32 = 0.02;

struct Output {
    color: vec4f,
    history: vec4f,
    moments: vec4f,
}

// Samples around a pixel of the output.
struct Samples {
    nearest: NearestSurface,
    middle_pixel: vec2i,
    // Weighted sum of colors by the kernel, and of weights.
    sum: vec3f,
    weight: f32,
    // Colors of the frame alone, and their mean alpha.
    colors: ColorDistribution,
    alpha: f32,
    // Luma of the nearest sample.
    luma: f32,
    // Largest difference by blended surfaces.
    blended: f32,
}

// Samples of 3x3 texels around a position in texels.
fn samples_around(position: vec2f, size: vec2i) -> Samples {
    let scale = upscaling.output_size / view.viewport.zw;
    // The sample of texel t is at t + 0.5 + jitter.
    let from_samples = position - view.jitter;
    let middle = clamp(vec2i(floor(from_samples)), vec2i(0), size - 1);
    let colors = ColorDistribution(vec3f(0.0), vec3f(0.0), vec3f(1e30), vec3f(-1e30));
    var found = Samples(NearestSurface(middle, -1.0), middle, vec3f(0.0), 0.0, colors, 0.0, 0.0, 0.0);
    var squares = vec3f(0.0);
    var weights = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = middle + vec2i(x, y);
            if any(at < vec2i(0)) || any(at >= size) {
                continue;
            }
            let depth = textureLoad(depths, at, 0);
            if depth > found.nearest.depth {
                found.nearest = NearestSurface(at, depth);
            }
            let texel = textureLoad(picture, at, 0);
            let color = color_of(texel);
            let away = vec2f(at) + 0.5 - from_samples;
            let in_frame = exp(-FRAME_KERNEL * dot(away, away));
            let in_pixel = saturate((0.5 - abs(away * scale)) / SLOPE + 0.5);
            let in_output = in_pixel.x * in_pixel.y;
            found.sum += in_output * color;
            found.weight += in_output;
            found.colors.mean += in_frame * color;
            found.alpha += in_frame * texel.a;
            squares += in_frame * color * color;
            weights += in_frame;
            found.colors.least = min(found.colors.least, color);
            found.colors.most = max(found.colors.most, color);
            if x == 0 && y == 0 {
                found.luma = color.x;
            }
            let opaque_color = color_of(textureLoad(opaque_picture, at, 0));
            let difference = abs(color - opaque_color);
            found.blended = max(found.blended, max(difference.x, max(difference.y, difference.z)));
        }
    }
    found.colors.mean /= weights;
    found.alpha /= weights;
    let mean = found.colors.mean;
    found.sum += FRAME_WEIGHT * mean;
    found.weight += FRAME_WEIGHT;
    found.colors.deviation = sqrt(max(squares / weights - mean * mean, vec3f(0.0)));
    return found;
}

// Number of frames for which a pixel rests or, negative, moves. `age`: the number in the previous frame.
fn age_of(age: f32, is_still: bool) -> f32 {
    if is_still {
        return min(max(age, 0.0) + 1.0, OLD);
    }
    return max(min(age, 0.0) - 1.0, -OLD);
}

// Variance of luma by changes that are taken back in the next frame: those of details that samples miss. The change of a surface
// that lasts is not.
fn variance_of(in_time: vec4f, change: f32) -> f32 {
    return mix(in_time.y, max(-change * in_time.z, 0.0), TIME_PART);
}

// Extent of the box by the deviation in time.
fn extent_of(in_time: vec4f) -> f32 {
    return TIME_DEVIATIONS * sqrt(in_time.y) * saturate((abs(in_time.w) - YOUNG) / (OLD - YOUNG));
}

// Whether the surface of a pixel moves unlike the nearest one around it, so that it was or will be covered.
fn is_at_silhouette(found: Samples) -> bool {
    let own = textureLoad(motion_vectors, found.middle_pixel, 0).xy;
    let nearest = textureLoad(motion_vectors, found.nearest.pixel, 0).xy;
    return any(abs(own - nearest) * upscaling.output_size > vec2f(DIVERGENCE));
}

// History at texture coordinates, without what the lobes of the filter add beyond the nearest 2x2 texels.
fn history_at(uv: vec2f) -> vec3f {
    let size = upscaling.output_size;
    let color = sample_catmull_rom(history, history_sampler, uv, size);
    let corner = max(vec2i(floor(uv * size - 0.5)), vec2i(0));
    var least = vec3f(MAX_RADIANCE);
    var most = vec3f(0.0);
    for (var i = 0; i < 4; i++) {
        let texel = textureLoad(history, min(corner + vec2i(i & 1, i >> 1u), vec2i(size) - 1), 0).rgb;
        least = min(least, texel);
        most = max(most, texel);
    }
    return clamp(color, least, most);
}

// Picture of a frame alone.
fn begin(found: Samples) -> Output {
    let color = expand(max(from_ycocg(found.sum / found.weight), vec3f(0.0)));
    return Output(vec4f(color, found.alpha), vec4f(color, found.weight), vec4f(found.luma, 0.0, 0.0, 0.0));
}

// Picture and histories at a position in pixels of the output.
fn upscaled(position: vec2f) -> Output {
    let size = vec2i(view.viewport.zw);
    let uv = position / upscaling.output_size;
    let found = samples_around(uv * view.viewport.zw, size);
    if upscaling.history_is_valid == 0u {
        return begin(found);
    }
    let motion = motion_of(found.nearest, motion_vectors, upscaling.output_size);
    let is_still = all(motion == vec2f(0.0));
    let previous_uv = uv - motion;
    if any(previous_uv != saturate(previous_uv)) || was_hidden(found.nearest, previous_uv, previous_depths, view) {
        return begin(found);
    }
    let last = vec2i(upscaling.output_size) - 1;
    let previous_pixel = clamp(vec2i(previous_uv * upscaling.output_size), vec2i(0), last);
    let previous_texel = textureLoad(history, previous_pixel, 0);
    var previous = previous_texel.rgb;
    var in_time = textureLoad(moments, previous_pixel, 0);
    if !is_still {
        previous = history_at(previous_uv);
        in_time = vec4f(textureSampleLevel(moments, history_sampler, previous_uv, 0.0).xyz, in_time.w);
    }
    let change = found.luma - in_time.x;
    let is_blended = found.blended > BLENDED;
    let age = select(age_of(in_time.w, is_still), 0.0, is_blended || is_at_silhouette(found));
    in_time = vec4f(found.luma, variance_of(in_time, change), change, age);
    let clipped = clip_history(previous, found.colors, is_still && !is_blended, extent_of(in_time));
    // Mean weight of the samples of a frame: their density, since the integral of the kernel is 1.
    let density = view.viewport.zw / upscaling.output_size;
    let frame_weight = density.x * density.y;
    let frames = select(MOVING_FRAMES, STILL_FRAMES, is_still && !is_blended);
    // A history that is far off counts less.
    let before = min(previous_texel.a * clipped.part, frames * frame_weight);
    let weight = before + found.weight;
    let mixed = (clipped.color * before + found.sum) / weight;
    let color = expand(max(from_ycocg(mixed), vec3f(0.0)));
    return Output(vec4f(color, found.alpha), vec4f(color, weight), in_time);
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    let output = upscaled(vec2f(at.xy) + 0.5);
    textureStore(new_picture, at.xy, output.color);
    textureStore(new_history, at.xy, output.history);
    textureStore(new_moments, at.xy, output.moments);
}
