// Vertex shader of meshes and sprites whose materials have a shader of their own: see `Material2d`.

import quadrille_2d::vertex::{Vertex, instances, to_clip, to_world};

// `VertexOutput` of bevy/mesh2d_vertex_output.wgsl, and the row of the material.
struct MaterialVertexOutput {
    @builtin(position) position: vec4f,
    @location(0) world_position: vec4f,
    @location(1) world_normal: vec3f,
    @location(2) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) @interpolate(flat) instance_index: u32,
    @location(15) @interpolate(flat) material: u32,
}

@vertex
fn vertex_main(vertex: Vertex) -> MaterialVertexOutput {
    let instance = instances[vertex.instance];
    let world = to_world(instance.world_from_local, vertex.position);
    // Meshes of 2D have no normals: they face the camera.
    let rows = instance.world_from_local;
    let normal = vec3f(rows[0].z, rows[1].z, rows[2].z);
    let length = length(normal);
    var fragment: MaterialVertexOutput;
    fragment.position = to_clip(world);
    fragment.world_position = vec4f(world, 1.0);
    fragment.world_normal = select(vec3f(0.0, 0.0, 1.0), normal / length, length > 0.0);
    fragment.uv = vertex.uv;
    fragment.color = vertex.color;
    fragment.instance_index = vertex.instance;
    fragment.material = instance.material;
    return fragment;
}

// Draws what has a shader that cannot be used.
@fragment
fn fragment_main() -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 1.0, 1.0);
}
