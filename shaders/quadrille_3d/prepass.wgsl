// Depth and normals of meshes with standard materials: see `prepass_3d`. The vertex shader is that of pbr.wgsl, so that
// depths are those of later passes.

import quadrille_3d::constants::DOUBLE_SIDED;
import quadrille_3d::material_textures::TextureCoordinates;
import quadrille_3d::mesh_types::is_mirrored;
import quadrille_3d::pbr::{
    HAS_ALPHA_MASK, HAS_ALPHA_TO_COVERAGE, VertexOutput, base_color_texture, geometric_normal, parallax_uv,
    shading_normal, to_view_of,
};
import quadrille_3d::scene::{Material, camera, instances, materials};
import quadrille_3d::visibility_range::{is_dithered_out, visibility_range_dither_level};

fn material_of(vertex_output: VertexOutput) -> Material {
    return materials[instances[vertex_output.instance].material];
}

// Only double-sided materials turn normals; mirrored transforms turn the winding.
fn is_front_side(vertex_output: VertexOutput, material: Material, front_facing: bool) -> bool {
    return (material.flags & DOUBLE_SIDED) == 0u || front_facing != is_mirrored(instances[vertex_output.instance]);
}

// Whether `opaque_3d` discards a fragment. Alpha to coverage is a mask here: multisampled views draw it without prepass.
fn is_masked_out(vertex_output: VertexOutput, material: Material, at: TextureCoordinates) -> bool {
    let instance = instances[vertex_output.instance];
    if is_dithered_out(visibility_range_dither_level(instance, camera.position), vertex_output.position.xy) {
        return true;
    }
    let alpha = material.base_color.a * vertex_output.color.a * base_color_texture(material, at).a;
    let threshold = select(material.alpha, 0.5, HAS_ALPHA_TO_COVERAGE);
    return threshold >= 0.0 && threshold <= 1.0 && alpha < threshold;
}

@fragment
fn mask_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) {
    let material = material_of(vertex_output);
    let is_front = is_front_side(vertex_output, material, front_facing);
    let at = parallax_uv(vertex_output, camera, material, is_front);
    if is_masked_out(vertex_output, material, at) {
        discard;
    }
}

@fragment
fn normal_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) -> @location(0) vec4f {
    let material = material_of(vertex_output);
    let is_front = is_front_side(vertex_output, material, front_facing);
    let at = parallax_uv(vertex_output, camera, material, is_front);
    if HAS_ALPHA_MASK && is_masked_out(vertex_output, material, at) {
        discard;
    }
    let geometric = geometric_normal(vertex_output, to_view_of(vertex_output, camera), is_front);
    let normal = normalize(shading_normal(vertex_output, material, at, geometric, is_front));
    return vec4f(normal * 0.5 + 0.5, 1.0);
}
