//! Several modules joined into one source, with the origin of every byte.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term;

use super::references::{Reference, needed, references};
use super::tokens::TokenKind;
use super::{Module, Target};
use crate::error::ShaderError;

/// One source, joined from one or more modules.
pub(crate) struct Joined {
    text: String,
    /// Labels and sources of its modules; the first is the shader's own.
    modules: Vec<(String, Arc<str>)>,
    /// Origins of the parts of `text`, in order. Empty for a single unchanged module.
    parts: Vec<Part>,
    /// Names of declarations in `text`, with the names in their modules.
    names: BTreeMap<String, Name>,
}

/// Name of an imported declaration.
struct Name {
    /// Name in its module.
    own: String,
    /// Name in errors: `noise::fbm`.
    shown: String,
    /// Label of its module.
    module: String,
    /// Whether the module is not the shader's own.
    is_imported: bool,
}

/// A part of the joined source.
struct Part {
    /// Byte position in the joined source.
    at: usize,
    module: usize,
    /// Range in the module. The length of a renamed word differs.
    from: Range<usize>,
    is_renamed: bool,
}

impl Joined {
    /// Wraps a module without imports.
    pub(super) fn of_one(label: &str, source: &str) -> Self {
        Self {
            text: source.to_owned(),
            modules: vec![(label.to_owned(), source.into())],
            parts: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// Whether it has more than one module.
    pub(crate) fn has_imports(&self) -> bool {
        self.modules.len() > 1
    }

    /// The source.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of a declaration in its module, and whether it is imported.
    pub(crate) fn own_name<'a>(&'a self, name: &'a str) -> (&'a str, bool) {
        let known = self.names.get(name);
        known.map_or((name, false), |known| (&known.own, known.is_imported))
    }

    /// Returns the name of a declaration in errors.
    pub(crate) fn shown_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, |known| &known.shown)
    }

    /// Returns the label of a declaration's module; empty for an unknown one.
    pub(crate) fn module_of(&self, name: &str) -> &str {
        self.names.get(name).map_or("", |known| &known.module)
    }

    /// Replaces names of declarations in a text by the names for errors.
    pub(crate) fn shown(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for (name, known) in &self.names {
            if shown.contains(name.as_str()) {
                shown = shown.replace(name.as_str(), &known.shown);
            }
        }
        shown
    }

    /// Whether a declaration of `text` has this name, and its module is not the shader's own.
    pub(crate) fn is_imported(&self, name: &str) -> bool {
        self.own_name(name).1
    }

    /// Replaces ranges of the text, which are in order and do not overlap. Errors show the replaced text.
    pub(crate) fn replace(&mut self, edits: &[(Range<usize>, String)]) {
        if self.parts.is_empty() {
            self.parts.push(Part {
                at: 0,
                module: 0,
                from: 0..self.text.len(),
                is_renamed: false,
            });
        }
        let old = std::mem::take(&mut self.text);
        let parts = std::mem::take(&mut self.parts);
        let mut writer = Writer {
            text: String::with_capacity(old.len()),
            parts: Vec::with_capacity(parts.len() + 2 * edits.len()),
        };
        let mut old = OldText {
            text: &old,
            parts: &parts,
            part: 0,
        };
        let mut from = 0;
        for (range, replacement) in edits {
            old.copy(from..range.start, &mut writer);
            let (module, origin) = old.origin(range.clone());
            writer.parts.push(Part {
                at: writer.text.len(),
                module,
                from: origin,
                is_renamed: true,
            });
            writer.text.push_str(replacement);
            from = range.end;
        }
        old.copy(from..old.text.len(), &mut writer);
        (self.text, self.parts) = (writer.text, writer.parts);
    }

    /// Returns an error at several positions, of which the first is the main one, with notes.
    pub(crate) fn error(
        &self,
        message: &str,
        spans: &[(Range<usize>, String)],
        notes: Vec<String>,
    ) -> ShaderError {
        let mut files = SimpleFiles::new();
        for (label, source) in &self.modules {
            files.add(label, printable(source));
        }
        let mut labels = Vec::new();
        for (span, text) in spans {
            let (module, at) = self.origin(span);
            labels.push(Label::primary(module, at).with_message(self.shown(text)));
        }
        let message = self.shown(message);
        let first = labels
            .first()
            .map_or((0, None), |it| (it.file_id, Some(it.range.start)));
        let (label, source) = &self.modules[first.0];
        let (line, column) = first.1.map_or((0, 0), |at| line_and_column(source, at));
        let notes = notes.iter().map(|note| self.shown(note)).collect();
        let diagnostic = Diagnostic::error().with_labels(labels).with_notes(notes);
        let excerpt = term::emit_into_string(&term::Config::default(), &files, &diagnostic);
        // The excerpt's title line repeats the message, so it is dropped.
        let excerpt = excerpt.unwrap_or_default();
        let excerpt = excerpt.split_once('\n').map_or("", |(_, excerpt)| excerpt);
        ShaderError::Source {
            label: label.clone(),
            line,
            column,
            message,
            excerpt: excerpt.trim_end().to_owned(),
        }
    }

    /// Returns the module of a position, and the range in it.
    fn origin(&self, span: &Range<usize>) -> (usize, Range<usize>) {
        let Some(first) = self.part(span.start) else {
            return (0, span.clone());
        };
        let start = first.origin(span.start);
        // A range that extends into another module is clipped to the module of its first byte.
        let last = self.part(span.end.saturating_sub(1).max(span.start));
        let last = last.filter(|last| last.module == first.module);
        let end = match last {
            Some(part) if part.is_renamed => part.from.end,
            Some(part) => part.origin(span.end),
            None => first.from.end,
        };
        (first.module, start..end.max(start))
    }

    fn part(&self, at: usize) -> Option<&Part> {
        let after = self.parts.partition_point(|part| part.at <= at);
        self.parts[..after].last()
    }
}

