// Light masks of clusters: see `cluster_3d`.
//
// Lights of finite range are bits of words, by view. The view's frustum is cut into slices along
// each of three axes, and each slice has the bits of the lights that touch it: a light reaches only points
// whose three slices all have its bit. Lights keep their order.

import quadrille_3d::constants::{FIRST_SLICE_DEPTH, SLICES_PER_AXIS, SLICES_PER_OCTAVE};
import quadrille_3d::scene::View;

@group(0) @binding(10) var<storage, read> light_masks: array<u32>;

// Words of one slice: the bits of lights, then words whose bits tell which of those are not 0.
fn words_per_slice(view: View) -> u32 {
    return view.mask_words + view.mask_blocks;
}

// Returns the slices along the three axes that a point is in.
fn slices_at(view: View, world_position: vec3f) -> vec3u {
    let clip = view.clip_from_world * vec4f(world_position, 1.0);
    let across = (clip.xy / max(clip.w, 1e-30) * 0.5 + 0.5) * f32(SLICES_PER_AXIS);
    let depth = dot(view.forward, world_position - view.position);
    let depth_slice = log2(max(depth, FIRST_SLICE_DEPTH) / FIRST_SLICE_DEPTH) * SLICES_PER_OCTAVE;
    return vec3u(clamp(vec3f(across, depth_slice), vec3f(0.0), vec3f(f32(SLICES_PER_AXIS - 1u))));
}

// Returns the offsets of the masks of the three slices that a point is in.
fn slice_masks_at(view: View, world_position: vec3f) -> vec3u {
    let indices = slices_at(view, world_position) + vec3u(0u, SLICES_PER_AXIS, 2u * SLICES_PER_AXIS);
    return view.first_mask + indices * words_per_slice(view);
}
