// Skybox: a cube around the view. See `skybox_3d`.

enable wgpu_binding_array;

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::display::display_transform;

// Output is display-referred.
override MAPS_TONES: bool = false;

struct Push {
    // From clip space to the cube's space.
    cube_from_clip: mat4x4f,
    // Includes the camera's exposure.
    brightness: f32,
    // Index in the table of cubes.
    cube: u32,
    unused: vec2u,
}

@group(1) @binding(0) var samplers: binding_array<sampler>;
@group(1) @binding(1) var cubes: binding_array<texture_cube<f32>>;

var<immediate> push: Push;

struct VertexOutput {
    @builtin(position) position: vec4f,
    @location(0) clip: vec2f,
}

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> VertexOutput {
    let clip = vec2f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0);
    // Depth 0 is infinitely far.
    return VertexOutput(vec4f(clip, 0.0, 1.0), clip);
}

@fragment
fn fragment_main(vertex_output: VertexOutput) -> @location(0) vec4f {
    let near = push.cube_from_clip * vec4f(vertex_output.clip, 1.0, 1.0);
    // Cubes are left-handed.
    let direction = normalize(near.xyz / near.w) * vec3f(1.0, 1.0, -1.0);
    let color = textureSample(cubes[push.cube], samplers[0], direction).rgb;
    let radiance = clamp(color * push.brightness, vec3f(0.0), vec3f(MAX_RADIANCE));
    if MAPS_TONES {
        return vec4f(display_transform(radiance, vertex_output.position.xy), 1.0);
    }
    return vec4f(radiance, 1.0);
}
