// Vertex shader of materials without one of their own, and of prepasses and shadow casters with a fragment shader alone:
// see `Material`.

@if(PREPASS_PIPELINE) import bevy_pbr::prepass::io::{Vertex, VertexOutput};
@if(!PREPASS_PIPELINE) import bevy_pbr::render::forward_io::{Vertex, VertexOutput};
import bevy_pbr::render::mesh_functions::{get_visibility_range_dither_level, instance_of};
import bevy_pbr::render::view_transformations::position_world_to_clip;
import quadrille_3d::mesh_types::{to_world, to_world_normal, to_world_tangent};
@if(MOTION_VECTOR_PREPASS) import quadrille_3d::motion_vectors::previous_world_position;
@if(MOTION_VECTOR_PREPASS) import quadrille_3d::scene::visible_instances;

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    let instance = instance_of(vertex.instance_index);
    let world_position = to_world(instance, vertex.position);
    let world_normal = to_world_normal(instance, vertex.normal);
    var vertex_output: VertexOutput;
    vertex_output.position = position_world_to_clip(world_position);
    vertex_output.world_position = vec4f(world_position, 1.0);
    @if(MOTION_VECTOR_PREPASS) {
        let index = visible_instances[vertex.instance_index];
        vertex_output.previous_world_position =
            previous_world_position(index, instance, vertex.vertex_index, vertex.position);
    }
    vertex_output.world_normal = world_normal.xyz;
    vertex_output.uv = vertex.uv;
    vertex_output.uv_b = vertex.uv_b;
    vertex_output.world_tangent = to_world_tangent(instance, vertex.tangent, world_normal.w);
    vertex_output.color = vertex.color;
    vertex_output.instance_index = vertex.instance_index;
    vertex_output.visibility_range_dither = get_visibility_range_dither_level(vertex.instance_index, vec4f(0.0));
    return vertex_output;
}
