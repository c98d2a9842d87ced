//! Nesting limits of WGSL, checked before parsing.
//!
//! Parser, validator and SPIR-V writer of naga 30 recurse over nested and chained constructs, and drivers recurse over
//! nested control flow; a stack overflow aborts the process. A scan of the tokens computes depths without recursion. It
//! knows brackets, operators and names, but no grammar; ambiguous constructs count as the deeper alternative.

use std::collections::HashMap;

use super::compose::{SpannedError, Token, TokenKind, tokens};

/// Nesting of brackets, generic types and unary operators. WGSL requires 127 levels of braces (section "Limits").
/// naga's own limit is 200, of which some constructs use two levels.
const MAX_NESTED: usize = 128;

/// Operators in one expression, including those within brackets: `a + b + c`, `a[i][j].x`.
const MAX_CHAINED_OPERATORS: usize = 2048;

/// Branches of one `else if` chain, each nested in the previous one, and nested control flow. Mesa's llvmpipe 25.0
/// overruns its tables at 80 (`LP_MAX_TGSI_NESTING`).
pub(super) const MAX_BRANCHES: usize = 64;

/// Nesting of types, over which drivers recurse. WGSL requires 15.
pub(super) const MAX_TYPES: usize = 64;

/// Length of a chain of declarations that depend on each other: functions that call functions, types of types,
/// constants of constants.
const MAX_DECLARATIONS: usize = 4096;

/// Checks a source against all limits.
///
/// # Errors
/// Returns the position of the first exceeded limit, with advice.
pub(super) fn check(source: &str) -> Result<(), SpannedError> {
    let tokens = tokens(source);
    check_brackets(source, &tokens)?;
    check_declarations(source, &tokens)
}

fn error_at(token: &Token, what: &str, most: usize, suggestion: &str) -> SpannedError {
    SpannedError {
        at: token.at.clone(),
        message: format!("{what} here, more than the limit of {most}; {suggestion}"),
    }
}

/// State of an open bracket: the expression or statement in it.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Upper bound of the height of the current expression's syntax tree.
    height: usize,
    /// Maximum height of the previous expressions in a list separated by commas.
    highest: usize,
    /// Number of `else` in the current statement.
    branches: usize,
    /// Number of open generic types (`<`).
    generics: usize,
    /// Number of operators since the last operand.
    unary: usize,
}

/// Characters of operators.
const OPERATORS: &str = "+-*/%&|^~!<>=.";

/// Whether a type has template parameters in `<>`.
fn is_generic(word: &str) -> bool {
    ["vec", "mat", "texture_"]
        .iter()
        .any(|it| word.starts_with(it))
        || matches!(word, "array" | "ptr" | "atomic" | "binding_array")
}

/// Token scan that tracks brackets, generic types and chains.
struct Walk<'a> {
    source: &'a str,
    /// Stack of open brackets; the first entry is the module.
    open: Vec<Open>,
    /// Number of open generic types over all entries of `open`.
    generics: usize,
    /// Number of unary operators over all entries of `open`.
    unary: usize,
}

fn check_brackets(source: &str, tokens: &[Token]) -> Result<(), SpannedError> {
    let mut walk = Walk {
        source,
        open: vec![Open::default()],
        generics: 0,
        unary: 0,
    };
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| tokens.get(it));
        walk.step(token, before, tokens.get(at + 1));
        walk.check(token)?;
    }
    Ok(())
}

