// Vertex shader of materials with a fragment shader of their own: see `Material`.

import quadrille_3d::mesh_types::{Vertex, to_world, to_world_normal, to_world_tangent};
import quadrille_3d::scene::{camera, instances, materials, visible_instances};
import quadrille_3d::visibility_range::visibility_range_dither_level;

// `VertexOutput` of forward_io.wgsl, and the instance by which a fragment finds its material.
struct MaterialVertexOutput {
    @builtin(position) position: vec4f,
    @location(0) world_position: vec4f,
    @location(1) world_normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) uv_b: vec2f,
    @location(4) world_tangent: vec4f,
    @location(5) color: vec4f,
    @location(6) @interpolate(flat) instance_index: u32,
    @location(7) @interpolate(flat) visibility_range_dither: i32,
    @location(15) @interpolate(flat) material_instance: u32,
}

@vertex
fn vertex_main(@builtin(instance_index) index: u32, vertex: Vertex) -> MaterialVertexOutput {
    let instance_index = visible_instances[index];
    let instance = instances[instance_index];
    let world_position = to_world(instance, vertex.position);
    let world_normal = to_world_normal(instance, vertex.normal);
    var vertex_output: MaterialVertexOutput;
    vertex_output.position = camera.clip_from_world * vec4f(world_position, 1.0);
    // A step of depth is at most 2^-23 of it.
    vertex_output.position.z *= 1.0 + materials[instance.material].depth_bias / 8388608.0;
    vertex_output.world_position = vec4f(world_position, 1.0);
    vertex_output.world_normal = world_normal.xyz;
    vertex_output.uv = vertex.uvs.xy;
    vertex_output.uv_b = vertex.uvs.zw;
    vertex_output.world_tangent = to_world_tangent(instance, vertex.tangent, world_normal.w);
    vertex_output.color = vertex.color;
    // As bevy's functions of an instance take it: mesh_functions.wgsl.
    vertex_output.instance_index = index;
    vertex_output.visibility_range_dither = visibility_range_dither_level(instance, camera.position);
    vertex_output.material_instance = instance_index;
    return vertex_output;
}
