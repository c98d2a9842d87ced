// Fragment shader of extended materials without one of their own: standard shading, with clustered decals.

import bevy_pbr::render::forward_io::{FragmentOutput, VertexOutput};
import bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material;
import bevy_pbr::render::pbr_functions::{
    alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing, visibility_range_dither,
};
import bevy_pbr::render::pbr_types::STANDARD_MATERIAL_FLAGS_UNLIT_BIT;
import quadrille_3d::decals::apply_decals;
import quadrille_3d::pbr::HAS_DECALS;
import quadrille_3d::scene::camera;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    visibility_range_dither(in.position, in.visibility_range_dither);
    var pbr_input = pbr_input_from_standard_material(in, is_front);
    let material = pbr_input.material;
    pbr_input.material.base_color = alpha_discard(material.flags, material.alpha_cutoff, material.base_color);
    if HAS_DECALS && camera.decal_words != 0u {
        let decaled = apply_decals(pbr_input.material.base_color, pbr_input.N, in.world_position.xyz, camera);
        pbr_input.N = decaled.normal;
        pbr_input.material.base_color = decaled.base;
        pbr_input.material.emissive += vec4f(decaled.emissive, 0.0);
        let from_material = vec2f(material.metallic, material.perceptual_roughness) * decaled.kept;
        pbr_input.material.metallic = from_material.x + decaled.metallic_roughness.x;
        pbr_input.material.perceptual_roughness = from_material.y + decaled.metallic_roughness.y;
    }
    var out: FragmentOutput;
    out.color = pbr_input.material.base_color;
    if (material.flags & STANDARD_MATERIAL_FLAGS_UNLIT_BIT) == 0u {
        out.color = apply_pbr_lighting(pbr_input);
    }
    out.color = main_pass_post_lighting_processing(pbr_input, out.color);
    return out;
}
