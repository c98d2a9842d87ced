// Hash functions for noise.

// Hash of three numbers (`pcg3d`, Jarzynski and Olano 2020, "Hash Functions for GPU Rendering").
fn pcg3d(input: vec3u) -> vec3u {
    var v = input * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> vec3u(16u);
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return v;
}
