// Vertex shader of full screen materials: see `FullscreenMaterial`.

import bevy_core_pipeline::fullscreen_vertex_shader::{FullscreenVertexOutput, fullscreen_vertex};

@vertex
fn vertex_main(@builtin(vertex_index) vertex_index: u32) -> FullscreenVertexOutput {
    return fullscreen_vertex(vertex_index);
}
