//! Invariant positions of vertex shaders.

use naga::{ShaderStage, TypeInner};

/// Decorates the positions that vertex shaders return with `Invariant`: a pass that tests depth against that of another
/// one needs equal positions from equal expressions of different shaders (section "Invariance").
pub(super) fn make_positions_invariant(module: &mut naga::Module) {
    let vertex = |entry: &&mut naga::EntryPoint| entry.stage == ShaderStage::Vertex;
    let mut structs = Vec::new();
    for entry in module.entry_points.iter_mut().filter(vertex) {
        let Some(result) = &mut entry.function.result else {
            continue;
        };
        match &mut result.binding {
            Some(binding) => make_invariant(binding),
            None => structs.push(result.ty),
        }
    }
    for handle in structs {
        let mut ty = module.types[handle].clone();
        if let TypeInner::Struct { members, .. } = &mut ty.inner {
            members
                .iter_mut()
                .filter_map(|member| member.binding.as_mut())
                .for_each(make_invariant);
        }
        if ty != module.types[handle] {
            module.types.replace(handle, ty);
        }
    }
}

fn make_invariant(binding: &mut naga::Binding) {
    if let naga::Binding::BuiltIn(naga::BuiltIn::Position { invariant }) = binding {
        *invariant = true;
    }
}

#[cfg(test)]
mod tests;
