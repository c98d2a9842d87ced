//! References between declarations, and the declarations that a shader needs.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Range;

use super::tokens::{Token, TokenKind};
use super::{Module, Target};

/// A word or path that names a declaration.
pub(super) struct Reference {
    /// The index of its first token.
    token: usize,
    pub at: Range<usize>,
    pub target: Target,
}

/// Words with a builtin meaning between `<` and `>`, regardless of declarations.
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

/// Returns the references of a module, in order.
pub(super) fn references(modules: &[Module], at: usize) -> Vec<Reference> {
    let module = &modules[at];
    let tokens = &module.parsed.tokens;
    let word = |token: &Token| &module.source[token.at.clone()];
    let mut references = Vec::new();
    let mut scope = Scope::default();
    let mut cut: Vec<_> = module.parsed.cut.iter().collect();
    cut.sort_by_key(|range| range.start);
    let mut cut = cut.into_iter().peekable();
    let mut paths = module.parsed.paths.iter().peekable();
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|it| &tokens[it]);
        let after = tokens.get(index + 1);
        scope.pass(token, word(token), before, after);
        while cut.next_if(|it| it.end <= token.at.start).is_some() {}
        let is_cut = cut.peek().is_some_and(|it| it.contains(&token.at.start));
        while paths.next_if(|it| it.at.end <= token.at.start).is_some() {}
        let path = paths.peek().filter(|it| it.at.contains(&token.at.start));
        if token.kind != TokenKind::Word || is_cut {
            continue;
        }
        let own = word(token);
        let (span, target) = match path {
            // The first segment represents the whole path.
            Some(path) => (path.at.clone(), module.paths.get(&token.at.start).cloned()),
            None if scope.is_own_name => continue,
            None => {
                let is_declared = module.parsed.declared.contains(own);
                let of_module = is_declared.then(|| Target::Item {
                    module: at,
                    name: own.to_owned(),
                });
                let imported = module.imported.get(own).cloned();
                (token.at.clone(), imported.or(of_module))
            }
        };
        if let Some(target) = target {
            references.push(Reference {
                token: index,
                at: span,
                target,
            });
        }
    }
    references
}

/// Returns for each declaration of each module whether it is needed: all of the shader's own, and transitively all that
/// they reference. The error is the index of a missing name that is needed.
pub(super) fn needed(
    modules: &[Module],
    references: &[Vec<Reference>],
) -> Result<Vec<Vec<bool>>, usize> {
    let mut by_name: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    let mut needed = Vec::new();
    // Breadth first in source order, so that errors are reported in that order.
    let mut open = VecDeque::new();
    for (at, module) in modules.iter().enumerate() {
        let declarations = &module.parsed.declarations;
        let mut of_module = Vec::new();
        for (index, declaration) in declarations.iter().enumerate() {
            if let Some(name) = &declaration.name {
                by_name.entry((at, name)).or_default().push(index);
            }
            let is_kept = at == 0 || declaration.name.is_none() || declaration.is_override;
            if is_kept {
                open.push_back((at, index));
            }
            of_module.push(is_kept);
        }
        needed.push(of_module);
    }
    // Each name is looked up once, which makes the work linear in the number of references.
    let mut known = HashSet::new();
    while let Some((at, index)) = open.pop_front() {
        let tokens = &modules[at].parsed.declarations[index].tokens;
        let all = &references[at];
        let first = all.partition_point(|it| it.token < tokens.start);
        for reference in all[first..].iter().take_while(|it| it.token < tokens.end) {
            match &reference.target {
                Target::Item { module, name } => {
                    let key = (*module, name.as_str());
                    if !known.insert(key) {
                        continue;
                    }
                    for &index in by_name.get(&key).into_iter().flatten() {
                        if !std::mem::replace(&mut needed[*module][index], true) {
                            open.push_back((*module, index));
                        }
                    }
                }
                Target::Missing(missing) => return Err(*missing),
                Target::Module(_) => {}
            }
        }
    }
    Ok(needed)
}

/// Context of a word, which determines whether it can reference a declaration.
#[derive(Default)]
struct Scope {
    /// Whether the word belongs to attributes, members or the language.
    is_own_name: bool,
    /// Nesting depth of braces, and the depth of an open structure's members.
    depth: u32,
    members: Option<u32>,
    /// Whether the next brace begins a structure.
    is_struct: bool,
    /// Nesting depth of parentheses in an attribute whose arguments are words of the language.
    attribute: Option<u32>,
    /// Whether the token is between `var` and the `>` of its address space.
    is_space: bool,
}

impl Scope {
    fn pass(&mut self, token: &Token, word: &str, before: Option<&Token>, after: Option<&Token>) {
        let is_before = |mark| before.is_some_and(|it| it.is(mark));
        let is_after = |mark| after.is_some_and(|it| it.is(mark));
        match token.kind {
            TokenKind::Punctuation('{') => {
                self.depth += 1;
                if std::mem::take(&mut self.is_struct) {
                    self.members = Some(self.depth);
                }
            }
            TokenKind::Punctuation('}') => {
                if self.members == Some(self.depth) {
                    self.members = None;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            TokenKind::Punctuation('(') => self.attribute = self.attribute.map(|depth| depth + 1),
            TokenKind::Punctuation(')') => {
                let depth = self.attribute.map(|depth| depth.saturating_sub(1));
                self.attribute = depth.filter(|&depth| depth > 0);
            }
            TokenKind::Punctuation('>') => self.is_space = false,
            TokenKind::Word => {
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
