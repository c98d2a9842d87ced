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

#[test]
fn folders_import_none_after_them() {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    check::check(&lib, "crate", &ROOMS);
}