impl Part {
    /// Returns the position of a byte in its module; for a renamed word, the beginning of the word.
    fn origin(&self, at: usize) -> usize {
        if self.is_renamed {
            self.from.start
        } else {
            (self.from.start + (at - self.at)).min(self.from.end)
        }
    }
}

/// A text that is copied in order, with its parts.
struct OldText<'a> {
    text: &'a str,
    parts: &'a [Part],
    /// The part that was copied last.
    part: usize,
}

impl OldText<'_> {
    /// Copies a range behind the ones before.
    fn copy(&mut self, range: Range<usize>, to: &mut Writer) {
        let mut at = range.start;
        while at < range.end {
            self.seek(at);
            let next = self.parts.get(self.part + 1);
            let end = next.map_or(range.end, |next| next.at.min(range.end));
            if let Some(part) = self.parts.get(self.part) {
                let from = match part.is_renamed {
                    true => part.from.clone(),
                    false => part.origin(at)..part.origin(end),
                };
                to.parts.push(Part {
                    at: to.text.len(),
                    module: part.module,
                    from,
                    is_renamed: part.is_renamed,
                });
            }
            to.text.push_str(&self.text[at..end]);
            at = end;
        }
    }

    /// Module and range there of a range that begins behind the ones before.
    fn origin(&mut self, range: Range<usize>) -> (usize, Range<usize>) {
        self.seek(range.start);
        let Some(part) = self.parts.get(self.part) else {
            return (0, range);
        };
        match part.is_renamed {
            true => (part.module, part.from.clone()),
            false => (
                part.module,
                part.origin(range.start)..part.origin(range.end),
            ),
        }
    }

    fn seek(&mut self, at: usize) {
        while self
            .parts
            .get(self.part + 1)
            .is_some_and(|next| next.at <= at)
        {
            self.part += 1;
        }
    }
}

