// Transforms of instances, by bevy's names: `bevy_pbr::render::mesh_functions`.
//
// `instance_index` is `@builtin(instance_index)` of the vertex, the index in the list of visible instances.

import package::render::view_transformations::position_world_to_clip;
import quadrille_3d::mesh_types::Instance;
import quadrille_3d::motion_vectors::previous_world_from_local;
import quadrille_3d::scene::{instances, visible_instances};
@if(!QUADRILLE_SHADOW_PASS) import quadrille_3d::scene::camera;
@if(!QUADRILLE_SHADOW_PASS) import quadrille_3d::visibility_range::visibility_range_dither_level;

// By instance; instances beyond the end have tag 0.
@group(0) @binding(27) var<storage, read> mesh_tags: array<u32>;

// Value of `MeshTag`.
fn get_tag(instance_index: u32) -> u32 {
    let instance = visible_instances[instance_index];
    return select(0u, mesh_tags[instance], instance < arrayLength(&mesh_tags));
}

// Dither level of a `VisibilityRange`; none in shadow maps.
fn get_visibility_range_dither_level(instance_index: u32, world_position: vec4f) -> i32 {
    @if(QUADRILLE_SHADOW_PASS) return 0;
    @else return visibility_range_dither_level(instance_of(instance_index), camera.position);
}

fn instance_of(instance_index: u32) -> Instance {
    return instances[visible_instances[instance_index]];
}

fn get_world_from_local(instance_index: u32) -> mat4x4f {
    let rows = instance_of(instance_index).world_from_local;
    return transpose(mat4x4f(rows[0], rows[1], rows[2], vec4f(0.0, 0.0, 0.0, 1.0)));
}

// In prepasses with motion vectors; else there is no previous frame.
fn get_previous_world_from_local(instance_index: u32) -> mat4x4f {
    let instance = visible_instances[instance_index];
    let rows = previous_world_from_local(instance, instances[instance]);
    return transpose(mat4x4f(rows[0], rows[1], rows[2], vec4f(0.0, 0.0, 0.0, 1.0)));
}

// By rows, as the shaders of standard materials and prepasses: equal expressions give equal depths.
fn mesh_position_local_to_world(world_from_local: mat4x4f, vertex_position: vec4f) -> vec4f {
    let rows = transpose(world_from_local);
    return vec4f(
        dot(rows[0], vertex_position),
        dot(rows[1], vertex_position),
        dot(rows[2], vertex_position),
        dot(rows[3], vertex_position),
    );
}

fn mesh_position_local_to_clip(world_from_local: mat4x4f, vertex_position: vec4f) -> vec4f {
    return position_world_to_clip(mesh_position_local_to_world(world_from_local, vertex_position).xyz);
}

// Normal in the world; a zero vector stays one. The cofactors are the inverse transpose up to the determinant, whose
// sign counts.
fn mesh_normal_local_to_world(vertex_normal: vec3f, instance_index: u32) -> vec3f {
    let rows = instance_of(instance_index).world_from_local;
    let cofactor_x = cross(rows[1].xyz, rows[2].xyz);
    let cofactor_y = cross(rows[2].xyz, rows[0].xyz);
    let cofactor_z = cross(rows[0].xyz, rows[1].xyz);
    let turned = vec3f(dot(cofactor_x, vertex_normal), dot(cofactor_y, vertex_normal), dot(cofactor_z, vertex_normal));
    let side = sign(dot(rows[0].xyz, cofactor_x));
    return turned * side * inverseSqrt(max(dot(turned, turned), 1e-38));
}

fn mesh_tangent_local_to_world(world_from_local: mat4x4f, vertex_tangent: vec4f, instance_index: u32) -> vec4f {
    let turned = (world_from_local * vec4f(vertex_tangent.xyz, 0.0)).xyz;
    let rows = instance_of(instance_index).world_from_local;
    let side = sign(dot(rows[0].xyz, cross(rows[1].xyz, rows[2].xyz)));
    return vec4f(turned * inverseSqrt(max(dot(turned, turned), 1e-38)), vertex_tangent.w * side);
}
