// An image that fills the window.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;

struct VertexOutput {
    @builtin(position) position: vec4<f32>,
    // From (0, 0) top left to (1, 1) bottom right.
    @location(0) uv: vec2<f32>,
}

// A triangle that covers the window.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> VertexOutput {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    let position = vec4<f32>(corner * 4.0 - 1.0, 0.0, 1.0);
    return VertexOutput(position, vec2<f32>(corner.x * 2.0, 1.0 - corner.y * 2.0));
}

@fragment
fn fragment_main(in: VertexOutput) -> @location(0) vec4<f32> {
    return textureSample(picture, picture_sampler, in.uv);
}
