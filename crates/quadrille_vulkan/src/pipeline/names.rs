//! Lookup of shader variables by name.

use std::sync::OnceLock;

use quadrille_sync::text::closest_match;

use crate::error::ShaderError;
use crate::shader::{Binding, TableBinding};

/// Binding of a variable in a pipeline's shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Binding of this number in group 0.
    Binding(u32),
    /// Table in this group.
    Table(u32),
    /// No such variable.
    Unknown,
}

/// Variables by lists of names, each resolved at its first use.
///
/// A pipeline is used with one to four lists, so a linked list is as fast as a map, and reads it without a lock.
#[derive(Default)]
pub(super) struct ResolvedNames(OnceLock<Box<Resolved>>);

struct Resolved {
    names: &'static [&'static str],
    variables: Box<[Variable]>,
    next: ResolvedNames,
}

impl ResolvedNames {
    /// Returns the variables of these names, in their order.
    pub(super) fn get(
        &self,
        names: &'static [&'static str],
        bindings: &[Binding],
        tables: &[TableBinding],
    ) -> &[Variable] {
        let mut list = self;
        loop {
            let resolved = list.0.get_or_init(|| {
                let variable = |name: &&str| variable(bindings, tables, name);
                Box::new(Resolved {
                    names,
                    variables: names.iter().map(variable).collect(),
                    next: Self::default(),
                })
            });
            if std::ptr::eq(resolved.names, names) {
                return &resolved.variables;
            }
            list = &resolved.next;
        }
    }
}

fn variable(bindings: &[Binding], tables: &[TableBinding], name: &str) -> Variable {
    let binding = bindings.iter().find(|it| it.name == name);
    let table = tables.iter().find(|it| it.name == name);
    match (binding, table) {
        (Some(binding), _) => Variable::Binding(binding.binding),
        (None, Some(table)) => Variable::Table(table.group),
        (None, None) => Variable::Unknown,
    }
}

/// Returns the end of an error message on an unknown variable: the closest name, or all names.
#[cold]
pub fn variable_hint(bindings: &[Binding], tables: &[TableBinding], name: &str) -> String {
    let of_zero = bindings.iter().map(|it| it.name.as_str());
    let of_tables = tables.iter().map(|it| it.name.as_str());
    let all = of_zero.clone().chain(of_tables.clone());
    if of_tables.clone().any(|it| it == name) {
        return format!("; `{name}` belongs to a table, which `table` binds");
    }
    if of_zero.clone().any(|it| it == name) {
        return format!("; `{name}` is in group 0, which `bind` and `sampler` bind");
    }
    if let Some(near) = closest_match(name, all.clone()) {
        return format!("; did you mean `{near}`?");
    }
    let all: Vec<_> = all.map(|it| format!("`{it}`")).collect();
    match all.is_empty() {
        true => "; its shaders use none".to_owned(),
        false => format!("; its shaders use {}", all.join(", ")),
    }
}

/// Checks that the shaders have the variables listed in the description.
pub(super) fn check(
    pipeline: &str,
    bindings: &[Binding],
    tables: &[TableBinding],
    names: &[&str],
) -> Result<(), ShaderError> {
    let has = |name: &str| {
        bindings.iter().any(|it| it.name == name) || tables.iter().any(|it| it.name == name)
    };
    match names.iter().find(|name| !has(name)) {
        None => Ok(()),
        Some(name) => Err(ShaderError::Interface {
            label: pipeline.to_owned(),
            problem: format!(
                "there is no variable `{name}` to bind to{}",
                variable_hint(bindings, tables, name)
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
