// Two passes after the scene: what is bright, blurred; and both together for the window.

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var scene_sampler: sampler;
@group(0) @binding(2) var glow: texture_2d<f32>;

// A triangle that covers the picture.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    let position = vec4<f32>(corner * 4.0 - 1.0, 0.0, 1.0);
    return Corner(position, vec2<f32>(corner.x * 2.0, 1.0 - corner.y * 2.0));
}

@fragment
fn glow_main(corner: Corner) -> @location(0) vec4<f32> {
    let texel = 2.0 / vec2<f32>(textureDimensions(scene));
    var sum = vec3<f32>(0.0);
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let uv = corner.uv + vec2<f32>(f32(x), f32(y)) * texel;
            let color = textureSampleLevel(scene, scene_sampler, uv, 0.0).rgb;
            sum += max(color - 0.8, vec3<f32>(0.0));
        }
    }
    return vec4<f32>(sum / 25.0, 1.0);
}

@fragment
fn window_main(corner: Corner) -> @location(0) vec4<f32> {
    let color = textureSampleLevel(scene, scene_sampler, corner.uv, 0.0).rgb
        + 1.5 * textureSampleLevel(glow, scene_sampler, corner.uv, 0.0).rgb;
    return vec4<f32>(color / (color + 0.6), 1.0);
}
