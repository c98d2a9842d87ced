// Cubes without vertex buffers: for the shadow map, and lit for the picture.

struct Views {
    camera: mat4x4<f32>,
    light: mat4x4<f32>,
}

struct Lit {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) in_light: vec3<f32>,
}

const SHADOW_SIDE: f32 = 2048.0;
const TOWARDS_LIGHT: vec3<f32> = vec3<f32>(0.48, 0.8, 0.36);

var<immediate> views: Views;
@group(0) @binding(0) var<storage, read> cubes: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> visible: array<u32>;
@group(0) @binding(2) var shadow: texture_depth_2d;

struct Corner {
    position: vec3<f32>,
    normal: vec3<f32>,
}

// One of the 36 corners of a cube of size 1: six faces of two triangles.
fn corner(index: u32) -> Corner {
    let face = index / 6u;
    let steps = array<vec2<f32>, 6>(
        vec2<f32>(0.0, 0.0), vec2<f32>(1.0, 0.0), vec2<f32>(1.0, 1.0),
        vec2<f32>(0.0, 0.0), vec2<f32>(1.0, 1.0), vec2<f32>(0.0, 1.0),
    );
    let on_face = steps[index % 6u] - 0.5;
    let side = select(-1.0, 1.0, face % 2u == 1u);
    let flat = vec3<f32>(on_face.x * side, on_face.y, 0.5 * side);
    let up = vec3<f32>(0.0, 0.0, side);
    switch face / 2u {
        case 0u: { return Corner(flat, up); }
        case 1u: { return Corner(flat.zxy, up.zxy); }
        default: { return Corner(flat.yzx, up.yzx); }
    }
}

fn place(instance: u32, corner: vec3<f32>) -> vec4<f32> {
    let cube = cubes[visible[instance]];
    return vec4<f32>(cube.xyz + corner * cube.w, 1.0);
}

@vertex
fn shadow_main(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> @builtin(position) vec4<f32> {
    return views.light * place(instance, corner(vertex).position);
}

@vertex
fn vertex_main(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Lit {
    let at = corner(vertex);
    let position = place(instance, at.position);
    let seed = f32(visible[instance]) * 0.61803;
    let color = 0.55 + 0.45 * cos(6.2832 * (fract(seed) + vec3<f32>(0.0, 0.33, 0.67)));
    // The light's view is parallel: nothing to divide by.
    let in_light = (views.light * position).xyz;
    return Lit(views.camera * position, color, at.normal, in_light);
}

fn light_reaches(in_light: vec3<f32>) -> f32 {
    let uv = vec2<f32>(in_light.x * 0.5 + 0.5, 0.5 - in_light.y * 0.5);
    let texel = vec2<i32>(clamp(uv, vec2<f32>(0.0), vec2<f32>(0.9999)) * SHADOW_SIDE);
    let nearest = textureLoad(shadow, texel, 0);
    return select(0.25, 1.0, in_light.z <= nearest + 0.002);
}

@fragment
fn fragment_main(lit: Lit) -> @location(0) vec4<f32> {
    let towards = max(dot(lit.normal, TOWARDS_LIGHT), 0.0);
    let light = 0.15 + 1.6 * towards * light_reaches(lit.in_light);
    return vec4<f32>(lit.color * light, 1.0);
}
