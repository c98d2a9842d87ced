// Sampling of the textures of materials.

enable wgpu_binding_array;

import quadrille_3d::constants::{IMAGE_MASK, NO_TEXTURE, NO_UV, SAMPLER_SHIFT, UV_1_BIT};
import quadrille_3d::scene::{Material, samplers, textures};

// Texture coordinates below this mark a mesh without any.
const MIN_UV: f32 = 0.1 * NO_UV;

// Both texture coordinates with their derivatives.
struct TextureCoordinates {
    uvs: array<vec2f, 2>,
    ddx: array<vec2f, 2>,
    ddy: array<vec2f, 2>,
    has_uvs: vec2<bool>,
}

// `mip_scale`: factor of the derivatives, as in `View`.
fn texture_coordinates(uvs: vec4f, material: Material, mip_scale: f32) -> TextureCoordinates {
    let first = material.uv_axes * uvs.xy + material.uv_offset;
    let second = material.uv_axes * uvs.zw + material.uv_offset;
    return TextureCoordinates(
        array(first, second),
        array(dpdx(first) * mip_scale, dpdx(second) * mip_scale),
        array(dpdy(first) * mip_scale, dpdy(second) * mip_scale),
        uvs.xz > vec2f(MIN_UV),
    );
}

// Samples a texture; white without one, or without the coordinates that it uses.
fn sample_texture(texture: u32, at: TextureCoordinates) -> vec4f {
    if texture == NO_TEXTURE {
        return vec4f(1.0);
    }
    var uv = at.uvs[0];
    var ddx = at.ddx[0];
    var ddy = at.ddy[0];
    if (texture & UV_1_BIT) != 0u {
        uv = at.uvs[1];
        ddx = at.ddx[1];
        ddy = at.ddy[1];
    }
    if !select(at.has_uvs.x, at.has_uvs.y, (texture & UV_1_BIT) != 0u) {
        return vec4f(1.0);
    }
    let sampler_index = texture >> SAMPLER_SHIFT;
    return textureSampleGrad(textures[texture & IMAGE_MASK], samplers[sampler_index], uv, ddx, ddy);
}
