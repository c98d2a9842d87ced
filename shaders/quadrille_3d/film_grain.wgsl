// Film grain: normally distributed noise on the square root of display-referred color.

import quadrille_3d::hash::pcg3d;

struct Grain {
    // Standard deviation of the square root of a color.
    intensity: f32,
    // Diameter of a grain in pixels.
    size: f32,
    // Share that bright and dark tones lose.
    response: f32,
    seed: u32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<uniform> grain: Grain;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Noise of a cell with mean 0 and standard deviation 1: the sum of six uniform numbers of 16 bits, whose variance is 6 / 12
// (Irwin-Hall distribution).
fn cell_noise(cell: vec2i) -> f32 {
    let bits = pcg3d(vec3u(bitcast<vec2u>(cell), grain.seed));
    let numbers = vec3f(bits & vec3u(0xffffu)) + vec3f(bits >> vec3u(16u));
    return ((numbers.x + numbers.y + numbers.z) / 65535.0 - 3.0) * sqrt(2.0);
}

// Interpolated between cells, with the standard deviation of one.
fn noise(position: vec2f) -> f32 {
    let at = position / grain.size - 0.5;
    let cell = vec2i(floor(at));
    let t = fract(at);
    let weights = vec4f((1.0 - t.x) * (1.0 - t.y), t.x * (1.0 - t.y), (1.0 - t.x) * t.y, t.x * t.y);
    let values = vec4f(
        cell_noise(cell),
        cell_noise(cell + vec2i(1, 0)),
        cell_noise(cell + vec2i(0, 1)),
        cell_noise(cell + vec2i(1, 1)),
    );
    return dot(weights, values) / length(weights);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let color = textureLoad(picture, vec2i(position.xy), 0);
    let root = sqrt(max(color.rgb, vec3f(0.0)));
    let luminance = clamp(dot(color.rgb, vec3f(0.2126, 0.7152, 0.0722)), 0.0, 1.0);
    let tone = sqrt(luminance);
    let strength = grain.intensity * mix(1.0, 4.0 * tone * (1.0 - tone), grain.response);
    let grained = max(root + strength * noise(position.xy), vec3f(0.0));
    return vec4f(grained * grained, color.a);
}
