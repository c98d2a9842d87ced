//! Which programs: files below `examples/`, by name.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What is run when nobody names programs: a folder of 2D programs, and the game.
const DEFAULT_FOLDER: &str = "2d";
const DEFAULT_GAME: &str = "breakout";

/// A program of bevy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Its file's name without the ending.
    pub(super) name: String,
    /// Its file.
    pub(super) path: PathBuf,
}

/// Finds programs by name, or the default ones if there are no names.
///
/// # Errors
/// When the folder has no `examples`, or a name is not among them.
pub(super) fn find(package: &Path, names: &[String]) -> Result<Vec<Program>> {
    let all = list(&package.join("examples"))?;
    if names.is_empty() {
        let wanted = |program: &&Program| {
            program.name == DEFAULT_GAME || folder(&program.path) == Some(DEFAULT_FOLDER)
        };
        return Ok(all.iter().filter(wanted).cloned().collect());
    }
    let mut found = Vec::new();
    for name in names {
        match all.iter().find(|program| program.name == *name) {
            Some(program) => found.push(program.clone()),
            None => bail!("bevy has no example called `{name}`"),
        }
    }
    Ok(found)
}

/// All files of the folders in `examples/`, in order of name.
fn list(examples: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for folder in entries(examples)? {
        if !folder.is_dir() {
            continue;
        }
        for path in entries(&folder)? {
            let is_code = path.extension().is_some_and(|ending| ending == "rs");
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
                continue;
            };
            if is_code {
                programs.push(Program {
                    name: name.to_owned(),
                    path: path.clone(),
                });
            }
        }
    }
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(programs)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

fn folder(path: &Path) -> Option<&str> {
    path.parent()?.file_name()?.to_str()
}

#[cfg(test)]
mod tests;
