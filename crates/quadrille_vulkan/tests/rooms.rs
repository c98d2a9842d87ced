//! Order of the crate's folders: each uses only those before it.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "../../quadrille_sync/tests/rooms/check.rs"]
mod check;

use std::path::Path;

/// The folders, in the order of the docs of `src/lib.rs`, between files outside of folders.
const ROOMS: [&str; 16] = [
    "test_folder",
    "deep_stack",
    "prefetch",
    "convert",
    "file",
    "error",
    "instance",
    "shader",
    "device",
    "resources",
    "pipeline",
    "commands",
    "record",
    "present",
    "submit",
    "gpu",
];

#[test]
fn folders_import_none_after_them() {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    check::check(&lib, "crate", &ROOMS);
}
