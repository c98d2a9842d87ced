// Streets along the lines of a square grid.

import bevy_pbr::render::{
    forward_io::{FragmentOutput, VertexOutput},
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
};

struct Streets {
    half: f32,
    pitch: f32,
}
@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> streets: Streets;

// Curb, lamp and lamp spacing in meters, as `lamps.rs` has them.
const CURB: f32 = 10.0;
const LAMP: f32 = 8.6;

fn line(at: f32, width: f32, spread: f32) -> f32 {
    return 1.0 - smoothstep(width - spread, width + spread, abs(at));
}

// Light of a lamp at a distance from the point below it.
fn pool(distance_squared: f32) -> f32 {
    let part = 1.0 / (1.0 + distance_squared / 26.0);
    return part * part;
}

// Paint on a street along y at x = 0: white lines; `along` is the distance to the next crossing street's middle.
fn paint(at: vec2f, along: f32, spread: vec2f) -> f32 {
    let is_open = step(CURB + 5.0, along);
    let dashes = line(at.x, 0.14, spread.x) * step(0.5, fract(at.y / 6.0));
    let lanes = line(abs(at.x) - 7.0, 0.1, spread.x);
    let crossing = step(CURB + 0.8, along) * step(along, CURB + 4.0) * step(0.45, fract(at.x / 1.4));
    return max((dashes + lanes) * is_open, crossing * step(abs(at.x), CURB - 1.0)) * step(abs(at.x), CURB);
}

@fragment
fn fragment(mesh: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var input = pbr_input_from_standard_material(mesh, is_front);
    let position = mesh.world_position.xz;
    let spread = clamp(fwidth(position), vec2f(0.02), vec2f(4.0));
    // To the nearest street along z (x) and along x (y); from one crossing to the next.
    let near = position - round(position / streets.pitch) * streets.pitch;
    let along = position - floor(position / streets.pitch) * streets.pitch;
    let is_city = step(max(abs(position.x), abs(position.y)), streets.half + CURB);

    let to_street = min(abs(near.x), abs(near.y));
    let is_street = step(to_street, CURB) * is_city;
    let curb = line(to_street - CURB, 0.2, max(spread.x, spread.y)) * is_city;
    let pavement = (1.0 - is_street) * step(to_street, CURB + 3.0) * is_city;
    let fade = 1.0 / (1.0 + 1.5 * max(spread.x, spread.y));
    let lines = max(paint(near, abs(near.y), spread), paint(near.yx, abs(near.x), spread.yx)) * is_city * fade;

    var base = mix(vec3f(0.075, 0.085, 0.08), vec3f(0.05, 0.054, 0.064), is_street);
    base = mix(base, vec3f(0.15, 0.15, 0.16), pavement);
    base = mix(base, vec3f(0.3, 0.3, 0.31), max(curb, 0.0) * 0.5);
    base = mix(base, vec3f(0.55, 0.56, 0.58), lines);

    // Two lamps of the street along z, two of that along x.
    let quarter = 0.25 * streets.pitch;
    let a = vec2f(near.x - LAMP, along.y - quarter);
    let b = vec2f(near.x + LAMP, along.y - 3.0 * quarter);
    let c = vec2f(near.y - LAMP, along.x - quarter);
    let d = vec2f(near.y + LAMP, along.x - 3.0 * quarter);
    let lamps = pool(dot(a, a)) + pool(dot(b, b)) + pool(dot(c, c)) + pool(dot(d, d));
    let glow = (7.0 * lamps + 0.30) * is_city * vec3f(1.0, 0.62, 0.28);

    input.material.base_color = vec4f(base, 1.0);
    input.material.perceptual_roughness = mix(0.9, 0.42, is_street);
    input.material.emissive = vec4f(base * glow, 0.0);
    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(input, apply_pbr_lighting(input));
    return out;
}
