//! Nesting of types and control flow through names, which tokens do not show and over which drivers recurse.

use naga::{Block, Span, Statement, TypeInner};

use super::label;
use crate::error::ShaderError;
use crate::shader::compose::Joined;
use crate::shader::nesting::{MAX_BRANCHES, MAX_TYPES};

/// Rejects a module that is nested too deeply for drivers.
pub(super) fn check(joined: &Joined, module: &naga::Module) -> Result<(), ShaderError> {
    check_types(joined, module)?;
    check_control_flow(joined, module)
}

/// Rejects types that are nested too deeply. naga stores each type after its component types.
fn check_types(joined: &Joined, module: &naga::Module) -> Result<(), ShaderError> {
    let mut depths: Vec<usize> = Vec::with_capacity(module.types.len());
    for (handle, ty) in module.types.iter() {
        let depth_of =
            |base: &naga::Handle<naga::Type>| depths.get(base.index()).map_or(1, |depth| depth + 1);
        let depth = match &ty.inner {
            TypeInner::Array { base, .. }
            | TypeInner::BindingArray { base, .. }
            | TypeInner::Pointer { base, .. } => depth_of(base),
            TypeInner::Struct { members, .. } => {
                let depths = members.iter().map(|member| depth_of(&member.ty));
                depths.max().unwrap_or(1)
            }
            _ => 0,
        };
        if depth > MAX_TYPES {
            let name = ty
                .name
                .as_deref()
                .map_or("a type", |name| joined.shown_name(name));
            let message = format!(
                "{name} has types within each other {depth} deep, more than the limit of {}; \
                 flatten them",
                MAX_TYPES
            );
            let labels = label(module.types.get_span(handle), "");
            return Err(joined.error(&message, &Vec::from_iter(labels), Vec::new()));
        }
        depths.push(depth);
    }
    Ok(())
}

/// Rejects control flow that is nested too deeply with callees inlined, as drivers do. naga stores each function after
/// its callees.
fn check_control_flow(joined: &Joined, module: &naga::Module) -> Result<(), ShaderError> {
    let mut functions: Vec<usize> = Vec::with_capacity(module.functions.len());
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let all = module.functions.iter().map(|(_, function)| function);
    for function in all.chain(entries) {
        let (depth, span) = deepest(&function.body, &functions);
        if depth > MAX_BRANCHES {
            let message = format!(
                "`if`, `switch` and loops are nested {depth} deep here, with those of functions that are \
                 called, more than the limit of {MAX_BRANCHES}; return early, or write a `switch` in \
                 place of `else if`"
            );
            let labels = Vec::from_iter(label(span, ""));
            return Err(joined.error(&message, &labels, Vec::new()));
        }
        functions.push(depth);
    }
    Ok(())
}

/// Returns the nesting depth of a block, and the span of its deepest statement. Recursion is bounded by the token
/// limits (`nesting.rs`).
fn deepest(block: &Block, functions: &[usize]) -> (usize, Span) {
    let within = |block: &Block| deepest(block, functions).0;
    let mut most = (0, Span::UNDEFINED);
    for (statement, span) in block.span_iter() {
        let depth = match statement {
            Statement::Block(block) => within(block),
            Statement::If { accept, reject, .. } => 1 + within(accept).max(within(reject)),
            Statement::Switch { cases, .. } => {
                1 + cases.iter().map(|it| within(&it.body)).max().unwrap_or(0)
            }
            Statement::Loop {
                body, continuing, ..
            } => 1 + within(body).max(within(continuing)),
            Statement::Call { function, .. } => {
                functions.get(function.index()).copied().unwrap_or(0)
            }
            _ => 0,
        };
        if depth > most.0 {
            most = (depth, *span);
        }
    }
    most
}
