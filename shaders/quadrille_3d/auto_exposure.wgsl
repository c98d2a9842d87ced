// Auto exposure: a histogram of log luminance, the mean of a part of it, and exposure that follows the mean.

import quadrille_3d::constants::EXPOSURE_TILE;

struct AutoExposure {
    // Ends of the histogram in stops, and of the part of pixels that count.
    range: vec2f,
    filtered: vec2f,
    speed_brighten: f32,
    speed_darken: f32,
    // In stops.
    transition_distance: f32,
}

struct Push {
    // Seconds since the previous frame.
    delta_time: f32,
    // Luminance of the first entry of the curve in stops, and 1 / length of the curve.
    curve_start: f32,
    curve_scale: f32,
}

const BINS: u32 = 64u;
const CURVE_ENTRIES: f32 = 256.0;
// ITU-R BT.709.
const LUMINANCE: vec3f = vec3f(0.2126, 0.7152, 0.0722);
// Steps of the weight of a pixel: sums of 16384 x 16384 pixels fit in 32 bits.
const WEIGHTS: f32 = 16.0;

@group(0) @binding(0) var<uniform> settings: AutoExposure;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var mask: texture_2d<f32>;
@group(0) @binding(3) var<storage, read_write> histogram: array<atomic<u32>, BINS>;
@group(0) @binding(4) var curve: texture_2d<f32>;
@group(0) @binding(5) var previous_exposure: texture_2d<f32>;
@group(0) @binding(6) var exposure: texture_storage_2d<r32float, write>;

var<immediate> push: Push;

// One entry more than the histogram: a type of its own, since that of a buffer has a stride, which workgroup memory must not.
var<workgroup> bins: array<atomic<u32>, BINS + 1u>;
var<workgroup> counts: array<u32, BINS + 1u>;

// Bin 0 is darker than the range.
fn bin_of(color: vec3f) -> u32 {
    let luminance = dot(color, LUMINANCE);
    if !(luminance >= exp2(settings.range.x)) {
        return 0u;
    }
    let share = saturate((log2(luminance) - settings.range.x) / (settings.range.y - settings.range.x));
    return 1u + u32(share * f32(BINS - 2u));
}

fn weight_at(pixel: vec2u, size: vec2u) -> u32 {
    let texel = pixel * textureDimensions(mask) / size;
    return u32(saturate(textureLoad(mask, texel, 0).r) * WEIGHTS);
}

// Each workgroup counts a square of `EXPOSURE_TILE` pixels a side, so that few of them add to one histogram.
@compute @workgroup_size(16, 16)
fn add_to_histogram(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    if index < BINS {
        atomicStore(&bins[index], 0u);
    }
    workgroupBarrier();
    let size = textureDimensions(picture);
    for (var at = 0u; at < EXPOSURE_TILE * EXPOSURE_TILE; at += 256u) {
        let pixel = group.xy * EXPOSURE_TILE + local.xy
            + 16u * vec2u(at / 256u % (EXPOSURE_TILE / 16u), at / 256u / (EXPOSURE_TILE / 16u));
        if all(pixel < size) {
            let color = textureLoad(picture, pixel, 0).rgb;
            atomicAdd(&bins[bin_of(color)], weight_at(pixel, size));
        }
    }
    workgroupBarrier();
    if index < BINS {
        let sum = atomicLoad(&bins[index]);
        if sum > 0u {
            atomicAdd(&histogram[index], sum);
        }
    }
}

// Empties the histogram for the next frame.
@compute @workgroup_size(BINS)
fn adapt(@builtin(local_invocation_index) index: u32) {
    counts[index] = atomicExchange(&histogram[index], 0u);
    workgroupBarrier();
    if index > 0u {
        return;
    }
    var total = 0u;
    for (var i = 0u; i < BINS; i++) {
        total += counts[i];
    }
    let first = u32(f32(total) * settings.filtered.x);
    let last = u32(f32(total) * settings.filtered.y);
    var before = counts[0];
    var count = 0u;
    var sum = 0.0;
    for (var i = 1u; i < BINS; i++) {
        let after = before + counts[i];
        let counted = clamp(after, first, last) - clamp(before, first, last);
        count += counted;
        sum += f32(counted) * f32(i);
        before = after;
    }
    var mean = settings.range.x;
    if count > 0u {
        mean += sum / (f32(count) * f32(BINS - 1u)) * (settings.range.y - settings.range.x);
    }
    let entry = saturate((mean - push.curve_start) * push.curve_scale) * (CURVE_ENTRIES - 1.0);
    let wanted = textureLoad(curve, vec2u(u32(entry), 0u), 0).r - mean;
    let previous = textureLoad(previous_exposure, vec2u(0u), 0).r;
    let change = wanted - previous;
    let step = select(settings.speed_brighten, settings.speed_darken, change > 0.0) * push.delta_time;
    // No farther than the exposure that is wanted, however long the frame.
    let eased = abs(change) * min(step / max(settings.transition_distance, 1e-3), 1.0);
    textureStore(exposure, vec2u(0u), vec4f(previous + sign(change) * min(step, eased)));
}
