//! The solver's folders in order: each knows those before it, and none after it.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use std::fs;
use std::path::Path;

/// The folders, as the head of `src/solve.rs` lists them; each with its files.
const ROOMS: [&str; 8] = [
    "graph", "validate", "schedule", "state", "barriers", "queues", "emit", "memory",
];

/// The text of a folder's files, and of the file beside it that has its name.
fn text(room: &str) -> String {
    let solve = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solve");
    let mut text = fs::read_to_string(solve.join(format!("{room}.rs"))).unwrap();
    let mut folders = vec![solve.join(room)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => text += &fs::read_to_string(path).unwrap(),
            }
        }
    }
    text
}

#[test]
fn folders_import_none_after_them() {
    for (at, room) in ROOMS.iter().enumerate() {
        let text = text(room);
        assert!(text.contains("use "), "{room} imports nothing at all");
        for later in &ROOMS[at + 1..] {
            let import = format!("crate::solve::{later}::");
            assert!(!text.contains(&import), "{room} imports {later}");
        }
    }
}

#[test]
fn there_are_no_other_folders() {
    let solve = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solve.rs");
    let solve = fs::read_to_string(solve).unwrap();
    let modules = solve.lines().filter_map(|line| line.strip_prefix("mod "));
    let mut modules: Vec<&str> = modules.map(|line| line.trim_end_matches(';')).collect();
    let mut rooms = ROOMS.to_vec();
    modules.sort_unstable();
    rooms.sort_unstable();
    assert_eq!(modules, rooms);
}
