// The standard material of a fragment, by bevy's names: `bevy_pbr::render::pbr_bindings`. Its textures are sampled by
// `pbr_input_from_standard_material`.

import package::render::pbr_fragment::flags_of;
import package::render::pbr_types::StandardMaterial;
import quadrille_3d::scene::{instances, materials};

var<private> material: StandardMaterial;

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
    material.diffuse_transmission = row.attenuation_and_diffuse_transmission.a;
    material.attenuation = row.attenuation_and_diffuse_transmission.rgb;
    material.thickness = row.parallax.w;
    material.clearcoat = row.clearcoat;
    material.clearcoat_perceptual_roughness = row.clearcoat_roughness;
    material.flags = flags_of(row);
    material.alpha_cutoff = select(0.5, row.alpha, row.alpha <= 1.0);
    material.lightmap_exposure = row.lightmap_exposure;
}
