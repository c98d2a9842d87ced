// Converts a decoded picture to linear color.
//
// y  luma; cb, cr  chroma; kr, kb  luma weights of red and blue (ITU-T H.273, section 8.3)

struct PushConstants {
    // Width and height of the planes, in pixels.
    coded: vec2u,
    // First shown pixel.
    origin: vec2u,
    // kr and kb.
    weights: vec2f,
    // 1 if all values are used; otherwise luma has 16 to 235 and chroma 16 to 240, of 255.
    full_range: u32,
    // 8, or 10 in the high bits of 16.
    bits: u32,
}

// Values of the planes: y of each pixel, then cb and cr of each 2 x 2 pixels (NV12 or P010).
@group(0) @binding(0) var<storage, read> planes: array<u32>;

var<immediate> constants: PushConstants;

// A value in units of 8 bits.
fn value(index: u32) -> f32 {
    if constants.bits == 10u {
        let word = (planes[index / 2u] >> (16u * (index % 2u))) & 0xffffu;
        return f32(word >> 6u) / 4.0;
    }
    return f32((planes[index / 4u] >> (8u * (index % 4u))) & 255u);
}

// Chroma of a sample, clamped to the edge.
fn chroma(x: i32, y: i32) -> vec2f {
    let size = vec2i(constants.coded / 2u);
    let at = vec2u(clamp(vec2i(x, y), vec2i(0), size - 1));
    let index = constants.coded.x * constants.coded.y + at.y * constants.coded.x + 2u * at.x;
    return vec2f(value(index), value(index + 1u));
}

// Chroma of a pixel, interpolated: samples lie at the left pixel of two, and between two rows (H.264, figure E-1,
// type 0).
fn chroma_of(pixel: vec2u) -> vec2f {
    let x = i32(pixel.x);
    let y = i32(pixel.y);
    let left = x / 2;
    let between = f32(x % 2) * 0.5;
    let nearest = y / 2;
    let other = nearest + select(-1, 1, y % 2 == 1);
    let near = mix(chroma(left, nearest), chroma(left + 1, nearest), between);
    let far = mix(chroma(left, other), chroma(left + 1, other), between);
    return mix(near, far, 0.25);
}

// From sRGB's transfer function, which displays of video approximate.
fn to_linear(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let pixel = vec2u(position.xy) + constants.origin;
    let luma = value(pixel.y * constants.coded.x + pixel.x);
    let is_full = constants.full_range == 1u;
    // The largest value: 255, or 1023 / 4.
    let most = select(255.0, 255.75, constants.bits == 10u);
    let y = select((luma - 16.0) / 219.0, luma / most, is_full);
    let c = (chroma_of(pixel) - 128.0) / select(224.0, most, is_full);
    let kr = constants.weights.x;
    let kb = constants.weights.y;
    let red = y + 2.0 * (1.0 - kr) * c.y;
    let blue = y + 2.0 * (1.0 - kb) * c.x;
    let green = (y - kr * red - kb * blue) / (1.0 - kr - kb);
    return vec4f(to_linear(clamp(vec3f(red, green, blue), vec3f(0.0), vec3f(1.0))), 1.0);
}
