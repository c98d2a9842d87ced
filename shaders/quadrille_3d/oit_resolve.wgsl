// Blending of the fragments that `oit.wgsl` listed, nearest first. See `order_independent_3d`.

import quadrille_3d::constants::{
    OIT_END, OIT_FEW_SORTED, OIT_FIRST_HEAD, OIT_FIRST_NODE, OIT_MAX_SORTED, OIT_NODE_WORDS, OIT_WIDTH,
};

// Each invocation has an array of this length, which WGSL fills with zeros.
@if(MANY_SORTED)
const CAPACITY: u32 = OIT_MAX_SORTED;
@if(!MANY_SORTED)
const CAPACITY: u32 = OIT_FEW_SORTED;

struct Fragment {
    // Reversed: 1 is near.
    depth: f32,
    // Half floats: red and green, blue and alpha, premultiplied.
    color: vec2u,
}

@group(0) @binding(0) var<storage, read> fragment_lists: array<u32>;

// Number of fragments that are sorted, at most `CAPACITY`.
var<immediate> sorted_count: u32;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Color over another one, both premultiplied.
fn over(front: vec4f, back: vec4f) -> vec4f {
    return front + (1.0 - front.a) * back;
}

fn unpacked(color: vec2u) -> vec4f {
    return vec4f(unpack2x16float(color.x), unpack2x16float(color.y));
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let pixel = vec2u(position.xy);
    var number = fragment_lists[OIT_FIRST_HEAD + pixel.x + pixel.y * fragment_lists[OIT_WIDTH]];
    if number == OIT_END {
        discard;
    }
    let first_node = fragment_lists[OIT_FIRST_NODE];
    // Nearest first. Meshes are drawn back to front, so lists begin with the nearest ones as well.
    var sorted: array<Fragment, CAPACITY>;
    var count = 0u;
    var behind = vec4f(0.0);
    while number != OIT_END {
        let node = first_node + number * OIT_NODE_WORDS;
        var fragment = Fragment(
            bitcast<f32>(fragment_lists[node + 2u]),
            vec2u(fragment_lists[node], fragment_lists[node + 1u]),
        );
        number = fragment_lists[node + 3u];
        if count == sorted_count {
            let last = sorted[count - 1u];
            if last.depth >= fragment.depth {
                behind = over(behind, unpacked(fragment.color));
                continue;
            }
            behind = over(unpacked(last.color), behind);
            count -= 1u;
        }
        var at = count;
        while at > 0u && sorted[at - 1u].depth < fragment.depth {
            sorted[at] = sorted[at - 1u];
            at -= 1u;
        }
        sorted[at] = fragment;
        count += 1u;
    }
    var color = vec4f(0.0);
    for (var at = 0u; at < count; at++) {
        color = over(color, unpacked(sorted[at].color));
    }
    return over(color, behind);
}
