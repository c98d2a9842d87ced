// Inputs of fragments of nodes, by bevy's names: `bevy_ui_render::ui_vertex_output`. Lengths are in pixels.

struct UiVertexOutput {
    // 0 at the left top of the node, 1 at the right bottom.
    @location(0) uv: vec2f,
    // Left, top, right, bottom.
    @location(1) border_widths: vec4f,
    // Radii along x and along y: left top, right top, right bottom, left bottom.
    @location(2) border_radius_x: vec4f,
    @location(3) border_radius_y: vec4f,
    // Size of the node.
    @location(4) @interpolate(flat) size: vec2f,
    // Pixel of the target and depth.
    @builtin(position) position: vec4f,
}
