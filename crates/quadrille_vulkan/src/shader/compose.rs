//! Shaders composed of several modules of WGSL.
//!
//! A module is the source of a shader, a file, or what a crate published. `import super::noise::fbm;`
//! takes a name of the file `noise.wgsl` in the folder of the module that imports,
//! `import waves::noise::fbm;` one of a published module, and `import super::noise;` the module, as
//! `noise::fbm`. These are the imports of WESL, as bevy's shaders have them.
//!
//! The modules that a shader needs are joined into one source, each once, in which no two have a
//! name in common. WGSL has no order of declarations, and renaming a word everywhere in a module
//! changes nothing about scopes, so nothing else of the language has to be understood. Each byte of
//! the joined source knows where it comes from: [`Joined`].

mod joined;
mod parse;
mod tokens;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadrille_sync::closest_match;

use super::{file, module};
use crate::error::ShaderError;
use parse::{Import, Parsed, parse};

pub(super) use joined::Joined;
pub(super) use parse::Flaw;
pub use tokens::{Kind, Token, tokens};

/// Source that a composition starts from.
pub(super) struct Root<'a> {
    /// Stands for the file in errors.
    pub label: &'a str,
    pub source: &'a str,
    /// The file that it was read from.
    pub file: Option<&'a Path>,
    /// The folder that imports of files stay below, canonical; `None` is that of `file`.
    pub folder: Option<&'a Path>,
    /// Published modules are read from the files in which they are edited.
    pub follows_files: bool,
}

/// Target of a name in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// A declaration of another module.
    Item { module: usize, name: String },
    /// Another module.
    Module(usize),
}

/// A module of a shader.
struct Module {
    place: Place,
    /// Stands for the file in errors.
    label: String,
    source: Arc<str>,
    parsed: Parsed,
    /// Its imports, by the names that they have here.
    imported: BTreeMap<String, Target>,
    /// Its imports are being looked at: those before this one are known.
    next_import: Option<usize>,
}

/// Where a module is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// In the program.
    Source,
    /// In a file, as it is named in errors.
    File(PathBuf),
    /// Published with this path.
    Published(String),
}

/// Joins a shader with all that it imports. Files that were looked at, also those that are missing,
/// are added to `files`, as [`file::place`] names them.
pub(super) fn compose(root: &Root<'_>, files: &mut Vec<PathBuf>) -> Result<Joined, ShaderError> {
    if !root.source.contains("import") {
        return Ok(Joined::of_one(root.label, root.source));
    }
    let place = match root.file {
        Some(file) => Place::File(file.to_owned()),
        None => Place::Source,
    };
    let mut composer = Composer {
        modules: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        files,
        folder: match (root.folder, root.file) {
            (Some(folder), _) => Some(folder.to_owned()),
            (None, Some(file)) => file::place(file).and_then(|it| it.parent().map(Path::to_owned)),
            (None, None) => None,
        },
        follows_files: root.follows_files,
    };
    composer.add(place, root.label.to_owned(), root.source.into())?;
    composer.resolve_all()?;
    joined::join(composer.modules)
}

/// Labels of a chain of imports that errors show at each of its ends.
const MAX_SHOWN: usize = 8;

struct Composer<'a> {
    modules: Vec<Module>,
    /// The modules by place, files by their one path.
    known: HashMap<Place, usize>,
    /// The modules whose imports are being looked at, each imported by the one before it.
    open: Vec<usize>,
    files: &'a mut Vec<PathBuf>,
    /// The folder that files stay below, canonical.
    folder: Option<PathBuf>,
    follows_files: bool,
}

