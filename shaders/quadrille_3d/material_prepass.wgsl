// Normals of materials with a vertex shader of their own, but without a fragment shader for prepasses: see `prepass_3d`.
// The location is that of `world_normal` in the outputs of the vertex shader.

@fragment
fn fragment(
    @if(PREPASS_PIPELINE) @location(2) world_normal: vec3f,
    @if(!PREPASS_PIPELINE) @location(1) world_normal: vec3f,
) -> @location(0) vec4f {
    let normal = world_normal * inverseSqrt(max(dot(world_normal, world_normal), 1e-38));
    return vec4f(normal * 0.5 + 0.5, 1.0);
}
