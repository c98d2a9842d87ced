// Draws instances of meshes: sprites are instances of a quad, glyphs as well.

import quadrille_2d::vertex::{Vertex, apply_alpha_mode, image_uv, instances, to_clip, to_world};

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    @location(1) color: vec4f,
    @location(2) @interpolate(flat) alpha_mode: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let instance = instances[vertex.instance];
    let clip = to_clip(to_world(instance.world_from_local, vertex.position));
    let uv = image_uv(instance, vertex.uv);
    return VertexOutput(clip, uv, vertex.color * instance.tint, instance.alpha_mode);
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    let color = textureSample(image, image_sampler, fragment.uv) * fragment.color;
    return apply_alpha_mode(color, fragment.alpha_mode);
}
