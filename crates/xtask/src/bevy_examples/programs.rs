//! Which programs: files below `examples/`, by name or by folder.

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

/// Finds programs by name or folder, or the default ones if there are no names.
///
/// # Errors
/// When the package has no `examples`, or a name is not among them.
pub(super) fn find(package: &Path, names: &[String]) -> Result<Vec<Program>> {
    let examples = package.join("examples");
    let mut all = Vec::new();
    list(&examples, &mut all)?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let default = [DEFAULT_GAME, DEFAULT_FOLDER].map(str::to_owned);
    let names = if names.is_empty() { &default } else { names };
    for name in names {
        if !all.iter().any(|program| program.goes_by(name, &examples)) {
            bail!("bevy has no example called `{name}`, and no folder of examples");
        }
    }
    all.retain(|program| names.iter().any(|name| program.goes_by(name, &examples)));
    Ok(all)
}

impl Program {
    /// Whether it lies in a folder of this name, or is called so where there is no such folder.
    fn goes_by(&self, name: &str, examples: &Path) -> bool {
        let folder = examples.join(name);
        if folder.is_dir() {
            self.path.starts_with(folder)
        } else {
            self.name == name
        }
    }
}

/// Adds all files of the folders in a folder, those within them included.
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
                });
            }
        }
        list(folder, programs)?;
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

#[cfg(test)]
mod tests;
