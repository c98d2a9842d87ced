//! Restrictions of Rust identifiers to certain crates.

use super::complaint::Complaint;
use super::tree::Tree;

/// Crates that may have unsafe code: those that call Vulkan (the canary to violate its rules deliberately, the bench
/// for its hand-written comparison), and the front end, whose parameters implement bevy's unsafe traits.
const UNSAFE_CRATES: [&str; 6] = [
    "quadrille_vulkan",
    "quadrille_layer",
    "quadrille_canary",
    "quadrille_ecs",
    "quadrille_bench",
    "quadrille_video",
];

/// Items of the standard library that pure crates must not use, because the solver and its oracle only compute values
/// from values.
const IMPURE: [&str; 7] = [
    "std::fs",
    "std::thread",
    "std::time",
    "std::env",
    "std::net",
    "std::process",
    "unsafe {",
];
const PURE_CRATES: [&str; 2] = ["quadrille_sync", "quadrille_oracle"];

/// Finds unsafe code in crates that do not need it, and I/O and clocks in pure crates.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, code) in tree.code() {
        let crate_name = path
            .strip_prefix("crates/")
            .and_then(|rest| rest.split('/').next());
        let may_be_unsafe = crate_name.is_some_and(|name| UNSAFE_CRATES.contains(&name));
        let is_pure =
            crate_name.is_some_and(|name| PURE_CRATES.contains(&name)) && path.contains("/src/");
        for (line, text) in (1..).zip(code.lines()) {
            if !may_be_unsafe && has_word(text, "unsafe") {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("unsafe code belongs in {}", UNSAFE_CRATES.join(", ")),
                ));
            }
            if let Some(word) = IMPURE.iter().find(|word| is_pure && text.contains(**word)) {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("a pure crate does not know `{word}`"),
                ));
            }
        }
    }
    complaints
}

/// Whether a line contains a whole word.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
