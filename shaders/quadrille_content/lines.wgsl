// The lines of gizmos, and the joints between them. Widths are in pixels, whatever the camera's scale
// is, so positions are computed in pixels of the viewport.

import quadrille_content::constants::{BEVEL, DASHED, MITER, ROUND};

// Vertex attributes of an instance.
struct Line {
    // Ends of a line, or the points before, at and after a joint.
    @location(3) positions_0: vec3f,
    @location(4) positions_1: vec3f,
    @location(5) positions_2: vec3f,
    @location(6) colors_0: vec4f,
    @location(7) colors_1: vec4f,
    @location(8) width: f32,
    // For dashes: length, period and begin of the first, all in
    // widths. For a part of a round joint: its index, and the number of parts.
    @location(9) pattern: vec3f,
    @location(10) kind: u32,
}

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
    // Distance from the line's begin, in widths, along the screen.
    @location(1) @interpolate(linear) along: f32,
    @location(2) @interpolate(flat) pattern: vec3f,
    @location(3) @interpolate(flat) kind: u32,
}

// Distance in front of the near plane; not positive behind it.
fn near_plane_distance(clip: vec4f) -> f32 {
    return clip.z - clip.w;
}

// Begin of a line, or its intersection with the near plane.
fn clip_to_near_plane(begin: vec4f, end: vec4f) -> vec4f {
    let outside = near_plane_distance(begin);
    let part = outside / max(outside - near_plane_distance(end), 1e-9);
    return select(begin, mix(begin, end, part), outside > 0.0);
}

fn clip_to_pixels(clip: vec4f, size: vec2f) -> vec2f {
    return clip.xy / clip.w * 0.5 * size;
}

// Direction of length 1; to the right where there is none.
fn normalized_direction(begin: vec2f, end: vec2f) -> vec2f {
    let dir = end - begin;
    let length = length(dir);
    return select(vec2f(1.0, 0.0), dir / length, length > 0.0);
}

fn perpendicular(dir: vec2f) -> vec2f {
    return vec2f(-dir.y, dir.x);
}

// Index of a vertex in order around the quad.
fn quad_corner_index(uv: vec2f) -> u32 {
    return select(select(3u, 2u, uv.x > 0.5), select(0u, 1u, uv.x > 0.5), uv.y > 0.5);
}

fn rotate(dir: vec2f, angle: f32) -> vec2f {
    return vec2f(
        dir.x * cos(angle) - dir.y * sin(angle),
        dir.x * sin(angle) + dir.y * cos(angle),
    );
}

// Offset of a corner of a joint from the point at which two lines meet: a wedge from there to the
// outer sides of both.
fn joint_offset(corner: u32, kind: u32, before: vec2f, after: vec2f, radius: f32, pattern: vec3f) -> vec2f {
    // The lines turn to one side; the gap is on the other.
    let turn = before.x * after.y - before.y * after.x;
    let side = select(radius, -radius, turn > 0.0);
    let begin = perpendicular(before) * side;
    let end = perpendicular(after) * side;
    if corner == 0u {
        return vec2f(0.0);
    }
    if kind == ROUND {
        let whole = atan2(turn, dot(before, after));
        let part = pattern.x + f32(corner > 1u);
        return rotate(begin, whole * part / pattern.y);
    }
    if corner == 1u {
        return begin;
    }
    if corner == 3u || kind == BEVEL {
        return end;
    }
    // Intersection of the outer sides (miter), unless the second line goes back.
    let middle = begin + end;
    let closeness = 1.0 + dot(before, after);
    return select(end, middle / closeness, closeness > 1e-3);
}

// Vertex of a line's quad, from ends in clip space, in a viewport of `size` pixels. The line has
// these widths at its ends; a joint has the second one.
fn line_vertex(
    line: Line,
    uv: vec2f,
    first_clip: vec4f,
    second_clip: vec4f,
    third_clip: vec4f,
    widths: vec2f,
    size: vec2f,
) -> VertexOutput {
    let first = clip_to_pixels(first_clip, size);
    let second = clip_to_pixels(second_clip, size);
    let dir = normalized_direction(first, second);
    var clip = second_clip;
    var at = second;
    var thickness = widths.y;
    if line.kind >= MITER {
        let after = normalized_direction(second, clip_to_pixels(third_clip, size));
        let radius = 0.5 * max(thickness, 1.0);
        at += joint_offset(quad_corner_index(uv), line.kind, dir, after, radius, line.pattern);
    } else {
        thickness = mix(widths.x, widths.y, uv.y);
        clip = mix(first_clip, second_clip, uv.y);
        at = mix(first, second, uv.y) + perpendicular(dir) * max(thickness, 1.0) * (uv.x - 0.5);
    }
    var fragment: VertexOutput;
    fragment.position = vec4f(at / (0.5 * size) * clip.w, clip.z, clip.w);
    fragment.color = mix(line.colors_0, line.colors_1, uv.y);
    // Lines thinner than a pixel are paler instead.
    fragment.color.a *= min(thickness, 1.0);
    fragment.along = uv.y * length(second - first) / thickness;
    fragment.pattern = line.pattern;
    fragment.kind = line.kind;
    return fragment;
}

// Color of a line; nothing between its dashes.
fn line_color(fragment: VertexOutput) -> vec4f {
    if fragment.kind == DASHED {
        let dash = fragment.pattern.x;
        let period = fragment.pattern.y;
        let along = fragment.along - fragment.pattern.z;
        if along - floor(along / period) * period >= dash {
            discard;
        }
    }
    return fragment.color;
}