impl Walk<'_> {
    fn word(&self, token: Option<&Token>) -> &str {
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    fn last(&mut self) -> &mut Open {
        if self.open.is_empty() {
            self.open.push(Open::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn step(&mut self, token: &Token, before: Option<&Token>, after: Option<&Token>) {
        match token.kind {
            TokenKind::Punctuation('(' | '[' | '{') => {
                self.last().height += 1;
                self.open.push(Open::default());
            }
            TokenKind::Punctuation(mark @ (')' | ']' | '}')) => {
                self.close();
                if mark == '}' && self.word(after) != "else" {
                    self.end_statement();
                }
                self.operand();
            }
            TokenKind::Punctuation(',') => {
                self.operand();
                let last = self.last();
                // Arguments of a generic type belong to the current expression.
                if last.generics == 0 {
                    last.highest = last.highest.max(last.height);
                    last.height = 0;
                }
            }
            TokenKind::Punctuation(';') => self.end_statement(),
            TokenKind::Punctuation('<') if is_generic(self.word(before)) => {
                let last = self.last();
                (last.generics, last.height) = (last.generics + 1, last.height + 1);
                self.generics += 1;
            }
            TokenKind::Punctuation('>') if self.last().generics > 0 => {
                self.last().generics -= 1;
                self.generics -= 1;
            }
            TokenKind::Punctuation(mark) if OPERATORS.contains(mark) => {
                if !is_second_half(token, mark, before) {
                    let last = self.last();
                    (last.unary, last.height) = (last.unary + 1, last.height + 1);
                    self.unary += 1;
                }
            }
            TokenKind::Word if self.word(Some(token)) == "else" => self.last().branches += 1,
            TokenKind::Word | TokenKind::Number => self.operand(),
            TokenKind::Punctuation(_) | TokenKind::Path => {}
        }
    }

    /// Ends a sequence of unary operators.
    fn operand(&mut self) {
        let unary = std::mem::take(&mut self.last().unary);
        self.unary -= unary;
    }

    /// Closes a bracket: its contents become an operand of the surrounding expression.
    fn close(&mut self) {
        if self.open.len() > 1 {
            let inner = self.open.pop().unwrap_or_default();
            self.generics -= inner.generics;
            self.unary -= inner.unary;
            let outer = self.last();
            outer.height = outer.height.max(inner.height.max(inner.highest) + 1);
        }
    }

    fn end_statement(&mut self) {
        let last = std::mem::take(self.last());
        self.generics -= last.generics;
        self.unary -= last.unary;
    }

    fn check(&mut self, token: &Token) -> Result<(), SpannedError> {
        if self.generics > MAX_TYPES {
            let what = format!("types are nested {} deep", self.generics);
            return Err(error_at(
                token,
                &what,
                MAX_TYPES,
                "name an inner part by an `alias`",
            ));
        }
        let nested = self.open.len() - 1 + self.generics + self.unary;
        if nested > MAX_NESTED {
            let what = format!("brackets, types and unary operators are nested {nested} deep");
            let suggestion = "name an inner part by a function, a `let` or an `alias`";
            return Err(error_at(token, &what, MAX_NESTED, suggestion));
        }
        let last = *self.last();
        if last.height > MAX_CHAINED_OPERATORS {
            let what = format!("an expression has {} operators in a row", last.height);
            let suggestion = "split it with `let`, or write a loop";
            return Err(error_at(token, &what, MAX_CHAINED_OPERATORS, suggestion));
        }
        if last.branches > MAX_BRANCHES {
            let what = format!("a chain of `else if` has {} branches", last.branches);
            return Err(error_at(token, &what, MAX_BRANCHES, "write a `switch`"));
        }
        Ok(())
    }
}

/// Whether a mark is the second character of an operator of two characters.
fn is_second_half(token: &Token, mark: char, before: Option<&Token>) -> bool {
    let Some(before) = before.filter(|it| it.at.end == token.at.start) else {
        return false;
    };
    let TokenKind::Punctuation(first) = before.kind else {
        return false;
    };
    match mark {
        '=' => "=!<>+-*/%&|^".contains(first),
        '&' | '|' | '<' => first == mark,
        '>' => matches!(first, '>' | '-'),
        _ => false,
    }
}

/// A declaration of a module.
struct Declaration {
    /// Token index of its name.
    name: usize,
    /// Whether it is a structure or an alias.
    is_type: bool,
    /// Indices of the declarations that it names.
    uses: Vec<usize>,
}

fn check_declarations(source: &str, tokens: &[Token]) -> Result<(), SpannedError> {
    let mut declarations = declarations(source, tokens);
    let rows = [
        (
            MAX_DECLARATIONS,
            "declarations need each other",
            "write a loop",
        ),
        (MAX_TYPES, "types are nested", "flatten them"),
    ];
    for (most, what, suggestion) in rows {
        // A chain cannot be longer than the number of declarations.
        let deep = (declarations.len() > most).then(|| too_deep(&declarations, most));
        if let Some(at) = deep.flatten() {
            let what = format!("{what} more than {most} in a row");
            return Err(error_at(
                &tokens[declarations[at].name],
                &what,
                most,
                suggestion,
            ));
        }
        // The second pass considers types only.
        let is_type: Vec<_> = declarations.iter().map(|it| it.is_type).collect();
        for (declaration, is_type_itself) in declarations.iter_mut().zip(&is_type) {
            declaration
                .uses
                .retain(|&it| *is_type_itself && is_type[it]);
        }
    }
    Ok(())
}

/// Returns all declarations with the others that they name. A local variable that shadows a declaration counts as a use
/// of it.
fn declarations(source: &str, tokens: &[Token]) -> Vec<Declaration> {
    let word = |at: usize| {
        tokens
            .get(at)
            .map_or("", |it: &Token| &source[it.at.clone()])
    };
    let mut declarations = Vec::new();
    let mut by_name = HashMap::new();
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punctuation('(' | '{' | '[') => depth += 1,
            TokenKind::Punctuation(')' | '}' | ']') => depth = depth.saturating_sub(1),
            TokenKind::Word if depth == 0 => {
                let mut name = at + 1;
                if word(at) == "var" && word(name) == "<" {
                    let rest = tokens[name..].iter();
                    name += rest.take_while(|it| !it.is('>')).count() + 1;
                }
                let is_name = tokens
                    .get(name)
                    .is_some_and(|it| it.kind == TokenKind::Word);
                let is_type = matches!(word(at), "struct" | "alias");
                let declares = matches!(word(at), "fn" | "const" | "override" | "var");
                if (is_type || declares) && is_name {
                    by_name.entry(word(name)).or_insert(declarations.len());
                    let uses = Vec::new();
                    declarations.push(Declaration {
                        name,
                        is_type,
                        uses,
                    });
                }
            }
            _ => {}
        }
    }
    for at in 0..declarations.len() {
        let end = declarations.get(at + 1).map_or(tokens.len(), |it| it.name);
        let own = declarations[at].name + 1..end;
        let words = own.filter(|&it| tokens[it].kind == TokenKind::Word);
        let mut uses: Vec<_> = words
            .filter_map(|it| by_name.get(word(it)).copied())
            .collect();
        uses.retain(|&it| it != at);
        uses.sort_unstable();
        uses.dedup();
        declarations[at].uses = uses;
    }
    declarations
}

/// Returns a declaration from which a chain longer than `most` starts. naga visits them in the same way, depth first,
/// and reports cycles itself.
fn too_deep(declarations: &[Declaration], most: usize) -> Option<usize> {
    // Longest chain from each declaration; 0 if unknown.
    let mut rows = vec![0_usize; declarations.len()];
    let mut longest = vec![0_usize; declarations.len()];
    let mut is_on_path = vec![false; declarations.len()];
    for root in 0..declarations.len() {
        if rows[root] > 0 {
            continue;
        }
        let mut path = vec![(root, 0)];
        is_on_path[root] = true;
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if let Some(&used) = declarations[at].uses.get(*next) {
                *next += 1;
                if rows[used] > 0 {
                    longest[at] = longest[at].max(rows[used]);
                } else if !is_on_path[used] {
                    is_on_path[used] = true;
                    path.push((used, 0));
                }
            } else {
                rows[at] = longest[at] + 1;
                is_on_path[at] = false;
                path.pop();
                if let Some((user, _)) = path.last() {
                    longest[*user] = longest[*user].max(rows[at]);
                }
            }
            if path.len() > most || rows[at] > most {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