/// Line and column of a byte, both from 1.
fn line_and_column(source: &str, at: usize) -> (u32, u32) {
    let before = &source.as_bytes()[..at.min(source.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |it| it + 1);
    (line as u32 + 1, (before.len() - start) as u32 + 1)
}

/// Replaces control characters, which would move a terminal's cursor, by printable ones of equal size.
fn printable(source: &str) -> String {
    let is_harmful = |it: char| it.is_control() && !matches!(it, '\n' | '\t' | '\r');
    let mut text = String::with_capacity(source.len());
    for letter in source.chars() {
        if is_harmful(letter) {
            text.extend(std::iter::repeat_n('?', letter.len_utf8()))
        } else {
            text.push(letter)
        }
    }
    text
}

/// Joins modules; the first is the shader.
///
/// Other modules keep only the declarations that it needs. A needed name in `missing` is an error.
pub(super) fn join(modules: Vec<Module>, missing: Vec<ShaderError>) -> Result<Joined, ShaderError> {
    let references: Vec<_> = (0..modules.len())
        .map(|at| references(&modules, at))
        .collect();
    let needed = match needed(&modules, &references) {
        Ok(needed) => needed,
        Err(at) => {
            return missing
                .into_iter()
                .nth(at)
                .map_or_else(|| unreachable!("it is known"), Err);
        }
    };
    let names = names(&modules);
    let mut writer = Writer {
        text: String::new(),
        parts: Vec::new(),
    };
    for (at, module) in modules.iter().enumerate() {
        for directive in &module.parsed.directives {
            writer.copy(at, module, directive.clone());
            writer.text.push('\n');
        }
    }
    for at in 0..modules.len() {
        writer.module(&modules, &names, at, (&references[at], &needed[at]));
        writer.text.push('\n');
    }
    let of_joined = names.into_iter().map(|((module, own), name)| {
        let is_imported = module > 0;
        let shown = if is_imported {
            format!("{}::{own}", stem(&modules[module].label))
        } else {
            own.clone()
        };
        let name_of = Name {
            own,
            shown,
            module: modules[module].label.clone(),
            is_imported,
        };
        (name, name_of)
    });
    let names = of_joined.collect();
    let modules = modules
        .into_iter()
        .map(|it| (it.label, it.source))
        .collect();
    Ok(Joined {
        text: writer.text,
        modules,
        parts: writer.parts,
        names,
    })
}

/// Returns the new names of declarations by module and original name. New names occur in no module.
///
/// Declarations of the shader keep their names, unless another module contains the same word: there it means something
/// else, such as a builtin function.
fn names(modules: &[Module]) -> BTreeMap<(usize, String), String> {
    let others: BTreeSet<_> = modules.iter().skip(1).flat_map(words).collect();
    let mut taken = others.clone();
    taken.extend(modules.iter().take(1).flat_map(words));
    let mut names = BTreeMap::new();
    for (at, module) in modules.iter().enumerate() {
        let stem = stem(&module.label);
        let parsed = &module.parsed;
        let is_renamed = |own: &&String| {
            at > 0 || (others.contains(own.as_str()) && !parsed.entry_points.contains(*own))
        };
        for own in parsed.declared.iter().filter(is_renamed) {
            let mut name = format!("{own}_of_{stem}_{at}");
            while taken.contains(&*name) {
                name.push('x');
            }
            names.insert((at, own.clone()), name);
        }
    }
    names
}

/// The words of a module.
fn words(module: &Module) -> impl Iterator<Item = &str> {
    let tokens = module.parsed.tokens.iter();
    let words = tokens.filter(|it| it.kind == TokenKind::Word);
    words.map(|word| &module.source[word.at.clone()])
}

/// Returns the last segment of a module's path as an identifier.
fn stem(label: &str) -> String {
    let name = label.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let name = name
        .strip_suffix(".wgsl")
        .or(name.strip_suffix(".wesl"))
        .unwrap_or(name);
    let letters = name.chars();
    letters
        .map(|it| if it.is_alphanumeric() { it } else { '_' })
        .collect()
}

struct Writer {
    text: String,
    parts: Vec<Part>,
}

impl Writer {
    fn copy(&mut self, module: usize, of: &Module, from: Range<usize>) {
        let at = self.text.len();
        self.text.push_str(&of.source[from.clone()]);
        self.parts.push(Part {
            at,
            module,
            from,
            is_renamed: false,
        });
    }

    /// Writes the needed declarations of a module with the joined names, without imports and directives.
    fn module(
        &mut self,
        modules: &[Module],
        names: &BTreeMap<(usize, String), String>,
        at: usize,
        (references, needed): (&[Reference], &[bool]),
    ) {
        let module = &modules[at];
        let parsed = &module.parsed;
        let mut edits: Vec<Edit<'_>> = Vec::new();
        for reference in references {
            if let Target::Item { module, name } = &reference.target {
                let name = names.get(&(*module, name.clone())).unwrap_or(name);
                edits.push((reference.at.clone(), Some(name)));
            }
        }
        let declarations = parsed.declarations.iter().zip(needed);
        for (declaration, _) in declarations.filter(|(_, is_needed)| !**is_needed) {
            let tokens = &parsed.tokens[declaration.tokens.clone()];
            if let [first, ..] = tokens {
                let end = tokens.last().map_or(first.at.end, |last| last.at.end);
                edits.push((first.at.start..end, None));
            }
        }
        let cut = parsed.cut.iter().chain(&parsed.directives);
        edits.extend(cut.map(|range| (range.clone(), None)));
        edits.sort_by_key(|(range, _)| range.start);
        let mut from = 0;
        for (range, name) in edits {
            // The edit is inside a removed range.
            if range.start < from {
                continue;
            }
            self.copy(at, module, from..range.start);
            if let Some(name) = name {
                let start = self.text.len();
                self.text.push_str(name);
                let from = range.clone();
                self.parts.push(Part {
                    at: start,
                    module: at,
                    from,
                    is_renamed: true,
                });
            }
            from = range.end;
        }
        self.copy(at, module, from..module.source.len());
    }
}

/// A replaced range of a source; `None` removes it.
type Edit<'a> = (Range<usize>, Option<&'a str>);
