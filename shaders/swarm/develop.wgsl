// The second half of bloom: blurs what glows from top to bottom, adds it to the scene, and brings
// both into the range of a window.

struct Develop {
    // 0 leaves the glow out.
    strength: f32,
}

@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var glow: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
var<immediate> develop: Develop;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4f {
    let texel = 1.0 / vec2f(textureDimensions(glow));
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var tap = -6; tap <= 6; tap += 1) {
        let weight = exp(-f32(tap * tap) / 18.0);
        sum += textureSample(glow, linear, corner.uv + vec2f(0.0, f32(tap) * texel.y)).rgb * weight;
        weights += weight;
    }
    let color = textureSample(scene, linear, corner.uv).rgb + sum / weights * develop.strength;
    return vec4f(color / (1.0 + max(max(color.r, color.g), color.b) * 0.25), 1.0);
}
