//! Parser for imports and declarations of a module.

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditions::Translated;
use super::tokens::{Token, TokenKind, tokens};

/// An error in a module.
#[derive(Debug)]
pub(in crate::shader) struct SpannedError {
    /// Its range in the source.
    pub at: Range<usize>,
    pub message: String,
}

/// One name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// `super::noise::fbm`, by segments.
    pub path: Vec<String>,
    /// Its local name.
    pub name: String,
    /// Range of its last segment.
    pub at: Range<usize>,
}

/// A qualified path outside of imports: `noise::fbm(1.0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InlinePath {
    /// Its segments.
    pub path: Vec<String>,
    pub at: Range<usize>,
}

/// A declaration of a module, or an item without a name.
#[derive(Debug)]
pub(super) struct Declaration {
    /// Its name; `None` for assertions and empty declarations.
    pub name: Option<String>,
    /// Whether it is an `override`, which pipelines may set even if the shader does not use it.
    pub is_override: bool,
    /// Its tokens, attributes included.
    pub tokens: Range<usize>,
}

/// Parts of a module that composition needs.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub tokens: Vec<Token>,
    pub imports: Vec<Import>,
    pub paths: Vec<InlinePath>,
    /// The names of its functions, structures, aliases, constants and variables.
    pub declared: BTreeSet<String>,
    /// All declarations, in order.
    pub declarations: Vec<Declaration>,
    /// Functions that are entry points.
    pub entry_points: BTreeSet<String>,
    /// Its directives (`enable f16;`), which must precede all declarations.
    pub directives: Vec<Range<usize>>,
    /// Ranges that the joined source omits: imports, and those of conditional translation.
    pub cut: Vec<Range<usize>>,
}

impl Parsed {
    /// Whether the source is plain WGSL, without imports and conditions.
    pub(super) fn is_plain(&self) -> bool {
        self.imports.is_empty() && self.paths.is_empty() && self.cut.is_empty()
    }
}

/// Parses a module after conditional translation.
pub(super) fn parse(source: &str, translated: Translated) -> Result<Parsed, SpannedError> {
    let mut parser = Parser {
        source,
        tokens: &translated.tokens,
        next: 0,
        begin: 0,
        name: None,
        is_override: false,
        is_entry_point: false,
        parsed: Parsed::default(),
    };
    parser.module()?;
    let mut parsed = parser.parsed;
    parsed.cut.extend(translated.cut);
    parsed.tokens = translated.tokens;
    Ok(parsed)
}

/// Keywords of declarations with names.
const DECLARE: [&str; 6] = ["fn", "struct", "alias", "const", "override", "var"];

/// Whether a source declares a name, under any conditions.
pub(super) fn declares(source: &str, name: &str) -> bool {
    let tokens = tokens(source);
    let mut before = None;
    tokens.iter().any(|token| {
        let text = &source[token.at.clone()];
        let is_declared = before.is_some_and(|it| it == ">" || DECLARE.contains(&it));
        before = Some(text);
        is_declared && token.kind == TokenKind::Word && text == name
    })
}

/// Maximum nesting of braces in an import, which are parsed by recursion.
const MAX_BRACES: usize = 32;

/// Maximum number of segments of an import path, each of which is a folder.
const MAX_SEGMENTS: usize = 64;

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    /// The index of the next token.
    next: usize,
    /// The index of the token with which the current declaration begins.
    begin: usize,
    /// The name of the current declaration, once parsed.
    name: Option<String>,
    is_override: bool,
    /// Whether the current declaration has a stage attribute.
    is_entry_point: bool,
    parsed: Parsed,
}

