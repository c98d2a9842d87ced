//! Conditional translation: `@if`, `@elif` and `@else` of WESL, on tokens.
//!
//! <https://github.com/webgpu-tools/wesl-spec/blob/main/ConditionalTranslation.md>. Removed nodes, and the attributes
//! themselves, are ranges that the joined source omits, so the remaining bytes keep their positions in errors. Only the
//! extent of nodes is parsed, with an explicit stack; naga parses the rest.

mod expression;
mod extent;

use std::ops::Range;

use super::parse::SpannedError;
use super::tokens::{Token, TokenKind};
use crate::shader::defs::ShaderDefs;
use expression::evaluate;
use extent::Extents;

/// Tokens of a module after conditional translation.
pub(super) struct Translated {
    /// The remaining tokens.
    pub tokens: Vec<Token>,
    /// The removed ranges of the source, in order.
    pub cut: Vec<Range<usize>>,
}

/// Position of a token among the nodes that can be decorated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// Directives, imports and global declarations.
    Module,
    /// Members of a structure.
    Members,
    /// Parameters of a function.
    Parameters,
    /// Statements.
    Statements,
    /// Clauses of a `switch`.
    Clauses,
    /// Expressions and others without such nodes.
    Other,
}

/// State of a chain of `@if`, `@elif` and `@else`, which the next sibling may continue.
#[derive(Clone, Copy)]
struct Chain {
    /// Whether an earlier condition of the chain was true.
    is_taken: bool,
}

/// A pair of brackets that contains the next token.
struct Scope {
    context: Context,
    /// Whether the next token begins a node.
    is_start: bool,
    /// First word of the current node.
    word: &'static str,
    chain: Option<Chain>,
    /// Nesting depth of template lists at the next token: `array<vec4f, 4>`.
    templates: u32,
    /// Whether the braces themselves are removed, because they belong to a decorated block.
    is_flattened: bool,
}

impl Scope {
    fn new(context: Context) -> Self {
        Self {
            context,
            is_start: context != Context::Other,
            word: "",
            chain: None,
            templates: 0,
            is_flattened: false,
        }
    }
}

/// Words that determine the meaning of the brackets after them.
const WORDS: [&str; 3] = ["fn", "struct", "switch"];

/// Attributes without arguments: a parenthesis after them is not an argument list.
const PLAIN: [&str; 7] = [
    "const",
    "invariant",
    "must_use",
    "vertex",
    "fragment",
    "compute",
    "else",
];

/// Translates the conditions of a module.
pub(super) fn translate(
    source: &str,
    tokens: Vec<Token>,
    defs: &ShaderDefs,
) -> Result<Translated, SpannedError> {
    let mut walker = Walker {
        source,
        tokens: &tokens,
        extents: Extents::new(source, &tokens),
        defs,
        next: 0,
        scopes: vec![Scope::new(Context::Module)],
        left: Vec::with_capacity(tokens.len()),
        cut: Vec::new(),
    };
    while walker.next < tokens.len() {
        walker.step()?;
    }
    Ok(Translated {
        tokens: walker.left,
        cut: walker.cut,
    })
}

struct Walker<'a> {
    source: &'a str,
    tokens: &'a [Token],
    extents: Extents<'a>,
    defs: &'a ShaderDefs,
    next: usize,
    /// The brackets that contain the next token, outermost first; never empty.
    scopes: Vec<Scope>,
    left: Vec<Token>,
    cut: Vec<Range<usize>>,
}

/// Token indices of an attribute.
struct Attribute<'a> {
    word: &'a str,
    tokens: Range<usize>,
}

impl<'a> Walker<'a> {
    fn step(&mut self) -> Result<(), SpannedError> {
        let token = &self.tokens[self.next];
        let (context, is_start) = (self.scope().context, self.scope().is_start);
        if is_start && token.is('@') {
            return self.attributes();
        }
        if token.is('@') && condition(self.word(self.next + 1)) {
            return Err(self.misplaced(self.next));
        }
        if is_start {
            let word = self.word(self.next);
            // An empty statement, or the `else` of an `if`, continues the previous node and so the chain.
            if !(token.is(';') || token.is('}') || word == "else") {
                self.scope().chain = None;
            }
            if context == Context::Module && token.is('{') {
                // A block at module scope without a condition declares nothing usable, so it is removed.
                let end = self.extents.matching(self.next);
                self.leave_out(self.next..end);
                self.next = end;
                return Ok(());
            }
            self.begin_node(self.next);
        }
        self.token();
        Ok(())
    }

    fn begin_node(&mut self, at: usize) {
        let word = self.word(at);
        let known = WORDS.iter().find(|known| **known == word);
        let scope = self.scope();
        scope.is_start = false;
        scope.word = known.copied().unwrap_or_default();
    }

    /// Parses the attributes of a node, and removes the node if its condition is false.
    fn attributes(&mut self) -> Result<(), SpannedError> {
        let begin = self.next;
        let mut attributes = Vec::new();
        let mut at = begin;
        while self.tokens.get(at).is_some_and(|token| token.is('@')) {
            let attribute = self.attribute(at);
            at = attribute.tokens.end;
            attributes.push(attribute);
        }
        let mut conditions = attributes.iter().filter(|it| condition(it.word));
        let Some(decides) = conditions.next() else {
            self.scope().chain = None;
            self.keep(begin..at);
            self.begin_node(at);
            return Ok(());
        };
        if let Some(second) = conditions.next() {
            let message = format!(
                "`@{}` follows `@{}` on one node; join their conditions with `&&`",
                second.word, decides.word
            );
            return Err(self.error_at(second.tokens.clone(), message));
        }
        let is_kept = self.decide(decides)?;
        let context = self.scope().context;
        let Some(end) = self.extents.node_end(context, at) else {
            return Err(self.misplaced(decides.tokens.start));
        };
        if !is_kept {
            self.leave_out(begin..end);
            self.next = end;
            return Ok(());
        }
        let mut from = begin;
        for attribute in &attributes {
            if condition(attribute.word) {
                self.keep(from..attribute.tokens.start);
                self.leave_out(attribute.tokens.clone());
                from = attribute.tokens.end;
            }
        }
        self.keep(from..at);
        if self.tokens[at].is('{') {
            // A decorated block is not a scope in WESL: its contents belong to the surrounding block.
            self.leave_out(at..at + 1);
            self.next = at + 1;
            let inner = Scope {
                is_flattened: true,
                ..Scope::new(context)
            };
            self.scopes.push(inner);
        } else {
            self.begin_node(at);
        }
        Ok(())
    }

