//! References between declarations, and the declarations that a shader needs.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Range;

use super::tokens::{Kind, Token};
use super::{Module, Target};

/// A word or path that names a declaration.
pub(super) struct Reference {
    /// The index of its first token.
    token: usize,
    pub at: Range<usize>,
    pub target: Target,
}

/// Words that mean something between `<` and `>`, whatever is declared.
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

/// The references of a module, in order.
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
        if token.kind != Kind::Word || is_cut {
            continue;
        }
        let own = word(token);
        let (place, target) = match path {
            // The first segment stands for all.
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
                at: place,
                target,
            });
        }
    }
    references
}

/// Whether each declaration of each module is needed: those of the shader itself, and all that they name. The error
/// is the index of a missing name that is needed.
pub(super) fn needed(
    modules: &[Module],
    references: &[Vec<Reference>],
) -> Result<Vec<Vec<bool>>, usize> {
    let mut by_name: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    let mut needed = Vec::new();
    // In the order of the source, as errors are.
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
    // Names are looked up once, so that the work is linear in the references.
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

/// Where a word is, as far as that decides whether it can be the name of a declaration.
#[derive(Default)]
struct Scope {
    /// The word is one of attributes, members or the language.
    is_own_name: bool,
    /// Braces around, and those around the members of a structure.
    depth: u32,
    members: Option<u32>,
    /// A structure begins with the next brace.
    is_struct: bool,
    /// An attribute whose arguments are words of the language, and the parentheses in it.
    attribute: Option<u32>,
    /// Behind `var`, up to the `>`.
    is_space: bool,
}

impl Scope {
    fn pass(&mut self, token: &Token, word: &str, before: Option<&Token>, after: Option<&Token>) {
        let is_before = |mark| before.is_some_and(|it| it.is(mark));
        let is_after = |mark| after.is_some_and(|it| it.is(mark));
        match token.kind {
            Kind::Mark('{') => {
                self.depth += 1;
                if std::mem::take(&mut self.is_struct) {
                    self.members = Some(self.depth);
                }
            }
            Kind::Mark('}') => {
                if self.members == Some(self.depth) {
                    self.members = None;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            Kind::Mark('(') => self.attribute = self.attribute.map(|depth| depth + 1),
            Kind::Mark(')') => {
                let depth = self.attribute.map(|depth| depth.saturating_sub(1));
                self.attribute = depth.filter(|&depth| depth > 0);
            }
            Kind::Mark('>') => self.is_space = false,
            Kind::Word => {
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
