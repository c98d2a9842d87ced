// Boxes of nodes: rounded corners, borders along their inside, shadows, with smooth edges. Positions are in the pixels
// of a node, y up, its centre at the origin.

// Flags of `Vertex::flags_and_softness.x`. The lowest four bits are the sides of the border that are drawn: left, top,
// right, bottom.
const SIDES: u32 = 15u;
// All but the box is filled.
const INVERTED: u32 = 16u;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Instance: the columns of a 2x2 matrix from the node to the world.
    @location(3) axes: vec4f,
    // The node's centre in the world, and half the size of the box.
    @location(4) origin_and_half: vec4f,
    // Three corners of the quad with their uv: of a rectangle the left top, the right top and the left bottom, of a
    // triangle all.
    @location(5) first: vec4f,
    @location(6) second: vec4f,
    @location(7) third: vec4f,
    // The radii of the corners along x and along y: left top, right top, right bottom, left bottom.
    @location(8) radii_x: vec4f,
    @location(9) radii_y: vec4f,
    // The widths of the border: left, top, right, bottom.
    @location(10) widths: vec4f,
    @location(11) tint: vec4f,
    // Flags, and the standard deviation of a shadow's blur, 0 for none; of gradients the hint.
    @location(12) flags_and_softness: vec2f,
    // Gradients only.
    @location(13) end_color: vec4f,
}

// A box, as a fragment of it knows it.
struct Shape {
    half: vec2f,
    radii_x: vec4f,
    radii_y: vec4f,
    widths: vec4f,
    flags: u32,
    softness: f32,
    // Pixels of the target in one of the node.
    scale: f32,
}

// Position in the node, and uv, of a corner of the quad.
fn corner_of(vertex: Vertex) -> vec4f {
    // The fourth corner of a rectangle shares x with the second and y with the third.
    let fourth = vec4f(vertex.second.x, vertex.third.y, vertex.second.z, vertex.third.w);
    let is_right = vertex.uv.x > 0.5;
    let top = select(vertex.first, vertex.second, is_right);
    let bottom = select(vertex.third, fourth, is_right);
    return select(top, bottom, vertex.uv.y > 0.5);
}

fn axes_of(vertex: Vertex) -> mat2x2f {
    return mat2x2f(vertex.axes.xy, vertex.axes.zw);
}

fn world_of(vertex: Vertex, at: vec2f) -> vec4f {
    return vec4f(axes_of(vertex) * at + vertex.origin_and_half.xy, 0.0, 1.0);
}

fn scale_of(vertex: Vertex) -> f32 {
    return sqrt(abs(determinant(axes_of(vertex))));
}

// Signed distance to a box around the origin, negative inside. Corners have the first order of the distance to an
// ellipse (G. Taubin, "Distance Approximations for Rasterizing Implicit Curves", 1994), as in bevy's `ui.wesl`.
fn distance_to_box(at: vec2f, half: vec2f, radii_x: vec4f, radii_y: vec4f) -> f32 {
    var corner = select(0u, 1u, at.x > 0.0);
    if at.y < 0.0 {
        corner = 3u - corner;
    }
    let radii = vec2f(radii_x[corner], radii_y[corner]);
    let from_side = abs(at) - half;
    let from_center = from_side + radii;
    if any(from_center <= vec2f(0.0)) || any(radii <= vec2f(0.0)) {
        return max(from_side.x, from_side.y);
    }
    let scaled = from_center / radii;
    return 0.5 * (dot(scaled, scaled) - 1.0) / length(scaled / radii);
}

// Part of a pixel that lies inside an edge at this distance.
fn covered(shape: Shape, distance: f32) -> f32 {
    return clamp(0.5 - distance * shape.scale, 0.0, 1.0);
}

