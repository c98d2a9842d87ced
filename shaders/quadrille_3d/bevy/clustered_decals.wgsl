// Clustered decals by bevy's names: `bevy_pbr::decal::clustered`.

import package::render::clustered_forward::ClusterableObjectIndexRanges;
import package::render::mesh_view_bindings::view;
import package::render::pbr_types::PbrInput;
import quadrille_3d::constants::{IMAGE_MASK, NO_TEXTURE};
import quadrille_3d::decals;
import quadrille_3d::scene::camera;

// Iterator over the decals at a point, in the order in which they are drawn.
struct ClusteredDecalIterator {
    // Indices in `clustered_decal_textures`, -1 for none.
    base_color_texture_index: i32,
    normal_map_texture_index: i32,
    metallic_roughness_texture_index: i32,
    emissive_texture_index: i32,
    uv: vec2f,
    // Number of the program's own: `ClusteredDecal::tag`.
    tag: u32,
    world_position: vec3f,
    // Offsets of the masks of three slices, the next word of them, and what is left of the word before.
    masks: vec3u,
    word: u32,
    bits: u32,
}

fn clustered_decal_iterator_new(
    world_position: vec3f,
    clusterable_object_index_ranges: ptr<function, ClusterableObjectIndexRanges>,
) -> ClusteredDecalIterator {
    let masks = decals::masks_at(world_position, camera);
    return ClusteredDecalIterator(-1, -1, -1, -1, vec2f(0.0), 0u, world_position, masks, 0u, 0u);
}

// Advances to the next decal; returns whether there is one.
fn clustered_decal_iterator_next(iterator: ptr<function, ClusteredDecalIterator>) -> bool {
    loop {
        while (*iterator).bits == 0u {
            if (*iterator).word >= camera.decal_words {
                return false;
            }
            (*iterator).bits = decals::mask_bits((*iterator).masks, (*iterator).word);
            (*iterator).word += 1u;
        }
        let bits = (*iterator).bits;
        (*iterator).bits = bits & (bits - 1u);
        let decal = decals::decal_at(((*iterator).word - 1u) * 32u + firstTrailingBit(bits));
        let local = decals::local_position(decal, (*iterator).world_position);
        if all(abs(local) <= vec3f(0.5)) {
            (*iterator).base_color_texture_index = image_of(decal.textures.x);
            (*iterator).normal_map_texture_index = image_of(decal.textures.y);
            (*iterator).metallic_roughness_texture_index = image_of(decal.textures.z);
            (*iterator).emissive_texture_index = image_of(decal.textures.w);
            (*iterator).uv = vec2f(local.x + 0.5, 0.5 - local.y);
            (*iterator).tag = decal.tag;
            return true;
        }
    }
    return false;
}

fn image_of(texture_and_sampler: u32) -> i32 {
    return select(i32(texture_and_sampler & IMAGE_MASK), -1, texture_and_sampler == NO_TEXTURE);
}

// Depth in the space of the view, negative before the camera.
fn get_view_z(world_position: vec3f) -> f32 {
    return (view.view_from_world * vec4f(world_position, 1.0)).z;
}

fn view_is_orthographic() -> bool {
    return view.clip_from_view[3].w == 1.0;
}

// Applies the decals at a fragment to its surface.
fn apply_decals(pbr_input: ptr<function, PbrInput>) {
    let base = (*pbr_input).material.base_color;
    let surface = decals::apply_decals(base, (*pbr_input).N, (*pbr_input).world_position.xyz, camera);
    let metallic_roughness = vec2f((*pbr_input).material.metallic, (*pbr_input).material.perceptual_roughness)
        * surface.kept + surface.metallic_roughness;
    (*pbr_input).material.base_color = surface.base;
    (*pbr_input).material.metallic = metallic_roughness.x;
    (*pbr_input).material.perceptual_roughness = metallic_roughness.y;
    (*pbr_input).material.emissive += vec4f(surface.emissive, 0.0);
    (*pbr_input).N = surface.normal;
}
