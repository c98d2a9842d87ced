// Table rows that several shaders read.

struct Instance {
    // Rows of the affine matrix from the mesh's space to the world's.
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
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
        dot(instance.row_x, local),
        dot(instance.row_y, local),
        dot(instance.row_z, local),
    );
}
