//! Tokenizer for WGSL, as far as composition needs it.

use std::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// A number with its suffix.
    Number,
    /// `::`.
    Path,
    /// Any other character.
    Punctuation(char),
}

/// A token; blanks and comments are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes in the source.
    pub at: Range<usize>,
}

impl Token {
    /// Whether it is this punctuation.
    pub fn is(&self, mark: char) -> bool {
        self.kind == TokenKind::Punctuation(mark)
    }
}

/// Returns all tokens of a source. An unterminated comment extends to the end of the source. Invalid tokens are left to
/// the parser.
pub fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, kind) = if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (comment(rest), None)
        } else if first == '_' || first.is_alphabetic() {
            let is_part = |it: char| it == '_' || it.is_alphanumeric();
            let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
            (end, Some(TokenKind::Word))
        } else if first.is_ascii_digit() {
            (number(rest), Some(TokenKind::Number))
        } else if rest.starts_with("::") {
            (2, Some(TokenKind::Path))
        } else {
            (first.len_utf8(), Some(TokenKind::Punctuation(first)))
        };
        if let Some(kind) = kind {
            let at = at..at + length;
            tokens.push(Token { kind, at });
        }
        at += length;
    }
    tokens
}

/// Returns the length of a block comment, which may contain nested ones.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") if depth == 1 => return at + 2,
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of a number: `0x1f_u`, `1.5e-3f`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let is_sign = matches!(byte, b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || is_sign) {
            break;
        }
        at += 1;
    }
    at
}
