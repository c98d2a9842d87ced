// Which lights may reach a place: see `cluster_3d`.
//
// The lights of a view that end somewhere are bits of words. The view's frustum is cut into slabs along
// each of three axes, and each slab has the bits of the lights that touch it: what is lit by a light is in
// three of its slabs. Lights keep their order.

import quadrille_3d::scene::View;

@group(0) @binding(10) var<storage, read> light_masks: array<u32>;

// Slabs along each axis.
const SLABS: u32 = 64u;

// Slabs of depth begin at this distance and are so many for each doubling of it.
const NEAREST: f32 = 0.1;
const PER_DOUBLING: f32 = 4.0;

// The bits of one slab: words of lights, behind them words whose bits tell which of those are not 0.
fn words_of_slab(view: View) -> u32 {
    return view.mask_words + view.mask_blocks;
}

// Where the bits of the three slabs begin that a place is in.
fn slabs_at(view: View, world: vec3f) -> vec3u {
    let clip = view.clip_from_world * vec4f(world, 1.0);
    let across = (clip.xy / max(clip.w, 1e-30) * 0.5 + 0.5) * f32(SLABS);
    let depth = dot(view.forward, world - view.position);
    let deep = log2(max(depth, NEAREST) / NEAREST) * PER_DOUBLING;
    let slab = vec3u(clamp(vec3f(across, deep), vec3f(0.0), vec3f(f32(SLABS - 1u))));
    let places = slab + vec3u(0u, SLABS, 2u * SLABS);
    return view.first_mask + places * words_of_slab(view);
}
