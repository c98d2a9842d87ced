// Transforms of 2D meshes, by bevy's names: `bevy_sprite_render::mesh2d::functions`.

import quadrille_2d::vertex::{instances, to_clip};

fn get_world_from_local(instance_index: u32) -> mat4x4f {
    let rows = instances[instance_index].world_from_local;
    return transpose(mat4x4f(rows[0], rows[1], rows[2], vec4f(0.0, 0.0, 0.0, 1.0)));
}

fn mesh2d_position_local_to_world(world_from_local: mat4x4f, vertex_position: vec4f) -> vec4f {
    return world_from_local * vertex_position;
}

fn mesh2d_position_world_to_clip(world_position: vec4f) -> vec4f {
    return to_clip(world_position.xyz);
}

fn mesh2d_position_local_to_clip(world_from_local: mat4x4f, vertex_position: vec4f) -> vec4f {
    return mesh2d_position_world_to_clip(mesh2d_position_local_to_world(world_from_local, vertex_position));
}

// Normal in the world; a zero vector stays one.
fn mesh2d_normal_local_to_world(vertex_normal: vec3f, instance_index: u32) -> vec3f {
    let rows = instances[instance_index].world_from_local;
    // The cofactors are the inverse transpose up to the determinant, whose sign counts.
    let cofactor_x = cross(rows[1].xyz, rows[2].xyz);
    let cofactor_y = cross(rows[2].xyz, rows[0].xyz);
    let cofactor_z = cross(rows[0].xyz, rows[1].xyz);
    let turned = vec3f(dot(cofactor_x, vertex_normal), dot(cofactor_y, vertex_normal), dot(cofactor_z, vertex_normal));
    return turned * sign(dot(rows[0].xyz, cofactor_x)) * inverseSqrt(max(dot(turned, turned), 1e-38));
}
