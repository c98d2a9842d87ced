//! Order of the crate's folders: each imports only earlier ones.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "../../quadrille_sync/tests/rooms/check.rs"]
mod check;
#[path = "../../quadrille_sync/tests/rooms/cycles.rs"]
mod cycles;

use std::path::Path;

/// The folders, as the head of `src/lib.rs` lists them.
const ROOMS: [&str; 7] = [
    "dispatch",
    "settings",
    "calls",
    "queues",
    "state",
    "intercepts",
    "commands",
];

#[test]
fn folders_import_none_after_them() {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    check::check(&lib, "crate", &ROOMS);
}

#[test]
fn files_import_each_other_in_no_cycle() {
    cycles::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
