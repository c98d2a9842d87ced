// Draws the boxes of nodes in one color or with an image.

import quadrille_2d::boxes::{RoundedBox, Vertex, quad_corner, coverage, node_scale, world_position};
import quadrille_2d::vertex::to_clip;

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    // In the node.
    @location(1) point: vec2f,
    @location(2) @interpolate(flat) half_size: vec2f,
    @location(3) @interpolate(flat) radii_x: vec4f,
    @location(4) @interpolate(flat) radii_y: vec4f,
    @location(5) @interpolate(flat) widths: vec4f,
    @location(6) @interpolate(flat) tint: vec4f,
    @location(7) @interpolate(flat) flags_and_sigma: vec2f,
    @location(8) @interpolate(flat) scale: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let corner = quad_corner(vertex);
    var fragment: VertexOutput;
    fragment.position = to_clip(world_position(vertex, corner.xy));
    fragment.uv = corner.zw;
    fragment.point = corner.xy;
    fragment.half_size = vertex.origin_and_half_size.zw;
    fragment.radii_x = vertex.radii_x;
    fragment.radii_y = vertex.radii_y;
    fragment.widths = vertex.widths;
    fragment.tint = vertex.tint * vertex.color;
    fragment.flags_and_sigma = vertex.flags_and_sigma;
    fragment.scale = node_scale(vertex);
    return fragment;
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    var color = textureSample(image, image_sampler, fragment.uv) * fragment.tint;
    let rounded_box = RoundedBox(
        fragment.half_size,
        fragment.radii_x,
        fragment.radii_y,
        fragment.widths,
        u32(fragment.flags_and_sigma.x),
        fragment.flags_and_sigma.y,
        fragment.scale,
    );
    color.a *= coverage(rounded_box, fragment.point);
    return color;
}
