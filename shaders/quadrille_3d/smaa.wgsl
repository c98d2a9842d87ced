// Subpixel morphological antialiasing (SMAA 1x, Jimenez et al. 2012): edges by luma, blending weights, blending.
//
// An edge texel has the edge to the left of its pixel in x, and that above it in y. Weights of a pixel are, in x and y,
// the part of it that the color above covers and the part of the pixel above that its own color covers; in z and w the
// same of the pixel to the left.

import quadrille_3d::constants::{SMAA_AREA_SIDE, SMAA_DIAGONAL_SIDE};

struct Settings {
    // Least difference of luma.
    threshold: f32,
    // Largest distances of searches in pixels; no search of diagonals if 0.
    max_distance: i32,
    max_diagonal: i32,
    // Part of the weights at corners.
    corner: f32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@group(0) @binding(2) var edges: texture_2d<f32>;
@group(0) @binding(3) var weights: texture_2d<f32>;
// Areas of horizontal and vertical edges, and below them those of diagonals (smaa/areas.rs).
@group(0) @binding(4) var areas: texture_2d<f32>;
@group(0) @binding(5) var<uniform> settings: Settings;
@group(0) @binding(6) var new_edges: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(7) var new_weights: texture_storage_2d<rgba8unorm, write>;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Luma of a pixel. The root stands in for the eye's response to linear light.
fn luma(pixel: vec2i) -> f32 {
    let at = clamp(pixel, vec2i(0), vec2i(textureDimensions(picture)) - 1);
    return sqrt(max(dot(textureLoad(picture, at, 0).rgb, vec3f(0.2126, 0.7152, 0.0722)), 0.0));
}

// Edges of a pixel that are seen.
fn visible_edges(pixel: vec2i) -> vec2<bool> {
    let middle = luma(pixel);
    let left = luma(pixel - vec2i(1, 0));
    let above = luma(pixel - vec2i(0, 1));
    let differences = abs(middle - vec2f(left, above));
    let is_edge = differences >= vec2f(settings.threshold);
    if !any(is_edge) {
        return is_edge;
    }
    // An edge beside one of twice the contrast is not seen.
    let right = abs(middle - luma(pixel + vec2i(1, 0)));
    let below = abs(middle - luma(pixel + vec2i(0, 1)));
    let second_left = abs(left - luma(pixel - vec2i(2, 0)));
    let second_above = abs(above - luma(pixel - vec2i(0, 2)));
    let most = max(max(max(differences.x, differences.y), max(right, below)), max(second_left, second_above));
    return is_edge & (2.0 * differences >= vec2f(most));
}

@compute @workgroup_size(8, 8)
fn edges_main(@builtin(global_invocation_id) at: vec3u) {
    if all(at.xy < textureDimensions(new_edges)) {
        let visible = select(vec2f(0.0), vec2f(1.0), visible_edges(vec2i(at.xy)));
        textureStore(new_edges, at.xy, vec4f(visible, 0.0, 0.0));
    }
}

// Edges of a pixel; none outside of the view.
fn edges_at(pixel: vec2i) -> vec2<bool> {
    if any(pixel < vec2i(0)) || any(pixel >= vec2i(textureDimensions(edges))) {
        return vec2<bool>(false);
    }
    return textureLoad(edges, pixel, 0).xy > vec2f(0.5);
}

// Directions of an edge: along it, and across it into the pixel. `axis` is the component of edges across the line.
struct Line {
    along: vec2i,
    across: vec2i,
    axis: u32,
}

// End of a line: the distance in pixels, and which edges cross it there: on the side of the pixel (3), on the other
// one (1), both or none.
struct LineEnd {
    distance: i32,
    crossing: u32,
}

// Follows an edge to its end; `side` is -1 to the start of the axis, 1 to its end.
fn line_end(pixel: vec2i, line: Line, side: i32) -> LineEnd {
    var end = LineEnd(0, 0u);
    var own = edges_at(pixel);
    loop {
        let at = pixel + line.along * (side * end.distance);
        let next = at + line.along * side;
        let following = edges_at(next);
        // The crossing edge is the start of the later one of both pixels.
        var later = own;
        var later_at = at;
        if side > 0 {
            later = following;
            later_at = next;
        }
        let is_crossed = later[line.axis];
        let is_crossed_beyond = edges_at(later_at - line.across)[line.axis];
        end.crossing = select(0u, 3u, is_crossed) + select(0u, 1u, is_crossed_beyond);
        if end.crossing != 0u || !following[1u - line.axis] || end.distance >= settings.max_distance {
            break;
        }
        end.distance += 1;
        own = following;
    }
    return end;
}

// Weights of an edge of a horizontal or vertical line.
fn line_weights(pixel: vec2i, line: Line) -> vec2f {
    let first = line_end(pixel, line, -1);
    let second = line_end(pixel, line, 1);
    // In the table: none, the other side, this side, both.
    var rows = array<u32, 5>(0u, 1u, 0u, 2u, 3u);
    let at = vec2u(rows[first.crossing], rows[second.crossing]) * SMAA_AREA_SIDE
        + vec2u(vec2i(first.distance, second.distance));
    return textureLoad(areas, at, 0).xy * corner_factors(pixel, line, first.distance, second.distance);
}

// Less blending where a line ends at a corner: a crossing edge of at least two pixels.
fn corner_factors(pixel: vec2i, line: Line, first: i32, second: i32) -> vec2f {
    if settings.corner >= 1.0 {
        return vec2f(1.0);
    }
    let start = pixel - line.along * first;
    let end = pixel + line.along * (second + 1);
    var nearer = vec2f(f32(first <= second), f32(second <= first));
    nearer *= (1.0 - settings.corner) / (nearer.x + nearer.y);
    let is_inside = vec2<bool>(edges_at(start + line.across)[line.axis], edges_at(end + line.across)[line.axis]);
    let is_outside = vec2<bool>(
        edges_at(start - 2 * line.across)[line.axis],
        edges_at(end - 2 * line.across)[line.axis],
    );
    return saturate(1.0 - vec2f(
        dot(nearer, vec2f(is_inside)),
        dot(nearer, vec2f(is_outside)),
    ));
}

// Number of pixels along a rising diagonal whose both edges exist, and the edges after them.
struct DiagonalEnd {
    distance: i32,
    edges: vec2<bool>,
}

// Edges of a step of a diagonal: rising ones have the edges to the left and above, falling ones those to the right and
// above.
fn diagonal_edges(pixel: vec2i, is_falling: bool) -> vec2<bool> {
    if is_falling {
        return vec2<bool>(edges_at(pixel + vec2i(1, 0)).x, edges_at(pixel).y);
    }
    return edges_at(pixel);
}

fn diagonal_end(pixel: vec2i, direction: vec2i, is_falling: bool) -> DiagonalEnd {
    var end = DiagonalEnd(0, vec2<bool>(true));
    while end.distance < settings.max_diagonal {
        end.edges = diagonal_edges(pixel + direction * (end.distance + 1), is_falling);
        if !all(end.edges) {
            break;
        }
        end.distance += 1;
    }
    return end;
}

// Weights from the table, by the crossing edges at both ends (2: horizontal, 1: vertical) and the distances.
fn diagonal_area(distances: vec2i, first: vec2<bool>, second: vec2<bool>, has_end: vec2<bool>) -> vec2f {
    var crossings = vec2u(
        2u * u32(first.x) + u32(first.y),
        2u * u32(second.x) + u32(second.y),
    );
    // The crossing of an end that was not found is not known.
    crossings = select(vec2u(0u), crossings, has_end);
    let at = crossings * SMAA_DIAGONAL_SIDE + vec2u(distances);
    return textureLoad(areas, at + vec2u(0u, 4u * SMAA_AREA_SIDE), 0).xy;
}

// Weights of a diagonal that rises to the right.
fn rising_weights(pixel: vec2i) -> vec2f {
    var start = DiagonalEnd(0, vec2<bool>(false));
    if edges_at(pixel).x {
        start = diagonal_end(pixel, vec2i(-1, 1), false);
        start.distance += i32(start.edges.y);
    }
    let end = diagonal_end(pixel, vec2i(1, -1), false);
    if start.distance + end.distance <= 2 {
        return vec2f(0.0);
    }
    let low = pixel + vec2i(-1, 1) * start.distance;
    let high = pixel + vec2i(1, -1) * end.distance;
    return diagonal_area(
        vec2i(start.distance, end.distance),
        vec2<bool>(edges_at(low - vec2i(1, 0)).y, edges_at(low).x),
        vec2<bool>(edges_at(high + vec2i(1, 0)).y, edges_at(high + vec2i(1, -1)).x),
        vec2<bool>(!all(start.edges), !all(end.edges)),
    );
}

// Weights of a diagonal that falls to the right: the mirror image, which starts at the right.
fn falling_weights(pixel: vec2i) -> vec2f {
    var start = DiagonalEnd(0, vec2<bool>(false));
    if edges_at(pixel + vec2i(1, 0)).x {
        start = diagonal_end(pixel, vec2i(1, 1), true);
        start.distance += i32(start.edges.y);
    }
    let end = diagonal_end(pixel, vec2i(-1, -1), true);
    if start.distance + end.distance <= 2 {
        return vec2f(0.0);
    }
    let low = pixel + start.distance;
    let high = pixel - end.distance;
    return diagonal_area(
        vec2i(start.distance, end.distance),
        edges_at(low + vec2i(1, 0)).yx,
        vec2<bool>(edges_at(high - vec2i(1, 0)).y, edges_at(high - vec2i(0, 1)).x),
        vec2<bool>(!all(start.edges), !all(end.edges)),
    );
}

// Whether the left edge of a pixel is a step of a falling diagonal, whose weights are those of its upper edges.
fn is_falling_step(pixel: vec2i) -> bool {
    let left = pixel - vec2i(1, 0);
    return edges_at(left).y && any(falling_weights(left) > vec2f(0.0));
}

// Blending weights of a pixel.
fn weights_of(pixel: vec2i) -> vec4f {
    let own = edges_at(pixel);
    var parts = vec4f(0.0);
    var has_left = own.x;
    if own.y {
        // Diagonals have edges above and to the left, so one search suffices; they replace both lines.
        var above = vec2f(0.0);
        if settings.max_diagonal > 0 {
            above = rising_weights(pixel) + falling_weights(pixel);
        }
        if above.x + above.y > 0.0 {
            has_left = false;
        } else {
            above = line_weights(pixel, Line(vec2i(1, 0), vec2i(0, 1), 0u));
        }
        parts.x = above.x;
        parts.y = above.y;
    }
    if has_left && settings.max_diagonal > 0 {
        has_left = !is_falling_step(pixel);
    }
    if has_left {
        let left = line_weights(pixel, Line(vec2i(0, 1), vec2i(1, 0), 1u));
        parts.z = left.x;
        parts.w = left.y;
    }
    return parts;
}

@compute @workgroup_size(8, 8)
fn weights_main(@builtin(global_invocation_id) at: vec3u) {
    if all(at.xy < textureDimensions(new_weights)) {
        textureStore(new_weights, at.xy, weights_of(vec2i(at.xy)));
    }
}

fn weights_at(pixel: vec2i) -> vec4f {
    if any(pixel >= vec2i(textureDimensions(weights))) {
        return vec4f(0.0);
    }
    return textureLoad(weights, pixel, 0);
}

@fragment
fn blend_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(position.xy);
    let own = weights_at(pixel);
    let right = weights_at(pixel + vec2i(1, 0)).w;
    let below = weights_at(pixel + vec2i(0, 1)).y;
    if right + below + own.x + own.z < 1e-5 {
        return textureLoad(picture, pixel, 0);
    }
    // Both neighbours along the axis of the larger weight, each by its share. Filtering does the blending.
    let is_horizontal = max(right, own.z) > max(below, own.x);
    let pair = select(vec2f(below, own.x), vec2f(right, own.z), is_horizontal);
    let axis = select(vec2f(0.0, 1.0), vec2f(1.0, 0.0), is_horizontal);
    let size = vec2f(textureDimensions(picture));
    let later = textureSampleLevel(picture, picture_sampler, (position.xy + axis * pair.x) / size, 0.0);
    let former = textureSampleLevel(picture, picture_sampler, (position.xy - axis * pair.y) / size, 0.0);
    return (later * pair.x + former * pair.y) / (pair.x + pair.y);
}
