// Boxes of nodes: rounded corners, borders along their inside, shadows, with smooth edges. Positions are in the pixels
// of a node, y up, its centre at the origin.

// Flags of `Vertex::flags_and_sigma.x`.
import quadrille_2d::constants::{BORDER_SIDES, INVERTED};

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Instance: the columns of a 2x2 matrix from the node to the world.
    @location(3) axes: vec4f,
    // The node's centre in the world, and half the size of the box.
    @location(4) origin_and_half_size: vec4f,
    // Three corners of the quad with their uv: of a rectangle the left top, the right top and the left bottom, of a
    // triangle all.
    @location(5) corners_and_uvs_0: vec4f,
    @location(6) corners_and_uvs_1: vec4f,
    @location(7) corners_and_uvs_2: vec4f,
    // The radii of the corners along x and along y: left top, right top, right bottom, left bottom.
    @location(8) radii_x: vec4f,
    @location(9) radii_y: vec4f,
    // The widths of the border: left, top, right, bottom.
    @location(10) widths: vec4f,
    @location(11) tint: vec4f,
    // Flags, and the standard deviation of a shadow's blur, 0 for none; of gradients the hint.
    @location(12) flags_and_sigma: vec2f,
    // Gradients only.
    @location(13) end_color: vec4f,
}

// A box, as a fragment of it knows it.
struct RoundedBox {
    half_size: vec2f,
    radii_x: vec4f,
    radii_y: vec4f,
    widths: vec4f,
    flags: u32,
    sigma: f32,
    // Pixels of the target in one of the node.
    scale: f32,
}

// Position in the node, and uv, of a corner of the quad.
fn quad_corner(vertex: Vertex) -> vec4f {
    // The fourth corner of a rectangle shares x with the second and y with the third.
    let fourth = vec4f(vertex.corners_and_uvs_1.x, vertex.corners_and_uvs_2.y, vertex.corners_and_uvs_1.z, vertex.corners_and_uvs_2.w);
    let is_right = vertex.uv.x > 0.5;
    let top = select(vertex.corners_and_uvs_0, vertex.corners_and_uvs_1, is_right);
    let bottom = select(vertex.corners_and_uvs_2, fourth, is_right);
    return select(top, bottom, vertex.uv.y > 0.5);
}

fn world_from_node(vertex: Vertex) -> mat2x2f {
    return mat2x2f(vertex.axes.xy, vertex.axes.zw);
}

fn world_position(vertex: Vertex, point: vec2f) -> vec3f {
    return vec3f(world_from_node(vertex) * point + vertex.origin_and_half_size.xy, 0.0);
}

fn node_scale(vertex: Vertex) -> f32 {
    return sqrt(abs(determinant(world_from_node(vertex))));
}

// Signed distance to a box around the origin, negative inside. Corners have the first order of the distance to an
// ellipse (G. Taubin, "Distance Approximations for Rasterizing Implicit Curves", 1994), as in bevy's `ui.wesl`.
fn sd_rounded_box(point: vec2f, half_size: vec2f, radii_x: vec4f, radii_y: vec4f) -> f32 {
    var corner = select(0u, 1u, point.x > 0.0);
    if point.y < 0.0 {
        corner = 3u - corner;
    }
    let radii = vec2f(radii_x[corner], radii_y[corner]);
    let from_side = abs(point) - half_size;
    let from_center = from_side + radii;
    if any(from_center <= vec2f(0.0)) || any(radii <= vec2f(0.0)) {
        return max(from_side.x, from_side.y);
    }
    let scaled = from_center / radii;
    return 0.5 * (dot(scaled, scaled) - 1.0) / length(scaled / radii);
}

// Part of a pixel that lies inside an edge at this distance.
fn edge_coverage(rounded_box: RoundedBox, distance: f32) -> f32 {
    return clamp(0.5 - distance * rounded_box.scale, 0.0, 1.0);
}

