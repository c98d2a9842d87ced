// Bloom: a mip chain that is downsampled with 13 taps and upsampled with a 3 x 3 tent (Jimenez 2014, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare"). The first downsampling weights groups of taps by luminance (Karis 2013,
// "Tone Mapping") and subtracts the threshold.

struct Bloom {
    // Threshold, lower end of its knee, width of the knee, 1 / (2 * width).
    threshold: vec4f,
    // Factors of the kernel's size.
    scale: vec2f,
}

struct Push {
    // Factor of the blurred image.
    factor: f32,
    // Factor of the picture, or of the level that is blended with the next one.
    picture_factor: f32,
    // Factor of luminance in the weights of the first downsampling.
    luminance_weight: f32,
}

@group(0) @binding(0) var blurred: texture_2d<f32>;
@group(0) @binding(1) var blurred_sampler: sampler;
@group(0) @binding(2) var<uniform> bloom: Bloom;
@group(0) @binding(3) var picture: texture_2d<f32>;
// The level, or the picture, that is written.
@group(0) @binding(4) var level: texture_storage_2d<rgba16float, write>;
// The level that is blended with the next one.
@group(0) @binding(5) var blended: texture_storage_2d<rgba16float, read_write>;

var<immediate> push: Push;

// Largest half float: infinite values would spread over the picture.
const LARGEST_HALF: f32 = 65504.0;
// ITU-R BT.709.
const LUMINANCE: vec3f = vec3f(0.2126, 0.7152, 0.0722);

// Texture coordinates of the middle of a pixel.
fn uv_of(pixel: vec2u, size: vec2u) -> vec2f {
    return (vec2f(pixel) + 0.5) / vec2f(size);
}

// `step`: distance in texture coordinates that the offset is a multiple of.
fn tap(uv: vec2f, offset: vec2f, step: vec2f) -> vec3f {
    let color = textureSampleLevel(blurred, blurred_sampler, uv + offset * step, 0.0).rgb;
    return clamp(color, vec3f(0.0), vec3f(LARGEST_HALF));
}

// Means of 2 x 2 taps: four that overlap, and the middle one.
struct Groups {
    corners: array<vec3f, 4>,
    middle: vec3f,
}

fn groups_of_13_taps(uv: vec2f) -> Groups {
    let step = bloom.scale / vec2f(textureDimensions(blurred));
    let center = tap(uv, vec2f(0.0), step);
    let left = tap(uv, vec2f(-2.0, 0.0), step);
    let right = tap(uv, vec2f(2.0, 0.0), step);
    let top = tap(uv, vec2f(0.0, -2.0), step);
    let bottom = tap(uv, vec2f(0.0, 2.0), step);
    let corners = array<vec3f, 4>(
        tap(uv, vec2f(-2.0, -2.0), step) + left + top,
        tap(uv, vec2f(2.0, -2.0), step) + right + top,
        tap(uv, vec2f(-2.0, 2.0), step) + left + bottom,
        tap(uv, vec2f(2.0, 2.0), step) + right + bottom,
    );
    let middle = tap(uv, vec2f(-1.0, -1.0), step) + tap(uv, vec2f(1.0, -1.0), step)
        + tap(uv, vec2f(-1.0, 1.0), step) + tap(uv, vec2f(1.0, 1.0), step);
    return Groups(
        array<vec3f, 4>(
            (corners[0] + center) * 0.25,
            (corners[1] + center) * 0.25,
            (corners[2] + center) * 0.25,
            (corners[3] + center) * 0.25,
        ),
        middle * 0.25,
    );
}

fn weighted(color: vec3f) -> vec3f {
    return color / (1.0 + push.luminance_weight * dot(color, LUMINANCE));
}

// Subtracts the threshold; within its knee the curve is quadratic.
fn above_threshold(color: vec3f) -> vec3f {
    let brightness = max(color.r, max(color.g, color.b));
    let knee = clamp(brightness - bloom.threshold.y, 0.0, bloom.threshold.z);
    let above = max(brightness - bloom.threshold.x, knee * knee * bloom.threshold.w);
    return color * (above / max(brightness, 1e-5));
}

@compute @workgroup_size(8, 8)
fn downsample_first(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(level);
    if any(at.xy >= size) {
        return;
    }
    let groups = groups_of_13_taps(uv_of(at.xy, size));
    // As in bevy, the luminance is that of a group's share of the sum.
    var sum = weighted(groups.middle * 0.5);
    for (var i = 0u; i < 4u; i++) {
        sum += weighted(groups.corners[i] * 0.125);
    }
    textureStore(level, at.xy, vec4f(above_threshold(sum), 1.0));
}

@compute @workgroup_size(8, 8)
fn downsample(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(level);
    if any(at.xy >= size) {
        return;
    }
    let groups = groups_of_13_taps(uv_of(at.xy, size));
    let corners = groups.corners[0] + groups.corners[1] + groups.corners[2] + groups.corners[3];
    textureStore(level, at.xy, vec4f(corners * 0.125 + groups.middle * 0.5, 1.0));
}

fn tent(uv: vec2f) -> vec3f {
    let step = bloom.scale / vec2f(textureDimensions(blurred));
    let edges = tap(uv, vec2f(-1.0, 0.0), step) + tap(uv, vec2f(1.0, 0.0), step)
        + tap(uv, vec2f(0.0, -1.0), step) + tap(uv, vec2f(0.0, 1.0), step);
    let corners = tap(uv, vec2f(-1.0, -1.0), step) + tap(uv, vec2f(1.0, -1.0), step)
        + tap(uv, vec2f(-1.0, 1.0), step) + tap(uv, vec2f(1.0, 1.0), step);
    return tap(uv, vec2f(0.0), step) * 0.25 + edges * 0.125 + corners * 0.0625;
}

// Blends a level with the next one.
@compute @workgroup_size(8, 8)
fn upsample(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(blended);
    if any(at.xy >= size) {
        return;
    }
    let color = textureLoad(blended, at.xy).rgb * push.picture_factor + tent(uv_of(at.xy, size)) * push.factor;
    textureStore(blended, at.xy, vec4f(color, 1.0));
}

@compute @workgroup_size(8, 8)
fn composite(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(level);
    if any(at.xy >= size) {
        return;
    }
    let color = textureLoad(picture, at.xy, 0);
    let blurred_color = tent(uv_of(at.xy, size)) * push.factor;
    textureStore(level, at.xy, vec4f(color.rgb * push.picture_factor + blurred_color, color.a));
}
