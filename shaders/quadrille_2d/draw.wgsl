// Draws instances of meshes: sprites are instances of a quad, glyphs as well.

struct View {
    // From world space to clip space, y up.
    clip_from_world: mat4x4f,
}

var<immediate> view: View;

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    // Rows of the instance's affine matrix from local space to world space.
    @location(3) world_from_local_0: vec4f,
    @location(4) world_from_local_1: vec4f,
    @location(5) world_from_local_2: vec4f,
    // The columns of a 2x2 matrix, then a translation, from the mesh's uv to the image's.
    @location(6) uv_axes: vec4f,
    @location(7) uv_translation: vec2f,
    @location(8) tint: vec4f,
    // Below 0: opaque. Up to 1: a mask with this threshold. Above: blend.
    @location(9) alpha_mode: f32,
}

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    @location(1) color: vec4f,
    @location(2) @interpolate(flat) alpha_mode: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let local = vec4f(vertex.position, 1.0);
    let world = vec3f(
        dot(vertex.world_from_local_0, local),
        dot(vertex.world_from_local_1, local),
        dot(vertex.world_from_local_2, local),
    );
    let clip = view.clip_from_world * vec4f(world, 1.0);
    let uv = mat2x2f(vertex.uv_axes.xy, vertex.uv_axes.zw) * vertex.uv + vertex.uv_translation;
    return VertexOutput(clip, uv, vertex.color * vertex.tint, vertex.alpha_mode);
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
