// Streets along the lines of a square grid, wet from rain: a film of water on rough asphalt, and puddles.
//
// Two stages: lit at once, with analytic reflections of lamps and shops, or into the G-buffer of cameras with
// `ScreenSpaceReflections`, whose rays find the real ones.

@if(DEFERRED_PREPASS) import bevy_pbr::{
    deferred::functions::deferred_output,
    prepass::io::{FragmentOutput, VertexOutput},
};
@if(!DEFERRED_PREPASS) import bevy_pbr::render::{
    forward_io::{FragmentOutput, VertexOutput},
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
};
import bevy_pbr::render::mesh_view_bindings::globals;
import bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material;

struct Streets {
    half: f32,
    pitch: f32,
    // Offset of the pattern of puddles in meters.
    shift: f32,
    // Strength of rain, from 0 to 1.
    rain: f32,
}
@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> streets: Streets;

// Curb, lamp, its height and walls of shops in meters, as `lamps.rs` and `city.rs` have them.
const CURB: f32 = 10.0;
const LAMP: f32 = 8.6;
const LAMP_HEIGHT: f32 = 7.2;
const WALL: f32 = 14.0;

const LAMP_COLOR: vec3f = vec3f(1.0, 0.62, 0.28);

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

// Number from 0 to below 1 for a cell of a grid.
fn hash(cell: vec2f, salt: u32) -> f32 {
    let at = bitcast<vec2u>(vec2i(cell));
    var bits = at.x * 0x9E3779B1u + at.y * 0x85EBCA77u + salt * 0xC2B2AE3Du;
    bits = (bits ^ (bits >> 15u)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12u)) * 0x297A2D39u;
    return f32((bits ^ (bits >> 15u)) >> 8u) / 16777216.0;
}

// Value noise from 0 to 1.
fn noise(at: vec2f, salt: u32) -> f32 {
    let cell = floor(at);
    let part = at - cell;
    let weight = part * part * (3.0 - 2.0 * part);
    let low = mix(hash(cell, salt), hash(cell + vec2f(1.0, 0.0), salt), weight.x);
    let high = mix(hash(cell + vec2f(0.0, 1.0), salt), hash(cell + 1.0, salt), weight.x);
    return mix(low, high, weight.y);
}

// Share of a puddle, more in gutters and wheel tracks. Puddles smaller than a pixel become their mean.
fn puddle_at(position: vec2f, to_middle: f32, spread: f32) -> f32 {
    let at = position + streets.shift;
    let large = noise(at / 8.3, 1u);
    let small = noise(vec2f(at.x + 0.6 * at.y, at.y - 0.6 * at.x) / 2.6, 2u);
    let gutter = smoothstep(CURB - 2.6, CURB - 0.2, to_middle);
    let track = line(abs(abs(to_middle - 3.6) - 0.9), 0.3, 0.3);
    let level = 0.7 * large + 0.3 * small + 0.14 * gutter + 0.03 * track + 0.04 * streets.rain;
    let edge = 0.03 + 0.08 * min(spread, 1.0);
    return mix(smoothstep(0.52 - edge, 0.52 + edge, level), 0.3, smoothstep(0.8, 3.0, spread));
}

// Tilt of water by rings around drops: in each cell one at a time.
fn ring(position: vec2f, salt: u32) -> vec2f {
    let cell = floor(position);
    let time = 1.3 * globals.time + hash(cell, salt);
    let turn = salt + 7u * (u32(time) & 1023u);
    let center = 0.3 + 0.4 * vec2f(hash(cell, turn), hash(cell, turn + 1u));
    let offset = position - cell - center;
    let distance = length(offset);
    let age = fract(time);
    let crest = (distance - 0.36 * age) / 0.05;
    return offset / max(distance, 0.001) * crest * exp(-crest * crest) * (1.0 - age);
}

// Color of a sign: magenta, cyan, amber or warm white.
fn sign_color(part: f32) -> vec3f {
    let pair = select(vec3f(1.0, 0.06, 0.5), vec3f(0.05, 0.75, 1.0), part > 0.3);
    let warm = select(vec3f(1.0, 0.5, 0.06), vec3f(1.0, 0.56, 0.2), part > 0.75);
    return select(pair, warm, part > 0.6);
}

// Part of a blurred point of light with an area in square meters at an offset from the reflected ray, which spreads to
// `blur` meters across the view and `stretched` along.
fn blurred(offset: vec2f, along: vec2f, blur: f32, stretched: f32, area: f32) -> f32 {
    let at = vec2f(dot(offset, vec2f(-along.y, along.x)) / blur, dot(offset, along) / stretched);
    return exp(-0.5 * dot(at, at)) * area / (area + 6.3 * blur * stretched);
}

// Ray from a point of a street that it mirrors.
struct MirrorRay {
    // Position from the middle of the street, which runs along y, and from the crossing before.
    start: vec2f,
    // Across the street, up, and along it.
    direction: vec3f,
    // Squared roughness.
    alpha: f32,
}

// Lamps of a street in its water.
fn mirrored_lamps(ray: MirrorRay) -> vec3f {
    let up = max(ray.direction.y, 0.02);
    let heading = normalize(ray.direction.xz + vec2f(1e-5));
    let reach = LAMP_HEIGHT / up;
    let at = ray.start + ray.direction.xz * reach;
    let quarter = 0.25 * streets.pitch;
    let next = at.y - floor(at.y / streets.pitch) * streets.pitch;
    let blur = 0.3 + 0.6 * ray.alpha * reach;
    let stretched = 0.3 + 0.6 * ray.alpha * reach / up;
    let lamps = blurred(vec2f(at.x - LAMP, next - quarter), heading, blur, stretched, 1.2)
        + blurred(vec2f(at.x + LAMP, next - 3.0 * quarter), heading, blur, stretched, 1.2);
    return 14.0 * lamps * LAMP_COLOR;
}

