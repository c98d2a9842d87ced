// Clustered decals: images that boxes project onto the surfaces inside. See `ClusteredDecal` of bevy_light.
//
// As for lights (clusters.wgsl), a view's frustum is cut into slices along three axes, whose masks have a bit for each
// decal that touches the slice.

import quadrille_3d::clusters::slices_at;
import quadrille_3d::constants::{NO_TEXTURE, SLICES_PER_AXIS};
import quadrille_3d::scene::{View, sample_base_level};

struct Decal {
    // Rows of the affine matrix from the world to the box, whose sides are 1.
    local_from_world: array<vec4f, 3>,
    // Texture indices: base color, normals, metal and roughness, emission.
    textures: vec4u,
    tag: u32,
    unused: array<u32, 3>,
}

// Rows of `Decal` one after the other, then the masks of all views: one buffer, since bindings are few.
@group(0) @binding(31) var<storage, read> decals: array<vec4u>;

// Properties of a surface that decals change.
struct DecaledSurface {
    base: vec4f,
    // Metal and perceptual roughness of the decals, added to those of the material times `kept`.
    metallic_roughness: vec2f,
    kept: f32,
    normal: vec3f,
    emissive: vec3f,
}

// Applies the decals at a point to a surface with this base color and normal, in their order.
fn apply_decals(base: vec4f, normal: vec3f, world_position: vec3f, view: View) -> DecaledSurface {
    var surface = DecaledSurface(base, vec2f(0.0), 1.0, normal, vec3f(0.0));
    let masks = masks_at(world_position, view);
    for (var word = 0u; word < view.decal_words; word++) {
        var bits = mask_bits(masks, word);
        while bits != 0u {
            apply_decal(&surface, decal_at(word * 32u + firstTrailingBit(bits)), world_position);
            bits &= bits - 1u;
        }
    }
    return surface;
}

// Offsets of the masks of the three slices that a point is in.
fn masks_at(world_position: vec3f, view: View) -> vec3u {
    let axes = vec3u(0u, SLICES_PER_AXIS, 2u * SLICES_PER_AXIS);
    return view.first_decal_mask + (slices_at(view, world_position) + axes) * view.decal_words;
}

// Word of the decals that touch all three slices.
fn mask_bits(masks: vec3u, word: u32) -> u32 {
    return mask_word(masks.x + word) & mask_word(masks.y + word) & mask_word(masks.z + word);
}

fn mask_word(at: u32) -> u32 {
    return decals[at / 4u][at % 4u];
}

fn decal_at(index: u32) -> Decal {
    let at = index * 5u;
    let rows = array<vec4f, 3>(
        bitcast<vec4f>(decals[at]),
        bitcast<vec4f>(decals[at + 1u]),
        bitcast<vec4f>(decals[at + 2u]),
    );
    return Decal(rows, decals[at + 3u], decals[at + 4u].x, array<u32, 3>());
}

// Position in the box of a decal, which reaches from -0.5 to 0.5.
fn local_position(decal: Decal, world_position: vec3f) -> vec3f {
    let homogeneous = vec4f(world_position, 1.0);
    let rows = decal.local_from_world;
    return vec3f(dot(rows[0], homogeneous), dot(rows[1], homogeneous), dot(rows[2], homogeneous));
}

fn apply_decal(surface: ptr<function, DecaledSurface>, decal: Decal, world_position: vec3f) {
    let local = local_position(decal, world_position);
    if any(abs(local) > vec3f(0.5)) {
        return;
    }
    let uv = vec2f(local.x + 0.5, 0.5 - local.y);
    if decal.textures.x != NO_TEXTURE {
        let color = sample_base_level(decal.textures.x, uv);
        if decal.textures.z != NO_TEXTURE {
            let metallic_roughness = sample_base_level(decal.textures.z, uv).bg;
            (*surface).metallic_roughness = mix((*surface).metallic_roughness, metallic_roughness, color.a);
            (*surface).kept *= 1.0 - color.a;
        }
        (*surface).base = over((*surface).base, color);
    }
    if decal.textures.y != NO_TEXTURE {
        let texel = sample_base_level(decal.textures.y, uv).xyz * 2.0 - 1.0;
        let rows = decal.local_from_world;
        let axes = mat3x3f(normalize(rows[0].xyz), normalize(rows[1].xyz), normalize(rows[2].xyz));
        (*surface).normal = blend_normals((*surface).normal, texel, axes);
    }
    if decal.textures.w != NO_TEXTURE {
        (*surface).emissive += sample_base_level(decal.textures.w, uv).rgb;
    }
}

// Color over another one (Porter and Duff 1984); alpha is not premultiplied.
fn over(below: vec4f, above: vec4f) -> vec4f {
    let left = below.a * (1.0 - above.a);
    let alpha = above.a + left;
    return vec4f((above.rgb * above.a + below.rgb * left) / max(alpha, 1e-6), alpha);
}

// Combines the normal of a surface with one of a map in the space of a decal, by the whiteout method (Barré-Brisebois
// and Hill, "Blending in Detail", 2012). `axes` are the decal's in the world.
fn blend_normals(normal: vec3f, texel: vec3f, axes: mat3x3f) -> vec3f {
    let local = normal * axes;
    let blended = vec3f(local.xy + texel.xy, local.z * texel.z);
    return normalize(axes * blended);
}
