//! Shader modules under bevy's paths and item names, on the resources of `scene.wgsl`.
//!
//! Fragment shaders written for bevy import them unchanged if an equivalent exists here. Other names of bevy are errors
//! with advice on what to use instead.

use quadrille::vulkan::ShaderError;
use quadrille::vulkan::shader::ShaderModule;
use quadrille_content::materials::BINDLESS_ADVICE;

/// Modules by path.
const MODULES: [(&str, &str); 19] = [
    (
        "bevy_render::view",
        include_str!("../../shaders/bevy/view.wgsl"),
    ),
    (
        "bevy_pbr::render::forward_io",
        include_str!("../../shaders/forward_io.wgsl"),
    ),
    (
        "bevy_pbr::render::mesh_functions",
        include_str!("../../shaders/bevy/mesh_functions.wgsl"),
    ),
    (
        "bevy_pbr::render::mesh_types",
        include_str!("../../shaders/bevy/mesh_types.wgsl"),
    ),
    (
        "bevy_pbr::render::skinning",
        include_str!("../../shaders/bevy/skinning.wgsl"),
    ),
    (
        "bevy_pbr::render::view_transformations",
        include_str!("../../shaders/bevy/view_transformations.wgsl"),
    ),
    (
        "bevy_pbr::render::utils",
        include_str!("../../shaders/bevy/utils.wgsl"),
    ),
    (
        "bevy_pbr::render::mesh_view_bindings",
        include_str!("../../shaders/bevy/mesh_view_bindings.wgsl"),
    ),
    (
        "bevy_pbr::prepass::io",
        include_str!("../../shaders/bevy/prepass_io.wgsl"),
    ),
    (
        "bevy_pbr::deferred::functions",
        include_str!("../../shaders/bevy/deferred_functions.wgsl"),
    ),
    (
        "bevy_pbr::prepass::utils",
        include_str!("../../shaders/bevy/prepass_utils.wgsl"),
    ),
    (
        "bevy_core_pipeline::tonemapping",
        include_str!("../../shaders/bevy/tonemapping.wgsl"),
    ),
    (
        "bevy_pbr::render::pbr_types",
        include_str!("../../shaders/bevy/pbr_types.wgsl"),
    ),
    (
        "bevy_pbr::render::pbr_functions",
        include_str!("../../shaders/bevy/pbr_functions.wgsl"),
    ),
    (
        "bevy_pbr::render::pbr_fragment",
        include_str!("../../shaders/bevy/pbr_fragment.wgsl"),
    ),
    (
        "bevy_pbr::render::pbr_bindings",
        include_str!("../../shaders/bevy/pbr_bindings.wgsl"),
    ),
    (
        "bevy_pbr::render::clustered_forward",
        include_str!("../../shaders/bevy/clustered_forward.wgsl"),
    ),
    (
        "bevy_pbr::decal::clustered",
        include_str!("../../shaders/bevy/clustered_decals.wgsl"),
    ),
    (
        "bevy_pbr::light_probe::irradiance_volume",
        include_str!("../../shaders/bevy/irradiance_volume.wgsl"),
    ),
];

/// Advice for names of bevy that do not exist here; a path also covers all names below it.
const ADVICE: [(&str, &str); 14] = [
    (
        "bevy_pbr::render::mesh_bindings",
        "call functions of `bevy_pbr::render::mesh_functions`; materials need no slot",
    ),
    (
        "bevy_pbr::render::mesh_view_bindings",
        "`view`, `globals`, `view_transmission_texture`, `clustered_decal_textures` and their samplers exist; call `bevy_pbr::render::pbr_functions::apply_pbr_lighting` for lights and fog",
    ),
    (
        "bevy_pbr::render::view_transformations",
        "matrices of the previous frame are not kept; take those of `bevy_pbr::render::mesh_view_bindings::view`",
    ),
    (
        "bevy_pbr::render::pbr_bindings",
        "`material` exists, and the textures of base color, emission, metal and roughness, occlusion, normals and depth; call `bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material`, which samples the textures",
    ),
    (
        "bevy_pbr::render::clustered_forward",
        "call `bevy_pbr::render::pbr_functions::apply_pbr_lighting`, which finds the lights of a fragment",
    ),
    (
        "bevy_pbr::decal",
        "call `bevy_pbr::decal::clustered::apply_decals`, which finds the decals of a fragment",
    ),
    (
        "bevy_pbr::deferred",
        "`functions::deferred_output` exists with `DEFERRED_PREPASS`, for `Material::deferred_fragment_shader`",
    ),
    (
        "bevy_pbr::prepass",
        "the modules `io` and `utils` exist; declare other resources in the material",
    ),
    (
        "bevy_pbr::prepass::io",
        "`FragmentOutput` exists with `PREPASS_FRAGMENT`, for `NORMAL_PREPASS`, `MOTION_VECTOR_PREPASS` and `DEFERRED_PREPASS`",
    ),
    (
        "bevy_pbr::prepass::utils",
        "`prepass_depth`, `prepass_normal` and `prepass_motion_vector` exist",
    ),
    (
        "bevy_core_pipeline::tonemapping",
        "call `tone_mapping` of this module, or `quadrille_3d::display::display_transform`, which dithers as well",
    ),
    (
        "bevy_core_pipeline::oit",
        "materials of programs are not in the lists of `OrderIndependentTransparencySettings`; return a color, which is sorted",
    ),
    BINDLESS_ADVICE,
    (
        "bevy_render::utils",
        "vertices are not compressed; remove `VERTEX_POSITIONS_COMPRESSED`",
    ),
];

/// Publishes the modules.
pub(crate) fn publish() -> Result<(), ShaderError> {
    for (path, source) in MODULES {
        ShaderModule::new(path, source).publish()?;
    }
    for (path, advice) in ADVICE {
        ShaderModule::advise(path, advice);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
