// Inputs and outputs of the shaders that draw materials in prepasses and to shadow maps, with the names of bevy's module `prepass::io`.

// Inputs of a vertex, with the locations of bevy's prepass.
struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @if(MOTION_VECTOR_PREPASS) @builtin(vertex_index) vertex_index: u32,
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    @location(2) uv_b: vec2f,
    @location(3) normal: vec3f,
    @location(4) tangent: vec4f,
    @location(7) color: vec4f,
}

struct VertexOutput {
    @invariant @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
    @location(1) uv_b: vec2f,
    @location(2) world_normal: vec3f,
    @location(3) world_tangent: vec4f,
    @location(4) world_position: vec4f,
    // In the previous frame.
    @if(MOTION_VECTOR_PREPASS) @location(5) previous_world_position: vec4f,
    @location(7) @interpolate(flat) instance_index: u32,
    @location(8) color: vec4f,
    @location(9) @interpolate(flat) visibility_range_dither: i32,
}

// Outputs of a fragment in prepasses that write more than depth.
@if(PREPASS_FRAGMENT)
struct FragmentOutput {
    // World normal: half of each component plus a half, and alpha 1.
    @if(NORMAL_PREPASS) @location(0) normal: vec4f,
    // Motion since the previous frame in texture coordinates.
    @if(MOTION_VECTOR_PREPASS && NORMAL_PREPASS) @location(1) motion_vector: vec2f,
    @if(MOTION_VECTOR_PREPASS && !NORMAL_PREPASS) @location(0) motion_vector: vec2f,
    // Texel of the G-buffer.
    @if(DEFERRED_PREPASS && NORMAL_PREPASS && MOTION_VECTOR_PREPASS) @location(2) deferred: vec4u,
    @if(DEFERRED_PREPASS && NORMAL_PREPASS && !MOTION_VECTOR_PREPASS) @location(1) deferred: vec4u,
    @if(DEFERRED_PREPASS && !NORMAL_PREPASS && MOTION_VECTOR_PREPASS) @location(1) deferred: vec4u,
    @if(DEFERRED_PREPASS && !NORMAL_PREPASS && !MOTION_VECTOR_PREPASS) @location(0) deferred: vec4u,
}

// Vertices are not compressed.
alias UncompressedVertex = Vertex;

fn decompress_vertex(vertex_in: Vertex, instance_index: u32) -> UncompressedVertex {
    return vertex_in;
}