// Signed distance to the inner edge of the border.
fn distance_to_inside(shape: Shape, at: vec2f) -> f32 {
    let widths = shape.widths;
    let half = shape.half - 0.5 * vec2f(widths.x + widths.z, widths.y + widths.w);
    let center = 0.5 * vec2f(widths.x - widths.z, widths.w - widths.y);
    let radii_x = clamp(shape.radii_x - widths.xzzx, vec4f(0.0), vec4f(max(half.x, 0.0)));
    let radii_y = clamp(shape.radii_y - widths.yyww, vec4f(0.0), vec4f(max(half.y, 0.0)));
    return distance_to_box(at - center, half, radii_x, radii_y);
}

// The sides of the border that a position belongs to, one bit each: sides meet on the line where both are crossed to
// the same part (a mitre joint). A position on that line belongs to both, and the side that is drawn last covers it.
fn sides_of(shape: Shape, at: vec2f) -> u32 {
    let half = shape.half;
    // As in bevy, whose shift keeps opposite corners apart.
    let from_left_top = clamp(vec2f(at.x, -at.y) + half * 0.99998, vec2f(0.0), 2.0 * half);
    let inward = vec4f(from_left_top, 2.0 * half - from_left_top) / max(shape.widths, vec4f(1e-6));
    let least = min(min(inward.x, inward.y), min(inward.z, inward.w)) + 1e-5;
    return dot(vec4u(1u, 2u, 4u, 8u), vec4u(inward <= vec4f(least)));
}

// Samples of a blur along y, as many as bevy takes by default.
const BLUR_SAMPLES: u32 = 4u;

// The box under a Gaussian blur: exact along x, by samples along y (E. Wallace, "Fast Rounded Rectangle Shadows", 2015).
fn blurred(shape: Shape, at: vec2f) -> f32 {
    var corner = select(0u, 1u, at.x > 0.0);
    if at.y < 0.0 {
        corner = 3u - corner;
    }
    let radii = vec2f(shape.radii_x[corner], shape.radii_y[corner]);
    let sigma = shape.softness;
    let low = at.y - shape.half.y;
    let high = at.y + shape.half.y;
    let start = clamp(-3.0 * sigma, low, high);
    let step = (clamp(3.0 * sigma, low, high) - start) / f32(BLUR_SAMPLES);
    var sum = 0.0;
    for (var i = 0u; i < BLUR_SAMPLES; i++) {
        let y = start + (f32(i) + 0.5) * step;
        // Half the width of the box in this row.
        var half = shape.half.x;
        if all(radii > vec2f(0.0)) {
            let into_corner = min(shape.half.y - radii.y - abs(at.y - y), 0.0) / radii.y;
            half += radii.x * (sqrt(max(1.0 - into_corner * into_corner, 0.0)) - 1.0);
        }
        let row = 0.5 * error_function((at.x + vec2f(-half, half)) * (0.70710678 / sigma));
        sum += (row.y - row.x) * exp(-0.5 * y * y / (sigma * sigma));
    }
    // Over the square root of 2 pi.
    return saturate(sum * step * 0.39894228 / sigma);
}

// Abramowitz and Stegun, 7.1.27.
fn error_function(x: vec2f) -> vec2f {
    let a = abs(x);
    let series = 1.0 + (0.278393 + (0.230389 + 0.078108 * (a * a)) * a) * a;
    let square = series * series;
    return sign(x) * (1.0 - 1.0 / (square * square));
}

// Part of a pixel that the box, its border or its shadow covers.
fn coverage(shape: Shape, at: vec2f) -> f32 {
    if shape.softness > 0.0 {
        return blurred(shape, at);
    }
    let outer = distance_to_box(at, shape.half, shape.radii_x, shape.radii_y);
    if (shape.flags & INVERTED) != 0u {
        return covered(shape, -outer);
    }
    let sides = shape.flags & SIDES;
    if sides == 0u {
        return covered(shape, outer);
    }
    let inner = distance_to_inside(shape, at);
    // Sides without width have no edge to smooth.
    let is_border = outer < inner - 1e-4 && (sides & sides_of(shape, at)) != 0u;
    return select(0.0, covered(shape, max(outer, -inner)), is_border);
}
