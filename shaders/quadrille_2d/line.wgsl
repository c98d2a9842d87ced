// Draws the lines of gizmos over all else that a camera sees.

import quadrille_content::lines::{VertexOutput, Line, line_color, line_vertex};

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
    // Size of the viewport, in pixels.
    size: vec2f,
}

var<immediate> view: View;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    // White; lines have colors of their own.
    @location(2) color: vec4f,
}

@vertex
fn vertex_main(vertex: Vertex, line: Line) -> VertexOutput {
    return line_vertex(
        line,
        vertex.uv,
        view.clip_from_world * vec4f(line.positions_0, 1.0),
        view.clip_from_world * vec4f(line.positions_1, 1.0),
        view.clip_from_world * vec4f(line.positions_2, 1.0),
        vec2f(line.width),
        view.size,
    );
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    return line_color(fragment);
}
