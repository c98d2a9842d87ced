// Draws the edges of a mesh as lines. See `gizmos_3d`.

import quadrille_3d::constants::VERTEX_WORDS;
import quadrille_3d::mesh_types::{Instance, to_world};
import quadrille_content::constants::SOLID;
import quadrille_content::lines::{
    VertexOutput, Line, near_plane_distance, line_color, line_vertex, clip_to_near_plane,
};

struct Push {
    clip_from_world: mat4x4f,
    color: vec4f,
    // Size of the view, in pixels.
    size: vec2f,
    // In pixels.
    width: f32,
    // Instance index.
    instance: u32,
    first_index: u32,
    index_count: u32,
    base_vertex: i32,
    // 1: without the edge that the two triangles of a quad share.
    has_quads: u32,
}

// Depth bias of an edge against its surface, as a part of its distance, for each pixel of its width: with
// half of its width it is before surfaces at 45 degrees under usual cameras.
const DEPTH_BIAS_PER_PIXEL: f32 = 1e-3;

@group(0) @binding(0) var<storage, read> vertices: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> instances: array<Instance>;

var<immediate> push: Push;

// Index of the vertex at a corner of a triangle.
fn vertex_index_of(triangle: u32, corner: u32) -> u32 {
    return indices[push.first_index + triangle * 3u + corner];
}

fn triangle_has_vertex(triangle: u32, vertex: u32) -> bool {
    return vertex_index_of(triangle, 0u) == vertex || vertex_index_of(triangle, 1u) == vertex
        || vertex_index_of(triangle, 2u) == vertex;
}

// Returns whether both triangles of a quad share an edge.
fn is_diagonal(triangle: u32, first: u32, second: u32) -> bool {
    let other = triangle ^ 1u;
    return push.has_quads == 1u && other * 3u < push.index_count && triangle_has_vertex(other, first)
        && triangle_has_vertex(other, second);
}

fn vertex_position(vertex: u32) -> vec3f {
    let at = u32(i32(vertex) + push.base_vertex) * VERTEX_WORDS;
    let position = vec3f(vertices[at], vertices[at + 1u], vertices[at + 2u]);
    return to_world(instances[push.instance], position);
}

@vertex
fn vertex_main(@builtin(vertex_index) i: u32, @builtin(instance_index) edge: u32) -> VertexOutput {
    // Two triangles.
    let corners = array(vec2u(0u, 0u), vec2u(1u, 0u), vec2u(1u, 1u), vec2u(0u, 0u), vec2u(1u, 1u), vec2u(0u, 1u));
    let uv = vec2f(corners[i]);
    let triangle = edge / 3u;
    let first_vertex = vertex_index_of(triangle, edge % 3u);
    let second_vertex = vertex_index_of(triangle, (edge + 1u) % 3u);
    let first = push.clip_from_world * vec4f(vertex_position(first_vertex), 1.0);
    let second = push.clip_from_world * vec4f(vertex_position(second_vertex), 1.0);
    let is_before = near_plane_distance(first) > 0.0 && near_plane_distance(second) > 0.0;
    if is_before || is_diagonal(triangle, first_vertex, second_vertex) {
        var nothing: VertexOutput;
        nothing.position = vec4f(0.0, 0.0, 2.0, 1.0);
        return nothing;
    }
    let begin = clip_to_near_plane(first, second);
    let end = clip_to_near_plane(second, first);
    var line: Line;
    line.colors_0 = push.color;
    line.colors_1 = push.color;
    line.kind = SOLID;
    var fragment = line_vertex(line, uv, begin, end, end, vec2f(push.width), push.size);
    // Nearer depths are larger (reverse z).
    let nearer = fragment.position.z * (1.0 + DEPTH_BIAS_PER_PIXEL * max(push.width, 1.0));
    fragment.position.z = min(nearer, fragment.position.w * (1.0 - 1e-6));
    return fragment;
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    return line_color(fragment);
}
