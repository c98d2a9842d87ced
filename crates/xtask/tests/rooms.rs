//! Order of the folders: each imports only earlier ones.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "../../quadrille_sync/tests/rooms/check.rs"]
mod check;
#[path = "../../quadrille_sync/tests/rooms/cycles.rs"]
mod cycles;

use std::path::Path;

/// The folders, as `README.md` lists them, and the command line.
const ROOMS: [&str; 10] = [
    "host",
    "setup",
    "plan",
    "tidy",
    "suites",
    "scenarios",
    "faults",
    "bevy_examples",
    "verify",
    "commands",
];

#[test]
fn folders_import_none_after_them() {
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs");
    check::check(&main, "crate", &ROOMS);
}

#[test]
fn files_import_each_other_in_no_cycle() {
    cycles::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
