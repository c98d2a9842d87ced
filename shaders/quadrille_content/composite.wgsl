// Puts a picture over a camera's target.

struct PushConstants {
    // Where the picture begins in the target, in pixels.
    origin: vec2f,
    // Texels of the picture per pixel of the target.
    scale: vec2f,
}

@group(0) @binding(0) var source: texture_2d<f32>;

var<immediate> constants: PushConstants;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let at = (position.xy - constants.origin) * constants.scale;
    if all(constants.scale == vec2f(1.0)) {
        return textureLoad(source, vec2u(at), 0);
    }
    return bilinear(at);
}

// Bilinear sample at a position in texels, clamped to the edge. Loads, because not every format of a target can be filtered.
fn bilinear(at: vec2f) -> vec4f {
    let last = vec2i(textureDimensions(source)) - 1;
    let first = floor(at - 0.5);
    let weight = at - 0.5 - first;
    let low = clamp(vec2i(first), vec2i(0), last);
    let high = clamp(vec2i(first) + 1, vec2i(0), last);
    let top = mix(textureLoad(source, low, 0), textureLoad(source, vec2i(high.x, low.y), 0), weight.x);
    let bottom = mix(textureLoad(source, vec2i(low.x, high.y), 0), textureLoad(source, high, 0), weight.x);
    return mix(top, bottom, weight.y);
}
