//! Locations of modules: published paths, and files below a root folder.

use std::path::{Path, PathBuf};

use super::Composer;
use super::parse::Import;
use crate::error::ShaderError;
use crate::shader::{file, module};

/// Location of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Location {
    /// Embedded in the program.
    Source,
    /// In a file, with its path as errors show it.
    File(PathBuf),
    /// Published with this path.
    Published(String),
    /// The numbers among the shader defs.
    Constants,
}

/// Path of the module of shader defs.
pub(super) const CONSTANTS: &str = "constants";

impl Composer<'_> {
    /// Returns the location that a path names in the module `from`; `None` if the path is too short.
    pub(super) fn locate(
        &self,
        at: usize,
        import: &Import,
        path: &[String],
    ) -> Result<Option<Location>, ShaderError> {
        let supers = path.iter().take_while(|it| *it == "super").count();
        let is_package = path.first().is_some_and(|it| it == "package");
        let names = &path[supers + usize::from(is_package)..];
        let problem = match (&self.modules[at].location, &self.folder) {
            _ if supers == 0 && !is_package => {
                return Ok(match path {
                    [] => None,
                    [name] if name == CONSTANTS => Some(Location::Constants),
                    _ => Some(Location::Published(path.join("::"))),
                });
            }
            (Location::File(file), folder) => {
                let mut parent = file.parent().map_or_else(PathBuf::new, Path::to_owned);
                (1..supers).for_each(|_| parent.push(".."));
                if let Some(folder) = folder.as_ref().filter(|_| is_package) {
                    parent.clone_from(folder);
                }
                return self.file(at, import, path, (&parent, names));
            }
            (Location::Source, Some(folder)) if is_package || supers == 1 => {
                return self.file(at, import, path, (folder, names));
            }
            (Location::Published(module), _) => {
                let mut parents: Vec<&str> = module.split("::").collect();
                parents.truncate(if is_package {
                    1
                } else {
                    parents.len().saturating_sub(supers)
                });
                if !parents.is_empty() {
                    parents.extend(names.iter().map(String::as_str));
                    return Ok(Some(Location::Published(parents.join("::"))));
                }
                "its path leaves the crate of the module"
            }
            (Location::Source | Location::Constants, _) => &format!(
                "{}:: is the folder of a file, and this shader comes from none; load it with GpuShader::load, or \
                 publish what it imports with ShaderModule",
                path[0]
            ),
        };
        Err(self.error_at(at, &import.at, problem.to_owned()))
    }

    /// Returns the file of a module for path segments below a folder; without segments, that of the folder itself.
    fn file(
        &self,
        at: usize,
        import: &Import,
        path: &[String],
        (parent, names): (&Path, &[String]),
    ) -> Result<Option<Location>, ShaderError> {
        let file = match names {
            [] => {
                let canonical = file::canonical(&parent.join("package"));
                let Some(folder) = canonical.as_deref().and_then(Path::parent) else {
                    return Ok(None);
                };
                if Some(folder) == self.folder.as_deref() {
                    folder.join("package")
                } else {
                    folder.to_owned()
                }
            }
            names => {
                let parent = parent.to_owned();
                names.iter().fold(parent, |path, name| path.join(name))
            }
        };
        let file = with_known_extension(file, &self.modules[at].label);
        match &self.folder {
            Some(folder) if leaves(folder, &file) => {
                let (path, folder) = (path.join("::"), folder.display());
                let problem = format!(
                    "`{path}` leaves {folder}, the folder that imports of this shader stay below; move \
                     the file there, or name a folder above with ShaderOptions::within"
                );
                Err(self.error_at(at, &import.at, problem))
            }
            _ => Ok(Some(Location::File(file))),
        }
    }
}

/// File extensions of modules, in order of search.
pub(super) const EXTENSIONS: [&str; 2] = ["wesl", "wgsl"];

/// Returns the file with an extension that exists, else with that of the importing file.
fn with_known_extension(file: PathBuf, importer: &str) -> PathBuf {
    let mut candidates = EXTENSIONS.iter().map(|it| file.with_extension(it));
    candidates.find(|it| it.is_file()).unwrap_or_else(|| {
        let is_wesl = Path::new(importer)
            .extension()
            .is_some_and(|it| it == "wesl");
        file.with_extension(EXTENSIONS[usize::from(!is_wesl)])
    })
}

/// Whether paths may begin with this name without an import.
pub(super) fn is_package(name: &str) -> bool {
    let is_of = |path: &String| path.split("::").next() == Some(name);
    matches!(name, "super" | "package" | CONSTANTS) || module::paths().iter().any(is_of)
}

/// Whether a file is outside a canonical folder, by its path or by symbolic links. For a missing file, the nearest
/// existing parent folder decides.
fn leaves(folder: &Path, file: &Path) -> bool {
    let Ok(absolute) = std::path::absolute(file) else {
        return true;
    };
    let known = absolute.ancestors().find_map(|it| it.canonicalize().ok());
    known.is_none_or(|known| !known.starts_with(folder))
}

pub(super) fn exists(location: &Location) -> bool {
    match location {
        Location::File(path) => path.is_file(),
        Location::Published(path) => module::published(path).is_some(),
        Location::Constants => true,
        Location::Source => false,
    }
}

/// Returns a canonical location, equal for all paths to the same file.
pub(super) fn canonical_location(location: &Location) -> Location {
    match location {
        Location::File(path) => {
            Location::File(file::canonical(path).unwrap_or_else(|| path.clone()))
        }
        other => other.clone(),
    }
}
