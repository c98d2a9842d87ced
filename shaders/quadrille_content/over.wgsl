// Puts a picture that is multiplied with its alpha over a camera's target.

struct Push {
    // Where the picture begins in the target, in pixels.
    corner: vec2f,
}

@group(0) @binding(0) var picture: texture_2d<f32>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return textureLoad(picture, vec2u(position.xy - push.corner), 0);
}
