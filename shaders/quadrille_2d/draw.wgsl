// Draws instances of meshes: sprites are instances of a quad, glyphs as well.

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
}

var<immediate> view: View;

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

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
    padding: f32,
}

@group(0) @binding(2) var<storage, read> instances: array<Instance>;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Index of the instance, from the draw order.
    @location(3) instance: u32,
}

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    @location(1) color: vec4f,
    @location(2) @interpolate(flat) alpha_mode: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let instance = instances[vertex.instance];
    let local = vec4f(vertex.position, 1.0);
    let world = vec3f(
        dot(instance.world_from_local[0], local),
        dot(instance.world_from_local[1], local),
        dot(instance.world_from_local[2], local),
    );
    let clip = view.clip_from_world * vec4f(world, 1.0);
    let uv = mat2x2f(instance.uv_axes.xy, instance.uv_axes.zw) * vertex.uv + instance.uv_translation;
    return VertexOutput(clip, uv, vertex.color * instance.tint, instance.alpha_mode);
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    var color = textureSample(image, image_sampler, fragment.uv) * fragment.color;
    if fragment.alpha_mode < 0.0 {
        color.a = 1.0;
    } else if fragment.alpha_mode <= 1.0 {
        if color.a < fragment.alpha_mode {
            discard;
        }
        color.a = 1.0;
    }
    return color;
}
