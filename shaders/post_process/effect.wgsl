// A cheap lens: colors part towards the edges, and the corners darken.

struct Effect {
    // Width of the picture over its height.
    aspect: f32,
    // 0 leaves the picture as it is, 1 is a strong effect.
    strength: f32,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    // From (0, 0) top left to (1, 1) bottom right.
    @location(0) uv: vec2<f32>,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var scene_sampler: sampler;
var<immediate> effect: Effect;

// A triangle that covers the picture.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    let position = vec4<f32>(corner * 4.0 - 1.0, 0.0, 1.0);
    return Corner(position, vec2<f32>(corner.x * 2.0, 1.0 - corner.y * 2.0));
}

// The scene with `shift` of the way from the middle added.
fn sample_scene(uv: vec2<f32>, shift: f32) -> vec4<f32> {
    return textureSampleLevel(scene, scene_sampler, uv + (uv - 0.5) * shift, 0.0);
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4<f32> {
    let from_middle = (corner.uv - 0.5) * vec2<f32>(effect.aspect, 1.0);
    // 1 in the corners.
    let reach = length(from_middle) / length(vec2<f32>(0.5 * effect.aspect, 0.5));
    let shift = 0.08 * effect.strength * reach * reach;

    let red = sample_scene(corner.uv, -shift).r;
    let middle = sample_scene(corner.uv, 0.0);
    let blue = sample_scene(corner.uv, shift).b;
    let vignette = 1.0 - 0.85 * effect.strength * smoothstep(0.35, 1.05, reach);
    return vec4<f32>(vec3<f32>(red, middle.g, blue) * vignette, middle.a);
}
