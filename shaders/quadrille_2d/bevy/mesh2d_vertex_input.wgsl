// Inputs of vertices of 2D meshes and sprites, by bevy's names: `bevy_sprite_render::mesh2d::vertex_input`.

struct Vertex {
    // Index in the instances of `quadrille_2d::vertex`.
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3f,
    @location(2) uv: vec2f,
    // White for meshes without colors.
    @location(4) color: vec4f,
}

// Vertices are not compressed.
alias UncompressedVertex = Vertex;

fn decompress_vertex(vertex_in: Vertex, instance_index: u32) -> UncompressedVertex {
    return vertex_in;
}
