// Display transform of a view: color grading, tone mapping and dithering.

import quadrille_3d::constants::{HAS_DITHER, TONEMAPPING_NONE};
import quadrille_3d::grading::{Grading, screen_space_dither, apply_color_grading, apply_post_saturation};
import quadrille_3d::scene::clamped_sampler;
import quadrille_3d::tonemapping::tone_mapping;

@group(0) @binding(21) var<uniform> grading: Grading;
@group(0) @binding(22) var tonemapping_lut: texture_3d<f32>;

// Maps a scene-referred color to a display-referred one at a pixel of the view. Both are linear.
fn display_transform(color: vec3f, pixel: vec2f) -> vec3f {
    let output = graded_tone_mapping(color);
    if grading.method == TONEMAPPING_NONE || (grading.flags & HAS_DITHER) == 0u {
        return output;
    }
    return screen_space_dither(output, pixel);
}

// Color grading and tone mapping without dithering.
fn graded_tone_mapping(color: vec3f) -> vec3f {
    if grading.method == TONEMAPPING_NONE {
        return color;
    }
    let graded = apply_color_grading(color, grading);
    let output = tone_mapping(graded, grading.method, tonemapping_lut, clamped_sampler);
    return apply_post_saturation(output, grading);
}
