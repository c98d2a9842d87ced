// Fast approximate antialiasing (Lottes 2009, version 3.11, 12 steps of search): finds edges by local contrast of luma,
// follows each edge to both ends, and samples across the edge by the distance to the closer end. Details below a pixel are
// blurred by the contrast with the mean around them.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
// Least contrast: part of the largest luma, and absolute.
@group(0) @binding(2) var<uniform> thresholds: vec2f;

const STEPS: u32 = 12u;
// Strength of blurring details below a pixel.
const SUBPIXEL_STRENGTH: f32 = 0.75;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// The root stands in for the eye's response to linear light.
fn luma_of(color: vec3f) -> f32 {
    return sqrt(max(dot(color, vec3f(0.299, 0.587, 0.114)), 0.0));
}

// `at` in pixels.
fn luma(at: vec2f) -> f32 {
    let uv = at / vec2f(textureDimensions(picture));
    return luma_of(textureSampleLevel(picture, picture_sampler, uv, 0.0).rgb);
}

// Length of a step of the search, which grows with the distance.
fn step_length(i: u32) -> f32 {
    if i < 5u {
        return 1.0;
    }
    if i == 5u {
        return 1.5;
    }
    if i < 10u {
        return 2.0;
    }
    return select(8.0, 4.0, i == 10u);
}

struct EdgeEnd {
    // Distance from the pixel along the edge, in pixels.
    distance: f32,
    // Luma there minus that of the edge.
    difference: f32,
}

// Follows an edge from a point on it until its luma has changed by `contrast`.
fn find_end(start: vec2f, direction: vec2f, edge_luma: f32, contrast: f32) -> EdgeEnd {
    var distance = 1.0;
    var difference = luma(start + direction) - edge_luma;
    for (var i = 1u; i < STEPS && abs(difference) < contrast; i++) {
        distance += step_length(i);
        difference = luma(start + direction * distance) - edge_luma;
    }
    return EdgeEnd(distance, difference);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let at = position.xy;
    let color = textureLoad(picture, vec2i(at), 0);
    let middle = luma_of(color.rgb);
    let north = luma(at + vec2f(0.0, -1.0));
    let south = luma(at + vec2f(0.0, 1.0));
    let west = luma(at + vec2f(-1.0, 0.0));
    let east = luma(at + vec2f(1.0, 0.0));
    let least = min(middle, min(min(north, south), min(west, east)));
    let largest = max(middle, max(max(north, south), max(west, east)));
    let range = largest - least;
    if range < max(thresholds.y, largest * thresholds.x) {
        return color;
    }
    let north_west = luma(at + vec2f(-1.0, -1.0));
    let north_east = luma(at + vec2f(1.0, -1.0));
    let south_west = luma(at + vec2f(-1.0, 1.0));
    let south_east = luma(at + vec2f(1.0, 1.0));

    // Second derivatives in both directions, over three rows and columns.
    let vertical_change = abs(north_west + south_west - 2.0 * west)
        + 2.0 * abs(north + south - 2.0 * middle)
        + abs(north_east + south_east - 2.0 * east);
    let horizontal_change = abs(north_west + north_east - 2.0 * north)
        + 2.0 * abs(west + east - 2.0 * middle)
        + abs(south_west + south_east - 2.0 * south);
    let is_horizontal = vertical_change >= horizontal_change;
    let along = select(vec2f(0.0, 1.0), vec2f(1.0, 0.0), is_horizontal);
    let across = select(vec2f(1.0, 0.0), vec2f(0.0, 1.0), is_horizontal);

    // The edge lies between the pixel and the neighbor of larger contrast.
    let before = select(west, north, is_horizontal);
    let after = select(east, south, is_horizontal);
    let is_before = abs(before - middle) >= abs(after - middle);
    let to_edge = select(across, -across, is_before);
    let neighbor = select(after, before, is_before);
    let edge_luma = 0.5 * (neighbor + middle);
    let contrast = 0.25 * abs(neighbor - middle);
    let start = at + 0.5 * to_edge;
    let first = find_end(start, -along, edge_luma, contrast);
    let second = find_end(start, along, edge_luma, contrast);

    // At the closer end the edge turns to this pixel's side or away from it.
    let is_first = first.distance < second.distance;
    let closer = min(first.distance, second.distance);
    let end_is_darker = select(second.difference, first.difference, is_first) < 0.0;
    let edge_offset = select(0.0, 0.5 - closer / (first.distance + second.distance), end_is_darker != (middle < edge_luma));

    let mean = (2.0 * (north + south + west + east) + north_west + north_east + south_west + south_east) / 12.0;
    let detail = smoothstep(0.0, 1.0, abs(mean - middle) / range);
    let detail_offset = detail * detail * SUBPIXEL_STRENGTH;

    let sampled = at + to_edge * max(edge_offset, detail_offset);
    let uv = sampled / vec2f(textureDimensions(picture));
    return vec4f(textureSampleLevel(picture, picture_sampler, uv, 0.0).rgb, color.a);
}