impl<'a> Parser<'a> {
    fn module(&mut self) -> Result<(), SpannedError> {
        let mut depth = 0_u32;
        // The next token begins a declaration or directive.
        let mut is_start = true;
        while let Some(token) = self.tokens.get(self.next) {
            match (token.kind, self.word()) {
                (TokenKind::Word, word) if word != "import" && self.is_path(self.next) => {
                    self.inline_path()?;
                    is_start = false;
                    continue;
                }
                (TokenKind::Punctuation('#'), _) => return Err(self.preprocessor()),
                (TokenKind::Word, "vertex" | "fragment" | "compute") if self.is_attribute() => {
                    self.is_entry_point = true;
                }
                (TokenKind::Word, "import") => {
                    self.import_statement()?;
                    self.begin = self.next;
                    is_start = true;
                    continue;
                }
                (TokenKind::Word, "enable" | "requires" | "diagnostic")
                    if is_start && depth == 0 =>
                {
                    self.directive();
                    self.begin = self.next;
                    continue;
                }
                (TokenKind::Word, word) if depth == 0 => self.declaration(word),
                (TokenKind::Punctuation('(' | '{' | '['), _) => depth += 1,
                (TokenKind::Punctuation(')' | '}' | ']'), _) => depth = depth.saturating_sub(1),
                _ => {}
            }
            is_start = token.is(';') || token.is('}');
            self.next += 1;
            if is_start && depth == 0 {
                self.end_declaration();
            }
        }
        self.end_declaration();
        Ok(())
    }

    fn end_declaration(&mut self) {
        let tokens = self.begin..self.next;
        self.begin = self.next;
        let name = self.name.take();
        let is_override = std::mem::take(&mut self.is_override);
        if !tokens.is_empty() {
            self.parsed.declarations.push(Declaration {
                name,
                is_override,
                tokens,
            });
        }
    }

    /// Whether a path continues after a token.
    fn is_path(&self, at: usize) -> bool {
        let after = self.tokens.get(at + 1);
        after.is_some_and(|token| token.kind == TokenKind::Path)
    }

    fn is_attribute(&self) -> bool {
        let before = self.next.checked_sub(1).map(|at| &self.tokens[at]);
        before.is_some_and(|token| token.is('@'))
    }

    fn inline_path(&mut self) -> Result<(), SpannedError> {
        let start = self.tokens[self.next].at.start;
        let mut path = Vec::new();
        loop {
            let goes_on = self.is_path(self.next);
            let (segment, at) = self.segment(&path)?;
            path.push(segment);
            if !goes_on {
                let at = start..at.end;
                self.parsed.paths.push(InlinePath { path, at });
                return Ok(());
            }
            self.next += 1;
        }
    }

    /// Parses a segment of a path after the given ones.
    fn segment(&mut self, path: &[String]) -> Result<(String, Range<usize>), SpannedError> {
        if path.len() >= MAX_SEGMENTS {
            let message = format!("a path has more than {MAX_SEGMENTS} names; import a part of it");
            return Err(self.error_at(message));
        }
        let is_known = match self.word() {
            "package" => path.is_empty(),
            "super" => path.iter().all(|it| it == "super"),
            _ => true,
        };
        if is_known {
            return self.name();
        }
        let message = format!("`{}` begins paths; write it first", self.word());
        Err(self.error_at(message))
    }

    fn preprocessor(&self) -> SpannedError {
        let after = self.tokens.get(self.next + 1);
        let word = after.map_or("", |token| &self.source[token.at.clone()]);
        let instead = match word {
            "import" => "write `import a::b;`",
            "define_import_path" => "publish the module with its path",
            "define" => "set a shader def, or write `const`",
            "if" | "ifdef" | "ifndef" | "else" | "endif" => {
                "write `@if(NAME)`, `@elif(NAME)` and `@else`"
            }
            "{" => "write `constants::NAME`",
            _ => "WGSL and WESL have no `#`; remove it",
        };
        self.error_at(format!(
            "`#{word}` is of the preprocessor naga_oil, which older bevy had; {instead}"
        ))
    }

