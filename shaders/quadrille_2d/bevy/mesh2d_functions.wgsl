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
