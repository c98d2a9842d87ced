// Fragment shader of extended materials without one of their own: standard shading.

import bevy_pbr::render::forward_io::{FragmentOutput, VertexOutput};
import bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material;
import bevy_pbr::render::pbr_functions::{
    alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing, visibility_range_dither,
};
import bevy_pbr::render::pbr_types::STANDARD_MATERIAL_FLAGS_UNLIT_BIT;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    visibility_range_dither(in.position, in.visibility_range_dither);
    var pbr_input = pbr_input_from_standard_material(in, is_front);
    let material = pbr_input.material;
    pbr_input.material.base_color = alpha_discard(material.flags, material.alpha_cutoff, material.base_color);
    var out: FragmentOutput;
    out.color = pbr_input.material.base_color;
    if (material.flags & STANDARD_MATERIAL_FLAGS_UNLIT_BIT) == 0u {
        out.color = apply_pbr_lighting(pbr_input);
    }
    out.color = main_pass_post_lighting_processing(pbr_input, out.color);
    return out;
}
