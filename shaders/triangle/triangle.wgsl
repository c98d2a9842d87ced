// A triangle from nothing but its vertices' indices.

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    // Clip space: x to the right, y up. Counter-clockwise from the top.
    var positions = array(vec2(0.0, 0.7), vec2(-0.7, -0.6), vec2(0.7, -0.6));
    var colors = array(vec3(1.0, 0.35, 0.05), vec3(0.05, 0.75, 0.35), vec3(0.10, 0.30, 1.0));
    return Corner(vec4(positions[index], 0.0, 1.0), colors[index]);
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.color, 1.0);
}
