// Adds the number of live cells to a counter, which must hold zero before.

struct Count {
    // Words of the board.
    words: u32,
}

@group(0) @binding(0) var<storage, read> current: array<u32>;
@group(0) @binding(1) var<storage, read_write> population: atomic<u32>;
var<immediate> count: Count;

// Summing up within a workgroup first keeps all but one of its invocations off the counter.
var<workgroup> partial: atomic<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if id.x < count.words {
        let live = countOneBits(current[id.x]);
        if live != 0u {
            atomicAdd(&partial, live);
        }
    }
    workgroupBarrier();
    if local == 0u {
        let live = atomicLoad(&partial);
        if live != 0u {
            atomicAdd(&population, live);
        }
    }
}
