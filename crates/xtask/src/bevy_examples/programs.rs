//! Programs to run: files below `examples/`, by name or by folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::host::paths;

/// Default programs: a folder of 2D programs, and the game.
const DEFAULT_FOLDER: &str = "2d";
const DEFAULT_GAME: &str = "breakout";

/// Names and files of our own programs, which are measured on both renderers.
const OWN: [(&str, &str); 2] = [
    ("effects", "crates/xtask/src/suites/timings/effects.rs.in"),
    (
        "materials",
        "crates/xtask/src/suites/timings/materials.rs.in",
    ),
];

/// List of the 3D programs, with the excluded ones.
const TIER1: &str = include_str!("tier1.txt");

/// A program of bevy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// File name without the extension.
    pub(super) name: String,
    /// Source file.
    pub(super) path: PathBuf,
    /// Command line arguments.
    pub(super) arguments: Vec<String>,
}

/// Finds programs of bevy and our own by name or folder, or the default ones if there are no names. Arguments may follow a name.
///
/// # Errors
/// When the package has no `examples`, or a name is not among them.
pub(super) fn find(package: &Path, names: &[String]) -> Result<Vec<Program>> {
    let examples = package.join("examples");
    let mut all = Vec::new();
    list(&examples, &mut all)?;
    all.extend(OWN.map(|(name, path)| Program {
        name: name.to_owned(),
        path: paths::root().join(path),
        arguments: Vec::new(),
    }));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let default = [DEFAULT_GAME, DEFAULT_FOLDER].map(str::to_owned);
    let names = if names.is_empty() { &default } else { names };
    let mut found = vec![false; all.len()];
    for line in names {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let arguments: Vec<String> = words.map(str::to_owned).collect();
        let mut is_known = false;
        for (program, found) in all.iter_mut().zip(&mut found) {
            if program.goes_by(name, &examples) {
                (is_known, *found) = (true, true);
                program.arguments.extend(arguments.iter().cloned());
            }
        }
        if !is_known {
            bail!("bevy has no example called `{name}`, and no folder of examples");
        }
    }
    let mut found = found.into_iter();
    all.retain(|_| found.next().unwrap_or_default());
    Ok(all)
}

/// Finds the glTF files below a folder. Each becomes a run of the viewer.
///
/// # Errors
/// When a folder cannot be listed.
pub(super) fn gltf_files(folder: &Path, viewer: &Path) -> Result<Vec<Program>> {
    let mut files = Vec::new();
    list_gltf(folder, &mut files)?;
    files.sort();
    let program = |file: &PathBuf| {
        let inside = file.strip_prefix(folder).unwrap_or(file).to_string_lossy();
        Program {
            name: inside.replace(['/', ' '], "-"),
            path: viewer.to_owned(),
            arguments: vec![folder.to_string_lossy().into_owned(), inside.into_owned()],
        }
    };
    Ok(files.iter().map(program).collect())
}

fn list_gltf(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            list_gltf(&path, files)?;
        } else if matches!(ending, Some("gltf" | "glb")) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the 3D programs and those with shaders of their own, with their arguments, and the excluded ones among them with
/// the reason.
pub(super) fn tier1() -> (Vec<String>, Vec<(&'static str, &'static str)>) {
    let lines = TIER1.lines().filter(|line| !line.starts_with('#'));
    let (mut names, mut left_out) = (Vec::new(), Vec::new());
    for line in lines {
        match line.split_once(": ") {
            Some(program) => left_out.push(program),
            None => names.push(line.to_owned()),
        }
    }
    (names, left_out)
}

impl Program {
    /// Whether the program is in a folder of this name, or itself has this name, with or without its parent folders.
    fn goes_by(&self, name: &str, examples: &Path) -> bool {
        let path = examples.join(name);
        if path.is_dir() {
            self.path.starts_with(path)
        } else {
            self.name == name || self.path == path.with_added_extension("rs")
        }
    }
}

/// Adds all files in the folders below a folder, recursively.
fn list(folder: &Path, programs: &mut Vec<Program>) -> Result<()> {
    for folder in entries(folder)?.iter().filter(|path| path.is_dir()) {
        for path in entries(folder)? {
            let is_code = path.extension().is_some_and(|ending| ending == "rs");
            if let Some(name) = path.file_stem().and_then(|name| name.to_str())
                && is_code
            {
                programs.push(Program {
                    name: name.to_owned(),
                    path: path.clone(),
                    arguments: Vec::new(),
                });
            }
        }
        list(folder, programs)?;
    }
    Ok(())
}

/// Lists a folder.
///
/// # Errors
/// When it cannot be listed.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

#[cfg(test)]
mod tests;
