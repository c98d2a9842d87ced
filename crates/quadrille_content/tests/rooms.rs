//! The crate's folders in order: each knows those before it, and none after it.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "../../quadrille_sync/tests/rooms/check.rs"]
mod check;

use std::path::Path;

/// The folders, as the head of `src/lib.rs` lists them.
const ROOMS: [&str; 13] = [
    "affine",
    "warnings",
    "enabling",
    "buffers",
    "meshes",
    "images",
    "shaders",
    "materials",
    "cameras",
    "views",
    "schedule",
    "lines",
    "plugin",
];

#[test]
fn folders_import_none_after_them() {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    check::check(&lib, "crate", &ROOMS);
}