// Signs and windows of walls like those at a street in its water.
fn mirrored_walls(ray: MirrorRay) -> vec3f {
    let side = select(-1.0, 1.0, ray.direction.x > 0.0);
    let reach = (WALL - side * ray.start.x) / max(abs(ray.direction.x), 0.02);
    let height = reach * ray.direction.y;
    let along = ray.start.y + reach * ray.direction.z;
    let soft = 0.4 + ray.alpha * reach;
    // Signs above shops, in a color for each nine meters of wall.
    let off = (height - 3.4) / (0.5 + soft);
    let board = exp(-off * off) / (1.0 + soft);
    let shop = floor(along / 9.0) + 31.0 * side;
    let lit = 0.2 + 0.8 * hash(vec2f(shop, 0.0), 5u);
    let signs = 1.5 * lit * board * sign_color(hash(vec2f(shop, 1.0), 6u));
    // Windows above them.
    let pane = vec2f(along / 2.8, height / 3.1);
    let inner = abs(fract(pane) - 0.5);
    let edge = min(0.12 + 0.3 * soft, 1.0);
    let glass = 1.0 - smoothstep(vec2f(0.33 - edge), vec2f(0.33 + edge), inner);
    let is_lit = step(0.7, hash(floor(pane) + vec2f(0.0, 57.0 * side), 9u));
    let windows = 0.7 * is_lit * glass.x * glass.y * smoothstep(4.0, 5.0, height) * exp(-height / 25.0) / (1.0 + soft);
    return windows * LAMP_COLOR + signs;
}

@fragment
fn fragment(mesh: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var input = pbr_input_from_standard_material(mesh, is_front);
    let position = mesh.world_position.xz;
    let spread = clamp(fwidth(position), vec2f(0.02), vec2f(4.0));
    let widest = max(spread.x, spread.y);
    // To the nearest street along z (x) and along x (y); from one crossing to the next.
    let near = position - round(position / streets.pitch) * streets.pitch;
    let along = position - floor(position / streets.pitch) * streets.pitch;
    let is_city = step(max(abs(position.x), abs(position.y)), streets.half + CURB);

    let to_street = min(abs(near.x), abs(near.y));
    let is_street = step(to_street, CURB) * is_city;
    let curb = line(to_street - CURB, 0.2, widest) * is_city;
    let pavement = (1.0 - is_street) * step(to_street, CURB + 3.0) * is_city;
    let fade = 1.0 / (1.0 + 1.5 * widest);
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
    let glow = (7.0 * lamps + 0.30) * is_city * LAMP_COLOR;

    // Water fills the pores, which darkens asphalt, and lies smooth above it in puddles.
    let puddle = puddle_at(position, to_street, widest) * is_street;
    let film = is_street * (1.0 - puddle);
    let grain = noise(position * 1.7, 3u);
    let dark = 1.0 - (0.15 * film + 0.4 * puddle) * (1.0 - 0.6 * lines);
    let rough = mix(0.17 + 0.08 * grain + 0.08 * lines, 0.09, puddle);
    input.material.base_color = vec4f(base * dark, 1.0);
    input.material.perceptual_roughness = mix(mix(0.9, 0.5, pavement), rough, is_street);
    // More than water reflects, for the picture's sake: 8 % of film, 16 % of puddles.
    let reflectance = mix(0.5, mix(0.7, 1.0, puddle) - 0.3 * lines, is_street);
    input.material.reflectance = vec3f(reflectance);
    // Smooth water mirrors dark walls rather than the mean of all directions.
    input.diffuse_occlusion *= 1.0 - 0.6 * is_street;
    input.material.emissive = vec4f(base * dark * glow, 0.0);
    let detail = 1.0 - smoothstep(0.05, 0.16, widest);
    if streets.rain * detail * puddle > 0.0 {
        let tilt = ring(position / 0.9, 8u) + ring(position.yx / 0.7 + 0.37, 60u);
        input.N = normalize(input.N + 0.16 * streets.rain * detail * puddle * vec3f(tilt.x, 0.0, tilt.y));
    }
    let mirror = reflect(-input.V, input.N);
    let is_along_z = abs(near.x) < abs(near.y);
    let ray = MirrorRay(
        select(vec2f(near.y, along.x), vec2f(near.x, along.y), is_along_z),
        select(mirror.zyx, mirror, is_along_z),
        input.material.perceptual_roughness * input.material.perceptual_roughness,
    );
    let f0 = 0.16 * reflectance * reflectance;
    let grazing = 1.0 - saturate(dot(input.N, input.V));
    let smoothness = saturate(1.0 - 2.0 * input.material.perceptual_roughness);
    let fresnel = (f0 + (1.0 - f0) * pow(grazing, 5.0) * smoothness) * is_street;
    @if(DEFERRED_PREPASS) {
        // Rays of `ScreenSpaceReflections` find lamps in puddles; in the film these would be noise.
        input.material.emissive += vec4f(mirrored_lamps(ray) * fresnel * film, 0.0);
        return deferred_output(mesh, input);
    }
    @else {
        input.material.emissive += vec4f((mirrored_lamps(ray) + mirrored_walls(ray)) * fresnel, 0.0);
        var out: FragmentOutput;
        out.color = main_pass_post_lighting_processing(input, apply_pbr_lighting(input));
        return out;
    }
}
