// Screen-space ambient occlusion: ground-truth ambient occlusion (GTAO, Jimenez et al. 2016) with visibility bitmasks
// (Therrien et al. 2023) for the thickness of objects. See `ssao_3d`.
//
// phi: direction of a slice in the picture
// v, n: directions to the view and of the normal, in view space
// theta: angle in the slice from v on, positive along phi
// gamma: angle of the normal's projection into the slice

import quadrille_3d::constants::{PI, SSAO_FAR, SSAO_LEVELS, SSAO_RADIUS};
import quadrille_3d::view_transforms::{ViewTransforms, clip_position};

struct Settings {
    slice_count: u32,
    samples_per_slice_side: u32,
    thickness: f32,
    // Distance up to which occluders are found.
    radius: f32,
}

@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var level_0: texture_storage_2d<r32float, write>;
@group(0) @binding(2) var level_1: texture_storage_2d<r32float, write>;
@group(0) @binding(3) var level_2: texture_storage_2d<r32float, write>;
@group(0) @binding(4) var level_3: texture_storage_2d<r32float, write>;
@group(0) @binding(5) var distances: texture_2d<f32>;
@group(0) @binding(6) var normals: texture_2d<f32>;
@group(0) @binding(7) var noisy: texture_storage_2d<r32uint, write>;
@group(0) @binding(8) var packed_visibility: texture_2d<u32>;
@group(0) @binding(9) var visibility: texture_storage_2d<r32float, write>;
@group(0) @binding(10) var<uniform> settings: Settings;
@group(0) @binding(11) var<uniform> view: ViewTransforms;

// Distances of a tile of the level that is downsampled next, with 8 texels a side.
var<workgroup> tile: array<array<f32, 8>, 8>;

// Distance of a pixel along the axis of the view.
fn view_distance(pixel: vec2u) -> f32 {
    let at = min(pixel, textureDimensions(depths) - 1u);
    let depth = textureLoad(depths, at, 0);
    let position = view.view_from_clip * clip_position(vec2f(at) + 0.5, depth, view);
    return min(-position.z / max(position.w, 1e-12), SSAO_FAR);
}

// Mean distance of four texels, weighted by how close they are to the farthest: near ones in front of it must not become
// a sheet between both (Intel's XeGTAO, 2021).
fn weighted_mean(four: vec4f) -> f32 {
    let farthest = max(max(four.x, four.y), max(four.z, four.w));
    let weights = saturate(1.0 - (farthest - four) / (0.75 * SSAO_RADIUS));
    return dot(four, weights) / dot(weights, vec4f(1.0));
}

fn downsampled_tile(local: vec2u) -> f32 {
    let at = local * 2u;
    return weighted_mean(vec4f(tile[at.y][at.x], tile[at.y][at.x + 1u], tile[at.y + 1u][at.x], tile[at.y + 1u][at.x + 1u]));
}

// Writes the distances of 16 x 16 pixels, and three levels above them. Four storage images are the guaranteed number.
@compute @workgroup_size(8, 8)
fn distance_levels(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var four: vec4f;
    for (var number = 0u; number < 4u; number++) {
        let pixel = at.xy * 2u + vec2u(number & 1u, number >> 1u);
        four[number] = view_distance(pixel);
        if all(pixel < textureDimensions(level_0)) {
            textureStore(level_0, pixel, vec4f(four[number]));
        }
    }
    let first = weighted_mean(four);
    let levels = min(SSAO_LEVELS, u32(log2(f32(max(view.viewport.z, view.viewport.w)))) + 1u);
    if levels > 1u && all(at.xy < textureDimensions(level_1)) {
        textureStore(level_1, at.xy, vec4f(first));
    }
    tile[local.y][local.x] = first;
    workgroupBarrier();
    var second = 0.0;
    if all(local.xy < vec2u(4u)) {
        second = downsampled_tile(local.xy);
        let texel = (at.xy - local.xy) / 2u + local.xy;
        if levels > 2u && all(texel < textureDimensions(level_2)) {
            textureStore(level_2, texel, vec4f(second));
        }
    }
    workgroupBarrier();
    if all(local.xy < vec2u(4u)) {
        tile[local.y][local.x] = second;
    }
    workgroupBarrier();
    if all(local.xy < vec2u(2u)) {
        let third = downsampled_tile(local.xy);
        let texel = (at.xy - local.xy) / 4u + local.xy;
        if levels > 3u && all(texel < textureDimensions(level_3)) {
            textureStore(level_3, texel, vec4f(third));
        }
    }
}

