//! Variables of shaders by their names.

use quadrille_sync::closest_match;

use crate::error::ShaderError;
use crate::shader::{Binding, TableBinding};

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
