// Radiance becomes colours of a screen: see `tonemap_3d`.
//
// What leaves this shader is linear, multiplied with alpha.

import quadrille_3d::grading::{DITHERS, Grading, dithered, graded, saturated};
import quadrille_3d::tonemapping::{NONE, tone_mapped};

struct Push {
    // Behind the scene; with alpha 0 what is there already.
    background: vec4f,
    // Where the view begins in its target, in pixels.
    corner: vec2f,
    // The background is mapped as the scene is.
    maps_background: u32,
    unused: u32,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var<uniform> grading: Grading;
@group(0) @binding(2) var tone_table: texture_3d<f32>;
@group(0) @binding(3) var table_sampler: sampler;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = at.xy - push.corner;
    let seen = textureLoad(scene, vec2i(pixel), 0);
    let behind = push.background * (1.0 - seen.a);
    if push.maps_background != 0u {
        return vec4f(mapped(seen.rgb + behind.rgb * push.background.a, pixel), seen.a + behind.a);
    }
    // Methods may make something of black, and dither does.
    if all(seen == vec4f(0.0)) {
        return vec4f(behind.rgb * push.background.a, behind.a);
    }
    // Where little covers, as at edges, it has the colour that it would have if it covered all.
    let covers = select(1.0, seen.a, seen.a > 1.0 / 256.0);
    let color = mapped(seen.rgb / covers, pixel) * covers;
    return vec4f(color + behind.rgb * push.background.a, seen.a + behind.a);
}

fn mapped(color: vec3f, pixel: vec2f) -> vec3f {
    if grading.method == NONE {
        return color;
    }
    let shown = tone_mapped(graded(color, grading), grading.method, tone_table, table_sampler);
    let vivid = saturated(shown, grading);
    if (grading.flags & DITHERS) == 0u {
        return vivid;
    }
    return dithered(vivid, pixel);
}
