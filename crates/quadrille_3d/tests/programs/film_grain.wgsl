struct Params {
    grain: f32,
    vignette: f32,
    seed: u32,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var<uniform> params: Params;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// PCG hash (Jarzynski and Olano 2020), between 0 and 1.
fn random(pixel: vec2u) -> f32 {
    let state = (pixel.x + pixel.y * 8191u + params.seed * 719393u) * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return f32(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let color = textureLoad(scene, vec2i(position.xy), 0);
    let from_center = position.xy / vec2f(textureDimensions(scene)) - 0.5;
    let shade = 1.0 - params.vignette * 2.0 * dot(from_center, from_center);
    let grain = 1.0 + params.grain * (random(vec2u(position.xy)) - 0.5);
    return vec4f(color.rgb * shade * grain, color.a);
}
