// An image pass of the synthetic frame: one image from a buffer and another image.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var b: texture_2d<u32>;
@group(0) @binding(2) var c: texture_storage_2d<r32uint, write>;

@compute @workgroup_size(1)
fn main() {
    let value = 3u * a[0] + 5u * textureLoad(b, vec2u(0u), 0).r + 1u;
    textureStore(c, vec2u(0u), vec4u(value, 0u, 0u, 0u));
}
