// The bits of `clusters.wgsl`: see `cluster_3d`.
//
// A workgroup looks at 1024 lights of one slab of one view; each of its threads makes a word of 32 of them.

import quadrille_3d::clusters::{FIRST_SLICE_DEPTH, SLICES_PER_OCTAVE, SLICES_PER_AXIS, words_per_slice};
import quadrille_3d::scene::{Light, SPOT, View};

@group(0) @binding(0) var<storage, read> views: array<View>;
@group(0) @binding(1) var<storage, read> lights: array<Light>;
@group(0) @binding(2) var<storage, read_write> masks: array<u32>;

// So far lights reach beyond what they light by formula: numbers are rounded.
const RANGE_MARGIN: f32 = 1.001;
// Further than that no light reaches.
const MAX_RANGE: f32 = 1e15;

var<workgroup> block: atomic<u32>;

@compute @workgroup_size(32)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let view = views[group.z];
    // The same for all threads of the group.
    if group.x >= view.mask_blocks {
        return;
    }
    let slice = slice_planes(view, group.y);
    let first = view.first_mask + group.y * words_per_slice(view);
    let word = group.x * 32u + thread;
    var bits = 0u;
    if word < view.mask_words {
        let count = view.light_count - view.directional_count;
        let end = min(count, word * 32u + 32u);
        for (var number = word * 32u; number < end; number++) {
            let light = lights[view.first_light + view.directional_count + number];
            bits |= u32(intersects(slice, bounding_sphere(light))) << (number & 31u);
        }
        masks[first + word] = bits;
    }
    // Workgroup memory begins as zeros.
    atomicOr(&block, u32(bits != 0u) << thread);
    workgroupBarrier();
    if thread == 0u {
        masks[first + view.mask_words + group.x] = atomicLoad(&block);
    }
}

// A sphere around all that a light lights: its middle and its radius.
fn bounding_sphere(light: Light) -> vec4f {
    let range = min(inverseSqrt(max(light.inverse_range_squared, 1e-30)), MAX_RANGE) * RANGE_MARGIN;
    if (light.bits & 3u) != SPOT {
        return vec4f(light.position_or_direction, range);
    }
    // The cosine of the angle where the cone ends.
    let edge = clamp(-light.cone_offset / light.cone_scale - 0.001, -1.0, 1.0);
    if edge > 0.70710678 {
        // Through the tip and the rim.
        let radius = range / (2.0 * edge);
        return vec4f(light.position_or_direction + light.axis * radius, radius);
    }
    if edge > 0.0 {
        // Around the rim.
        return vec4f(light.position_or_direction + light.axis * (range * edge), range * sqrt(1.0 - edge * edge));
    }
    return vec4f(light.position_or_direction, range);
}

// The two planes that a slab lies between, as normals and distances.
struct SlicePlanes {
    low: vec4f,
    high: vec4f,
}

fn slice_planes(view: View, index: u32) -> SlicePlanes {
    let axis = index / SLICES_PER_AXIS;
    let number = index % SLICES_PER_AXIS;
    var slice = SlicePlanes(plane(view, axis, number), plane(view, axis, number + 1u));
    // The outer ones have no end.
    if number == 0u {
        slice.low = vec4f(0.0, 0.0, 0.0, 2.0 * MAX_RANGE);
    }
    if number + 1u == SLICES_PER_AXIS {
        slice.high = vec4f(0.0, 0.0, 0.0, -2.0 * MAX_RANGE);
    }
    return slice;
}

// Where a slab begins: across the picture a plane through the eye.
fn plane(view: View, axis: u32, number: u32) -> vec4f {
    if axis == 2u {
        let depth = FIRST_SLICE_DEPTH * exp2(f32(number) / SLICES_PER_OCTAVE);
        return vec4f(view.forward, -dot(view.forward, view.position) - depth);
    }
    let rows = transpose(view.clip_from_world);
    let across = f32(number) / f32(SLICES_PER_AXIS) * 2.0 - 1.0;
    let both = rows[axis] - across * rows[3];
    return both * inverseSqrt(max(dot(both.xyz, both.xyz), 1e-30));
}

fn intersects(slice: SlicePlanes, sphere: vec4f) -> bool {
    let center = vec4f(sphere.xyz, 1.0);
    return dot(slice.low, center) >= -sphere.w && dot(slice.high, center) <= sphere.w;
}
