// Inputs of fragments of 2D meshes, by bevy's names: `bevy_sprite_render::mesh2d::vertex_output`.

struct VertexOutput {
    // Pixel of the target and depth.
    @builtin(position) position: vec4f,
    @location(0) world_position: vec4f,
    @location(1) world_normal: vec3f,
    @location(2) uv: vec2f,
    @if(VERTEX_TANGENTS)
    @location(3) world_tangent: vec4f,
    // White for meshes without colors.
    @location(4) color: vec4f,
    // Index in the instances of `quadrille_2d::vertex`.
    @location(5) @interpolate(flat) instance_index: u32,
}
