// Inputs and outputs of the shaders of materials, with the names of bevy's module `forward_io`.

// Inputs of a vertex. Attributes that a mesh lacks are white, zeros, or `NO_UV`; skins and morph targets are applied.
struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) uv_b: vec2f,
    // With the sign of the bitangent.
    @location(4) tangent: vec4f,
    @location(5) color: vec4f,
}

// Outputs of a vertex, and inputs of a fragment.
struct VertexOutput {
    // Pixel of the view and depth.
    @invariant @builtin(position) position: vec4f,
    @location(0) world_position: vec4f,
    @location(1) world_normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) uv_b: vec2f,
    // With the sign of the bitangent.
    @location(4) world_tangent: vec4f,
    @location(5) color: vec4f,
    @location(6) @interpolate(flat) instance_index: u32,
    @location(7) @interpolate(flat) visibility_range_dither: i32,
}

struct FragmentOutput {
    @location(0) color: vec4f,
}

// Vertices are not compressed.
alias UncompressedVertex = Vertex;

fn decompress_vertex(vertex_in: Vertex, instance_index: u32) -> UncompressedVertex {
    return vertex_in;
}
