// Points that pull at each other: work for a compute queue that nobody in the frame waits for.

var<immediate> sources: u32;
@group(0) @binding(0) var<storage, read> now: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> next: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let count = arrayLength(&now);
    if id.x >= count {
        return;
    }
    let here = now[id.x];
    var pull = vec3<f32>(0.0);
    for (var step = 1u; step <= sources; step++) {
        let away = now[(id.x + step * 97u) % count].xyz - here.xyz;
        pull += away / (dot(away, away) + 1.0);
    }
    let moved = here.xyz + pull * (0.01 / f32(sources));
    next[id.x] = vec4<f32>(moved, here.w);
}
