// Light assignment: writes the masks of `clusters.wgsl`. See `cluster_3d`.
//
// A workgroup tests 1024 lights against one slice of one view; each of its threads writes a word of 32 of them.

import quadrille_3d::constants::{FIRST_SLICE_DEPTH, SLICES_PER_AXIS, SLICES_PER_OCTAVE, SPOT};
import quadrille_3d::clusters::words_per_slice;
import quadrille_3d::scene::{Light, View};

@group(0) @binding(0) var<storage, read> views: array<View>;
@group(0) @binding(1) var<storage, read> lights: array<Light>;
@group(0) @binding(2) var<storage, read_write> masks: array<u32>;

// Factor on the range of lights, for rounding.
const RANGE_MARGIN: f32 = 1.001;
// Upper bound of the range of lights.
const MAX_RANGE: f32 = 1e15;

var<workgroup> block: atomic<u32>;

@compute @workgroup_size(32)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let view = views[group.z];
    // Uniform within the workgroup.
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
    // Workgroup memory is zero-initialized.
    atomicOr(&block, u32(bits != 0u) << thread);
    workgroupBarrier();
    if thread == 0u {
        masks[first + view.mask_words + group.x] = atomicLoad(&block);
    }
}

// Bounding sphere of the lit volume of a light: center and radius.
fn bounding_sphere(light: Light) -> vec4f {
    let range = min(inverseSqrt(max(light.inverse_range_squared, 1e-30)), MAX_RANGE) * RANGE_MARGIN;
    if (light.bits & 3u) != SPOT {
        return vec4f(light.position_or_direction, range);
    }
    // Cosine of the outer angle.
    let edge = clamp(-light.cone_offset / light.cone_scale - 0.001, -1.0, 1.0);
    if edge > 0.70710678 {
        // Circumscribed sphere of the tip and the rim.
        let radius = range / (2.0 * edge);
        return vec4f(light.position_or_direction + light.axis * radius, radius);
    }
    if edge > 0.0 {
        // Sphere around the rim.
        return vec4f(light.position_or_direction + light.axis * (range * edge), range * sqrt(1.0 - edge * edge));
    }
    return vec4f(light.position_or_direction, range);
}

// Planes that bound a slice, as normals and distances.
struct SlicePlanes {
    low: vec4f,
    high: vec4f,
}

fn slice_planes(view: View, index: u32) -> SlicePlanes {
    let axis = index / SLICES_PER_AXIS;
    let number = index % SLICES_PER_AXIS;
    var slice = SlicePlanes(plane(view, axis, number), plane(view, axis, number + 1u));
    // The outermost slices are unbounded.
    if number == 0u {
        slice.low = vec4f(0.0, 0.0, 0.0, 2.0 * MAX_RANGE);
    }
    if number + 1u == SLICES_PER_AXIS {
        slice.high = vec4f(0.0, 0.0, 0.0, -2.0 * MAX_RANGE);
    }
    return slice;
}

// Lower plane of a slice: by depth, or through the view position.
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
