// Radiance becomes colours of a screen: see `tonemap_3d`.
//
// Output is linear. Over what is there, it is multiplied with alpha. Where a clear colour is the background,
// it is what bevy's main texture holds: the scene, multiplied with its alpha, over a colour that is not.

import quadrille_3d::grading::{DITHERS, Grading, dithered, graded, saturated};
import quadrille_3d::tonemapping::{NONE, tone_mapped};

struct Push {
    // Clear colour behind the scene; all 0 to draw over what is there.
    background: vec4f,
    // Where the view begins in its target, in pixels.
    corner: vec2f,
    // The background is mapped as the scene is.
    maps_background: u32,
    // The background is blended over what is there.
    multiplies: u32,
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
    let shown = over_background(seen, pixel);
    if push.multiplies != 0u {
        return vec4f(shown.rgb * shown.a, shown.a);
    }
    return shown;
}

fn over_background(seen: vec4f, pixel: vec2f) -> vec4f {
    let behind = push.background * (1.0 - seen.a);
    // Methods may make something of black, and dither does.
    let is_empty = all(seen == vec4f(0.0));
    if push.maps_background != 0u {
        if is_empty && all(behind == vec4f(0.0)) {
            return vec4f(0.0);
        }
        return vec4f(mapped(seen.rgb + behind.rgb, pixel), seen.a + behind.a);
    }
    if is_empty {
        return behind;
    }
    // Where little covers, as at edges, it has the colour that it would have if it covered all.
    let covers = select(1.0, seen.a, seen.a > 1.0 / 256.0);
    let color = mapped(seen.rgb / covers, pixel) * covers;
    return vec4f(color, seen.a) + behind;
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
