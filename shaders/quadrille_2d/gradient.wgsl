// Draws one segment of a gradient, between two of its color stops, over the box or the border of a node.

import quadrille_2d::constants::{
    COLOR_SPACE_SHIFT, CONIC, FILL_END, FILL_START, HSL, HSL_LONG, HSV, HSV_LONG, HUE_GUARD, OKLAB, OKLCH,
    OKLCH_LONG, RADIAL, SRGB,
};
import quadrille_2d::boxes::{RoundedBox, Vertex, quad_corner, coverage, node_scale, world_position};
import quadrille_2d::vertex::to_clip;

const TAU: f32 = 6.2831853;

// Flags beside those of boxes; neither of the first two is a linear gradient.
// The color of the start lies before the segment as well, that of the end behind it.
// From here on the color space begins (`Space` in gradient.rs).

// Colors below this chroma or saturation have no hue of their own.

struct VertexOutput {
    @builtin(position) position: vec4f,
    // In the node.
    @location(0) point: vec2f,
    @location(1) @interpolate(flat) half_size: vec2f,
    @location(2) @interpolate(flat) radii_x: vec4f,
    @location(3) @interpolate(flat) radii_y: vec4f,
    @location(4) @interpolate(flat) widths: vec4f,
    // In the color space, alpha not multiplied.
    @location(5) @interpolate(flat) start_color: vec4f,
    @location(6) @interpolate(flat) end_color: vec4f,
    // The origin of the gradient; of linear ones the direction, of conic ones the first angle, of radial ones the ratio
    // of width to height.
    @location(7) @interpolate(flat) line: vec4f,
    // Where the segment starts and ends: pixels, or radians of conic gradients.
    @location(8) @interpolate(flat) ends: vec2f,
    @location(9) @interpolate(flat) flags_and_hint: vec2f,
    @location(10) @interpolate(flat) scale: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let point = quad_corner(vertex).xy;
    var fragment: VertexOutput;
    fragment.position = to_clip(world_position(vertex, point));
    fragment.point = point;
    fragment.half_size = vertex.origin_and_half_size.zw;
    fragment.radii_x = vertex.radii_x;
    fragment.radii_y = vertex.radii_y;
    fragment.widths = vertex.widths;
    fragment.start_color = vertex.tint;
    fragment.end_color = vertex.end_color;
    // Gradients show no image, whose coordinates these are for other boxes.
    fragment.line = vec4f(vertex.corners_and_uvs_0.zw, vertex.corners_and_uvs_1.zw);
    fragment.ends = vertex.corners_and_uvs_2.zw;
    fragment.flags_and_hint = vertex.flags_and_sigma;
    fragment.scale = node_scale(vertex);
    return fragment;
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    let flags = u32(fragment.flags_and_hint.x);
    var color = segment_color(fragment, flags);
    let rounded_box = RoundedBox(
        fragment.half_size,
        fragment.radii_x,
        fragment.radii_y,
        fragment.widths,
        flags,
        0.0,
        fragment.scale,
    );
    color.a *= coverage(rounded_box, fragment.point);
    return color;
}

// Distance along the gradient.
fn distance_along(fragment: VertexOutput, flags: u32) -> f32 {
    let from_origin = fragment.point - fragment.line.xy;
    if (flags & RADIAL) != 0u {
        return length(from_origin * vec2f(1.0, fragment.line.z));
    }
    if (flags & CONIC) != 0u {
        // Clockwise from the top.
        let angle = atan2(-from_origin.x, -from_origin.y) + 0.5 * TAU - fragment.line.z;
        return angle - TAU * floor(angle / TAU);
    }
    return dot(from_origin, fragment.line.zw);
}

// Linear color of a fragment; transparent outside of the segment.
fn segment_color(fragment: VertexOutput, flags: u32) -> vec4f {
    let distance = distance_along(fragment, flags);
    let space = flags >> COLOR_SPACE_SHIFT;
    let length = fragment.ends.y - fragment.ends.x;
    let is_filled = (flags & FILL_START) != 0u;
    if distance < fragment.ends.x || (is_filled && length == 0.0 && distance == fragment.ends.x) {
        return select(vec4f(0.0), to_linear(fragment.start_color, space), is_filled);
    }
    // Half open, so that no fragment belongs to two segments.
    if distance >= fragment.ends.y {
        let is_filled = (flags & FILL_END) != 0u;
        return select(vec4f(0.0), to_linear(fragment.end_color, space), is_filled);
    }
    var part = (distance - fragment.ends.x) / length;
    let hint = fragment.flags_and_hint.y;
    if part < hint {
        part = 0.5 * part / hint;
    } else {
        part = 0.5 + 0.5 * (part - hint) / (1.0 - hint);
    }
    return to_linear(mix_in_space(fragment.start_color, fragment.end_color, part, space), space);
}

