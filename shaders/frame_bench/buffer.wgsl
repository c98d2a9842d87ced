// A buffer pass of the synthetic frame: one buffer from two others.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;

@compute @workgroup_size(1)
fn main() {
    c[0] = 3u * a[0] + 5u * b[0] + 1u;
}
