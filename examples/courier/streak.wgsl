// Streaks of rain: the corner of a quad in x and y, the index of its drop in z.

import bevy_pbr::render::{
    forward_io::{Vertex, VertexOutput},
    mesh_view_bindings::view,
    view_transformations::position_world_to_clip,
};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<storage, read> drops: array<vec4f>;

const ALONG: vec3f = vec3f(0.17, -0.98, 0.085);

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    let drop = drops[u32(vertex.position.z)];
    let to_eye = view.world_position - drop.xyz;
    let distance = length(to_eye);
    let across = normalize(cross(ALONG, to_eye));
    let width = 0.008 + 0.0011 * distance;
    let corner = across * (vertex.position.x) * width + ALONG * vertex.position.y * 0.9 * drop.w;
    let position = drop.xyz + corner;
    var out: VertexOutput;
    out.world_position = vec4f(position, 1.0);
    out.position = position_world_to_clip(position);
    out.world_normal = vec3f(0.0, 1.0, 0.0);
    out.uv = vertex.position.xy + 0.5;
    out.instance_index = vertex.instance_index;
    return out;
}

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let along = 1.0 - abs(2.0 * mesh.uv.y - 1.0);
    let distance = distance(mesh.world_position.xyz, view.world_position);
    let near = smoothstep(1.0, 5.0, distance) * (1.0 - smoothstep(14.0, 23.0, distance));
    return vec4f(vec3f(0.16, 0.2, 0.27) * along * near, 0.0);
}