fn is_orthographic() -> bool {
    return view.clip_from_view[3].w == 1.0;
}

// Position in view space of a point of the picture with this distance.
fn view_position(pixel: vec2f, distance: f32) -> vec3f {
    let clip = clip_position(pixel, 1.0, view).xy;
    let scale = vec2f(view.clip_from_view[0].x, view.clip_from_view[1].y);
    if is_orthographic() {
        return vec3f((clip - view.clip_from_view[3].xy) / scale, -distance);
    }
    return vec3f((clip + view.clip_from_view[2].xy) / scale * distance, -distance);
}

// Rotation of slices and offset along them: a pattern of 4 x 4 pixels (Jimenez et al. 2016), all of which the denoiser
// averages. It changes from frame to frame with temporal jitter.
fn noise(pixel: vec2u) -> vec2f {
    let rotation = f32((((pixel.x + pixel.y) & 3u) << 2u) + (pixel.x & 3u)) / 16.0;
    let offset = f32((pixel.y - pixel.x) & 3u) / 4.0;
    let frame = select(0u, view.frame_count, any(view.jitter != vec2f(0.0)));
    // Steps of the R2 sequence (Roberts 2018).
    let steps = f32(frame % 64u) * vec2f(0.7548776662, 0.5698402910);
    return fract(vec2f(rotation, offset) + steps);
}

// Angles in a slice as shares of the light that the hemisphere of a normal receives, weighted by its cosine.
struct Slice {
    // Length of the normal's projection.
    normal_length: f32,
    gamma: f32,
    sin_gamma: f32,
    cos_gamma: f32,
    // Integral up to the lower end of the hemisphere, and over all of it.
    low: f32,
    total: f32,
}

// Integral of cos(theta - gamma) |sin(theta)| from 0 to an angle, with its sign.
fn arc_integral(slice: Slice, theta: f32, sin_theta: f32, cos_theta: f32) -> f32 {
    let cos_double = 2.0 * cos_theta * cos_theta - 1.0;
    let sin_double = 2.0 * sin_theta * cos_theta;
    let shifted = cos_double * slice.cos_gamma + sin_double * slice.sin_gamma;
    return sign(theta) * 0.25 * (slice.cos_gamma - shifted + 2.0 * theta * slice.sin_gamma);
}

// Slice through the view direction `v` and a direction of the picture.
fn slice_along(direction: vec2f, v: vec3f, normal: vec3f) -> Slice {
    let along = vec3f(direction, 0.0) - dot(direction, v.xy) * v;
    let axis = normalize(cross(along, v));
    let projected = normal - axis * dot(normal, axis);
    var slice: Slice;
    slice.normal_length = length(projected);
    slice.cos_gamma = clamp(dot(projected, v) / max(slice.normal_length, 1e-4), 0.0, 1.0);
    let side = sign(dot(along, projected));
    slice.gamma = side * acos(slice.cos_gamma);
    slice.sin_gamma = side * sqrt(1.0 - slice.cos_gamma * slice.cos_gamma);
    // At gamma - pi/2 and gamma + pi/2.
    slice.low = arc_integral(slice, slice.gamma - 0.5 * PI, -slice.cos_gamma, slice.sin_gamma);
    slice.total = slice.cos_gamma + slice.gamma * slice.sin_gamma;
    return slice;
}

// Share of the light below an angle; `side` is its sign.
fn share_below(slice: Slice, cosine: f32, side: f32) -> f32 {
    let theta = side * acos(cosine);
    if theta <= slice.gamma - 0.5 * PI {
        return 0.0;
    }
    if theta >= slice.gamma + 0.5 * PI {
        return 1.0;
    }
    let sine = side * sqrt(1.0 - cosine * cosine);
    return saturate((arc_integral(slice, theta, sine, cosine) - slice.low) / slice.total);
}

