// Robust contrast adaptive sharpening (RCAS, AMD FidelityFX Super Resolution 1.0): subtracts the four neighbors with the
// largest weight that keeps the result within the range of colors, at most LARGEST_WEIGHT.

@group(0) @binding(0) var picture: texture_2d<f32>;
// Strength, and 1 if noise is sharpened less.
@group(0) @binding(1) var<uniform> settings: vec2f;

const LARGEST_WEIGHT: f32 = 0.1875;
// Brightest color. bevy has 10 in place of 1, so that white does not stop sharpening.
const WHITE: f32 = 10.0;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn load(at: vec2i) -> vec3f {
    let last = vec2i(textureDimensions(picture)) - 1;
    return textureLoad(picture, clamp(at, vec2i(0), last), 0).rgb;
}

fn luma(color: vec3f) -> f32 {
    return dot(color, vec3f(0.25, 0.5, 0.25));
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let at = vec2i(position.xy);
    let color = textureLoad(picture, at, 0);
    let north = load(at + vec2i(0, -1));
    let south = load(at + vec2i(0, 1));
    let west = load(at + vec2i(-1, 0));
    let east = load(at + vec2i(1, 0));
    let darkest = min(min(north, south), min(west, east));
    let brightest = max(max(north, south), max(west, east));
    // Weights at which the result of a channel is 0 and WHITE.
    let to_black = darkest / max(4.0 * brightest, vec3f(1e-6));
    let to_white = (WHITE - brightest) / max(4.0 * (WHITE - darkest), vec3f(1e-6));
    let limits = min(to_black, to_white);
    var weight = clamp(min(limits.r, min(limits.g, limits.b)), 0.0, LARGEST_WEIGHT) * settings.x;
    if settings.y != 0.0 {
        let lumas = vec4f(luma(north), luma(south), luma(west), luma(east));
        let range = max(max(lumas.x, lumas.y), max(lumas.z, lumas.w))
            - min(min(lumas.x, lumas.y), min(lumas.z, lumas.w));
        let noise = abs(dot(lumas, vec4f(0.25)) - luma(color.rgb)) / max(range, 1e-6);
        weight *= 1.0 - 0.5 * min(noise, 1.0);
    }
    let sharpened = (color.rgb - weight * (north + south + west + east)) / (1.0 - 4.0 * weight);
    return vec4f(max(sharpened, vec3f(0.0)), color.a);
}
