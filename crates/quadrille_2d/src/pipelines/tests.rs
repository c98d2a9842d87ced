use std::fs;
use std::path::Path;

use quadrille::vulkan::shader::{ShaderDefVal, ShaderOptions};

use super::publish_shader_modules;

/// Copies of the shader files of bevy's examples, with their licence.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bevy_shaders");

/// Validates a file; returns the error with its excerpt.
fn validate(file: &str) -> Result<(), String> {
    let source = fs::read_to_string(Path::new(FOLDER).join(file)).unwrap();
    let options = ShaderOptions::new()
        .within(FOLDER)
        .def(ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), 2));
    let result = options.validate(file, &source);
    result.map_err(|error| error.to_string())
}

#[test]
fn shader_files_of_bevy_are_valid() {
    publish_shader_modules().unwrap();
    let files = [
        "custom_material_2d.wesl",
        "custom_material_2d_bindless.wesl",
        "custom_ui_material.wesl",
        "pipeline_constants.wesl",
        "single_mip_level.wesl",
    ];
    for file in files {
        validate(file).unwrap_or_else(|error| panic!("{error}"));
    }
    let file = "custom_gltf_2d.wesl";
    let error = validate(file).expect_err("2D draws no such thing");
    assert!(
        error.starts_with(file) && error.contains("2D has the modules"),
        "{error}"
    );
}
