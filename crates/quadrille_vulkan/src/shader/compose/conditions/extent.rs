//! Extent of the nodes that conditions decorate.

use super::Context;
use crate::shader::compose::tokens::{Token, TokenKind};

/// Tokens of a module with the ends of their brackets. Found once, because the extents of nested nodes overlap.
pub(super) struct Extents<'a> {
    source: &'a str,
    tokens: &'a [Token],
    /// For each opening bracket the index after the matching one, or the end.
    ends: Vec<usize>,
}

impl<'a> Extents<'a> {
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        let mut ends = vec![tokens.len(); tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if is_open(token) {
                open.push(at);
            } else if is_close(token)
                && let Some(start) = open.pop()
            {
                ends[start] = at + 1;
            }
        }
        Self {
            source,
            tokens,
            ends,
        }
    }

    fn word(&self, at: usize) -> &'a str {
        let token = self.tokens.get(at).filter(|it| it.kind == TokenKind::Word);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    /// Returns the index after the node that begins at a token; `None` if no node can begin there.
    pub(super) fn node_end(&self, context: Context, at: usize) -> Option<usize> {
        let first = self.tokens.get(at)?;
        if is_close(first) || first.is(';') || first.is(',') {
            return None;
        }
        match (context, self.word(at)) {
            (Context::Members | Context::Parameters, _) => Some(self.list_item_end(at)),
            (Context::Module | Context::Statements, _) if first.is('{') => Some(self.matching(at)),
            (Context::Module, "fn" | "struct") => Some(self.block_end(at)),
            (Context::Clauses, "case" | "default") => Some(self.block_end(at)),
            (Context::Statements, "else") => None,
            (Context::Statements, "if") => {
                let mut end = self.block_end(at);
                while self.word(end) == "else" {
                    end = self.block_end(end);
                }
                Some(end)
            }
            (Context::Statements, "for" | "while" | "switch" | "loop" | "continuing") => {
                Some(self.block_end(at))
            }
            (Context::Module | Context::Statements, _) => Some(self.semicolon_end(at)),
            _ => None,
        }
    }

    /// Returns the index after the bracket that matches the one at an index, or the end.
    pub(super) fn matching(&self, open: usize) -> usize {
        self.ends.get(open).copied().unwrap_or(self.tokens.len())
    }

    /// Returns the index after the next block, or of the closing bracket before it.
    fn block_end(&self, from: usize) -> usize {
        let start = self.find_outside_brackets(from, '{');
        match self.tokens.get(start) {
            Some(token) if token.is('{') => self.matching(start),
            _ => start,
        }
    }

    /// Returns the index after the next semicolon, or of the closing bracket before it.
    fn semicolon_end(&self, from: usize) -> usize {
        let end = self.find_outside_brackets(from, ';');
        match self.tokens.get(end) {
            Some(token) if token.is(';') => end + 1,
            _ => end,
        }
    }

    /// Returns the index of the next such mark outside of nested brackets, or of the closing bracket before it.
    fn find_outside_brackets(&self, from: usize, mark: char) -> usize {
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            if token.is(mark) || is_close(token) {
                return at;
            }
            at = if is_open(token) {
                self.matching(at)
            } else {
                at + 1
            };
        }
        self.tokens.len()
    }

    /// Returns the index after the comma of a member or parameter, or of the bracket that closes the list.
    fn list_item_end(&self, from: usize) -> usize {
        let mut templates = 0_u32;
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            if is_close(token) {
                return at;
            }
            match token.kind {
                TokenKind::Punctuation(',') if templates == 0 => return at + 1,
                TokenKind::Punctuation('<') => templates += 1,
                TokenKind::Punctuation('>') => templates = templates.saturating_sub(1),
                _ => {}
            }
            at = if is_open(token) {
                self.matching(at)
            } else {
                at + 1
            };
        }
        self.tokens.len()
    }
}

fn is_open(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Punctuation('(' | '[' | '{'))
}

fn is_close(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Punctuation(')' | ']' | '}'))
}
