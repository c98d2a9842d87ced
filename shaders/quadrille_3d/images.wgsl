// The images of materials, where their texture coordinates say.

enable wgpu_binding_array;

import quadrille_3d::scene::{IMAGE, Material, NO_TEXTURE, SAMPLER_BIT, samplers, textures};

const SECOND_UV: u32 = 0x800000u;

// Both texture coordinates, and how they change from pixel to pixel.
struct Coordinates {
    uvs: array<vec2f, 2>,
    along_x: array<vec2f, 2>,
    along_y: array<vec2f, 2>,
}

fn coordinates_of(uvs: vec4f, material: Material) -> Coordinates {
    let first = material.uv_axes * uvs.xy + material.uv_offset;
    let second = material.uv_axes * uvs.zw + material.uv_offset;
    return Coordinates(
        array(first, second),
        array(dpdx(first), dpdx(second)),
        array(dpdy(first), dpdy(second)),
    );
}

// What an image says of a place; white where there is none.
fn texel(place: u32, at: Coordinates) -> vec4f {
    if place == NO_TEXTURE {
        return vec4f(1.0);
    }
    var uv = at.uvs[0];
    var along_x = at.along_x[0];
    var along_y = at.along_y[0];
    if (place & SECOND_UV) != 0u {
        uv = at.uvs[1];
        along_x = at.along_x[1];
        along_y = at.along_y[1];
    }
    let sampler_index = place >> SAMPLER_BIT;
    return textureSampleGrad(textures[place & IMAGE], samplers[sampler_index], uv, along_x, along_y);
}
