// Cross-fades of `VisibilityRange`, dithered.

import quadrille_3d::mesh_types::Instance;

// Dither levels from hidden to visible.
const DITHER_STEPS: f32 = 16.0;

// Bayer matrix of four by four pixels, from 0 to 15: by rows, a byte each.
const BAYER_MATRIX: vec4u = vec4u(0x0a020800u, 0x060e040cu, 0x09010b03u, 0x050d070fu);

// Dither level of a mesh for `eye`: 0 is visible; 16 and -16 are hidden, beyond its range and before.
// Levels between have opposite signs where one mesh replaces another, so that each pixel
// shows one of both.
fn visibility_range_dither_level(instance: Instance, eye: vec3f) -> i32 {
    if all(instance.range == vec2u(0u)) {
        return 0;
    }
    let start = unpack2x16float(instance.range.x);
    let end = unpack2x16float(instance.range.y);
    let instance_origin = vec3f(instance.world_from_local[0].w, instance.world_from_local[1].w, instance.world_from_local[2].w);
    let distance = length(eye - instance_origin);
    if distance >= end.x {
        return dither_steps(distance, end);
    }
    return dither_steps(distance, start) - i32(DITHER_STEPS);
}

// Whether `eye` is outside of the range; w is 0 if ranges do not apply.
fn is_outside_visibility_range(instance: Instance, eye: vec4f) -> bool {
    if eye.w == 0.0 || all(instance.range == vec2u(0u)) {
        return false;
    }
    let instance_origin = vec3f(instance.world_from_local[0].w, instance.world_from_local[1].w, instance.world_from_local[2].w);
    let distance = length(eye.xyz - instance_origin);
    let start = unpack2x16float(instance.range.x).x;
    let end = unpack2x16float(instance.range.y).y;
    return distance < start || distance >= end;
}

fn dither_steps(distance: f32, margin: vec2f) -> i32 {
    if distance >= margin.y {
        return i32(DITHER_STEPS);
    }
    if distance <= margin.x {
        return 0;
    }
    return i32(round((distance - margin.x) / (margin.y - margin.x) * DITHER_STEPS));
}

fn is_dithered_out(visibility_range_dither_level: i32, pixel: vec2f) -> bool {
    if visibility_range_dither_level == 0 {
        return false;
    }
    let at = vec2u(pixel) % 4u;
    let order = i32((BAYER_MATRIX[at.y] >> (at.x * 8u)) & 0xffu);
    let level = visibility_range_dither_level + order;
    if visibility_range_dither_level > 0 {
        return level >= i32(DITHER_STEPS);
    }
    return level < 0;
}
