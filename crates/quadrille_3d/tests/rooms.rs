//! Order of the crate's folders: each uses only those before it.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "../../quadrille_sync/tests/rooms/check.rs"]
mod check;

use std::path::Path;

/// The folders, in the order of the docs of `src/lib.rs`.
const ROOMS: [&str; 20] = [
    "schedule",
    "components",
    "constants",
    "tables",
    "scene",
    "pipelines",
    "skin",
    "extract",
    "environment",
    "prepare",
    "passes",
    "camera_effect",
    "effects",
    "gltf",
    "free_camera",
    "material",
    "forward_decal",
    "plugin",
    "fullscreen_material",
    "guide",
];

/// The effects, in an order without cycles.
const EFFECTS: [&str; 28] = [
    "full_screen",
    "needs",
    "contact_shadows",
    "occlusion_culling",
    "skybox",
    "bloom",
    "wireframe",
    "volumetric_fog",
    "atmosphere",
    "prepass",
    "ssao",
    "ssr",
    "oit",
    "lens",
    "taa",
    "upscaling",
    "jitter",
    "motion_blur",
    "depth_of_field",
    "auto_exposure",
    "fxaa",
    "sharpening",
    "smaa",
    "film_grain",
    "fog",
    "gizmos",
    "tonemapping",
    "transmission",
];

#[test]
fn effects_import_none_after_them() {
    let effects = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/effects.rs");
    check::check(&effects, "crate::effects", &EFFECTS);
}

#[test]
fn folders_import_none_after_them() {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    check::check(&lib, "crate", &ROOMS);
}
