// Tone mapping of a view, from scene-referred to display-referred color: see `tonemap_3d`.
//
// Output is linear, and premultiplied with alpha if blended over the target. With a clear color as background
// it is what bevy's main texture holds: the scene, multiplied with its alpha, over a color that is not.

import quadrille_3d::display::display_transform;

struct Push {
    // Clear color behind the scene; all 0 to draw over the contents of the target.
    background: vec4f,
    // Corner of the view in its target, in pixels.
    corner: vec2f,
    // The background is tone mapped as well.
    maps_background: u32,
    // The background is blended over the contents of the target.
    premultiplies: u32,
    // Texels of the scene per pixel.
    scale: vec2f,
    unused: vec2u,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
// Auto exposure in stops, of one texel.
@group(0) @binding(1) var exposure: texture_2d<f32>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = at.xy - push.corner;
    var scene_color = textureLoad(scene, vec2i(pixel * push.scale), 0);
    scene_color = vec4f(scene_color.rgb * exp2(textureLoad(exposure, vec2u(0u), 0).r), scene_color.a);
    let output = over_background(scene_color, pixel);
    if push.premultiplies != 0u {
        return vec4f(output.rgb * output.a, output.a);
    }
    return output;
}

fn over_background(scene_color: vec4f, pixel: vec2f) -> vec4f {
    let backdrop = push.background * (1.0 - scene_color.a);
    // Black stays black, whatever methods and dithering make of it.
    let is_empty = all(scene_color == vec4f(0.0));
    if push.maps_background != 0u {
        if is_empty && all(backdrop == vec4f(0.0)) {
            return vec4f(0.0);
        }
        return vec4f(display_transform(scene_color.rgb + backdrop.rgb, pixel), scene_color.a + backdrop.a);
    }
    if is_empty {
        return backdrop;
    }
    // Tone maps unassociated color, so that edges of low coverage keep their color.
    let coverage = select(1.0, scene_color.a, scene_color.a > 1.0 / 256.0);
    let color = display_transform(scene_color.rgb / coverage, pixel) * coverage;
    return vec4f(color, scene_color.a) + backdrop;
}
