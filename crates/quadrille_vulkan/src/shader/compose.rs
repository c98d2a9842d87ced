//! Composition of shaders from several WGSL modules: imports and conditional translation of WESL.
//!
//! A module is the source of a shader, a file, or a module published by a crate. `import super::noise::fbm;` imports a
//! name from the file `noise.wesl` or `noise.wgsl` in the folder of the importing module, `import package::noise::fbm;`
//! from a file below the root folder, and `import waves::noise::fbm;` from a published module. `import super::noise;`
//! imports the module itself, for use as `noise::fbm`. Paths may also be used without an import. `constants::NAME` is a
//! number among the shader defs.
//! <https://github.com/webgpu-tools/wesl-spec/blob/main/Imports.md>
//!
//! Conditions first remove parts of each module (`conditions.rs`). Imports are then resolved, and the modules that a
//! shader needs are joined into one source, each once, with names unique among all modules. WGSL declarations may be in
//! any order, so modules may import each other. A word is renamed everywhere in its module, which keeps scopes intact,
//! so no other grammar needs to be parsed. Each byte of the joined source keeps its origin: [`Joined`].
//!
//! Imports of a published module are also its names, as if they were declared there: resources that other crates name
//! differently need no second declaration.
//!
//! Imported modules keep only the declarations that the shader needs, and all `override`s and assertions. Conditions
//! may remove an imported name if nothing needs it, as in bevy.
//!
//! Not supported: wildcard imports, `public` and visibility, which bevy 0.20 lacks as well. Unset shader defs are
//! false, as in bevy, and not an error.

mod conditions;
mod joined;
mod location;
mod parse;
mod references;
mod tokens;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadrille_sync::text::closest_match;

use super::defs::ShaderOptions;
use super::{file, module};
use crate::error::ShaderError;
use parse::{Import, InlinePath, Parsed, declares, parse};

pub(super) use joined::Joined;
use location::{CONSTANTS, EXTENSIONS, Location, canonical_location, exists, is_package};

pub(super) use parse::SpannedError;
pub use tokens::{Token, TokenKind, tokens};

/// Source that a composition starts from.
pub(super) struct Root<'a> {
    /// Label in errors, in place of a file name.
    pub label: &'a str,
    pub source: &'a str,
    /// The file of the source, if it has one.
    pub file: Option<&'a Path>,
    /// Shader defs, and the canonical root folder of imports. The default root is the folder of `file`.
    pub options: &'a ShaderOptions,
    /// Whether published modules are read from the files that hot reload watches.
    pub follows_files: bool,
}

/// Target of a name in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// A declaration of another module.
    Item { module: usize, name: String },
    /// Another module.
    Module(usize),
    /// A name that does not exist under these conditions: an error (its index) if the name is needed.
    Missing(usize),
}

/// A module of a shader.
struct Module {
    location: Location,
    /// Label in errors, in place of a file name.
    label: String,
    source: Arc<str>,
    parsed: Parsed,
    /// Its imports, by their local names.
    imported: BTreeMap<String, Target>,
    /// Declarations of other modules that inline paths name, by the byte at which the path begins.
    paths: BTreeMap<usize, Target>,
    /// Number of resolved imports and paths, imports first.
    known: usize,
}

/// Joins a shader with all its imports. Adds the examined files to `files`, including missing ones, with paths as in
/// [`file::canonical`].
pub(super) fn compose(root: &Root<'_>, files: &mut Vec<PathBuf>) -> Result<Joined, ShaderError> {
    let location = match root.file {
        Some(file) => Location::File(file.to_owned()),
        None => Location::Source,
    };
    let mut composer = Composer {
        modules: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        missing: Vec::new(),
        files,
        folder: match (&root.options.folder, root.file) {
            (Some(folder), _) => Some(folder.to_path_buf()),
            (None, Some(file)) => {
                file::canonical(file).and_then(|it| it.parent().map(Path::to_owned))
            }
            (None, None) => None,
        },
        options: root.options,
        follows_files: root.follows_files,
    };
    composer.add(location, root.label.to_owned(), root.source.into())?;
    if composer.modules[0].parsed.is_plain() {
        return Ok(Joined::of_one(root.label, root.source));
    }
    composer.resolve_all()?;
    joined::join(composer.modules, composer.missing)
}

/// Maximum number of unknown names that nothing needs.
const MAX_MISSING: usize = 64;

/// Number of labels shown at each end of an import chain in errors.
const MAX_SHOWN: usize = 8;

struct Composer<'a> {
    modules: Vec<Module>,
    /// Modules by location; a file has only one canonical path.
    known: HashMap<Location, usize>,
    /// Stack of modules whose imports are being resolved; each imports the next one.
    open: Vec<usize>,
    /// Errors of missing names, reported only if the names are needed.
    missing: Vec<ShaderError>,
    files: &'a mut Vec<PathBuf>,
    /// Canonical root folder of imports.
    folder: Option<PathBuf>,
    options: &'a ShaderOptions,
    follows_files: bool,
}

