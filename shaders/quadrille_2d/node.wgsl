// Draws the boxes of nodes: rounded corners, borders along their inside, shadows, with smooth
// edges. Places are in the pixels of a node, y up, its centre at the origin.

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
}

var<immediate> view: View;

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Of the instance: the columns of a 2x2 matrix from the node to the world.
    @location(3) axes: vec4f,
    // Where the node's centre is in the world, and half the size of the box.
    @location(4) origin_and_half: vec4f,
    // What is drawn, by three corners and what each shows of the image: of a rectangle the left top,
    // the right top and the left bottom, of a triangle all.
    @location(5) first: vec4f,
    @location(6) second: vec4f,
    @location(7) third: vec4f,
    // The radii of the corners along x and along y: left top, right top, right bottom, left bottom.
    @location(8) radii_x: vec4f,
    @location(9) radii_y: vec4f,
    // The widths of the border: left, top, right, bottom.
    @location(10) widths: vec4f,
    @location(11) tint: vec4f,
    // The sides of the border that are drawn, one bit each in the same order, 0 fills the box; and
    // half the width of the edge of a shadow, 0 for a sharp one.
    @location(12) sides_and_softness: vec2f,
}

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    // In the node.
    @location(1) at: vec2f,
    @location(2) @interpolate(flat) half: vec2f,
    @location(3) @interpolate(flat) radii_x: vec4f,
    @location(4) @interpolate(flat) radii_y: vec4f,
    @location(5) @interpolate(flat) widths: vec4f,
    @location(6) @interpolate(flat) tint: vec4f,
    @location(7) @interpolate(flat) sides_and_softness: vec2f,
    // Pixels of the target in one of the node.
    @location(8) @interpolate(flat) scale: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> Fragment {
    // What the fourth corner of a rectangle has of the second, along x, and of the third, along y.
    let fourth = vec4f(vertex.second.x, vertex.third.y, vertex.second.z, vertex.third.w);
    let is_right = vertex.uv.x > 0.5;
    let top = select(vertex.first, vertex.second, is_right);
    let bottom = select(vertex.third, fourth, is_right);
    let corner = select(top, bottom, vertex.uv.y > 0.5);
    let at = corner.xy;
    let axes = mat2x2f(vertex.axes.xy, vertex.axes.zw);
    let world = axes * at + vertex.origin_and_half.xy;
    var fragment: Fragment;
    fragment.position = view.clip_from_world * vec4f(world, 0.0, 1.0);
    fragment.uv = corner.zw;
    fragment.at = at;
    fragment.half = vertex.origin_and_half.zw;
    fragment.radii_x = vertex.radii_x;
    fragment.radii_y = vertex.radii_y;
    fragment.widths = vertex.widths;
    fragment.tint = vertex.tint * vertex.color;
    fragment.sides_and_softness = vertex.sides_and_softness;
    fragment.scale = sqrt(abs(determinant(axes)));
    return fragment;
}

// How far a place is outside a box around the origin; negative inside. At corners that are no
// circles it is the first order of the distance.
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
    let whole = length(from_center / radii);
    return whole * (whole - 1.0) / length(from_center / (radii * radii));
}

// Which part of a pixel lies inside an edge at this distance.
fn covered(fragment: Fragment, distance: f32) -> f32 {
    let softness = fragment.sides_and_softness.y;
    if softness > 0.0 {
        return 1.0 - smoothstep(-softness, softness, distance);
    }
    return clamp(0.5 - distance * fragment.scale, 0.0, 1.0);
}

// The bit of the side of the border that a place belongs to: sides meet where both are crossed to
// the same part.
fn side_of(fragment: Fragment) -> u32 {
    let at = fragment.at;
    let half = fragment.half;
    let inward = vec4f(at.x + half.x, half.y - at.y, half.x - at.x, at.y + half.y);
    var side = 0u;
    var least = 1e30;
    for (var i = 0u; i < 4u; i++) {
        let part = inward[i] / max(fragment.widths[i], 1e-6);
        if part < least {
            least = part;
            side = i;
        }
    }
    return 1u << side;
}

@fragment
fn fragment_main(fragment: Fragment) -> @location(0) vec4f {
    var color = textureSample(image, image_sampler, fragment.uv) * fragment.tint;
    let outer = distance_to_box(fragment.at, fragment.half, fragment.radii_x, fragment.radii_y);
    var coverage = covered(fragment, outer);
    let sides = u32(fragment.sides_and_softness.x);
    if sides != 0u {
        let widths = fragment.widths;
        let half = fragment.half - 0.5 * vec2f(widths.x + widths.z, widths.y + widths.w);
        let center = 0.5 * vec2f(widths.x - widths.z, widths.w - widths.y);
        let radii_x = max(fragment.radii_x - widths.xzzx, vec4f(0.0));
        let radii_y = max(fragment.radii_y - widths.yyww, vec4f(0.0));
        let inner = distance_to_box(fragment.at - center, half, radii_x, radii_y);
        coverage *= 1.0 - covered(fragment, inner);
        if (sides & side_of(fragment)) == 0u {
            coverage = 0.0;
        }
    }
    color.a *= coverage;
    return color;
}
