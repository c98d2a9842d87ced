// Table rows that several shaders read.

// Vertex attributes of a mesh.
struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    // Both texture coordinates.
    @location(3) uvs: vec4f,
    // With the sign of the bitangent.
    @location(4) tangent: vec4f,
}

struct Instance {
    // Rows of the affine matrix from the mesh's space to the world's.
    world_from_local: array<vec4f, 3>,
    material: u32,
    flags: u32,
    // Margins of its visibility range, two half floats each; 0 for none (visibility_range.wgsl).
    range: vec2u,
}

struct ShadowView {
    clip_from_world: mat4x4f,
    // Left, top, width and height in fractions of the image; zeros for none.
    tile: vec4f,
    far: f32,
    blend: f32,
    texel_size: f32,
    unused: f32,
}

// World position of a point of the mesh.
fn to_world(instance: Instance, position: vec3f) -> vec3f {
    let local = vec4f(position, 1.0);
    return vec3f(
        dot(instance.world_from_local[0], local),
        dot(instance.world_from_local[1], local),
        dot(instance.world_from_local[2], local),
    );
}
