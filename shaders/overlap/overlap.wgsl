// Three panels that have a palette in common, and nothing else.

import overlap::constants::{HEIGHT, WIDTH};

struct Constants {
    // Seconds of the animation.
    time: f32,
    // Steps that each texel of a panel takes.
    steps: u32,
}

@group(0) @binding(0) var palette: texture_2d<f32>;
@group(0) @binding(1) var palette_sampler: sampler;
@group(0) @binding(2) var<storage, read_write> panel: array<vec4f>;
@group(0) @binding(3) var backdrop: texture_2d<f32>;
@group(0) @binding(4) var<storage, read> left: array<vec4f>;
@group(0) @binding(5) var<storage, read> right: array<vec4f>;
var<immediate> constants: Constants;

struct Corner {
    @builtin(position) position: vec4f,
    // From (0, 0) top left to (1, 1) bottom right.
    @location(0) uv: vec2f,
}

// A triangle that covers the picture.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    let uv = vec2f(corner.x * 2.0, 1.0 - corner.y * 2.0);
    return Corner(vec4f(corner * 4.0 - 1.0, 0.0, 1.0), uv);
}

// Colors that go round with the time.
@fragment
fn paint(corner: Corner) -> @location(0) vec4f {
    let phase = corner.uv.x * 6.2832 + constants.time;
    return vec4f(0.5 + 0.5 * cos(phase + vec3f(0.0, 2.1, 4.2)), 1.0);
}

fn color(at: f32) -> vec4f {
    return textureSampleLevel(palette, palette_sampler, vec2f(fract(at), 0.5), 0.0);
}

// How long a point stays near the middle when it is squared and moved again and again.
fn julia(start: vec2f, by: vec2f, steps: u32) -> f32 {
    var at = start;
    var stayed = 0u;
    for (var step = 0u; step < steps; step++) {
        at = vec2f(at.x * at.x - at.y * at.y, 2.0 * at.x * at.y) + by;
        // Far away it goes on, so that all texels cost the same.
        let near = dot(at, at) < 4.0;
        stayed += select(0u, 1u, near);
        at = select(vec2f(9.0), at, near);
    }
    return f32(min(stayed, 64u)) / 24.0;
}

fn place(id: vec3u) -> vec2f {
    return (vec2f(id.xy) / vec2f(f32(WIDTH), f32(HEIGHT)) - 0.5) * vec2f(3.4, 1.9);
}

@compute @workgroup_size(8, 8)
fn dragon(@builtin(global_invocation_id) id: vec3u) {
    let by = vec2f(-0.8, 0.156) + 0.02 * vec2f(cos(constants.time), sin(constants.time));
    panel[id.y * WIDTH + id.x] = color(julia(place(id), by, constants.steps));
}

@compute @workgroup_size(8, 8)
fn rabbit(@builtin(global_invocation_id) id: vec3u) {
    let by = vec2f(-0.123, 0.745) + 0.02 * vec2f(sin(constants.time), cos(constants.time));
    panel[id.y * WIDTH + id.x] = color(julia(place(id), by, constants.steps));
}

@fragment
fn sky(corner: Corner) -> @location(0) vec4f {
    let by = vec2f(0.285, 0.01 + 0.01 * sin(constants.time));
    return 0.4 * color(julia((corner.uv - 0.5) * 3.0, by, constants.steps / 4u));
}

fn texel(uv: vec2f) -> u32 {
    let at = vec2u(clamp(uv, vec2f(0.0), vec2f(0.999)) * vec2f(f32(WIDTH), f32(HEIGHT)));
    return at.y * WIDTH + at.x;
}

// The panels beside each other before the sky.
@fragment
fn show(corner: Corner) -> @location(0) vec4f {
    let uv = corner.uv;
    let in_panel = (uv - vec2f(0.04 + 0.48 * floor(uv.x * 2.0), 0.15)) / vec2f(0.44, 0.7);
    if (all(in_panel > vec2f(0.0)) && all(in_panel < vec2f(1.0))) {
        if (uv.x < 0.5) {
            return left[texel(in_panel)];
        }
        return right[texel(in_panel)];
    }
    return textureSampleLevel(backdrop, palette_sampler, uv, 0.0);
}