impl Composer<'_> {
    /// Adds a module, whose imports are resolved next.
    fn add(
        &mut self,
        location: Location,
        label: String,
        source: Arc<str>,
    ) -> Result<(), ShaderError> {
        let parsed = conditions::translate(&source, tokens(&source), &self.options.defs)
            .and_then(|translated| parse(&source, translated))
            .map_err(|spanned| error(&label, &source, &spanned))?;
        let at = self.modules.len();
        self.known.insert(canonical_location(&location), at);
        self.open.push(at);
        self.modules.push(Module {
            location,
            label,
            source,
            parsed,
            imported: BTreeMap::new(),
            paths: BTreeMap::new(),
            known: 0,
        });
        Ok(())
    }

    /// Resolves the imports of all modules, depth first. Iterative, because import chains may have any length.
    fn resolve_all(&mut self) -> Result<(), ShaderError> {
        while let Some(&at) = self.open.last() {
            let Module { parsed, known, .. } = &self.modules[at];
            // An unknown module was pushed to `open`; its imports are resolved first.
            if let Some(import) = parsed.imports.get(*known).cloned() {
                let target = match self.resolve(at, &import) {
                    Err(error)
                        if self.is_left_out(at, &import)
                            || module::advice(&import.path.join("::")).is_some() =>
                    {
                        Some(self.missing(error)?)
                    }
                    target => target?,
                };
                if let Some(target) = target {
                    self.modules[at].known += 1;
                    self.take(at, &import, target)?;
                }
            } else if let Some(path) = parsed.paths.get(*known - parsed.imports.len()).cloned() {
                let target = match self.resolve_inline(at, &path) {
                    Err(error) => Some(self.missing(error)?),
                    Ok(target) => target,
                };
                if let Some(target) = target {
                    let module = &mut self.modules[at];
                    module.known += 1;
                    module.paths.insert(path.at.start, target);
                }
            } else {
                self.open.pop();
            }
        }
        Ok(())
    }

    /// Keeps the error of a name that does not exist until something needs the name. Each costs as much as its module is
    /// long, so there may be [`MAX_MISSING`].
    fn missing(&mut self, error: ShaderError) -> Result<Target, ShaderError> {
        if self.missing.len() == MAX_MISSING {
            return Err(error);
        }
        self.missing.push(error);
        Ok(Target::Missing(self.missing.len() - 1))
    }

    /// Whether conditions removed the declaration that an import names.
    fn is_left_out(&self, at: usize, import: &Import) -> bool {
        let [parent @ .., item] = &import.path[..] else {
            return false;
        };
        let Ok(Some(location)) = self.locate(at, import, parent) else {
            return false;
        };
        let module = self.known.get(&canonical_location(&location));
        module.is_some_and(|&module| declares(&self.modules[module].source, item))
    }

    /// Resolves an inline path; `None` if its module was only now opened and has to be resolved first.
    fn resolve_inline(
        &mut self,
        at: usize,
        inline: &InlinePath,
    ) -> Result<Option<Target>, ShaderError> {
        let [first, rest @ ..] = &inline.path[..] else {
            return Ok(None);
        };
        let imports = &self.modules[at].parsed.imports;
        let path = match imports.iter().find(|import| import.name == *first) {
            Some(import) => import.path.iter().chain(rest).cloned().collect(),
            None => inline.path.clone(),
        };
        if path.first() == Some(first) && !is_package(first) {
            let known = imports.iter().map(|import| &*import.name);
            let hint = hint(first, known);
            let message = format!(
                "`{first}` is no module that is imported here, and no crate that published one{hint}"
            );
            let first = inline.at.start..inline.at.start + first.len();
            return Err(self.error_at(at, &first, message));
        }
        let last = inline.path.last().map_or(0, String::len);
        let import = Import {
            name: String::new(),
            path,
            at: inline.at.end - last..inline.at.end,
        };
        match self.resolve(at, &import)? {
            Some(Target::Module(_)) => {
                let path = inline.path.join("::");
                let message = format!("`{path}` is a module; add `::` and a name of it");
                Err(self.error_at(at, &inline.at, message))
            }
            target => Ok(target),
        }
    }

    /// Adds an import to the module, under its local name.
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
            return Err(self.error_at(at, &import.at, message));
        }
        Ok(())
    }

    /// Resolves an import; `None` if its module was only now opened and has to be resolved first.
    fn resolve(&mut self, at: usize, import: &Import) -> Result<Option<Target>, ShaderError> {
        self.resolve_once(at, import, true)
    }

    /// Resolves an import of a name that its module declares or, if `forwards`, imports itself.
    fn resolve_once(
        &mut self,
        at: usize,
        import: &Import,
        forwards: bool,
    ) -> Result<Option<Target>, ShaderError> {
        let path = &import.path[..];
        let [parent @ .., item] = path else {
            return Err(self.error_at(at, &import.at, "an import names nothing".to_owned()));
        };
        // The path names either a declaration in a module, or a module.
        let holder = self.locate(at, import, parent)?;
        if let Some(holder) = holder.filter(exists) {
            let Some(module) = self.module(at, import, holder)? else {
                return Ok(None);
            };
            let declared = &self.modules[module].parsed.declared;
            if declared.contains(item) {
                let name = item.clone();
                return Ok(Some(Target::Item { module, name }));
            }
            if let Some(import) = self.forwarded(module, item).filter(|_| forwards) {
                return self.resolve_once(module, &import, false);
            }
            let whole = self.locate(at, import, path)?;
            if whole.as_ref().is_none_or(|whole| !exists(whole)) {
                let declared = &self.modules[module].parsed.declared;
                let label = &self.modules[module].label;
                let hint = hint(item, declared.iter().map(String::as_str));
                let message = match (module::advice(&path.join("::")), label.as_str()) {
                    (Some(advice), _) => format!("{label} declares no `{item}`; {advice}"),
                    (None, CONSTANTS) => format!(
                        "no number is set for the shader def `{item}`{hint}; \
                         add it: ShaderOptions::def(ShaderDefVal::UInt(\"{item}\".into(), ..))"
                    ),
                    (None, _) => format!("{label} declares no `{item}`{hint}"),
                };
                return Err(self.error_at(at, &import.at, message));
            }
        }
        let whole = self.locate(at, import, path)?;
        match whole.filter(exists) {
            Some(whole) => Ok(self.module(at, import, whole)?.map(Target::Module)),
            None => Err(self.nothing(at, import)),
        }
    }

    /// Returns the import by which a published module has a name of another one. That one declares it: names are not
    /// passed on twice, so there are no cycles.
    fn forwarded(&self, module: usize, name: &str) -> Option<Import> {
        let Module {
            location, parsed, ..
        } = &self.modules[module];
        let import = parsed.imports.iter().find(|import| import.name == name)?;
        let Location::Published(_) = location else {
            return None;
        };
        Some(import.clone())
    }

    /// Returns the index of the module at a location that exists; `None` if the module was only now opened.
    fn module(
        &mut self,
        at: usize,
        import: &Import,
        location: Location,
    ) -> Result<Option<usize>, ShaderError> {
        if let Some(&known) = self.known.get(&canonical_location(&location)) {
            return Ok(Some(known));
        }
        let (label, source) = match &location {
            Location::File(path) => self
                .read(path)
                .map_err(|error| self.unread(at, import, &error))?,
            Location::Published(path) => self.published(path)?,
            Location::Constants => (CONSTANTS.to_owned(), self.options.defs.constants().into()),
            Location::Source => unreachable!("imports name files and published modules"),
        };
        self.add(location, label, source).map(|()| None)
    }

    fn read(&mut self, path: &Path) -> Result<(String, Arc<str>), ShaderError> {
        self.files.extend(file::canonical(path));
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

    /// Returns the error of an import that names nothing.
    fn nothing(&mut self, at: usize, import: &Import) -> ShaderError {
        let path = import.path.join("::");
        let parent = &import.path[..import.path.len() - 1];
        let is_folder = parent.iter().all(|it| it == "super" || it == "package");
        let parent = if is_folder { &import.path } else { parent };
        if let Some(advice) = module::advice(&path) {
            let message = format!("`{path}` does not exist here; {advice}");
            return self.error_at(at, &import.at, message);
        }
        let wanted = match self.locate(at, import, parent) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => Location::Published(path.clone()),
            Err(error) => return error,
        };
        let problem = match wanted {
            Location::File(file) => {
                for extension in EXTENSIONS {
                    self.files
                        .extend(file::canonical(&file.with_extension(extension)));
                }
                format!("there is no file {}", file.display())
            }
            Location::Published(module) => {
                let known = module::paths();
                let hint = hint(&module, known.iter().map(String::as_str));
                format!("no module `{module}` is published{hint}")
            }
            Location::Source | Location::Constants => {
                unreachable!("imports name files and published modules")
            }
        };
        self.error_at(
            at,
            &import.at,
            format!("`{path}` is imported, and {problem}{}", self.by()),
        )
    }

    /// Returns the error of an import of a file that is unreadable or not UTF-8.
    fn unread(&self, at: usize, import: &Import, error: &ShaderError) -> ShaderError {
        self.error_at(at, &import.at, format!("{}{}", error.line(), self.by()))
    }

    /// Returns the chain of modules that import the last one, for errors.
    fn by(&self) -> String {
        match &self.open[..] {
            [] | [_] => String::new(),
            open => format!(" (by {})", self.chain(open.iter().copied())),
        }
    }

    /// Joins labels of modules; of a long chain only both ends.
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

    fn error_at(&self, at: usize, span: &Range<usize>, message: String) -> ShaderError {
        let module = &self.modules[at];
        let spanned = SpannedError {
            at: span.clone(),
            message,
        };
        error(&module.label, &module.source, &spanned)
    }
}

/// Suggests the known name closest to a misspelled one.
fn hint<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest_match(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Converts an error to an error with its position.
fn error(label: &str, source: &str, spanned: &SpannedError) -> ShaderError {
    let joined = Joined::of_one(label, source);
    let spans = [(spanned.at.clone(), String::new())];
    joined.error(&spanned.message, &spans, Vec::new())
}

#[cfg(test)]
mod bevy_tests;
#[cfg(test)]
mod tests;
