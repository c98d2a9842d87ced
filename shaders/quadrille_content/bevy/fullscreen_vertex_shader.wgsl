// A triangle that covers the target, by bevy's names: `bevy_core_pipeline::fullscreen_vertex_shader`.

struct FullscreenVertexOutput {
    @builtin(position) position: vec4f,
    // 0 at the left top, 1 at the right bottom.
    @location(0) uv: vec2f,
}

// Vertices of one triangle: 0 to 2.
fn fullscreen_vertex(vertex_index: u32) -> FullscreenVertexOutput {
    let uv = vec2f(f32(vertex_index >> 1u), f32(vertex_index & 1u)) * 2.0;
    return FullscreenVertexOutput(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

@vertex
fn fullscreen_vertex_shader(@builtin(vertex_index) vertex_index: u32) -> FullscreenVertexOutput {
    return fullscreen_vertex(vertex_index);
}
