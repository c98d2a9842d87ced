// Normals and motion of materials with a vertex shader of their own, but without a fragment shader for prepasses: see
// `prepass_3d`. The locations are those of the outputs of vertex shaders. A vertex shader of the main pass has no previous
// position: its vertices move with their instance.

@if(MOTION_VECTOR_PREPASS) import quadrille_3d::motion_vectors::motion_vector;
@if(MOTION_VECTOR_PREPASS && !PREPASS_PIPELINE) import quadrille_3d::motion_vectors::previous_rigid_position;
@if(MOTION_VECTOR_PREPASS && !PREPASS_PIPELINE) import quadrille_3d::scene::{instances, visible_instances};

struct SurfaceInput {
    @if(NORMAL_PREPASS && PREPASS_PIPELINE) @location(2) world_normal: vec3f,
    @if(NORMAL_PREPASS && !PREPASS_PIPELINE) @location(1) world_normal: vec3f,
    @if(MOTION_VECTOR_PREPASS && PREPASS_PIPELINE) @location(4) world_position: vec4f,
    @if(MOTION_VECTOR_PREPASS && PREPASS_PIPELINE) @location(5) previous_world_position: vec4f,
    @if(MOTION_VECTOR_PREPASS && !PREPASS_PIPELINE) @location(0) world_position: vec4f,
    @if(MOTION_VECTOR_PREPASS && !PREPASS_PIPELINE) @location(6) @interpolate(flat) instance_index: u32,
}

struct PrepassOutput {
    @if(NORMAL_PREPASS) @location(0) normal: vec4f,
    @if(NORMAL_PREPASS && MOTION_VECTOR_PREPASS) @location(1) motion_vector: vec2f,
    @if(!NORMAL_PREPASS && MOTION_VECTOR_PREPASS) @location(0) motion_vector: vec2f,
}

@if(MOTION_VECTOR_PREPASS && PREPASS_PIPELINE)
fn previous_position(in: SurfaceInput) -> vec4f {
    return in.previous_world_position;
}

@if(MOTION_VECTOR_PREPASS && !PREPASS_PIPELINE)
fn previous_position(in: SurfaceInput) -> vec4f {
    let instance = visible_instances[in.instance_index];
    return previous_rigid_position(instance, instances[instance], in.world_position.xyz);
}

@fragment
fn fragment(in: SurfaceInput) -> PrepassOutput {
    var out: PrepassOutput;
    @if(NORMAL_PREPASS) {
        let normal = in.world_normal * inverseSqrt(max(dot(in.world_normal, in.world_normal), 1e-38));
        out.normal = vec4f(normal * 0.5 + 0.5, 1.0);
    }
    @if(MOTION_VECTOR_PREPASS) {
        out.motion_vector = motion_vector(in.world_position, previous_position(in));
    }
    return out;
}
