use std::fs;
use std::path::Path;

use quadrille::vulkan::shader::{ShaderDefVal, ShaderOptions};

use super::publish_shader_modules;

/// Copies of the shader files of bevy's examples, with their licence.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bevy_shaders");

/// Validates a file; returns the error with its excerpt.
fn validate(file: &str) -> Result<(), String> {
    validate_source(
        file,
        &fs::read_to_string(Path::new(FOLDER).join(file)).unwrap(),
    )
}

fn validate_source(file: &str, source: &str) -> Result<(), String> {
    let options = ShaderOptions::new()
        .within(FOLDER)
        .def(ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), 2));
    let result = options.validate(file, source);
    result.map_err(|error| error.to_string())
}

/// Publishes all modules, as the plugins do.
fn publish() {
    quadrille_content::lines::publish_shader_modules().unwrap();
    publish_shader_modules().unwrap();
}

#[test]
fn shader_files_of_bevy_are_valid() {
    publish();
    let files = [
        "custom_gltf_2d.wesl",
        "custom_material_2d.wesl",
        "custom_material_2d_bindless.wesl",
        "custom_ui_material.wesl",
        "pipeline_constants.wesl",
        "single_mip_level.wesl",
    ];
    for file in files {
        validate(file).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn missing_names_of_bevy_have_advice() {
    publish();
    let source = "
import bevy_sprite_render::mesh2d::bindings::mesh;
@fragment fn fragment() -> @location(0) vec4f { return vec4f(f32(mesh[0].flags)); }";
    let error = validate_source("missing.wesl", source).expect_err("2D has no such thing");
    assert!(
        error.starts_with("missing.wesl") && error.contains("2D has the modules"),
        "{error}"
    );
}
