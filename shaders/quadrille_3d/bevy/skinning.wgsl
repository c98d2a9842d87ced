// Module `bevy_pbr::render::skinning`. Meshes are deformed by a pass before they are drawn: `SKINNED` is not defined, and the
// transform of a skinned vertex is that of its mesh.

import bevy_pbr::render::mesh_functions::get_world_from_local;

fn skin_model(indexes: vec4u, weights: vec4f, instance_index: u32) -> mat4x4f {
    return get_world_from_local(instance_index);
}

// Cofactors transform normals as the inverse transpose does, up to a positive or negative factor.
fn skin_normals(world_from_local: mat4x4f, normal: vec3f) -> vec3f {
    let x = world_from_local[0].xyz;
    let y = world_from_local[1].xyz;
    let z = world_from_local[2].xyz;
    let cofactors = mat3x3f(cross(y, z), cross(z, x), cross(x, y));
    return normalize(sign(dot(x, cross(y, z))) * (cofactors * normal));
}
