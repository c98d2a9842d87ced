//! Several modules as one source, whose every byte knows where it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term;

use super::parse::Flaw;
use super::tokens::{Kind, Token};
use super::{Module, Target, error, hint};
use crate::error::ShaderError;

/// One source of one or more modules.
pub(crate) struct Joined {
    text: String,
    /// Labels and sources of its modules; the first is the shader's own.
    modules: Vec<(String, Arc<str>)>,
    /// Where the parts of `text` come from, in order. Empty for a single module as it is.
    parts: Vec<Part>,
    /// The names of declarations in `text`, with those that they have in their modules.
    names: BTreeMap<String, Name>,
}

/// A declaration of a module that is imported.
struct Name {
    /// As its module has it.
    own: String,
    /// As errors have it: `noise::fbm`.
    shown: String,
}

/// A part of the joined source.
struct Part {
    /// Where it is.
    at: usize,
    module: usize,
    /// Where it comes from. A renamed word has another length there.
    from: Range<usize>,
    is_renamed: bool,
}

/// Words that mean something between `<` and `>`, whatever is declared.
const ENUMERANTS: [&str; 8] = [
    "read",
    "write",
    "read_write",
    "function",
    "private",
    "workgroup",
    "uniform",
    "storage",
];

impl Joined {
    /// A module that imports nothing.
    pub(super) fn of_one(label: &str, source: &str) -> Self {
        Self {
            text: source.to_owned(),
            modules: vec![(label.to_owned(), source.into())],
            parts: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// The source.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The name of a declaration in its module, and whether that is imported.
    pub(crate) fn own_name<'a>(&'a self, name: &'a str) -> (&'a str, bool) {
        let known = self.names.get(name);
        known.map_or((name, false), |known| (&known.own, true))
    }

    /// The name of a declaration as errors have it.
    pub(crate) fn shown_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, |known| &known.shown)
    }

    /// A text in which declarations have the names that errors give them.
    pub(crate) fn shown(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for (name, known) in &self.names {
            if shown.contains(name.as_str()) {
                shown = shown.replace(name.as_str(), &known.shown);
            }
        }
        shown
    }

    /// The error of some places, of which the first counts, with notes on what would be right.
    pub(crate) fn error(
        &self,
        message: &str,
        places: &[(Range<usize>, String)],
        notes: Vec<String>,
    ) -> ShaderError {
        let mut files = SimpleFiles::new();
        for (label, source) in &self.modules {
            files.add(label, printable(source));
        }
        let mut labels = Vec::new();
        for (place, text) in places {
            let (module, at) = self.origin(place);
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
        // Its title is the message once more.
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

    /// The module that a place comes from, and where it is there.
    fn origin(&self, place: &Range<usize>) -> (usize, Range<usize>) {
        let Some(first) = self.part(place.start) else {
            return (0, place.clone());
        };
        let start = first.origin(place.start);
        // A range that ends in another module ends with its first byte here.
        let last = self.part(place.end.saturating_sub(1).max(place.start));
        let last = last.filter(|last| last.module == first.module);
        let end = match last {
            Some(part) if part.is_renamed => part.from.end,
            Some(part) => part.origin(place.end),
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
    /// Where a byte of it comes from; of a renamed word, where that begins.
    fn origin(&self, at: usize) -> usize {
        if self.is_renamed {
            self.from.start
        } else {
            (self.from.start + (at - self.at)).min(self.from.end)
        }
    }
}

/// Line and column of a byte, from 1.
fn line_and_column(source: &str, at: usize) -> (u32, u32) {
    let before = &source.as_bytes()[..at.min(source.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |it| it + 1);
    (line as u32 + 1, (before.len() - start) as u32 + 1)
}

/// A source without characters that would move a terminal's cursor, each byte where it was.
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

/// Joins modules, of which the first keeps its names.
pub(super) fn join(modules: Vec<Module>) -> Result<Joined, ShaderError> {
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
        writer.module(&modules, &names, at)?;
        writer.text.push('\n');
    }
    let of_joined = names.into_iter().map(|((module, own), name)| {
        let stem = stem(&modules[module].label);
        let shown = format!("{stem}::{own}");
        (name, Name { own, shown })
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

/// Returns the names of imported modules' declarations, by module and their own name: names that no
/// module has.
fn names(modules: &[Module]) -> BTreeMap<(usize, String), String> {
    let mut taken = BTreeSet::new();
    for module in modules {
        let words = module
            .parsed
            .tokens
            .iter()
            .filter(|it| it.kind == Kind::Word);
        taken.extend(words.map(|word| &module.source[word.at.clone()]));
    }
    let mut names = BTreeMap::new();
    for (at, module) in modules.iter().enumerate().skip(1) {
        let stem = stem(&module.label);
        for own in &module.parsed.declared {
            let mut name = format!("{own}_of_{stem}_{at}");
            while taken.contains(&*name) {
                name.push('x');
            }
            names.insert((at, own.clone()), name);
        }
    }
    names
}

/// The last part of a module's path, as an identifier.
fn stem(label: &str) -> String {
    let name = label.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let name = name.strip_suffix(".wgsl").unwrap_or(name);
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

    /// Writes a module with the joined names, without its imports and directives.
    fn module(
        &mut self,
        modules: &[Module],
        names: &BTreeMap<(usize, String), String>,
        at: usize,
    ) -> Result<(), ShaderError> {
        let module = &modules[at];
        let mut edits = renamed(modules, names, at)?;
        let cut = module
            .parsed
            .statements
            .iter()
            .chain(&module.parsed.directives);
        edits.extend(cut.map(|range| (range.clone(), None)));
        edits.sort_by_key(|(range, _)| range.start);
        let mut from = 0;
        for (range, name) in edits {
            // The words of a statement go with it.
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
        Ok(())
    }
}

/// A range of a source with what it is replaced with; with nothing, if that is `None`.
type Edit<'a> = (Range<usize>, Option<&'a str>);

/// The words of a module that are called something else in the joined source.
fn renamed<'a>(
    modules: &[Module],
    names: &'a BTreeMap<(usize, String), String>,
    at: usize,
) -> Result<Vec<Edit<'a>>, ShaderError> {
    let module = &modules[at];
    let tokens = &module.parsed.tokens;
    let word = |token: &Token| &module.source[token.at.clone()];
    let mut edits = Vec::new();
    let mut scope = Scope::default();
    // In the order of the source, as the tokens are.
    let mut statements = module.parsed.statements.iter().peekable();
    let mut next = 0;
    while let Some(token) = tokens.get(next) {
        let before = next.checked_sub(1).map(|it| &tokens[it]);
        let after = tokens.get(next + 1);
        scope.pass(token, word(token), before, after);
        let index = next;
        next += 1;
        while statements.next_if(|it| it.end <= token.at.start).is_some() {}
        let is_statement = statements
            .peek()
            .is_some_and(|it| it.contains(&token.at.start));
        if token.kind != Kind::Word || is_statement || scope.is_own_name {
            continue;
        }
        if after.is_some_and(|it| it.kind == Kind::Path) {
            let (end, name) = path(modules, names, at, index)?;
            edits.push((token.at.start..tokens[end].at.end, Some(name)));
            next = end + 1;
            continue;
        }
        let own = word(token);
        let target = match module.imported.get(own) {
            Some(Target::Item { module, name }) => names.get(&(*module, name.clone())),
            Some(Target::Module(_)) | None => names.get(&(at, own.to_owned())),
        };
        edits.extend(target.map(|name| (token.at.clone(), Some(&**name))));
    }
    Ok(edits)
}

/// The last token of `noise::fbm`, and what that is called in the joined source.
fn path<'a>(
    modules: &[Module],
    names: &'a BTreeMap<(usize, String), String>,
    at: usize,
    first: usize,
) -> Result<(usize, &'a str), ShaderError> {
    let module = &modules[at];
    let tokens = &module.parsed.tokens;
    let flaw = |token: &Token, message: String| {
        let at = token.at.clone();
        error(&module.label, &module.source, &Flaw { at, message })
    };
    let word = |token: &Token| module.source[token.at.clone()].to_owned();
    let begin = word(&tokens[first]);
    let Some(Target::Module(target)) = module.imported.get(&begin) else {
        let known = module.imported.keys().map(String::as_str);
        let hint = hint(&begin, known);
        let message = format!("`{begin}` is no module that is imported here{hint}");
        return Err(flaw(&tokens[first], message));
    };
    let item = tokens
        .get(first + 2)
        .filter(|token| token.kind == Kind::Word);
    let Some(item) = item else {
        let message = format!("a name of the module `{begin}` has to follow");
        return Err(flaw(&tokens[first + 1], message));
    };
    match names.get(&(*target, word(item))) {
        Some(name) => Ok((first + 2, name)),
        None => {
            let (label, name) = (&modules[*target].label, word(item));
            let declared = modules[*target].parsed.declared.iter();
            let hint = hint(&name, declared.map(String::as_str));
            Err(flaw(item, format!("{label} declares no `{name}`{hint}")))
        }
    }
}

/// Where a word is, as far as that decides whether it can be the name of a declaration.
#[derive(Default)]
struct Scope {
    /// The word is one of attributes, members or the language.
    is_own_name: bool,
    /// Braces around, and those around the members of a structure.
    depth: u32,
    members: Option<u32>,
    /// A structure begins with the next brace.
    is_struct: bool,
    /// An attribute whose arguments are words of the language, and the parentheses in it.
    attribute: Option<u32>,
    /// Behind `var`, up to the `>`.
    is_space: bool,
}

impl Scope {
    fn pass(&mut self, token: &Token, word: &str, before: Option<&Token>, after: Option<&Token>) {
        let is_before = |mark| before.is_some_and(|it| it.is(mark));
        let is_after = |mark| after.is_some_and(|it| it.is(mark));
        match token.kind {
            Kind::Mark('{') => {
                self.depth += 1;
                if std::mem::take(&mut self.is_struct) {
                    self.members = Some(self.depth);
                }
            }
            Kind::Mark('}') => {
                if self.members == Some(self.depth) {
                    self.members = None;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            Kind::Mark('(') => self.attribute = self.attribute.map(|depth| depth + 1),
            Kind::Mark(')') => {
                let depth = self.attribute.map(|depth| depth.saturating_sub(1));
                self.attribute = depth.filter(|&depth| depth > 0);
            }
            Kind::Mark('>') => self.is_space = false,
            Kind::Word => {
                let is_attribute = is_before('@');
                if is_attribute && matches!(word, "builtin" | "interpolate" | "diagnostic") {
                    self.attribute = Some(0);
                }
                self.is_struct |= word == "struct";
                self.is_space |= word == "var" && is_after('<');
                let is_member =
                    is_before('.') || (self.members == Some(self.depth) && is_after(':'));
                let is_enumerant = ENUMERANTS.contains(&word)
                    && (is_before('<') || is_before(','))
                    && (is_after('>') || is_after(','));
                self.is_own_name = is_attribute
                    || self.attribute.is_some()
                    || self.is_space
                    || is_member
                    || is_enumerant;
            }
            _ => {}
        }
    }
}
