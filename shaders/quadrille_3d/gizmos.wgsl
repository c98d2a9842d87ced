// Draws the lines of gizmos with depth test. See `gizmos_3d`.

import quadrille_content::constants::MITER;
import quadrille_content::lines::{
    VertexOutput, Line, near_plane_distance, line_color, line_vertex, clip_to_near_plane,
};

struct Push {
    clip_from_world: mat4x4f,
    // Size of the view, in pixels.
    size: vec2f,
    // -1 moves lines before all else, 1 as far as possible.
    depth_bias: f32,
    // 1: widths are those at a distance of 1.
    perspective: f32,
}

var<immediate> push: Push;

fn apply_depth_bias(clip: vec4f) -> f32 {
    let depth = saturate(clip.z / clip.w);
    let nearer = pow(max(depth, 1e-30), 1.0 + push.depth_bias);
    let moved = select(depth * (1.0 - push.depth_bias), nearer, push.depth_bias < 0.0);
    // Keeps rounding from moving lines before the near plane.
    return min(moved, 1.0 - 1e-6) * clip.w;
}

@vertex
fn vertex_main(@builtin(vertex_index) i: u32, line: Line) -> VertexOutput {
    // Two triangles.
    let corners = array(vec2u(0u, 0u), vec2u(1u, 0u), vec2u(1u, 1u), vec2u(0u, 0u), vec2u(1u, 1u), vec2u(0u, 1u));
    let uv = vec2f(corners[i]);
    let first = push.clip_from_world * vec4f(line.positions_0, 1.0);
    let second = push.clip_from_world * vec4f(line.positions_1, 1.0);
    let third = push.clip_from_world * vec4f(line.positions_2, 1.0);
    let outside = vec3<bool>(near_plane_distance(first) > 0.0, near_plane_distance(second) > 0.0, near_plane_distance(third) > 0.0);
    let is_joint = line.kind >= MITER;
    if (outside.x && outside.y) || (is_joint && any(outside)) {
        // Clipped as a whole by the near plane.
        var nothing: VertexOutput;
        nothing.position = vec4f(0.0, 0.0, 2.0, 1.0);
        return nothing;
    }
    let begin = clip_to_near_plane(first, second);
    let end = clip_to_near_plane(second, first);
    let widths = line.width / mix(vec2f(1.0), vec2f(begin.w, end.w), push.perspective);
    var fragment = line_vertex(line, uv, begin, end, third, widths, push.size);
    let clip_position = fragment.position;
    fragment.position.z = apply_depth_bias(clip_position);
    return fragment;
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    return line_color(fragment);
}
