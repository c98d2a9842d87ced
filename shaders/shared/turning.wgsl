// A triangle that turns.

// In radians.
var<immediate> angle: f32;

struct VertexOutput {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> VertexOutput {
    let turn = angle + f32(index) * radians(120.0);
    var colors = array(vec3(1.0, 0.35, 0.05), vec3(0.05, 0.75, 0.35), vec3(0.10, 0.30, 1.0));
    // The image is 16 by 9.
    let position = vec2(sin(turn) * 9.0 / 16.0, cos(turn)) * 0.8;
    return VertexOutput(vec4(position, 0.0, 1.0), colors[index]);
}

@fragment
fn fragment_main(in: VertexOutput) -> @location(0) vec4<f32> {
    return vec4(in.color, 1.0);
}
