// Baked light: see `Lightmap`.

enable wgpu_binding_array;

import quadrille_3d::constants::IMAGE_MASK;
import quadrille_3d::scene::{sample_base_level, textures};

struct Lightmap {
    // Left, top, width and height of its part of the image.
    uv_rect: vec4f,
    // Texture index of the image, as in materials.
    texture: u32,
    is_bicubic: u32,
    unused: vec2u,
}

@group(0) @binding(17) var<storage, read> lightmaps: array<Lightmap>;

// Samples a lightmap at texture coordinates of the mesh.
fn sample_lightmap(lightmap: Lightmap, uv: vec2f) -> vec3f {
    let texel_uv = lightmap.uv_rect.xy + uv * lightmap.uv_rect.zw;
    if lightmap.is_bicubic == 0u {
        return sample_lightmap_texel(lightmap, texel_uv);
    }
    // Bicubic filtering with the weights of a cubic B-spline: four texels along each axis, two of which one bilinear
    // sample mixes.
    let size = vec2f(textureDimensions(textures[lightmap.texture & IMAGE_MASK]));
    let texel = texel_uv * size - 0.5;
    let fract_texel = fract(texel);
    let rest = 1.0 - fract_texel;
    let first = rest * rest * rest / 6.0;
    let second = 2.0 / 3.0 - fract_texel * fract_texel * (2.0 - fract_texel) / 2.0;
    let third = 2.0 / 3.0 - rest * rest * (2.0 - rest) / 2.0;
    let fourth = fract_texel * fract_texel * fract_texel / 6.0;
    let middle = floor(texel) + 0.5;
    let low = (middle - 1.0 + second / (first + second)) / size;
    let high = (middle + 1.0 + fourth / (third + fourth)) / size;
    let below = first + second;
    let above = third + fourth;
    return (sample_lightmap_texel(lightmap, low) * below.x + sample_lightmap_texel(lightmap, vec2f(high.x, low.y)) * above.x) * below.y
        + (sample_lightmap_texel(lightmap, vec2f(low.x, high.y)) * below.x + sample_lightmap_texel(lightmap, high) * above.x) * above.y;
}

fn sample_lightmap_texel(lightmap: Lightmap, texel_uv: vec2f) -> vec3f {
    return sample_base_level(lightmap.texture, texel_uv).rgb;
}
