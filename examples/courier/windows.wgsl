// Windows on the walls of a scaled unit cube that is not turned.

import bevy_pbr::render::{
    forward_io::{FragmentOutput, VertexOutput},
    mesh_functions::get_world_from_local,
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
};

struct Windows {
    warm: vec4f,
    cool: vec4f,
    width: f32,
    story: f32,
    share: f32,
    rows: f32,
}
@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> windows: Windows;

fn hash(a: u32, b: u32, c: u32) -> u32 {
    var bits = a * 0x9E3779B1u + b * 0x85EBCA77u + c * 0xC2B2AE3Du;
    bits = (bits ^ (bits >> 15u)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12u)) * 0x297A2D39u;
    return bits ^ (bits >> 15u);
}

fn unit(bits: u32) -> f32 {
    return f32(bits >> 8u) / 16777216.0;
}

// Color of a sign: magenta, cyan, amber or red.
fn neon(part: f32) -> vec3f {
    let pair = select(vec3f(1.0, 0.06, 0.5), vec3f(0.05, 0.75, 1.0), part > 0.36);
    let warm = select(vec3f(1.0, 0.5, 0.06), vec3f(1.0, 0.1, 0.06), part > 0.9);
    return select(pair, warm, part > 0.7);
}

// Part of a pixel within `low` and `high` of a cell.
fn inside(at: vec2f, low: vec2f, high: vec2f, spread: vec2f) -> f32 {
    let edge = smoothstep(low - spread, low + spread, at) * (1.0 - smoothstep(high - spread, high + spread, at));
    return edge.x * edge.y;
}

@fragment
fn fragment(mesh: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var input = pbr_input_from_standard_material(mesh, is_front);
    let model = get_world_from_local(mesh.instance_index);
    let size = vec3f(model[0].x, model[1].y, model[2].z);
    let local = mesh.world_position.xyz - model[3].xyz;
    let altitude = mesh.world_position.y;

    let faces_x = abs(mesh.world_normal.x) > 0.5;
    let length = select(size.x, size.z, faces_x);
    let cells = max(floor(vec2f(length / windows.width, size.y / windows.story)), vec2f(1.0));
    let at = vec2f(select(local.x, local.z, faces_x) / length, local.y / size.y) + 0.5;
    let cell = at * cells;
    let spread = min(fwidth(cell), vec2f(0.5));
    let id = vec2u(clamp(floor(cell), vec2f(0.0), cells - 1.0));

    let side = select(0u, 1u, faces_x) + select(0u, 2u, mesh.world_normal.x + mesh.world_normal.z > 0.0);
    let building = hash(bitcast<u32>(i32(model[3].x)), bitcast<u32>(i32(model[3].z)), u32(model[3].y));
    let bits = hash(building + side, id.x, id.y);
    let row = hash(building + 17u, id.y, 3u);

    let is_wall = abs(mesh.world_normal.y) < 0.5;
    let is_shop = altitude < 4.2;
    // A few buildings are dark, a few are busy.
    let share = windows.share * (0.3 + 1.4 * unit(building));
    let is_lit = unit(bits) < share || unit(row) < windows.rows;
    let bright = 0.25 + 0.75 * unit(bits * 7u + 1u);
    let tint = select(windows.warm.rgb, windows.cool.rgb, unit(bits * 13u + 5u) > 0.72);
    let glass = inside(fract(cell), vec2f(0.16, 0.2), vec2f(0.84, 0.8), spread);
    // Windows smaller than a pixel become their mean.
    let far = smoothstep(0.3, 0.5, max(spread.x, spread.y));
    let mean = 0.27 * (share + windows.rows) * windows.warm.rgb;
    // A lamp at the ceiling, now and then a curtain.
    let inner = fract(cell);
    let shade = mix(0.55, 1.15, inner.y) * select(1.0, 0.5, unit(bits * 3u) > 0.6 && inner.x > 0.55);
    var light = mix(select(0.0, glass * bright * shade, is_lit) * tint, mean, far);

    if is_shop {
        let is_open = unit(bits) < 0.6;
        let sign = neon(unit(hash(building, id.x / 5u, side)));
        let board = smoothstep(3.1, 3.3, altitude) * step(altitude, 3.9);
        light = glass * windows.warm.rgb * select(0.06, 0.55, is_open) * (1.0 - board) + board * sign * 0.8;
    }
    // A line of light around the top of some towers.
    let top = altitude - model[3].y;
    if size.y + model[3].y > 60.0 && unit(building * 3u) < 0.2 && top > 0.5 * size.y - 0.9 {
        light = 1.8 * neon(unit(building * 5u));
    }
    // Light of the streets on the lower walls.
    let street = 0.45 * exp(-0.14 * altitude) * vec3f(1.0, 0.6, 0.3) * input.material.base_color.rgb;
    if is_wall {
        input.material.perceptual_roughness = mix(input.material.perceptual_roughness, 0.2, glass * (1.0 - far));
        input.material.base_color = vec4f(input.material.base_color.rgb * (1.0 - 0.55 * glass), 1.0);
        input.material.emissive = vec4f(1.7 * light + street, 0.0);
    } else {
        input.material.base_color = vec4f(0.6 * input.material.base_color.rgb, 1.0);
    }
    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(input, apply_pbr_lighting(input));
    return out;
}
