// Order-independent transparency: fragments of blended meshes in a list for each pixel (Yang et al. 2010, "Real-Time
// Concurrent Linked List Construction on the GPU"), which `oit_resolve.wgsl` sorts. See `order_independent_3d`.

import quadrille_3d::constants::{
    OIT_CAPACITY, OIT_COUNT, OIT_FIRST_HEAD, OIT_FIRST_NODE, OIT_NODE_WORDS, OIT_THRESHOLD, OIT_WIDTH,
};
import quadrille_3d::pbr::{VertexOutput, surface_color};

// All binding numbers are in use: this is also that of an image of prepasses, which shaders of standard materials do not read.
@group(0) @binding(14) var<storage, read_write> fragment_lists: array<atomic<u32>>;

// Depth is tested first, so that hidden fragments take no memory.
@fragment @early_depth_test(force)
fn fragment_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) {
    let color = surface_color(vertex_output, front_facing);
    let threshold = bitcast<f32>(atomicLoad(&fragment_lists[OIT_THRESHOLD]));
    if all(color < vec4f(threshold)) {
        return;
    }
    let number = atomicAdd(&fragment_lists[OIT_COUNT], 1u);
    if number >= atomicLoad(&fragment_lists[OIT_CAPACITY]) {
        return;
    }
    let pixel = vec2u(vertex_output.position.xy);
    let head = OIT_FIRST_HEAD + pixel.x + pixel.y * atomicLoad(&fragment_lists[OIT_WIDTH]);
    let node = atomicLoad(&fragment_lists[OIT_FIRST_NODE]) + number * OIT_NODE_WORDS;
    let next = atomicExchange(&fragment_lists[head], number);
    // Exchanged and not stored: no two fragments write a node, but synchronization validation takes atomic stores of two draws
    // to one buffer for a hazard.
    _ = atomicExchange(&fragment_lists[node], pack2x16float(color.rg));
    _ = atomicExchange(&fragment_lists[node + 1u], pack2x16float(color.ba));
    _ = atomicExchange(&fragment_lists[node + 2u], bitcast<u32>(vertex_output.position.z));
    _ = atomicExchange(&fragment_lists[node + 3u], next);
}
