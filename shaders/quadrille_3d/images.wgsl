// The images of materials, where their texture coordinates say.

enable wgpu_binding_array;

import quadrille_3d::scene::{IMAGE, Material, NO_TEXTURE, SAMPLER_BIT, samplers, textures};

const SECOND_UV: u32 = 0x800000u;

// Texture coordinates below this are none: the mesh has none (mesh_vertex.rs).
const NO_UV: f32 = -1e29;

// Both texture coordinates, and how they change from pixel to pixel.
struct Coordinates {
    uvs: array<vec2f, 2>,
    along_x: array<vec2f, 2>,
    along_y: array<vec2f, 2>,
    are_there: vec2<bool>,
}

fn coordinates_of(uvs: vec4f, material: Material) -> Coordinates {
    let first = material.uv_axes * uvs.xy + material.uv_offset;
    let second = material.uv_axes * uvs.zw + material.uv_offset;
    return Coordinates(
        array(first, second),
        array(dpdx(first), dpdx(second)),
        array(dpdy(first), dpdy(second)),
        uvs.xz > vec2f(NO_UV),
    );
}

// Texel of an image; white without an image, or without the coordinates that it is sampled by.
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
    if !select(at.are_there.x, at.are_there.y, (place & SECOND_UV) != 0u) {
        return vec4f(1.0);
    }
    let sampler_index = place >> SAMPLER_BIT;
    return textureSampleGrad(textures[place & IMAGE], samplers[sampler_index], uv, along_x, along_y);
}