impl Composer<'_> {
    /// Takes a module in, whose imports are looked at next.
    fn add(&mut self, place: Place, label: String, source: Arc<str>) -> Result<(), ShaderError> {
        let parsed = parse(&source).map_err(|flaw| error(&label, &source, &flaw))?;
        let at = self.modules.len();
        self.known.insert(one_place(&place), at);
        self.open.push(at);
        self.modules.push(Module {
            place,
            label,
            source,
            parsed,
            imported: BTreeMap::new(),
            next_import: Some(0),
        });
        Ok(())
    }

    /// Finds what all modules import, depth first. Chains of imports may be of any length, so this
    /// does not recurse.
    fn resolve_all(&mut self) -> Result<(), ShaderError> {
        while let Some(&at) = self.open.last() {
            let module = &mut self.modules[at];
            let next = module.next_import.unwrap_or_default();
            let Some(import) = module.parsed.imports.get(next).cloned() else {
                module.next_import = None;
                self.open.pop();
                continue;
            };
            // A module that was not known is open now, and its imports come first.
            if let Some(target) = self.resolve(at, &import)? {
                self.modules[at].next_import = Some(next + 1);
                self.take(at, &import, target)?;
            }
        }
        Ok(())
    }

    /// Gives what an import names its name in the module.
    fn take(&mut self, at: usize, import: &Import, target: Target) -> Result<(), ShaderError> {
        let module = &mut self.modules[at];
        let is_declared = module.parsed.declared.contains(&import.name);
        let known = module.imported.insert(import.name.clone(), target.clone());
        if is_declared || known.is_some_and(|known| known != target) {
            let name = &import.name;
            let message = format!(
                "`{name}` is imported, and is another name of this module already; \
                 give it a name of its own: {} as other_{name}",
                import.path.join("::")
            );
            return Err(self.flaw(at, &import.at, message));
        }
        Ok(())
    }

    /// Finds what an import names; `None` if that lies in a module that has been opened for it.
    fn resolve(&mut self, at: usize, import: &Import) -> Result<Option<Target>, ShaderError> {
        let path = &import.path[..];
        let [parent @ .., item] = path else {
            return Err(self.flaw(at, &import.at, "an import names nothing".to_owned()));
        };
        // A name in a module, or a module.
        let holder = self.place(at, import, parent)?;
        if let Some(holder) = holder.filter(exists) {
            let Some(module) = self.module(at, import, holder)? else {
                return Ok(None);
            };
            let declared = &self.modules[module].parsed.declared;
            if declared.contains(item) {
                let name = item.clone();
                return Ok(Some(Target::Item { module, name }));
            }
            let whole = self.place(at, import, path)?;
            if whole.as_ref().is_none_or(|whole| !exists(whole)) {
                let label = &self.modules[module].label;
                let hint = hint(item, declared.iter().map(String::as_str));
                let message = format!("{label} declares no `{item}`{hint}");
                return Err(self.flaw(at, &import.at, message));
            }
        }
        let whole = self.place(at, import, path)?;
        match whole.filter(exists) {
            Some(whole) => Ok(self.module(at, import, whole)?.map(Target::Module)),
            None => Err(self.missing(at, import)),
        }
    }

    /// Where a module of this path is, as seen from another; `None` if the path is too short.
    fn place(
        &self,
        at: usize,
        import: &Import,
        path: &[String],
    ) -> Result<Option<Place>, ShaderError> {
        let supers = path.iter().take_while(|it| *it == "super").count();
        let names = &path[supers..];
        let place = &self.modules[at].place;
        let problem = match place {
            _ if import.path[0] == "package" => {
                "package:: is not known here; imports begin with super::, the folder of this file, \
                 or with the name of a crate that published a module"
            }
            _ if names.is_empty() => return Ok(None),
            _ if supers == 0 => return Ok(Some(Place::Published(path.join("::")))),
            Place::File(file) => {
                let mut folder = file.parent().map_or_else(PathBuf::new, Path::to_owned);
                (1..supers).for_each(|_| folder.push(".."));
                let file = names.iter().fold(folder, |path, name| path.join(name));
                let file = file.with_extension("wgsl");
                match &self.folder {
                    Some(folder) if leaves(folder, &file) => {
                        let (path, folder) = (path.join("::"), folder.display());
                        let problem = format!(
                            "`{path}` leaves {folder}, the folder that imports of this shader stay below; move \
                             the file there, or name a folder above with GpuShader::load_within"
                        );
                        return Err(self.flaw(at, &import.at, problem));
                    }
                    _ => return Ok(Some(Place::File(file))),
                }
            }
            Place::Published(module) => {
                let mut parents: Vec<&str> = module.split("::").collect();
                parents.truncate(parents.len().saturating_sub(supers));
                if !parents.is_empty() {
                    parents.extend(names.iter().map(String::as_str));
                    return Ok(Some(Place::Published(parents.join("::"))));
                }
                "its path leaves the crate of the module"
            }
            Place::Source => {
                "super:: is the folder of a file, and this shader comes from none; load it with \
                 GpuShader::load, or publish what it imports with ShaderModule"
            }
        };
        Err(self.flaw(at, &import.at, problem.to_owned()))
    }

    /// The module at a place, which exists; `None` if it has been opened.
    fn module(
        &mut self,
        at: usize,
        import: &Import,
        place: Place,
    ) -> Result<Option<usize>, ShaderError> {
        if let Some(&known) = self.known.get(&one_place(&place)) {
            if self.modules[known].next_import.is_none() {
                return Ok(Some(known));
            }
            let from = self.open.iter().copied().skip_while(|&it| it != known);
            let (chain, first) = (self.chain(from), &self.modules[known].label);
            let message = format!("imports run in a circle: {chain} -> {first}");
            return Err(self.flaw(at, &import.at, message));
        }
        let (label, source) = match &place {
            Place::File(path) => self
                .read(path)
                .map_err(|error| self.unread(at, import, &error))?,
            Place::Published(path) => self.published(path)?,
            Place::Source => unreachable!("imports name files and published modules"),
        };
        self.add(place, label, source).map(|()| None)
    }

    fn read(&mut self, path: &Path) -> Result<(String, Arc<str>), ShaderError> {
        self.files.extend(file::place(path));
        let bytes = file::read(path)?;
        let label = path.display().to_string();
        let source = file::text(&label, &bytes)?.into();
        Ok((label, source))
    }

    fn published(&mut self, path: &str) -> Result<(String, Arc<str>), ShaderError> {
        let Some(module) = module::published(path) else {
            unreachable!("modules are published for good");
        };
        match &module.file {
            Some(file) if self.follows_files && file.is_file() => self.read(file),
            Some(file) => {
                self.files.push(file.clone());
                Ok((file.display().to_string(), Arc::clone(module.text())))
            }
            None => Ok((path.to_owned(), Arc::clone(module.text()))),
        }
    }

    /// The error of an import of nothing.
    fn missing(&mut self, at: usize, import: &Import) -> ShaderError {
        let path = import.path.join("::");
        let parent = &import.path[..import.path.len() - 1];
        let wanted = match self.place(at, import, parent) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => Place::Published(path.clone()),
            Err(error) => return error,
        };
        let problem = match wanted {
            Place::File(file) => {
                self.files.extend(file::place(&file));
                format!("there is no file {}", file.display())
            }
            Place::Published(module) => {
                let known = module::paths();
                let hint = hint(&module, known.iter().map(String::as_str));
                format!("no module `{module}` is published{hint}")
            }
            Place::Source => unreachable!("imports name files and published modules"),
        };
        self.flaw(
            at,
            &import.at,
            format!("`{path}` is imported, and {problem}{}", self.by()),
        )
    }

    /// The error of an import of a file that cannot be read, or is no text.
    fn unread(&self, at: usize, import: &Import, error: &ShaderError) -> ShaderError {
        self.flaw(at, &import.at, format!("{}{}", error.line(), self.by()))
    }

    /// Names the modules by which the last one is imported.
    fn by(&self) -> String {
        match &self.open[..] {
            [] | [_] => String::new(),
            open => format!(" (by {})", self.chain(open.iter().copied())),
        }
    }

    /// Modules by label, of many the first and the last.
    fn chain(&self, modules: impl Iterator<Item = usize>) -> String {
        let labels: Vec<_> = modules.map(|it| &*self.modules[it].label).collect();
        let (first, last) = labels.split_at(labels.len().min(MAX_SHOWN));
        let left_out = last.len().saturating_sub(MAX_SHOWN);
        let mut chain = first.join(" -> ");
        if left_out > 0 {
            chain += &format!(" -> .. {left_out} more ..");
        }
        for label in &last[left_out..] {
            chain = chain + " -> " + label;
        }
        chain
    }

    fn flaw(&self, at: usize, place: &Range<usize>, message: String) -> ShaderError {
        let module = &self.modules[at];
        let flaw = Flaw {
            at: place.clone(),
            message,
        };
        error(&module.label, &module.source, &flaw)
    }
}

/// Whether a file lies outside a canonical folder, itself or behind symbolic links. Of one that does not
/// exist the nearest folder above decides that does.
fn leaves(folder: &Path, file: &Path) -> bool {
    let Ok(absolute) = std::path::absolute(file) else {
        return true;
    };
    let known = absolute.ancestors().find_map(|it| it.canonicalize().ok());
    known.is_none_or(|known| !known.starts_with(folder))
}

fn exists(place: &Place) -> bool {
    match place {
        Place::File(path) => path.is_file(),
        Place::Published(path) => module::published(path).is_some(),
        Place::Source => false,
    }
}

/// A place by which a module is found again, whatever path leads to its file.
fn one_place(place: &Place) -> Place {
    match place {
        Place::File(path) => Place::File(file::place(path).unwrap_or_else(|| path.clone())),
        other => other.clone(),
    }
}

/// Suggests the name that was perhaps meant.
fn hint<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest_match(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// A flaw in words for users.
fn error(label: &str, source: &str, flaw: &Flaw) -> ShaderError {
    let joined = Joined::of_one(label, source);
    let place = [(flaw.at.clone(), String::new())];
    joined.error(&flaw.message, &place, Vec::new())
}

#[cfg(test)]
mod tests;
