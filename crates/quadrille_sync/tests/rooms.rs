//! The solver's folders in order: each knows those before it, and none after it.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "rooms/check.rs"]
mod check;

use std::path::Path;

/// The folders, as the head of `src/solve.rs` lists them; each with its files.
const ROOMS: [&str; 8] = [
    "graph", "validate", "schedule", "state", "barriers", "queues", "emit", "memory",
];

#[test]
fn folders_import_none_after_them() {
    let solve = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solve.rs");
    check::check(&solve, "crate::solve", &ROOMS);
}