// Sectors of a slice that an occluder from one share of the light to another covers.
fn sectors_between(shares: vec2f) -> u32 {
    let ends = vec2u(round(shares * 32.0));
    return insertBits(0u, 0xffffffffu, ends.x, ends.y - ends.x);
}

// Pixel whose visibility is computed.
struct Receiver {
    pixel: vec2f,
    position: vec3f,
    normal: vec3f,
    v: vec3f,
}

// Sectors that the surface at an offset in pixels hides; `side` is the side of the slice.
fn occluded_sectors(receiver: Receiver, offset: vec2f, side: f32) -> u32 {
    let at = floor(receiver.pixel + offset);
    if any(at < vec2f(0.0)) || any(at >= view.viewport.zw) {
        return 0u;
    }
    // Coarser levels for farther samples, by which neighbouring invocations share texels (Intel's XeGTAO, 2021).
    let last = f32(textureNumLevels(distances) - 1u);
    let level = u32(clamp(log2(length(offset)) - 3.3, 0.0, last));
    let texel = min(vec2u(at) >> vec2u(level), textureDimensions(distances, level) - 1u);
    let distance = textureLoad(distances, texel, level).x;
    let middle = (vec2f(texel) + 0.5) * f32(1u << level);
    let step = middle - receiver.pixel;
    if distance >= SSAO_FAR || dot(step, step) < 0.5 {
        return 0u;
    }
    // The slice through the middle of the texel, lest inclined surfaces hide themselves.
    let slice = slice_along(normalize(vec2f(step.x, -step.y)) * side, receiver.v, receiver.normal);
    let front = view_position(middle, distance) - receiver.position;
    let back = front - receiver.v * settings.thickness;
    let cosines = vec2f(dot(normalize(front), receiver.v), dot(normalize(back), receiver.v));
    let front_share = share_below(slice, clamp(cosines.x, -1.0, 1.0), side);
    let back_share = share_below(slice, clamp(cosines.y, -1.0, 1.0), side);
    return sectors_between(vec2f(min(front_share, back_share), max(front_share, back_share)));
}

// Visibility of the sky of one slice, and its weight; `radius` in pixels.
fn slice_visibility(receiver: Receiver, number: u32, radius: f32, random: vec2f) -> vec2f {
    let phi = PI / f32(settings.slice_count) * (f32(number) + random.x);
    let direction = vec2f(cos(phi), sin(phi));
    // Samples are one pixel away at least, and denser near the pixel.
    let least = 1.0 / radius;
    var bits = 0u;
    let count = settings.samples_per_slice_side;
    for (var sample = 0u; sample < count; sample++) {
        // Golden ratio steps from sample to sample and from slice to slice.
        let shift = fract(random.y + f32(number + sample * count) * 0.6180339887);
        let part = (f32(sample) + shift) / f32(count);
        let offset = vec2f(direction.x, -direction.y) * radius * (least + (1.0 - least) * part * part);
        bits |= occluded_sectors(receiver, offset, 1.0);
        bits |= occluded_sectors(receiver, -offset, -1.0);
    }
    let slice = slice_along(direction, receiver.v, receiver.normal);
    let weight = slice.normal_length * slice.total;
    return vec2f(1.0 - f32(countOneBits(bits)) / 32.0, 1.0) * weight;
}

// Visibility of the sky of a pixel.
fn visibility_at(pixel: vec2u, distance: f32, world_normal: vec3f) -> f32 {
    var receiver: Receiver;
    receiver.pixel = vec2f(pixel) + 0.5;
    receiver.position = view_position(receiver.pixel, distance);
    receiver.normal = normalize((view.view_from_world * vec4f(world_normal, 0.0)).xyz);
    receiver.v = vec3f(0.0, 0.0, 1.0);
    var radius = 0.5 * view.viewport.w * view.clip_from_view[1].y * settings.radius;
    if !is_orthographic() {
        receiver.v = normalize(-receiver.position);
        radius /= distance;
    }
    // Occluders of far surfaces are smaller than pixels.
    if radius <= 1.0 {
        return 1.0;
    }
    let random = noise(pixel);
    var sum = vec2f(0.0);
    for (var number = 0u; number < settings.slice_count; number++) {
        sum += slice_visibility(receiver, number, radius, random);
    }
    // Complete darkness is an artifact of the picture's missing back sides.
    let visibility = clamp(sum.x / max(sum.y, 1e-6), 0.03, 1.0);
    return mix(1.0, visibility, saturate(radius - 1.0));
}

