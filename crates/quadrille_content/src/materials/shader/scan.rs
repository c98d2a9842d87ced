//! Tokens of a composed shader.

use std::ops::Range;

use quadrille::vulkan::shader::{ComposedShader, WgslToken, WgslTokenKind, wgsl_tokens};

/// Name of the group of materials in shaders of bevy.
const GROUP: &str = "MATERIAL_BIND_GROUP";

/// A declaration that names the parts of the bindless table, so that composing resolves them.
pub(super) const NAMES: &str = "fn quadrille_names() { quadrille_textures quadrille_image_mask quadrille_samplers quadrille_sampler_shift }";

/// Replacements of ranges of the text.
pub(super) type Edits = Vec<(Range<usize>, String)>;

/// The tokens of a shader.
pub(super) struct Scanner<'a> {
    composed: &'a ComposedShader,
    pub(super) source: &'a str,
    tokens: Vec<WgslToken>,
    /// The innermost parenthesis or bracket around each token that opens before it.
    openers: Vec<Option<usize>>,
    /// For each token that opens a bracket the index behind the one that closes it.
    ends: Vec<usize>,
    /// The number of the group in parentheses.
    group: String,
    /// The shader in messages.
    pub(super) subject: String,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(composed: &'a ComposedShader, subject: String, group: u32) -> Self {
        let source = composed.text();
        let tokens = wgsl_tokens(source);
        let mut openers = Vec::with_capacity(tokens.len());
        let mut ends = vec![tokens.len(); tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let closes = ")]}".chars().any(|mark| token.is(mark));
            if closes && let Some(start) = open.pop() {
                ends[start] = at + 1;
            }
            openers.push(open.last().copied());
            if "([{".chars().any(|mark| token.is(mark)) {
                open.push(at);
            }
        }
        Self {
            composed,
            source,
            tokens,
            openers,
            ends,
            group: format!("({group})"),
            subject,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn word(&self, at: usize) -> &'a str {
        let token = self.tokens.get(at);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    pub(super) fn is(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.kind == WgslTokenKind::Word)
    }

    /// Bytes of tokens.
    pub(super) fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        match (
            self.tokens.get(tokens.start),
            self.tokens.get(tokens.end.saturating_sub(1)),
        ) {
            (Some(first), Some(last)) if tokens.start < tokens.end => first.at.start..last.at.end,
            (Some(first), _) => first.at.start..first.at.start,
            _ => self.source.len()..self.source.len(),
        }
    }

    pub(super) fn text(&self, tokens: Range<usize>) -> &'a str {
        &self.source[self.bytes(tokens)]
    }

    /// The index behind the bracket that closes the one at `at`.
    pub(super) fn behind_bracket(&self, at: usize) -> usize {
        self.ends.get(at).copied().unwrap_or(self.tokens.len())
    }

    /// Whether a declaration belongs to an imported module.
    pub(super) fn is_imported(&self, name: &str) -> bool {
        self.composed.is_imported(name)
    }

    /// The name of a declaration in its file.
    pub(super) fn own_name(&self, name: &'a str) -> &'a str {
        self.composed.own_name(name)
    }

    /// The message of an error at a range of tokens.
    pub(super) fn error(&self, message: &str, tokens: Range<usize>) -> String {
        let message = format!("{}: {message}", self.subject);
        let error = self.composed.error(&message, self.bytes(tokens));
        error.to_string()
    }

    /// Indices of tokens outside of brackets.
    pub(super) fn top_level(&self) -> impl Iterator<Item = usize> {
        let tokens = 0..self.tokens.len();
        tokens.filter(|&at| self.openers[at].is_none())
    }

    /// Declarations with attributes outside of brackets: tokens of the attributes, and the index behind them.
    pub(super) fn attributed(&self) -> impl Iterator<Item = (Vec<Range<usize>>, usize)> {
        let mut behind = 0;
        self.top_level().filter_map(move |at| {
            if at < behind || !self.is(at, '@') {
                return None;
            }
            let (end, attributes) = self.attributes(at);
            behind = end;
            Some((attributes, end))
        })
    }

    /// Attributes from a token on: the index behind them, and their tokens.
    pub(super) fn attributes(&self, mut at: usize) -> (usize, Vec<Range<usize>>) {
        let mut attributes = Vec::new();
        while self.is(at, '@') {
            let start = at;
            let name = self.word(at + 1);
            at = (at + 2).min(self.tokens.len());
            let has_arguments = !matches!(name, "vertex" | "fragment" | "compute" | "invariant");
            if has_arguments && self.is(at, '(') {
                at = self.behind_bracket(at);
            }
            attributes.push(start..at);
        }
        (at, attributes)
    }

    /// Whether one of some attributes has this name and, if there is one, this word as its argument.
    pub(super) fn has(&self, attributes: &[Range<usize>], name: &str, argument: &str) -> bool {
        attributes.iter().any(|it| {
            self.word(it.start + 1) == name
                && (argument.is_empty() || self.word(it.start + 3) == argument)
        })
    }

    /// Whether a variable with these attributes belongs to the material: its group has the name, or the number. A table
    /// of the renderer may have that number as well.
    pub(super) fn is_of_material(&self, attributes: &[Range<usize>], var: usize) -> bool {
        let mut groups = attributes.iter().map(|it| self.text(it.clone()));
        groups.any(|text| {
            let number = text.strip_prefix("@group").map(str::trim);
            let is_number = number.is_some_and(|number| number == self.group);
            text.contains(GROUP) || is_number && !self.is_imported_table(var)
        })
    }

    /// Whether a variable is an array of bindings in an imported module. Materials have no such arrays.
    fn is_imported_table(&self, var: usize) -> bool {
        let mut declaration = (var..self.len()).take_while(|&at| !self.is(at, ';'));
        let colon = declaration.find(|&at| self.is(at, ':'));
        colon.is_some_and(|at| {
            self.word(at + 1) == "binding_array" && self.is_imported(self.word(at - 1))
        })
    }

    /// The number in an attribute of this name.
    pub(super) fn number(&self, attributes: &[Range<usize>], name: &str) -> Option<u32> {
        attributes.iter().find_map(|it| {
            let number = self.text(it.clone()).strip_prefix('@')?;
            let number = number.strip_prefix(name)?.trim();
            let number = number.strip_prefix('(')?.strip_suffix(')')?.trim();
            number.trim_end_matches('u').parse().ok()
        })
    }

    /// The function that a token is an argument of.
    pub(super) fn callee(&self, at: usize) -> Option<&'a str> {
        let opener = self.openers[at]?;
        self.is(opener, '(').then(|| match opener {
            0 => "",
            _ => self.word(opener - 1),
        })
    }

    /// Whether a token is the name of a member in the declaration of a structure.
    pub(super) fn is_member_of_structure(&self, at: usize) -> bool {
        let opener = self.openers[at].filter(|&opener| opener > 1 && self.is(opener, '{'));
        self.is(at + 1, ':') && opener.is_some_and(|opener| self.word(opener - 2) == "struct")
    }

    /// The items of a list in brackets, apart from commas: tokens of each.
    pub(super) fn items(&self, open: usize) -> Vec<Range<usize>> {
        let end = self.behind_bracket(open).saturating_sub(1);
        let mut items = Vec::new();
        let mut templates = 0_u32;
        let (mut start, mut at) = (open + 1, open + 1);
        while at < end {
            if self.is(at, '<') {
                templates += 1;
            } else if self.is(at, '>') {
                templates = templates.saturating_sub(1);
            } else if self.is(at, ',') && templates == 0 {
                items.push(start..at);
                start = at + 1;
            } else if "([{".chars().any(|mark| self.is(at, mark)) {
                at = self.behind_bracket(at);
                continue;
            }
            at += 1;
        }
        items.push(start..end);
        items.retain(|it| it.start < it.end);
        items
    }

    /// Whether there is a function of this name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        let mut functions = self.top_level().filter(|&at| self.word(at) == "fn");
        functions.any(|at| self.word(at + 1) == name)
    }

    /// The opening brace of a structure.
    pub(super) fn structure(&self, name: &str) -> Option<usize> {
        let is_it = |at: &usize| self.word(*at) == "struct" && self.word(at + 1) == name;
        let at = self.top_level().find(is_it)?;
        self.is(at + 2, '{').then_some(at + 2)
    }

    /// Names of the bindless table, in the order of [`NAMES`].
    pub(super) fn table_names(&self) -> [&'a str; 4] {
        match self.names_body() {
            Some(body) => [0, 1, 2, 3].map(|it| self.word(body + 1 + it)),
            None => [""; 4],
        }
    }

    /// Removes the declaration of [`NAMES`].
    pub(super) fn names(&self) -> Edits {
        let Some(body) = self.names_body() else {
            return Vec::new();
        };
        // `fn`, its name and both parentheses.
        let range = self.bytes(body - 4..self.behind_bracket(body));
        vec![(range, String::new())]
    }

    fn names_body(&self) -> Option<usize> {
        // The declaration is the last of the shader's own module, which comes first.
        let is_it = |at: &usize| self.word(*at) == "quadrille_names" && self.is(at + 3, '{');
        self.top_level().find(is_it).map(|at| at + 3)
    }
}
