// The first half of bloom: what is bright, at half the size, blurred from left to right.

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    // One triangle that covers everything.
    let uv = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4f {
    let texel = 2.0 / vec2f(textureDimensions(scene));
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var tap = -6; tap <= 6; tap += 1) {
        let weight = exp(-f32(tap * tap) / 18.0);
        let color = textureSample(scene, linear, corner.uv + vec2f(f32(tap) * texel.x, 0.0)).rgb;
        sum += max(color - vec3f(0.7), vec3f(0.0)) * weight;
        weights += weight;
    }
    return vec4f(sum / weights, 1.0);
}
