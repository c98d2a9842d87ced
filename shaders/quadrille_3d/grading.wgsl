// Color grading before and after tone mapping.

import quadrille_3d::constants::{HAS_SECTIONAL_GRADING, HAS_WHITE_BALANCE, ROTATES_HUE};

// Rows of `grading_row.rs`; vectors are of shadows, midtones and highlights.
struct Grading {
    balance: mat3x3f,
    saturation: vec3f,
    exposure: f32,
    contrast: vec3f,
    hue: f32,
    exponent: vec3f,
    post_saturation: f32,
    gain: vec3f,
    flags: u32,
    lift: vec3f,
    method: u32,
    midtones: vec2f,
    // Rows are uniforms of 256 bytes.
    unused: vec2f,
    unused_1: array<vec4f, 7>,
}

// Half width of the range in which two sections blend.
const SECTION_BLEND_MARGIN: f32 = 0.1;

fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// Before tone mapping; no channel is below 0.
fn apply_color_grading(color: vec3f, grading: Grading) -> vec3f {
    var changed = max(color, vec3f(0.0));
    if (grading.flags & ROTATES_HUE) != 0u {
        changed = rotate_hue(changed, grading.hue);
    }
    if (grading.flags & HAS_WHITE_BALANCE) != 0u {
        changed = max(grading.balance * changed, vec3f(0.0));
    }
    if (grading.flags & HAS_SECTIONAL_GRADING) != 0u {
        changed = sectional_color_grading(changed, grading);
    }
    return max(changed * grading.exposure, vec3f(0.0));
}

// After tone mapping.
fn apply_post_saturation(color: vec3f, grading: Grading) -> vec3f {
    return mix(vec3f(luminance(color)), color, grading.post_saturation);
}

// Rotates the hue (HSV), with the brightest and darkest channel kept.
fn rotate_hue(color: vec3f, angle: f32) -> vec3f {
    let value = max(color.r, max(color.g, color.b));
    let chroma = value - min(color.r, min(color.g, color.b));
    if chroma <= 0.0 {
        return color;
    }
    // In sixths of a turn.
    var hue = (color.g - color.b) / chroma;
    if value == color.g && value != color.r {
        hue = (color.b - color.r) / chroma + 2.0;
    } else if value != color.r {
        hue = (color.r - color.g) / chroma + 4.0;
    }
    hue += angle * (3.0 / 3.14159265);
    let hue_sector = vec3f(5.0, 3.0, 1.0) + hue;
    let sixths = hue_sector - 6.0 * floor(hue_sector / 6.0);
    return value - chroma * clamp(min(sixths, 4.0 - sixths), vec3f(0.0), vec3f(1.0));
}

// Weights of shadows, midtones and highlights at a level.
fn section_weights(level: f32, midtones: vec2f) -> vec3f {
    let above = saturate((level - midtones) * (0.5 / SECTION_BLEND_MARGIN) + 0.5);
    return vec3f(1.0 - above.x, above.x - above.y, above.y);
}

fn sectional_color_grading(color: vec3f, grading: Grading) -> vec3f {
    var range = grading.midtones;
    range.y = max(range.y, range.x);
    let weights = section_weights((color.r + color.g + color.b) / 3.0, range);
    let luma = luminance(color);
    var changed = luma + dot(weights, grading.saturation) * (color - luma);
    changed = 0.5 + (changed - 0.5) * dot(weights, grading.contrast);
    // The color decision list of the ASC: slope, offset, power.
    changed = changed * dot(weights, grading.gain) + dot(weights, grading.lift);
    return pow(abs(changed), vec3f(dot(weights, grading.exponent))) * sign(changed);
}

// Dithering: noise of half a step of 8 bits to either side, added to gamma-encoded color (the pattern of Alex
// Vlachos, "Advanced VR Rendering", 2015).
fn screen_space_dither(color: vec3f, pixel: vec2f) -> vec3f {
    let noise = fract(dot(vec2f(171.0, 231.0), pixel) / vec3f(103.0, 71.0, 97.0)) - 0.5;
    let encoded = pow(abs(color), vec3f(1.0 / 2.2)) * sign(color) + noise / 255.0;
    return pow(abs(encoded), vec3f(2.2)) * sign(encoded);
}