fn mix_in_space(start: vec4f, end: vec4f, part: f32, space: u32) -> vec4f {
    var color = mix(start, end, part);
    switch space {
        // Hue is the third component, chroma the second.
        case OKLCH, OKLCH_LONG {
            color.z = mix_hue(start.zy, end.zy, part, space);
        }
        // Hue is the first component, saturation the second.
        case HSL, HSL_LONG, HSV, HSV_LONG {
            color.x = mix_hue(start.xy, end.xy, part, space);
        }
        default {}
    }
    return color;
}

// Hue, in turns, between two pairs of hue and chroma, the shorter or the longer way round. A gray end takes the other's
// hue. Hues that are half a turn apart, or equal, go the way that they go in bevy's `color_operations.wesl`.
fn mix_hue(start: vec2f, end: vec2f, part: f32, space: u32) -> f32 {
    let first = select(start.x, end.x, start.y < HUE_GUARD);
    let is_gray = end.y < HUE_GUARD && start.y >= HUE_GUARD;
    let difference = select(end.x, start.x, is_gray) - first;
    let other = difference - select(-1.0, 1.0, difference >= 0.0);
    var turn = difference;
    switch space {
        case HSL {
            turn = fract(difference + 0.5) - 0.5;
        }
        case HSL_LONG {
            let short = fract(difference + 0.5) - 0.5;
            turn = short + select(1.0, -1.0, short > 0.0);
        }
        case OKLCH_LONG, HSV_LONG {
            turn = select(difference, other, abs(difference) < 0.5);
        }
        default {
            turn = select(difference, other, abs(difference) > 0.5);
        }
    }
    return fract(first + turn * part);
}

fn to_linear(color: vec4f, space: u32) -> vec4f {
    var rgb = color.xyz;
    switch space {
        case SRGB {
            rgb = srgb_to_linear(rgb);
        }
        case OKLAB {
            rgb = oklab_to_linear(rgb);
        }
        case OKLCH, OKLCH_LONG {
            let hue = rgb.z * TAU;
            rgb = oklab_to_linear(vec3f(rgb.x, rgb.y * vec2f(cos(hue), sin(hue))));
        }
        case HSL, HSL_LONG {
            let chroma = (1.0 - abs(2.0 * rgb.z - 1.0)) * rgb.y;
            rgb = srgb_to_linear(rgb.z + chroma * (hue_to_rgb(rgb.x) - 0.5));
        }
        case HSV, HSV_LONG {
            rgb = srgb_to_linear(rgb.z * mix(vec3f(1.0), hue_to_rgb(rgb.x), rgb.y));
        }
        default {}
    }
    return vec4f(rgb, color.a);
}

// Saturated sRGB color of a hue in turns.
fn hue_to_rgb(hue: f32) -> vec3f {
    let sector = 6.0 * fract(hue + vec3f(0.0, 2.0, 1.0) / 3.0);
    return saturate(abs(sector - 3.0) - 1.0);
}

// IEC 61966-2-1.
fn srgb_to_linear(color: vec3f) -> vec3f {
    let curve = pow((max(color, vec3f(0.0)) + 0.055) / 1.055, vec3f(2.4));
    return select(curve, color / 12.92, color <= vec3f(0.04045));
}

// B. Ottosson, "A perceptual color space for image processing", 2020.
fn oklab_to_linear(color: vec3f) -> vec3f {
    let cone = vec3f(
        dot(color, vec3f(1.0, 0.39633778, 0.21580376)),
        dot(color, vec3f(1.0, -0.105561346, -0.06385417)),
        dot(color, vec3f(1.0, -0.08948418, -1.2914855)),
    );
    let cube = cone * cone * cone;
    return vec3f(
        dot(cube, vec3f(4.0767417, -3.3077116, 0.23096994)),
        dot(cube, vec3f(-1.268438, 2.6097574, -0.34131938)),
        dot(cube, vec3f(-0.0041960863, -0.7034186, 1.7076147)),
    );
}
