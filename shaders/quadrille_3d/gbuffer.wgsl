// Texel of the G-buffer of cameras with `DeferredPrepass`: see `GBuffers3d`. Packs and unpacks it.
//
// x: base color (8 bits each, gamma 2.2), perceptual roughness (8)
// y: emission times its exposure, or the color of an unlit surface (9 bits each, shared exponent of 5)
// z: normal on an octahedron (16 + 16; Cigolle et al. 2014, "Survey of Efficient Representations for Unit Vectors")
// w: metallic, occlusion, reflectance, flags (8 each)

// Flags of texels.
const IS_SURFACE: u32 = 1u;
const IS_UNLIT: u32 = 2u;
const RECEIVES_SHADOWS: u32 = 4u;
const HAS_FOG_ENABLED: u32 = 8u;

struct GBufferSurface {
    base: vec3f,
    perceptual_roughness: f32,
    emissive: vec3f,
    normal: vec3f,
    metallic: f32,
    occlusion: f32,
    // f0 of dielectrics is 0.16 times its square.
    reflectance: f32,
    flags: u32,
}

// Largest mantissa of a shared exponent; largest value: 511 / 512 * 2^16.
const MANTISSA_MAX: f32 = 511.0;
const SHARED_MAX: f32 = 65408.0;

fn pack_rgb9e5(color: vec3f) -> u32 {
    let clamped = clamp(color, vec3f(0.0), vec3f(SHARED_MAX));
    let largest = max(clamped.r, max(clamped.g, clamped.b));
    var exponent = max(floor(log2(max(largest, 1e-12))), -16.0) + 16.0;
    // Rounding of the largest part may overflow its mantissa.
    if floor(largest * exp2(24.0 - exponent) + 0.5) > MANTISSA_MAX {
        exponent += 1.0;
    }
    let mantissas = vec3u(min(floor(clamped * exp2(24.0 - exponent) + 0.5), vec3f(MANTISSA_MAX)));
    return mantissas.r | (mantissas.g << 9u) | (mantissas.b << 18u) | (u32(exponent) << 27u);
}

fn unpack_rgb9e5(word: u32) -> vec3f {
    let mantissas = vec3u(word, word >> 9u, word >> 18u) & vec3u(0x1ffu);
    return vec3f(mantissas) * exp2(f32(word >> 27u) - 24.0);
}

fn sign_not_zero(value: vec2f) -> vec2f {
    return select(vec2f(-1.0), vec2f(1.0), value >= vec2f(0.0));
}

fn pack_normal(normal: vec3f) -> u32 {
    let planar = normal.xy / max(abs(normal.x) + abs(normal.y) + abs(normal.z), 1e-12);
    let folded = select((1.0 - abs(planar.yx)) * sign_not_zero(planar), planar, normal.z >= 0.0);
    return pack2x16snorm(folded);
}

fn unpack_normal(word: u32) -> vec3f {
    let folded = unpack2x16snorm(word);
    let z = 1.0 - abs(folded.x) - abs(folded.y);
    let planar = select((1.0 - abs(folded.yx)) * sign_not_zero(folded), folded, z >= 0.0);
    return normalize(vec3f(planar, z));
}

fn pack_gbuffer(surface: GBufferSurface) -> vec4u {
    let encoded = pow(saturate(surface.base), vec3f(1.0 / 2.2));
    let properties = vec4f(surface.metallic, surface.occlusion, surface.reflectance, f32(surface.flags) / 255.0);
    return vec4u(
        pack4x8unorm(vec4f(encoded, surface.perceptual_roughness)),
        pack_rgb9e5(surface.emissive),
        pack_normal(surface.normal),
        pack4x8unorm(properties),
    );
}

fn unpack_gbuffer(texel: vec4u) -> GBufferSurface {
    let encoded = unpack4x8unorm(texel.x);
    let properties = unpack4x8unorm(texel.w);
    return GBufferSurface(
        pow(encoded.rgb, vec3f(2.2)),
        encoded.a,
        unpack_rgb9e5(texel.y),
        unpack_normal(texel.z),
        properties.x,
        properties.y,
        properties.z,
        texel.w >> 24u,
    );
}
