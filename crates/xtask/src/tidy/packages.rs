//! Packages that can be published: complete manifests, and sources that include no file of another package.

use super::complaint::Complaint;
use super::tree::Tree;

/// Keys of a published package's manifest.
const KEYS: [&str; 8] = [
    "description",
    "license",
    "rust-version",
    "repository",
    "keywords",
    "categories",
    "readme",
    "[package.metadata.docs.rs]",
];

/// Beginnings of what names a file by its path from the source.
const INCLUDES: [&str; 4] = ["include_str!(", "include_bytes!(", "include!(", "#[path ="];

/// Keys that manifests of published packages lack, and includes that leave their package. Folders and files that a
/// package has as symbolic links are in it: cargo packs their targets.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, manifest) in tree.files() {
        let Some(package) = package_of(path) else {
            continue;
        };
        let is_private = |line: &str| line.starts_with("publish");
        if path != format!("{package}/Cargo.toml") || manifest.lines().any(is_private) {
            continue;
        }
        let lacks = |key: &&&str| !manifest.lines().any(|line| line.starts_with(**key));
        for key in KEYS.iter().filter(lacks) {
            let what =
                format!("a published package has `{key}`; or say `publish.workspace = true`");
            complaints.push(Complaint::new(path, 0, what));
        }
        let sources = format!("{package}/src/");
        for (path, text) in tree.files() {
            if path.starts_with(&sources) && path.ends_with(".rs") && !is_of_tests(path) {
                complaints.extend(leaving(path, package, text));
            }
        }
    }
    complaints
}

/// The folder of the package that a file belongs to.
fn package_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("crates/")?;
    let end = rest.find('/')?;
    Some(&path[.."crates/".len() + end])
}

/// Tests are compiled in the checkout alone.
fn is_of_tests(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// Includes of a source that leave its package.
fn leaving(path: &str, package: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for start in INCLUDES.iter().flat_map(|word| text.match_indices(word)) {
        let rest = &text[start.0..];
        let Some(file) = rest.split('"').nth(1) else {
            continue;
        };
        if !resolve(path, file).is_some_and(|file| file.starts_with(&format!("{package}/"))) {
            let line = 1 + text[..start.0].matches('\n').count();
            let what =
                format!("`{file}` is outside of the package; link its folder into {package}");
            complaints.push(Complaint::new(path, line, what));
        }
    }
    complaints
}

/// The path from the root of a file that a source names; none beyond the root.
fn resolve(source: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
