use std::fs;
use std::path::{Path, PathBuf};

use quadrille::vulkan::shader::{ShaderDefVal, ShaderModule, ShaderOptions};

use crate::pipelines::publish_shader_modules;

/// Copies of the shader files of bevy's examples, with their licence.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bevy_shaders");

/// Files of 3D and of full screen effects, each with the shader defs in its conditions.
const FILES: [(&str, &[&str]); 27] = [
    ("bindless_material", &[]),
    // Not valid WGSL with `CUBEMAP_ARRAY`, in bevy either.
    ("cubemap_unlit", &[]),
    ("custom_clustered_decal", &[]),
    ("custom_material", &[]),
    ("custom_stencil", &[]),
    ("custom_vertex_attribute", &[]),
    ("deferred_raymarch", &[]),
    ("extended_material", &["SIXTEEN_BYTE_ALIGNMENT"]),
    ("fallback_image_test", &[]),
    ("fullscreen_effect", &["SIXTEEN_BYTE_ALIGNMENT"]),
    ("instancing", &[]),
    ("irradiance_volume_voxel_visualization", &[]),
    ("line_material", &[]),
    ("manual_material", &[]),
    ("oit_compatible_custom_material", &[]),
    ("oit_compatible_extended_material", &[]),
    ("post_processing", &["SIXTEEN_BYTE_ALIGNMENT"]),
    ("shader_defs", &["IS_RED"]),
    ("show_depth_texture_material", &[]),
    ("specialized_mesh_pipeline", &[]),
    ("texture_binding_array", &[]),
    ("animate_shader", &[]),
    ("automatic_instancing", &[]),
    ("custom_material_screenspace_texture", &[]),
    ("show_prepass", &["MULTISAMPLED"]),
    ("storage_buffer", &[]),
    ("tonemapping_test_patterns", &[]),
];

/// Files, some with shader defs, that import names which do not exist here, with a part of the error message.
const MISSING: [(&str, &[&str], &str); 10] = [
    ("bindless_material", &["BINDLESS"], "materials need no slot"),
    (
        "custom_stencil",
        &["VERTEX_POSITIONS_COMPRESSED"],
        "materials need no slot",
    ),
    (
        "extended_material",
        &["PREPASS_PIPELINE"],
        "`FragmentOutput` exists with",
    ),
    (
        "extended_material_bindless",
        &["BINDLESS"],
        "extended_material_bindless",
    ),
    ("gpu_component_array_buffer", &[], "materials need no slot"),
    (
        "oit_compatible_custom_material",
        &["MATERIAL_OIT_ENABLED"],
        "`OrderIndependentTransparencySettings`",
    ),
    (
        "oit_compatible_extended_material",
        &["MATERIAL_OIT_ENABLED"],
        "`OrderIndependentTransparencySettings`",
    ),
    (
        "oit_compatible_extended_material",
        &["PREPASS_PIPELINE"],
        "`FragmentOutput` exists with",
    ),
    (
        "specialized_mesh_pipeline",
        &["VERTEX_POSITIONS_COMPRESSED"],
        "materials need no slot",
    ),
    ("water_material", &[], "`FragmentOutput` exists with"),
];

/// Files that use textures of the standard material, which only generated shaders have; `tests/gpu/bevy_shaders.rs` draws
/// with one.
const ELEMENTS: [&str; 2] = ["array_texture", "screen_space_texture_material"];

/// Publishes all modules, as the plugins do.
fn publish() {
    quadrille_content::lines::publish_shader_modules().unwrap();
    publish_shader_modules().unwrap();
    let fog = include_str!("../../../shaders/fog.wgsl");
    let fog = ShaderModule::new("quadrille_3d::fog", fog);
    fog.publish().unwrap();
    crate::effects::tonemapping::publish_shader_modules().unwrap();
}

fn path(file: &str) -> PathBuf {
    Path::new(FOLDER).join(file).with_extension("wesl")
}

/// Validates a file with some defs; the error in one line.
fn validate(file: &str, defs: impl Iterator<Item = String>) -> Result<(), String> {
    let source = fs::read_to_string(path(file)).unwrap();
    let options = ShaderOptions::new()
        .within(FOLDER)
        .defs(defs.map(ShaderDefVal::from))
        .def(ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), 3));
    let label = format!("{file}.wesl");
    options
        .validate(&label, &source)
        .map_err(|error| error.to_string())
}

#[test]
fn shader_files_of_bevy_are_valid() {
    publish();
    for (file, defs) in FILES {
        for bits in 0..1_u32 << defs.len() {
            let chosen = defs
                .iter()
                .enumerate()
                .filter(|(at, _)| bits & (1 << at) != 0);
            let chosen = chosen.map(|(_, def)| (*def).to_owned());
            validate(file, chosen).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn deferred_shaders_of_bevy_are_valid() {
    publish();
    let always = ["PREPASS_PIPELINE", "PREPASS_FRAGMENT", "DEFERRED_PREPASS"];
    for more in [
        &[][..],
        &["NORMAL_PREPASS"],
        &["MOTION_VECTOR_PREPASS"],
        &["NORMAL_PREPASS", "MOTION_VECTOR_PREPASS"],
    ] {
        let defs = always.iter().chain(more).map(|def| (*def).to_owned());
        validate("extended_material", defs).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn names_that_do_not_exist_have_advice() {
    publish();
    let mut unexpected = Vec::new();
    for (file, defs, part) in MISSING {
        let defs = defs.iter().map(|def| (*def).to_owned());
        let error = validate(file, defs).err().unwrap_or_default();
        let is_at_its_line = error.starts_with(&format!("{file}.wesl:")) && error.contains('^');
        if !(is_at_its_line && error.contains(part)) {
            unexpected.push(format!("{file}: {part} is not in: {error}"));
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// Each 3D file is in one of the lists.
#[test]
fn each_shader_file_of_bevy_is_looked_at() {
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        let source = fs::read_to_string(&path).unwrap();
        if !(source.contains("bevy_pbr") || source.contains("bevy_core_pipeline"))
            || path.extension().is_none_or(|it| it != "wesl")
        {
            continue;
        }
        let file = path.file_stem().unwrap().to_str().unwrap();
        let is_known = FILES.iter().any(|it| it.0 == file)
            || MISSING.iter().any(|it| it.0 == file)
            || ELEMENTS.contains(&file);
        // Line of a comment that names bevy_pbr.
        assert!(is_known || file == "custom_gltf_2d", "{file}");
    }
}
