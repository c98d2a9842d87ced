// Light that was computed beforehand: see `Lightmap`.

enable wgpu_binding_array;

import quadrille_3d::scene::{IMAGE, first_level, textures};

struct Lightmap {
    // Left, top, width and height of its part of the image.
    part: vec4f,
    // Place of the image, as those of materials.
    texture: u32,
    is_cubic: u32,
    unused: vec2u,
}

@group(0) @binding(17) var<storage, read> lightmaps: array<Lightmap>;

// What the image says of a place.
fn baked_light(lightmap: Lightmap, uv: vec2f) -> vec3f {
    let place = lightmap.part.xy + uv * lightmap.part.zw;
    if lightmap.is_cubic == 0u {
        return baked_texel(lightmap, place);
    }
    // The weights of a cubic B-spline of four texels along each axis, two of which one look between them
    // mixes.
    let size = vec2f(textureDimensions(textures[lightmap.texture & IMAGE]));
    let texel = place * size - 0.5;
    let part = fract(texel);
    let rest = 1.0 - part;
    let first = rest * rest * rest / 6.0;
    let second = 2.0 / 3.0 - part * part * (2.0 - part) / 2.0;
    let third = 2.0 / 3.0 - rest * rest * (2.0 - rest) / 2.0;
    let fourth = part * part * part / 6.0;
    let middle = floor(texel) + 0.5;
    let low = (middle - 1.0 + second / (first + second)) / size;
    let high = (middle + 1.0 + fourth / (third + fourth)) / size;
    let below = first + second;
    let above = third + fourth;
    return (baked_texel(lightmap, low) * below.x + baked_texel(lightmap, vec2f(high.x, low.y)) * above.x) * below.y
        + (baked_texel(lightmap, vec2f(low.x, high.y)) * below.x + baked_texel(lightmap, high) * above.x) * above.y;
}

fn baked_texel(lightmap: Lightmap, place: vec2f) -> vec3f {
    return first_level(lightmap.texture, place).rgb;
}
