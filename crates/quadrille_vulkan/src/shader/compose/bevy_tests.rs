//! Shader files of bevy's examples: see `tests/bevy_shaders/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shader::{ShaderDefVal, ShaderModule, ShaderOptions};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bevy_shaders");

/// Returns the shader files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|it| it == "wesl") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the names used in conditions of a source.
fn names(source: &str) -> BTreeSet<String> {
    let conditions = source
        .split('@')
        .filter_map(|it| it.trim_start_matches("el").strip_prefix("if"));
    let words = conditions.flat_map(|it| {
        let end = it.find('\n').unwrap_or(it.len());
        let within = it[..end].rsplit_once(')').map_or("", |(within, _)| within);
        within.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
    });
    let is_def = |it: &&str| {
        it.len() > 1
            && it
                .chars()
                .all(|it| it.is_uppercase() || it == '_' || it.is_numeric())
    };
    words.filter(is_def).map(str::to_owned).collect()
}

/// Returns all subsets of the names.
fn subsets(names: &BTreeSet<String>) -> impl Iterator<Item = Vec<String>> {
    let is_in = |bits: u32, at: usize| bits & (1 << at) != 0;
    (0..1_u32 << names.len()).map(move |bits| {
        let chosen = names.iter().enumerate().filter(|(at, _)| is_in(bits, *at));
        chosen.map(|(_, name)| name.clone()).collect()
    })
}

/// Files with defs for which bevy's own source is invalid, and a part of the error.
const WRONG: [(&str, &str, &str); 4] = [
    (
        "cubemap_unlit",
        "CUBEMAP_ARRAY",
        "wrong number of arguments",
    ),
    (
        "custom_stencil",
        "VERTEX_POSITIONS_COMPRESSED",
        "invalid field accessor `aabb_center`",
    ),
    (
        "specialized_mesh_pipeline",
        "VERTEX_POSITIONS_COMPRESSED",
        "invalid field accessor `aabb_center`",
    ),
    (
        "oit_compatible_extended_material",
        "PREPASS_PIPELINE",
        "invalid field accessor `color`",
    ),
];

/// Files without imports need no modules of the crates that draw.
#[test]
fn files_without_imports_are_valid() {
    let mut count = 0;
    let all = files(Path::new(FOLDER));
    for file in &all {
        let source = fs::read_to_string(file).unwrap();
        if source.contains("import bevy_") {
            continue;
        }
        count += 1;
        for defs in subsets(&names(&source)) {
            let options = ShaderOptions::new().defs(defs.into_iter().map(ShaderDefVal::from));
            let result = options.validate(&file.display().to_string(), &source);
            result.unwrap_or_else(|error| panic!("{error}"));
        }
    }
    assert_eq!((all.len(), count), (43, 5));
}

/// Composes the files of bevy's examples with the modules of bevy's own crates, which use all of the language. The
/// environment variable names the crates' folder: `~/.cargo/registry/src/*`.
#[test]
#[ignore = "needs the sources of bevy's crates in QUADRILLE_BEVY_CRATES"]
fn files_are_valid_with_the_modules_of_bevy() {
    let folder = PathBuf::from(std::env::var_os("QUADRILLE_BEVY_CRATES").unwrap());
    for crate_name in [
        "bevy_pbr",
        "bevy_render",
        "bevy_core_pipeline",
        "bevy_sprite_render",
        "bevy_ui_render",
    ] {
        let root = folder.join(format!("{crate_name}-0.20.1/src"));
        for file in files(&root) {
            let below = file.strip_prefix(&root).unwrap().with_extension("");
            let below = below.display().to_string().replace('/', "::");
            let source = fs::read_to_string(&file).unwrap();
            ShaderModule::new(&format!("{crate_name}::{below}"), &source)
                .publish()
                .unwrap();
        }
    }
    let always = [
        "AVAILABLE_STORAGE_BUFFER_BINDINGS__GE_3",
        "AVAILABLE_STORAGE_BUFFER_BINDINGS__GE_6",
        "VERTEX_POSITIONS",
        "VERTEX_NORMALS",
        "VERTEX_UVS_A",
        "VERTEX_UVS",
        "VERTEX_OUTPUT_INSTANCE_INDEX",
        "TONEMAP_IN_SHADER",
        "TONEMAP_METHOD_TONY_MC_MAPFACE",
        "DEPTH_PREPASS",
        "NORMAL_PREPASS",
        "MOTION_VECTOR_PREPASS",
        "CLUSTERED_DECALS_ARE_USABLE",
        "IRRADIANCE_VOLUME",
        "IRRADIANCE_VOLUMES_ARE_USABLE",
        "OIT_ENABLED",
        "MAY_DISCARD",
    ];
    let prepass = [
        "PREPASS_PIPELINE",
        "DEFERRED_PREPASS",
        "PREPASS_FRAGMENT",
        "NORMAL_PREPASS_OR_DEFERRED_PREPASS",
    ];
    let numbers = [
        ("MATERIAL_BIND_GROUP", 3),
        ("MAX_DIRECTIONAL_LIGHTS", 10),
        ("MAX_CASCADES_PER_LIGHT", 4),
        ("MAX_RECT_LIGHTS", 8),
        ("TONEMAPPING_LUT_TEXTURE_BINDING_INDEX", 18),
        ("TONEMAPPING_LUT_SAMPLER_BINDING_INDEX", 19),
    ];
    let mut failed = Vec::new();
    let mut count = 0;
    for file in files(Path::new(FOLDER)) {
        let source = fs::read_to_string(&file).unwrap();
        for chosen in subsets(&names(&source)) {
            let is_prepass = chosen.iter().any(|it| it == "PREPASS_PIPELINE");
            let is_prepass = is_prepass || file.ends_with("water_material.wesl");
            let prepass = prepass.iter().filter(|_| is_prepass);
            let defs = always.iter().chain(prepass).map(|it| (*it).to_owned());
            let defs = defs.chain(chosen.iter().cloned());
            let numbers = numbers.map(|(name, value)| ShaderDefVal::UInt(name.into(), value));
            let options = ShaderOptions::new()
                .defs(defs.map(ShaderDefVal::from))
                .defs(numbers)
                .within(FOLDER);
            count += 1;
            let is_wrong = WRONG.iter().any(|(name, def, _)| {
                file.ends_with(format!("{name}.wesl")) && chosen.iter().any(|it| it == def)
            });
            let result = options.validate(&file.display().to_string(), &source);
            if is_wrong {
                let error = result.expect_err("it is wrong");
                let line = error.line();
                assert!(
                    WRONG.iter().any(|(_, _, part)| line.contains(part)),
                    "{line}"
                );
            } else if let Err(error) = result {
                failed.push(format!("{} {chosen:?}: {error}", file.display()));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count}:\n{}",
        failed.len(),
        failed.join("\n\n")
    );
}
