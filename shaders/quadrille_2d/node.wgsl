// Draws the boxes of nodes in one colour or with an image.

import quadrille_2d::boxes::{Shape, Vertex, corner_of, coverage, scale_of, world_of};

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
}

var<immediate> view: View;

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    // In the node.
    @location(1) at: vec2f,
    @location(2) @interpolate(flat) half: vec2f,
    @location(3) @interpolate(flat) radii_x: vec4f,
    @location(4) @interpolate(flat) radii_y: vec4f,
    @location(5) @interpolate(flat) widths: vec4f,
    @location(6) @interpolate(flat) tint: vec4f,
    @location(7) @interpolate(flat) flags_and_softness: vec2f,
    @location(8) @interpolate(flat) scale: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> Fragment {
    let corner = corner_of(vertex);
    var fragment: Fragment;
    fragment.position = view.clip_from_world * world_of(vertex, corner.xy);
    fragment.uv = corner.zw;
    fragment.at = corner.xy;
    fragment.half = vertex.origin_and_half.zw;
    fragment.radii_x = vertex.radii_x;
    fragment.radii_y = vertex.radii_y;
    fragment.widths = vertex.widths;
    fragment.tint = vertex.tint * vertex.color;
    fragment.flags_and_softness = vertex.flags_and_softness;
    fragment.scale = scale_of(vertex);
    return fragment;
}

@fragment
fn fragment_main(fragment: Fragment) -> @location(0) vec4f {
    var color = textureSample(image, image_sampler, fragment.uv) * fragment.tint;
    let shape = Shape(
        fragment.half,
        fragment.radii_x,
        fragment.radii_y,
        fragment.widths,
        u32(fragment.flags_and_softness.x),
        fragment.flags_and_softness.y,
        fragment.scale,
    );
    color.a *= coverage(shape, fragment.at);
    return color;
}