// Signed distance to the inner edge of the border.
fn sd_inset_rounded_box(rounded_box: RoundedBox, point: vec2f) -> f32 {
    let widths = rounded_box.widths;
    let half_size = rounded_box.half_size - 0.5 * vec2f(widths.x + widths.z, widths.y + widths.w);
    let center = 0.5 * vec2f(widths.x - widths.z, widths.w - widths.y);
    let radii_x = clamp(rounded_box.radii_x - widths.xzzx, vec4f(0.0), vec4f(max(half_size.x, 0.0)));
    let radii_y = clamp(rounded_box.radii_y - widths.yyww, vec4f(0.0), vec4f(max(half_size.y, 0.0)));
    return sd_rounded_box(point - center, half_size, radii_x, radii_y);
}

// The sides of the border that a position belongs to, one bit each: sides meet on the line where both are crossed to
// the same part (a mitre joint). A position on that line belongs to both, and the side that is drawn last covers it.
fn border_sides(rounded_box: RoundedBox, point: vec2f) -> u32 {
    let half_size = rounded_box.half_size;
    // As in bevy, whose shift keeps opposite corners apart.
    let from_left_top = clamp(vec2f(point.x, -point.y) + half_size * 0.99998, vec2f(0.0), 2.0 * half_size);
    let inward = vec4f(from_left_top, 2.0 * half_size - from_left_top) / max(rounded_box.widths, vec4f(1e-6));
    let least = min(min(inward.x, inward.y), min(inward.z, inward.w)) + 1e-5;
    return dot(vec4u(1u, 2u, 4u, 8u), vec4u(inward <= vec4f(least)));
}

// Samples of a blur along y, as many as bevy takes by default.
const BLUR_SAMPLES: u32 = 4u;

// The box under a Gaussian blur: exact along x, by samples along y (E. Wallace, "Fast Rounded Rectangle Shadows", 2015).
fn rounded_box_shadow(rounded_box: RoundedBox, point: vec2f) -> f32 {
    var corner = select(0u, 1u, point.x > 0.0);
    if point.y < 0.0 {
        corner = 3u - corner;
    }
    let radii = vec2f(rounded_box.radii_x[corner], rounded_box.radii_y[corner]);
    let sigma = rounded_box.sigma;
    let low = point.y - rounded_box.half_size.y;
    let high = point.y + rounded_box.half_size.y;
    let start = clamp(-3.0 * sigma, low, high);
    let step = (clamp(3.0 * sigma, low, high) - start) / f32(BLUR_SAMPLES);
    var sum = 0.0;
    for (var i = 0u; i < BLUR_SAMPLES; i++) {
        let y = start + (f32(i) + 0.5) * step;
        // Half the width of the box in this row.
        var half_size = rounded_box.half_size.x;
        if all(radii > vec2f(0.0)) {
            let into_corner = min(rounded_box.half_size.y - radii.y - abs(point.y - y), 0.0) / radii.y;
            half_size += radii.x * (sqrt(max(1.0 - into_corner * into_corner, 0.0)) - 1.0);
        }
        let row = 0.5 * erf((point.x + vec2f(-half_size, half_size)) * (0.70710678 / sigma));
        sum += (row.y - row.x) * exp(-0.5 * y * y / (sigma * sigma));
    }
    // Over the square root of 2 pi.
    return saturate(sum * step * 0.39894228 / sigma);
}

// Abramowitz and Stegun, 7.1.27.
fn erf(x: vec2f) -> vec2f {
    let a = abs(x);
    let series = 1.0 + (0.278393 + (0.230389 + 0.078108 * (a * a)) * a) * a;
    let square = series * series;
    return sign(x) * (1.0 - 1.0 / (square * square));
}

// Part of a pixel that the box, its border or its shadow covers.
fn coverage(rounded_box: RoundedBox, point: vec2f) -> f32 {
    if rounded_box.sigma > 0.0 {
        return rounded_box_shadow(rounded_box, point);
    }
    let outer = sd_rounded_box(point, rounded_box.half_size, rounded_box.radii_x, rounded_box.radii_y);
    if (rounded_box.flags & INVERTED) != 0u {
        return edge_coverage(rounded_box, -outer);
    }
    let sides = rounded_box.flags & BORDER_SIDES;
    if sides == 0u {
        return edge_coverage(rounded_box, outer);
    }
    let inner = sd_inset_rounded_box(rounded_box, point);
    // Sides without width have no edge to smooth.
    let is_border = outer < inner - 1e-4 && (sides & border_sides(rounded_box, point)) != 0u;
    return select(0.0, edge_coverage(rounded_box, max(outer, -inner)), is_border);
}