    /// The text of the next token.
    fn word(&self) -> &'a str {
        let token = self.tokens.get(self.next);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    /// Parses the name after a keyword.
    fn declaration(&mut self, keyword: &str) {
        let mut at = self.next + 1;
        if keyword == "var" && self.tokens.get(at).is_some_and(|token| token.is('<')) {
            let rest = self.tokens[at..].iter();
            at += rest.take_while(|token| !token.is('>')).count() + 1;
        }
        let name = self.tokens.get(at).filter(|it| it.kind == TokenKind::Word);
        if let Some(name) = name.filter(|_| DECLARE.contains(&keyword)) {
            let name = &self.source[name.at.clone()];
            self.parsed.declared.insert(name.to_owned());
            self.name = Some(name.to_owned());
            self.is_override = keyword == "override";
            if std::mem::take(&mut self.is_entry_point) {
                self.parsed.entry_points.insert(name.to_owned());
            }
            // Skip the name, so that it is not parsed as a keyword.
            self.next = at;
        }
    }

    fn directive(&mut self) {
        let start = self.tokens[self.next].at.start;
        let rest = &self.tokens[self.next..];
        let length = rest.iter().position(|token| token.is(';'));
        let length = length.map_or(rest.len(), |at| at + 1);
        self.next += length;
        let end = rest[length - 1].at.end;
        self.parsed.directives.push(start..end);
    }

    fn import_statement(&mut self) -> Result<(), SpannedError> {
        let start = self.tokens[self.next].at.start;
        self.next += 1;
        if self.is_next('{') {
            self.collection(&[], 0)?;
        } else {
            self.import(Vec::new(), 0)?;
        }
        let end = self.take(';')?;
        self.parsed.cut.push(start..end);
        Ok(())
    }

    /// Parses `a::b`, `a::b as c` or `a::{b, c::d}` at a nesting depth of braces.
    fn import(&mut self, mut path: Vec<String>, depth: usize) -> Result<(), SpannedError> {
        loop {
            let (name, at) = self.segment(&path)?;
            path.push(name.clone());
            if self.tokens.get(self.next).map(|token| token.kind) != Some(TokenKind::Path) {
                let name = match self.word() {
                    "as" => {
                        self.next += 1;
                        self.name()?.0
                    }
                    _ => name,
                };
                self.parsed.imports.push(Import { path, name, at });
                return Ok(());
            }
            self.next += 1;
            if self.is_next('{') {
                return self.collection(&path, depth);
            }
        }
    }

    /// Parses `{b, c::d}` after a path, at a nesting depth of braces.
    fn collection(&mut self, path: &[String], depth: usize) -> Result<(), SpannedError> {
        if depth >= MAX_BRACES {
            let message = format!(
                "the braces of an import are nested more than {MAX_BRACES} deep; write several imports"
            );
            return Err(self.error_at(message));
        }
        self.next += 1;
        while !self.is_next('}') {
            self.import(path.to_vec(), depth + 1)?;
            if !self.is_next('}') {
                self.take(',')?;
            }
        }
        self.take('}').map(|_| ())
    }

    fn is_next(&self, mark: char) -> bool {
        self.tokens
            .get(self.next)
            .is_some_and(|token| token.is(mark))
    }

    fn name(&mut self) -> Result<(String, Range<usize>), SpannedError> {
        match self.tokens.get(self.next) {
            Some(token) if token.kind == TokenKind::Word => {
                let name = self.word().to_owned();
                self.next += 1;
                Ok((name, token.at.clone()))
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Consumes a mark, and returns its end.
    fn take(&mut self, mark: char) -> Result<usize, SpannedError> {
        if !self.is_next(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.next += 1;
        Ok(self.tokens[self.next - 1].at.end)
    }

    fn unexpected(&self, wanted: &str) -> SpannedError {
        let found = match self.word() {
            "" => "the end of the source".to_owned(),
            "*" => "`*`: names are imported one by one".to_owned(),
            word => format!("`{word}`"),
        };
        self.error_at(format!("an import goes on with {wanted}, not with {found}"))
    }

    /// Returns an error at the next token.
    fn error_at(&self, message: String) -> SpannedError {
        let end = self.source.len();
        let at = self.tokens.get(self.next);
        let at = at.map_or(end..end, |it| it.at.clone());
        SpannedError { at, message }
    }
}
