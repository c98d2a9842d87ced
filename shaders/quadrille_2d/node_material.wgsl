// Vertex shader of nodes whose materials have a shader of their own: see `UiMaterial`.

import quadrille_2d::boxes::{Vertex, quad_corner, world_position};
import quadrille_2d::vertex::to_clip;

// `UiVertexOutput` of bevy/ui_vertex_output.wgsl, and the row of the material.
struct MaterialVertexOutput {
    @location(0) uv: vec2f,
    @location(1) border_widths: vec4f,
    @location(2) border_radius_x: vec4f,
    @location(3) border_radius_y: vec4f,
    @location(4) @interpolate(flat) size: vec2f,
    @location(15) @interpolate(flat) material: u32,
    @builtin(position) position: vec4f,
}

@vertex
fn vertex_main(vertex: Vertex) -> MaterialVertexOutput {
    let corner = quad_corner(vertex);
    var fragment: MaterialVertexOutput;
    fragment.position = to_clip(world_position(vertex, corner.xy));
    fragment.uv = corner.zw;
    fragment.border_widths = vertex.widths;
    fragment.border_radius_x = vertex.radii_x;
    fragment.border_radius_y = vertex.radii_y;
    fragment.size = 2.0 * vertex.origin_and_half_size.zw;
    fragment.material = u32(vertex.flags_and_sigma.x);
    return fragment;
}

// Draws what has a shader that cannot be used.
@fragment
fn fragment_main() -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 1.0, 1.0);
}
