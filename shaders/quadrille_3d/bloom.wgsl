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
    // Factor of the picture.
    picture_factor: f32,
    // Factor of luminance in the weights of the first downsampling.
    luminance_weight: f32,
}

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
}

@group(0) @binding(0) var blurred: texture_2d<f32>;
@group(0) @binding(1) var blurred_sampler: sampler;
@group(0) @binding(2) var<uniform> bloom: Bloom;
@group(0) @binding(3) var picture: texture_2d<f32>;

var<immediate> push: Push;

// Largest half float: infinite values would spread over the picture.
const LARGEST_HALF: f32 = 65504.0;
// ITU-R BT.709.
const LUMINANCE: vec3f = vec3f(0.2126, 0.7152, 0.0722);

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> VertexOutput {
    let uv = vec2f(f32(i & 1u) * 2.0, f32(i >> 1u) * 2.0);
    return VertexOutput(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
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

@fragment
fn downsample_first(in: VertexOutput) -> @location(0) vec4f {
    let groups = groups_of_13_taps(in.uv);
    // As in bevy, the luminance is that of a group's share of the sum.
    var sum = weighted(groups.middle * 0.5);
    for (var i = 0u; i < 4u; i++) {
        sum += weighted(groups.corners[i] * 0.125);
    }
    return vec4f(above_threshold(sum), 1.0);
}

@fragment
fn downsample(in: VertexOutput) -> @location(0) vec4f {
    let groups = groups_of_13_taps(in.uv);
    let corners = groups.corners[0] + groups.corners[1] + groups.corners[2] + groups.corners[3];
    return vec4f(corners * 0.125 + groups.middle * 0.5, 1.0);
}

fn tent(uv: vec2f) -> vec3f {
    let step = bloom.scale / vec2f(textureDimensions(blurred));
    let edges = tap(uv, vec2f(-1.0, 0.0), step) + tap(uv, vec2f(1.0, 0.0), step)
        + tap(uv, vec2f(0.0, -1.0), step) + tap(uv, vec2f(0.0, 1.0), step);
    let corners = tap(uv, vec2f(-1.0, -1.0), step) + tap(uv, vec2f(1.0, -1.0), step)
        + tap(uv, vec2f(-1.0, 1.0), step) + tap(uv, vec2f(1.0, 1.0), step);
    return tap(uv, vec2f(0.0), step) * 0.25 + edges * 0.125 + corners * 0.0625;
}

// Blended with the next sharper level by alpha.
@fragment
fn upsample(in: VertexOutput) -> @location(0) vec4f {
    return vec4f(tent(in.uv), push.factor);
}

@fragment
fn composite(in: VertexOutput) -> @location(0) vec4f {
    let color = textureLoad(picture, vec2i(in.position.xy), 0);
    return vec4f(color.rgb * push.picture_factor + tent(in.uv) * push.factor, color.a);
}
