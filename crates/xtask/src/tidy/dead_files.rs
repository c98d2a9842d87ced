//! Rust files that no `mod` declaration reaches: cargo silently ignores them.

use std::collections::BTreeSet;

use super::complaint::Complaint;
use super::tree::{Tree, blank};
use crate::host::cargo::Workspace;
use crate::host::paths;

/// Finds files that are not reachable from the root of any target.
pub(super) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Complaint> {
    let targets = workspace
        .packages
        .iter()
        .flat_map(|package| &package.targets);
    let mut open: Vec<String> = targets
        .filter_map(|target| {
            Some(
                target
                    .source
                    .strip_prefix(paths::root())
                    .ok()?
                    .to_str()?
                    .to_owned(),
            )
        })
        .collect();
    open.extend(roots_apart(tree));
    let roots: BTreeSet<String> = open.iter().cloned().collect();
    let mut reached = BTreeSet::new();
    while let Some(path) = open.pop() {
        let Some(text) = tree.get(&path) else {
            continue;
        };
        if reached.insert(path.clone()) {
            open.extend(modules(&path, text, roots.contains(&path)));
        }
    }
    tree.files()
        .filter(|(path, _)| path.ends_with(".rs") && !reached.contains(*path))
        .map(|(path, _)| {
            Complaint::new(
                path,
                0,
                "no `mod` line reaches this file; add one or remove it",
            )
        })
        .collect()
}

/// Returns the roots of packages outside the workspace (a fuzzer's), at cargo's default paths next to manifests with a
/// workspace of their own.
fn roots_apart(tree: &Tree) -> Vec<String> {
    let manifests = tree.files().filter(|(_, text)| {
        let is_workspace = |line: &str| line.trim() == "[workspace]";
        text.lines().any(is_workspace)
    });
    let folders: Vec<String> = manifests
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"))
        .map(|folder| format!("{folder}/src/"))
        .collect();
    let is_root = |path: &str| {
        let inside = folders
            .iter()
            .find_map(|folder| path.strip_prefix(folder.as_str()));
        inside.is_some_and(|rest| matches!(rest, "main.rs" | "lib.rs") || rest.starts_with("bin/"))
    };
    tree.files()
        .filter(|(path, _)| path.ends_with(".rs") && is_root(path))
        .map(|(path, _)| path.to_owned())
        .collect()
}

/// Returns the possible paths of the modules that a file declares; one of each pair exists.
fn modules(path: &str, text: &str, is_root: bool) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    // `a.rs` has its modules in `a/`; a root and a `mod.rs` have them in their own folder.
    let inner = if is_root || file == "mod.rs" {
        folder.to_owned()
    } else {
        path.trim_end_matches(".rs").to_owned()
    };
    let code = blank(text);
    let mut files = Vec::new();
    let mut named = None;
    for (line, words) in text.lines().zip(code.lines()) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            named = rest.split('"').next();
        } else if let Some(name) = module_name(words.trim()) {
            match named.take() {
                Some(file) => files.push(join(folder, file)),
                None => files.extend([
                    format!("{inner}/{name}.rs"),
                    format!("{inner}/{name}/mod.rs"),
                ]),
            }
        }
    }
    files
}

/// The name in a line such as `pub(crate) mod name;`.
fn module_name(line: &str) -> Option<&str> {
    let (visibility, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    let is_plain = visibility.is_empty() || visibility.starts_with("pub");
    is_plain.then_some(name.trim())
}

/// Joins a path to a folder, and resolves `..`.
fn join(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}