    fn attribute(&self, at: usize) -> Attribute<'a> {
        let word = self.word(at + 1);
        let mut end = (at + 2).min(self.tokens.len());
        let has_arguments = self.tokens.get(end).is_some_and(|token| token.is('('));
        if has_arguments && !PLAIN.contains(&word) {
            end = self.extents.matching(end);
        }
        Attribute {
            word,
            tokens: at..end,
        }
    }

    /// Evaluates a condition, as part of its chain.
    fn decide(&mut self, attribute: &Attribute<'_>) -> Result<bool, SpannedError> {
        let at = attribute.tokens.clone();
        let is_true = match attribute.word {
            "else" => true,
            _ => evaluate(self.source, &self.tokens[at.clone()], self.defs)?,
        };
        if attribute.word == "if" {
            self.scope().chain = Some(Chain { is_taken: is_true });
            return Ok(is_true);
        }
        let Some(chain) = self.scope().chain else {
            let message = format!(
                "`@{}` follows no `@if` or `@elif`; put it on the sibling directly behind one",
                attribute.word
            );
            return Err(self.error_at(at, message));
        };
        let is_kept = is_true && !chain.is_taken;
        let is_taken = chain.is_taken || is_true;
        self.scope().chain = (attribute.word != "else").then_some(Chain { is_taken });
        Ok(is_kept)
    }

    /// Consumes a token that is not an attribute of a node.
    fn token(&mut self) {
        let (tokens, at) = (self.tokens, self.next);
        let token = &tokens[at];
        self.next += 1;
        if let TokenKind::Punctuation(mark) = token.kind {
            match mark {
                '(' | '[' | '{' => {
                    let context = self.context_within(mark);
                    self.scopes.push(Scope::new(context));
                }
                ')' | ']' | '}' if self.scopes.len() > 1 => {
                    let is_flattened = self.scopes.pop().is_some_and(|it| it.is_flattened);
                    let scope = self.scope();
                    let ends_node = matches!(
                        scope.context,
                        Context::Module | Context::Statements | Context::Clauses
                    );
                    scope.is_start |= mark == '}' && ends_node;
                    if is_flattened {
                        self.cut.push(token.at.clone());
                        return;
                    }
                }
                ';' => {
                    let scope = self.scope();
                    scope.is_start |=
                        matches!(scope.context, Context::Module | Context::Statements);
                }
                ',' => {
                    let scope = self.scope();
                    let is_list = matches!(scope.context, Context::Members | Context::Parameters);
                    scope.is_start |= is_list && scope.templates == 0;
                }
                '<' => self.scope().templates += 1,
                '>' => {
                    let scope = self.scope();
                    scope.templates = scope.templates.saturating_sub(1);
                }
                _ => {}
            }
        }
        self.left.push(token.clone());
    }

    /// Returns the context inside an opening bracket.
    fn context_within(&mut self, mark: char) -> Context {
        let scope = self.scope();
        match (scope.context, mark, scope.word) {
            (Context::Module, '(', "fn") => {
                // Arguments of attributes of the return type must not be parsed as parameters.
                scope.word = "fn body";
                Context::Parameters
            }
            (Context::Module, '{', "struct") => Context::Members,
            (Context::Module, '{', "fn body") => Context::Statements,
            (Context::Statements, '{', "switch") => Context::Clauses,
            (Context::Statements | Context::Clauses, '{', _) => Context::Statements,
            _ => Context::Other,
        }
    }

    fn keep(&mut self, tokens: Range<usize>) {
        self.next = tokens.end;
        self.left.extend_from_slice(&self.tokens[tokens]);
    }

    fn leave_out(&mut self, tokens: Range<usize>) {
        if let [first, .., last] | [first @ last] = &self.tokens[tokens] {
            self.cut.push(first.at.start..last.at.end);
        }
    }

    fn scope(&mut self) -> &mut Scope {
        // Never empty: the scope of the module itself is never popped.
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn word(&self, at: usize) -> &'a str {
        let token = self.tokens.get(at).filter(|it| it.kind == TokenKind::Word);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    fn misplaced(&self, at: usize) -> SpannedError {
        let message = format!(
            "`@{}` decorates nothing that can be left out; put it on a directive, an import, a declaration, a member, \
             a parameter, a statement or a clause of `switch`",
            self.word(at + 1)
        );
        self.error_at(at..at + 2, message)
    }

    fn error_at(&self, tokens: Range<usize>, message: String) -> SpannedError {
        let start = self.tokens[tokens.start].at.start;
        let end = self.tokens[(tokens.end - 1).min(self.tokens.len() - 1)]
            .at
            .end;
        SpannedError {
            at: start..end,
            message,
        }
    }
}

/// Whether an attribute is one of conditional translation.
fn condition(word: &str) -> bool {
    matches!(word, "if" | "elif" | "else")
}

#[cfg(test)]
mod tests;
