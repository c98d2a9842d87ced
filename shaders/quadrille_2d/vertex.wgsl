// Vertices of 2D: meshes and sprites with their instances, and the view and transforms that tiles and nodes share with
// them.

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
    // First word of the vertex with index 0 in the mesh's attributes of programs.
    attribute_base: u32,
}

var<immediate> view: View;

struct Instance {
    // Rows of the affine matrix from local space to world space.
    world_from_local: array<vec4f, 3>,
    // Columns of a 2x2 matrix from the mesh's uv to the image's.
    uv_axes: vec4f,
    tint: vec4f,
    // Translation from the mesh's uv to the image's.
    uv_translation: vec2f,
    // Below 0: opaque. Up to 1: a mask with this threshold. Above: blend.
    alpha_mode: f32,
    // Row of the material, for shaders of materials.
    material: u32,
}

@group(0) @binding(2) var<storage, read> instances: array<Instance>;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Index of the instance, from the draw order.
    @location(3) instance: u32,
}

// Transforms a point by the rows of an affine matrix.
fn to_world(world_from_local: array<vec4f, 3>, point: vec3f) -> vec3f {
    let local = vec4f(point, 1.0);
    return vec3f(
        dot(world_from_local[0], local),
        dot(world_from_local[1], local),
        dot(world_from_local[2], local),
    );
}

fn to_clip(world: vec3f) -> vec4f {
    return view.clip_from_world * vec4f(world, 1.0);
}

// Texture coordinates of an instance's image.
fn image_uv(instance: Instance, uv: vec2f) -> vec2f {
    return mat2x2f(instance.uv_axes.xy, instance.uv_axes.zw) * uv + instance.uv_translation;
}

// Applies an alpha mode to the color of a fragment, which it may discard.
fn apply_alpha_mode(color: vec4f, alpha_mode: f32) -> vec4f {
    if alpha_mode > 1.0 {
        return color;
    }
    if color.a < alpha_mode {
        discard;
    }
    return vec4f(color.rgb, 1.0);
}
