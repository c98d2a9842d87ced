//! Translate-time expressions: names, `true`, `false`, `!`, `&&`, `||` and parentheses.

use crate::shader::compose::parse::SpannedError;
use crate::shader::compose::tokens::{Token, TokenKind};
use crate::shader::defs::ShaderDefs;

/// Maximum nesting of parentheses and negations, which are evaluated by recursion.
const MAX_DEPTH: u32 = 64;

/// Evaluates `@if(expression)` from its tokens.
pub(super) fn evaluate(
    source: &str,
    attribute: &[Token],
    defs: &ShaderDefs,
) -> Result<bool, SpannedError> {
    let mut parser = Parser {
        source,
        tokens: attribute,
        // The tokens after `@` and the attribute's name.
        next: 2,
        defs,
    };
    parser.take('(')?;
    let value = parser.expression(0)?;
    if parser.is_next(',') {
        parser.next += 1;
    }
    parser.take(')')?;
    Ok(value)
}

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    next: usize,
    defs: &'a ShaderDefs,
}

impl Parser<'_> {
    /// Parses operands joined by operators of one kind: as in WGSL, mixing `&&` and `
    /// ` needs parentheses.
    fn expression(&mut self, depth: u32) -> Result<bool, SpannedError> {
        let mut value = self.operand(depth)?;
        let mut operator = None;
        while let Some(mark) = self.operator() {
            if operator.is_some_and(|known| known != mark) {
                return Err(
                    self.error_at("`&&` and `||` are mixed; put parentheses around one of them")
                );
            }
            operator = Some(mark);
            self.next += 2;
            let right = self.operand(depth)?;
            value = if mark == '&' {
                value & right
            } else {
                value | right
            };
        }
        Ok(value)
    }

    fn operator(&self) -> Option<char> {
        let [first, second] = self.tokens.get(self.next..self.next + 2)? else {
            return None;
        };
        let is_pair = first.at.end == second.at.start && first.kind == second.kind;
        match first.kind {
            TokenKind::Punctuation(mark @ ('&' | '|')) if is_pair => Some(mark),
            _ => None,
        }
    }

    fn operand(&mut self, depth: u32) -> Result<bool, SpannedError> {
        if depth > MAX_DEPTH {
            return Err(
                self.error_at("a condition is nested more than 64 deep; set a def of its own")
            );
        }
        if self.is_next('!') {
            self.next += 1;
            return Ok(!self.operand(depth + 1)?);
        }
        if self.is_next('(') {
            self.next += 1;
            let value = self.expression(depth + 1)?;
            self.take(')')?;
            return Ok(value);
        }
        match self.tokens.get(self.next) {
            Some(token) if token.kind == TokenKind::Word => {
                self.next += 1;
                Ok(match &self.source[token.at.clone()] {
                    "true" => true,
                    "false" => false,
                    name => self.defs.is_true(name),
                })
            }
            _ => Err(self.unexpected("the name of a shader def")),
        }
    }

    fn is_next(&self, mark: char) -> bool {
        let token = self.tokens.get(self.next);
        token.is_some_and(|token| token.is(mark))
    }

    fn take(&mut self, mark: char) -> Result<(), SpannedError> {
        if !self.is_next(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.next += 1;
        Ok(())
    }

    fn unexpected(&self, wanted: &str) -> SpannedError {
        let found = self
            .tokens
            .get(self.next)
            .map_or("the end", |token| &self.source[token.at.clone()]);
        self.error_at(&format!(
            "a condition goes on with {wanted}, not with `{found}`; it takes names, `true`, `false`, `!`, `&&`, `||` \
             and parentheses"
        ))
    }

    /// Returns an error at the next token, or at the last one.
    fn error_at(&self, message: &str) -> SpannedError {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        SpannedError {
            at: token.map_or(0..0, |token| token.at.clone()),
            message: message.to_owned(),
        }
    }
}
