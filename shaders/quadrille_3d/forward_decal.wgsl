// Forward decals: the material of a quad on the surfaces before or behind it, projected along its normal.

import bevy_pbr::prepass::utils::prepass_depth;
import bevy_pbr::render::forward_io::VertexOutput;
import bevy_pbr::render::mesh_functions::{get_world_from_local, instance_of};
import bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material;
import bevy_pbr::render::pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing};
import bevy_pbr::render::pbr_types::STANDARD_MATERIAL_FLAGS_UNLIT_BIT;
import bevy_pbr::render::view_transformations::{frag_coord_to_ndc, position_ndc_to_world};
import quadrille_3d::constants::BASE_IS_OPAQUE;
import quadrille_3d::scene::materials;

@group(constants::MATERIAL_BIND_GROUP) @binding(200) var<uniform> depth_fade_factor: f32;

// Inverse of the linear part of an affine matrix, times a vector.
fn to_local(world_from_local: mat4x4f, vector: vec3f) -> vec3f {
    let x = world_from_local[0].xyz;
    let y = world_from_local[1].xyz;
    let z = world_from_local[2].xyz;
    let cofactors = mat3x3f(cross(y, z), cross(z, x), cross(x, y));
    return (vector * cofactors) / dot(x, cofactors[0]);
}

// Offset of texture coordinates for an offset in the world, by the tangents of the mesh: coordinates grow by 1 per unit
// of length of the mesh.
fn uv_offset(in: VertexOutput, offset: vec3f) -> vec2f {
    let world_from_local = get_world_from_local(in.instance_index);
    let linear = mat3x3f(world_from_local[0].xyz, world_from_local[1].xyz, world_from_local[2].xyz);
    let tangent = normalize(to_local(world_from_local, in.world_tangent.xyz));
    let normal = normalize(in.world_normal * linear);
    let side = in.world_tangent.w * sign(determinant(linear));
    let bitangent = cross(normal, tangent) * side;
    let local_offset = to_local(world_from_local, offset);
    return vec2f(dot(local_offset, tangent), -dot(local_offset, bitangent));
}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let depth = prepass_depth(in.position, 0u);
    let surface_position = position_ndc_to_world(vec3f(frag_coord_to_ndc(in.position).xy, max(depth, 1e-30)));
    let offset = surface_position - in.world_position.xyz;
    var surface = in;
    surface.world_position = vec4f(surface_position, 1.0);
    surface.uv += uv_offset(in, offset);
    var pbr_input = pbr_input_from_standard_material(surface, is_front);
    // Depth 0: no surface, or no prepass. The quad may also cover pixels of surfaces beside its projection. Texture
    // coordinates need their derivatives first.
    let is_beside = all(in.uv == saturate(in.uv)) && any(surface.uv != saturate(surface.uv));
    if depth <= 0.0 || is_beside {
        discard;
    }
    var color = pbr_input.material.base_color;
    if (pbr_input.material.flags & STANDARD_MATERIAL_FLAGS_UNLIT_BIT) == 0u {
        color = apply_pbr_lighting(pbr_input);
    }
    let away = abs(dot(normalize(in.world_normal), offset));
    color.a = min(color.a, saturate(1.0 - away / max(depth_fade_factor, 0.001)));
    if (materials[instance_of(in.instance_index).material].flags & BASE_IS_OPAQUE) != 0u {
        color.a = 1.0;
    }
    return main_pass_post_lighting_processing(pbr_input, color);
}
