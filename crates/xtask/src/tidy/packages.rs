//! Published packages: complete manifests, licence texts, and includes that refer only to packed files.

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

/// Licence texts that the manifests name; a package links those of the repository.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Prefixes of includes, followed by a path relative to the source.
const INCLUDES: [&str; 4] = ["include_str!(", "include_bytes!(", "include!(", "#[path ="];

/// Keys that manifests of published packages lack, missing licences, and includes of files that are not packed, in
/// unit tests too. Folders and files that a package has as symbolic links are in it: cargo packs their targets.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in published(tree) {
        let path = &format!("{package}/Cargo.toml");
        let manifest = tree.get(path).unwrap_or_default();
        let lacks = |key: &&&str| !manifest.lines().any(|line| line.starts_with(**key));
        for key in KEYS.iter().filter(lacks) {
            let what =
                format!("a published package has `{key}`; or say `publish.workspace = true`");
            complaints.push(Complaint::new(path, 0, what));
        }
        for file in LICENCES {
            if tree.get(&format!("{package}/{file}")).is_none() {
                let what = format!("a published package has `{file}`; link that of the repository");
                complaints.push(Complaint::new(path, 0, what));
            }
        }
        let sources = format!("{package}/src/");
        let excluded = exclusions(manifest);
        for (path, text) in tree.files() {
            if path.starts_with(&sources) && path.ends_with(".rs") {
                complaints.extend(unpacked(path, (package, &excluded), text));
            }
        }
    }
    complaints
}

/// Folders of the packages that are published.
pub(super) fn published(tree: &Tree) -> Vec<&str> {
    let manifests = tree.files().filter_map(|(path, manifest)| {
        let package = package_of(path)?;
        let is_private = manifest.lines().any(|line| line.starts_with("publish"));
        (path == format!("{package}/Cargo.toml") && !is_private).then_some(package)
    });
    manifests.collect()
}

/// The folder of the package that a file belongs to.
fn package_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("crates/")?;
    let end = rest.find('/')?;
    Some(&path[.."crates/".len() + end])
}

/// Patterns of `exclude` in a manifest, where they stand in one line.
fn exclusions(manifest: &str) -> Vec<&str> {
    let list = manifest
        .lines()
        .find(|line| line.starts_with("exclude = ["));
    list.map_or_else(Vec::new, |list| {
        list.split('"').skip(1).step_by(2).collect()
    })
}

/// Whether a file of a package is excluded: the last pattern that matches decides, as in a `.gitignore`. Patterns are a
/// path or `folder/*`.
fn is_excluded(file: &str, patterns: &[&str]) -> bool {
    let is_below = |folder: &str| {
        file.strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let path = |pattern: &'_ str| {
        pattern
            .trim_start_matches('!')
            .trim_end_matches("/*")
            .to_owned()
    };
    let last = patterns
        .iter()
        .rev()
        .find(|pattern| is_below(&path(pattern)));
    last.is_some_and(|pattern| !pattern.starts_with('!'))
}

/// Includes of a source whose files the package does not contain.
fn unpacked(path: &str, (package, excluded): (&str, &[&str]), text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for start in INCLUDES.iter().flat_map(|word| text.match_indices(word)) {
        let rest = &text[start.0..];
        let Some(file) = rest.split('"').nth(1) else {
            continue;
        };
        let packed = resolve(path, file).and_then(|file| {
            let file = file.strip_prefix(package)?.strip_prefix('/')?;
            (!is_excluded(file, excluded)).then_some(())
        });
        if packed.is_none() {
            let line = 1 + text[..start.0].matches('\n').count();
            let what = format!(
                "`{file}` is not packed; link its folder into {package}, or keep it in `exclude`"
            );
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
