// The standard material of a fragment and its textures, by bevy's names: `bevy_pbr::render::pbr_bindings`. Textures that it
// lacks are white.

import package::render::pbr_fragment::flags_of;
import package::render::pbr_types::StandardMaterial;
import quadrille_3d::constants::NO_TEXTURE;
import quadrille_3d::scene::{instances, materials};

var<private> material: StandardMaterial;

// Packed indices in the bindless table. Shaders of materials use such variables as textures and samplers.
alias TextureElement = u32;
alias SamplerElement = u32;

var<private> base_color_texture: TextureElement;
var<private> base_color_sampler: SamplerElement;
var<private> emissive_texture: TextureElement;
var<private> emissive_sampler: SamplerElement;
var<private> metallic_roughness_texture: TextureElement;
var<private> metallic_roughness_sampler: SamplerElement;
var<private> occlusion_texture: TextureElement;
var<private> occlusion_sampler: SamplerElement;
var<private> normal_map_texture: TextureElement;
var<private> normal_map_sampler: SamplerElement;
var<private> depth_map_texture: TextureElement;
var<private> depth_map_sampler: SamplerElement;

// Called first by the fragment shaders of materials that import this module.
fn load_standard_material(quadrille_index: u32) {
    let row = materials[instances[quadrille_index].material];
    material.base_color = row.base_color;
    material.emissive = row.emissive;
    material.uv_transform = mat3x3f(
        vec3f(row.uv_axes[0], 0.0),
        vec3f(row.uv_axes[1], 0.0),
        vec3f(row.uv_offset, 1.0),
    );
    material.reflectance = row.reflectance;
    material.perceptual_roughness = row.perceptual_roughness;
    material.metallic = row.metallic;
    material.specular_transmission = row.specular_transmission;
    material.diffuse_transmission = row.attenuation_and_diffuse_transmission.a;
    material.attenuation = row.attenuation_and_diffuse_transmission.rgb;
    material.thickness = row.parallax.w;
    material.ior = row.ior;
    material.clearcoat = row.clearcoat;
    material.clearcoat_perceptual_roughness = row.clearcoat_roughness;
    material.flags = flags_of(row);
    material.alpha_cutoff = select(0.5, row.alpha, row.alpha <= 1.0);
    material.lightmap_exposure = row.lightmap_exposure;
    base_color_texture = or_white(row.textures[0].x);
    base_color_sampler = or_white(row.textures[0].x);
    emissive_texture = or_white(row.textures[0].y);
    emissive_sampler = or_white(row.textures[0].y);
    metallic_roughness_texture = or_white(row.textures[0].z);
    metallic_roughness_sampler = or_white(row.textures[0].z);
    occlusion_texture = or_white(row.textures[0].w);
    occlusion_sampler = or_white(row.textures[0].w);
    normal_map_texture = or_white(row.textures[1].x);
    normal_map_sampler = or_white(row.textures[1].x);
    depth_map_texture = or_white(row.textures[2].w);
    depth_map_sampler = or_white(row.textures[2].w);
}

// The first image of the table is white.
fn or_white(texture: u32) -> u32 {
    return select(texture, 0u, texture == NO_TEXTURE);
}