// Writes the visibility of each pixel, and the inverse distance for the denoiser, as two halves of a word.
@compute @workgroup_size(8, 8)
fn occlusion(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(noisy)) {
        return;
    }
    let distance = textureLoad(distances, at.xy, 0).x;
    let texel = textureLoad(normals, at.xy, 0);
    var visibility = 1.0;
    if distance < SSAO_FAR && texel.a > 0.0 {
        visibility = visibility_at(at.xy, distance, texel.xyz * 2.0 - 1.0);
    }
    // Inverse distances are linear in the picture on planes; distances themselves in orthographic views.
    let inverse = select(1.0 / max(distance, 1e-4), distance, is_orthographic());
    textureStore(noisy, at.xy, vec4u(pack2x16float(vec2f(visibility, min(inverse, 60000.0)))));
}

// Packed texels of a workgroup's pixels and two around them, with 12 a side.
var<workgroup> packed_tile: array<u32, 144>;

// Loads the tile of a workgroup, whose first pixel is `first`. Beyond the picture its edge repeats.
fn load_packed_tile(first: vec2i, index: u32) {
    let last = vec2i(textureDimensions(packed_visibility)) - 1;
    for (var number = index; number < 144u; number += 64u) {
        let at = first - 2 + vec2i(i32(number % 12u), i32(number / 12u));
        packed_tile[number] = textureLoad(packed_visibility, clamp(at, vec2i(0), last), 0).x;
    }
}

// Visibility and inverse distance at a place in the tile.
fn unpacked(place: vec2i) -> vec2f {
    return unpack2x16float(packed_tile[place.x + place.y * 12]);
}

// The flatter of two one-sided differences: a slope that crosses no edge.
fn slope(before: f32, middle: f32, after: f32) -> f32 {
    let differences = vec2f(middle - before, after - middle);
    return select(differences.y, differences.x, abs(differences.x) < abs(differences.y));
}

// Averages the noise pattern: a mean of 5 x 5 pixels whose outer rows count half, so that each of its 16 values has the
// same weight. Pixels off the plane of the middle one do not count.
@compute @workgroup_size(8, 8)
fn denoise(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    load_packed_tile(vec2i(group.xy * 8u), index);
    workgroupBarrier();
    let pixel = vec2i(group.xy * 8u + local.xy);
    let size = vec2i(textureDimensions(packed_visibility));
    if any(pixel >= size) {
        return;
    }
    let place = vec2i(local.xy) + 2;
    let middle = unpacked(place);
    let slopes = vec2f(
        slope(unpacked(place - vec2i(1, 0)).y, middle.y, unpacked(place + vec2i(1, 0)).y),
        slope(unpacked(place - vec2i(0, 1)).y, middle.y, unpacked(place + vec2i(0, 1)).y),
    );
    // A hundredth of the distance, and half a pixel's slope for rounding.
    let tolerance = 0.01 * abs(middle.y) + 0.5 * (abs(slopes.x) + abs(slopes.y));
    var sum = vec2f(0.0);
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let offset = vec2i(x, y);
            if any(pixel + offset < vec2i(0)) || any(pixel + offset >= size) {
                continue;
            }
            let tap = unpacked(place + offset);
            let off = abs(tap.y - middle.y - dot(slopes, vec2f(offset)));
            var weight = saturate(2.0 - off / max(tolerance, 1e-12));
            weight *= select(1.0, 0.5, abs(x) == 2) * select(1.0, 0.5, abs(y) == 2);
            sum += vec2f(tap.x, 1.0) * weight;
        }
    }
    textureStore(visibility, vec2u(pixel), vec4f(sum.x / sum.y));
}
