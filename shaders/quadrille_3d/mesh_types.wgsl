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
    // Size of the light for soft shadows; 0 without them.
    soft_size: f32,
}

fn normalize_or_zero(v: vec3f) -> vec3f {
    let square = dot(v, v);
    return select(vec3f(0.0), v * inverseSqrt(max(square, 1e-38)), square > 0.0);
}

// World normal, with the sign of the transform's determinant.
fn to_world_normal(instance: Instance, normal: vec3f) -> vec4f {
    // The cofactors are the inverse transpose up to the determinant, whose sign counts.
    let cofactor_x = cross(instance.world_from_local[1].xyz, instance.world_from_local[2].xyz);
    let cofactor_y = cross(instance.world_from_local[2].xyz, instance.world_from_local[0].xyz);
    let cofactor_z = cross(instance.world_from_local[0].xyz, instance.world_from_local[1].xyz);
    let turned = vec3f(dot(cofactor_x, normal), dot(cofactor_y, normal), dot(cofactor_z, normal));
    let side = select(1.0, -1.0, dot(instance.world_from_local[0].xyz, cofactor_x) < 0.0);
    return vec4f(normalize_or_zero(turned) * side, side);
}

// Whether the transform mirrors, which turns the winding of triangles.
fn is_mirrored(instance: Instance) -> bool {
    let axes = instance.world_from_local;
    return dot(axes[0].xyz, cross(axes[1].xyz, axes[2].xyz)) < 0.0;
}

// World tangent with the sign of the bitangent, which `side` of `to_world_normal` turns.
fn to_world_tangent(instance: Instance, tangent: vec4f, side: f32) -> vec4f {
    let world_tangent = vec3f(
        dot(instance.world_from_local[0].xyz, tangent.xyz),
        dot(instance.world_from_local[1].xyz, tangent.xyz),
        dot(instance.world_from_local[2].xyz, tangent.xyz),
    );
    return vec4f(normalize_or_zero(world_tangent), tangent.w * side);
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
