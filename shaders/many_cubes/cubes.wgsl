// Cubes without vertex buffers: for the shadow maps, and lit for the picture.

enable wgpu_binding_array;

import many_cubes::constants::{CASCADES, MATERIALS};

struct Views {
    camera: mat4x4<f32>,
    lights: array<mat4x4<f32>, CASCADES>,
    towards_light: vec3<f32>,
}

struct Lit {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) in_near: vec3<f32>,
    @location(4) in_far: vec3<f32>,
    @location(5) @interpolate(flat) material: u32,
}

@group(0) @binding(0) var<uniform> views: Views;
@group(0) @binding(1) var<storage, read> cubes: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> visible: array<u32>;
@group(0) @binding(3) var shadow: texture_depth_2d_array;
@group(1) @binding(0) var smooth_sampler: sampler;
@group(1) @binding(1) var materials: binding_array<texture_2d<f32>>;

struct Corner {
    position: vec3<f32>,
    normal: vec3<f32>,
    uv: vec2<f32>,
}

// One of the 24 corners of a cube of size 1: four of each face.
fn corner(index: u32) -> Corner {
    let face = index / 4u;
    let at = index % 4u;
    let uv = vec2<f32>(f32(at == 1u || at == 2u), f32(at >= 2u));
    let on_face = uv - 0.5;
    let side = select(-1.0, 1.0, face % 2u == 1u);
    let flat = vec3<f32>(on_face.x * side, on_face.y, 0.5 * side);
    let up = vec3<f32>(0.0, 0.0, side);
    switch face / 2u {
        case 0u: { return Corner(flat, up, uv); }
        case 1u: { return Corner(flat.zxy, up.zxy, uv); }
        default: { return Corner(flat.yzx, up.yzx, uv); }
    }
}

fn place(cube: vec4<f32>, corner: vec3<f32>) -> vec4<f32> {
    return vec4<f32>(cube.xyz + corner * cube.w, 1.0);
}

@vertex
fn shadow_main(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
    @builtin(view_index) cascade: u32,
) -> @builtin(position) vec4<f32> {
    return views.lights[cascade] * place(cubes[visible[instance]], corner(vertex).position);
}

@vertex
fn vertex_main(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Lit {
    let at = corner(vertex);
    let cube = cubes[visible[instance]];
    let position = place(cube, at.position);
    // No two cubes have one size.
    let color = 0.55 + 0.45 * cos(6.2832 * (fract(cube.w * 38.0) + vec3<f32>(0.0, 0.33, 0.67)));
    let material = u32(fract(cube.w * 310.0) * f32(MATERIALS));
    // The light's views are parallel: nothing to divide by.
    let in_near = (views.lights[0] * position).xyz;
    let in_far = (views.lights[1] * position).xyz;
    return Lit(views.camera * position, color, at.normal, at.uv, in_near, in_far, material);
}

// The nearest cascade that has the place.
fn light_reaches(in_near: vec3<f32>, in_far: vec3<f32>) -> f32 {
    let is_near = all(abs(in_near.xy) < vec2<f32>(0.99));
    let in_light = select(in_far, in_near, is_near);
    let uv = vec2<f32>(in_light.x * 0.5 + 0.5, 0.5 - in_light.y * 0.5);
    let side = vec2<f32>(textureDimensions(shadow));
    let texel = vec2<i32>(clamp(uv, vec2<f32>(0.0), vec2<f32>(0.9999)) * side);
    let nearest = textureLoad(shadow, texel, select(1, 0, is_near), 0);
    return select(0.25, 1.0, in_light.z <= nearest + 0.002);
}

@fragment
fn fragment_main(lit: Lit) -> @location(0) vec4<f32> {
    let towards = max(dot(lit.normal, views.towards_light), 0.0);
    let light = 0.15 + 1.6 * towards * light_reaches(lit.in_near, lit.in_far);
    let brightness = textureSample(materials[lit.material], smooth_sampler, lit.uv).r;
    return vec4<f32>(lit.color * light * brightness, 1.0);
}
