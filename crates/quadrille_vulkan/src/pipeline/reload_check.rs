//! Validation of reloaded shaders against the interface of an existing pipeline.
//!
//! Passes are written for the pipeline's original interface. Reloaded shaders may use less of it, for instance with a
//! binding commented out, but not more.

use crate::device::pipeline_layout::merge;
use crate::error::ShaderError;
use crate::shader::{Binding, EntryPoint};

/// Interface that existing passes provide.
pub(super) struct Provided<'a> {
    /// Name of the pipeline.
    pub name: &'a str,
    /// Bindings that passes bind.
    pub bindings: &'a [Binding],
    /// Size of the push constants in bytes.
    pub push_bytes: u32,
}

/// Checks that new entry points use only bindings and push constants that passes provide.
pub(super) fn check(
    provided: &Provided<'_>,
    entry_points: &[&EntryPoint],
) -> Result<(), ShaderError> {
    let (bindings, push_bytes) = merge(provided.name, entry_points)?;
    if let Some(problem) = bindings
        .iter()
        .find_map(|new| excess(provided.bindings, new))
    {
        return Err(exceeds_interface(provided.name, &problem));
    }
    if push_bytes.least > provided.push_bytes {
        let problem = format!(
            "it reads {} bytes of push constants, and the program pushes {}",
            push_bytes.least, provided.push_bytes
        );
        return Err(exceeds_interface(provided.name, &problem));
    }
    Ok(())
}

/// Checks that the workgroup size is unchanged, since dispatches depend on it.
pub(super) fn check_workgroup(name: &str, [known, new]: [[u32; 3]; 2]) -> Result<(), ShaderError> {
    if known == new {
        return Ok(());
    }
    let problem = format!("its workgroup is {new:?}, and the program dispatches for {known:?}");
    Err(exceeds_interface(name, &problem))
}

/// Describes a need of a binding that no pass provides.
fn excess(provided: &[Binding], new: &Binding) -> Option<String> {
    let (number, name) = (new.binding, &new.name);
    let Some(known) = provided.iter().find(|known| known.binding == number) else {
        return Some(format!(
            "it uses @binding({number}) {name}, which the program does not bind"
        ));
    };
    let what = |does: &str| format!("it {does} @binding({number}) {name}, which it did not before");
    if known.kind != new.kind {
        Some(format!(
            "@binding({number}) {name} is {} and was {}",
            new.kind.word(),
            known.kind.word()
        ))
    } else if new.writes && !known.writes {
        Some(what("writes"))
    } else if new.reads && !known.reads {
        Some(what("reads"))
    } else if !known.stages.contains(new.stages) {
        Some(what("uses in another stage"))
    } else if new.least_bytes > known.least_bytes {
        Some(format!(
            "it needs {} bytes at @binding({number}) {name}, and the program binds at least {}",
            new.least_bytes, known.least_bytes
        ))
    } else {
        None
    }
}

pub(super) fn exceeds_interface(name: &str, problem: &str) -> ShaderError {
    ShaderError::Interface {
        label: name.to_owned(),
        problem: format!("{problem}; start the program again to change its interface"),
    }
}

#[cfg(test)]
#[path = "reload_check_tests.rs"]
mod tests;
