// Puts a picture over a camera's target.

struct PushConstants {
    // Where the picture begins in the target, in pixels.
    origin: vec2f,
}

@group(0) @binding(0) var source: texture_2d<f32>;

var<immediate> constants: PushConstants;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return textureLoad(source, vec2u(position.xy - constants.origin), 0);
}
