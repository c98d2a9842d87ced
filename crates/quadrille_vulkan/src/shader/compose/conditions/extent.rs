//! Extent of the nodes that conditions decorate.

use super::Place;
use crate::shader::compose::tokens::{Kind, Token};

/// Returns the index after the node that begins at a token; `None` if no node can begin there.
pub(super) fn node_end(source: &str, tokens: &[Token], place: Place, at: usize) -> Option<usize> {
    let word = |at: usize| {
        let token = tokens.get(at).filter(|it| it.kind == Kind::Word);
        token.map_or("", |token| &source[token.at.clone()])
    };
    let first = tokens.get(at)?;
    if is_close(first) || first.is(';') || first.is(',') {
        return None;
    }
    match (place, word(at)) {
        (Place::Members | Place::Parameters, _) => Some(list_item_end(tokens, at)),
        (Place::Module | Place::Statements, _) if first.is('{') => Some(matching(tokens, at)),
        (Place::Module, "fn" | "struct") => Some(block_end(tokens, at)),
        (Place::Clauses, "case" | "default") => Some(block_end(tokens, at)),
        (Place::Statements, "else") => None,
        (Place::Statements, "if") => {
            let mut end = block_end(tokens, at);
            while word(end) == "else" {
                end = block_end(tokens, end);
            }
            Some(end)
        }
        (Place::Statements, "for" | "while" | "switch" | "loop" | "continuing") => {
            Some(block_end(tokens, at))
        }
        (Place::Module | Place::Statements, _) => Some(semicolon_end(tokens, at)),
        _ => None,
    }
}

/// Returns the index after the bracket that matches the one at an index, or the end.
pub(super) fn matching(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if is_open(token) {
            depth += 1;
        } else if is_close(token) {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// Returns the index after the next block, or of the closing bracket before it.
fn block_end(tokens: &[Token], from: usize) -> usize {
    let start = find_outside_brackets(tokens, from, '{');
    match tokens.get(start) {
        Some(token) if token.is('{') => matching(tokens, start),
        _ => start,
    }
}

/// Returns the index after the next semicolon, or of the closing bracket before it.
fn semicolon_end(tokens: &[Token], from: usize) -> usize {
    let end = find_outside_brackets(tokens, from, ';');
    match tokens.get(end) {
        Some(token) if token.is(';') => end + 1,
        _ => end,
    }
}

/// Returns the index of the next such mark outside of nested brackets, or of the closing bracket before it.
fn find_outside_brackets(tokens: &[Token], from: usize, mark: char) -> usize {
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        if token.is(mark) || is_close(token) {
            return at;
        }
        at = if is_open(token) {
            matching(tokens, at)
        } else {
            at + 1
        };
    }
    tokens.len()
}

/// Returns the index after the comma of a member or parameter, or of the bracket that closes the list.
fn list_item_end(tokens: &[Token], from: usize) -> usize {
    let mut templates = 0_u32;
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        if is_close(token) {
            return at;
        }
        match token.kind {
            Kind::Mark(',') if templates == 0 => return at + 1,
            Kind::Mark('<') => templates += 1,
            Kind::Mark('>') => templates = templates.saturating_sub(1),
            _ => {}
        }
        at = if is_open(token) {
            matching(tokens, at)
        } else {
            at + 1
        };
    }
    tokens.len()
}

fn is_open(token: &Token) -> bool {
    matches!(token.kind, Kind::Mark('(' | '[' | '{'))
}

fn is_close(token: &Token) -> bool {
    matches!(token.kind, Kind::Mark(')' | ']' | '}'))
}
