//! Imports and declarations of a module.

use std::collections::BTreeSet;
use std::ops::Range;

use super::tokens::{Kind, Token, tokens};

/// Something wrong in a module.
#[derive(Debug)]
pub(in crate::shader) struct Flaw {
    /// Where.
    pub at: Range<usize>,
    pub message: String,
}

/// One name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// `super::noise::fbm`, by segments.
    pub path: Vec<String>,
    /// Its name here.
    pub name: String,
    /// Where its last segment is.
    pub at: Range<usize>,
}

/// A module, as far as composing needs it.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub tokens: Vec<Token>,
    pub imports: Vec<Import>,
    /// The names of its functions, structures, aliases, constants and variables.
    pub declared: BTreeSet<String>,
    /// Its directives (`enable f16;`), which have to stand before all declarations.
    pub directives: Vec<Range<usize>>,
    /// Its import statements, which WGSL does not know.
    pub statements: Vec<Range<usize>>,
}

/// Reads a module.
pub(super) fn parse(source: &str) -> Result<Parsed, Flaw> {
    let tokens = tokens(source);
    let mut parser = Parser {
        source,
        tokens: &tokens,
        next: 0,
        parsed: Parsed::default(),
    };
    parser.module()?;
    let mut parsed = parser.parsed;
    parsed.tokens = tokens;
    Ok(parsed)
}

/// Braces of an import within each other, which are parsed by recursion.
const MAX_BRACES: usize = 32;

/// Names in the path of an import, each of which is a folder.
const MAX_SEGMENTS: usize = 64;

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    /// The index of the next token.
    next: usize,
    parsed: Parsed,
}

impl<'a> Parser<'a> {
    fn module(&mut self) -> Result<(), Flaw> {
        let mut depth = 0_u32;
        // A statement begins here.
        let mut is_start = true;
        while let Some(token) = self.tokens.get(self.next) {
            match (token.kind, self.word()) {
                (Kind::Word, "import") => {
                    self.import_statement()?;
                    is_start = true;
                    continue;
                }
                (Kind::Word, "enable" | "requires" | "diagnostic") if is_start && depth == 0 => {
                    self.directive();
                    continue;
                }
                (Kind::Word, word) if depth == 0 => self.declaration(word),
                (Kind::Mark('(' | '{' | '['), _) => depth += 1,
                (Kind::Mark(')' | '}' | ']'), _) => depth = depth.saturating_sub(1),
                _ => {}
            }
            is_start = token.is(';') || token.is('}');
            self.next += 1;
        }
        Ok(())
    }

    /// The text of the next token.
    fn word(&self) -> &'a str {
        let token = self.tokens.get(self.next);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    /// Takes the name that follows a keyword.
    fn declaration(&mut self, keyword: &str) {
        let mut at = self.next + 1;
        if keyword == "var" && self.tokens.get(at).is_some_and(|token| token.is('<')) {
            let rest = self.tokens[at..].iter();
            at += rest.take_while(|token| !token.is('>')).count() + 1;
        }
        let declares = ["fn", "struct", "alias", "const", "override", "var"];
        let name = self.tokens.get(at).filter(|it| it.kind == Kind::Word);
        if let Some(name) = name.filter(|_| declares.contains(&keyword)) {
            let name = &self.source[name.at.clone()];
            self.parsed.declared.insert(name.to_owned());
            // A declared name is never read as a keyword.
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

    fn import_statement(&mut self) -> Result<(), Flaw> {
        let start = self.tokens[self.next].at.start;
        self.next += 1;
        self.import(Vec::new(), 0)?;
        let end = self.take(';')?;
        self.parsed.statements.push(start..end);
        Ok(())
    }

    /// `a::b`, `a::b as c` or `a::{b, c::d}`, within so many braces.
    fn import(&mut self, mut path: Vec<String>, depth: usize) -> Result<(), Flaw> {
        loop {
            if path.len() > MAX_SEGMENTS {
                let message = format!("an import has more than {MAX_SEGMENTS} names in its path");
                return Err(self.flaw(message));
            }
            let (name, at) = self.name()?;
            path.push(name.clone());
            if self.tokens.get(self.next).map(|token| token.kind) != Some(Kind::Path) {
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
                break;
            }
        }
        if depth >= MAX_BRACES {
            let message = format!(
                "the braces of an import are nested more than {MAX_BRACES} deep; write several imports"
            );
            return Err(self.flaw(message));
        }
        self.next += 1;
        while !self.is_next('}') {
            self.import(path.clone(), depth + 1)?;
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

    fn name(&mut self) -> Result<(String, Range<usize>), Flaw> {
        match self.tokens.get(self.next) {
            Some(token) if token.kind == Kind::Word => {
                let name = self.word().to_owned();
                self.next += 1;
                Ok((name, token.at.clone()))
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Takes a mark; where it ends.
    fn take(&mut self, mark: char) -> Result<usize, Flaw> {
        if !self.is_next(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.next += 1;
        Ok(self.tokens[self.next - 1].at.end)
    }

    fn unexpected(&self, wanted: &str) -> Flaw {
        let found = match self.word() {
            "" => "the end of the source".to_owned(),
            "*" => "`*`: names are imported one by one".to_owned(),
            word => format!("`{word}`"),
        };
        self.flaw(format!("an import goes on with {wanted}, not with {found}"))
    }

    /// A flaw at the next token.
    fn flaw(&self, message: String) -> Flaw {
        let end = self.source.len();
        let at = self.tokens.get(self.next);
        let at = at.map_or(end..end, |it| it.at.clone());
        Flaw { at, message }
    }
}
