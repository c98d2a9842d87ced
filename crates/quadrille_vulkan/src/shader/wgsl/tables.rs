//! Reflection of tables: arrays of images, samplers and storage buffers.

use naga::{AddressSpace, ImageClass, TypeInner};

use super::{Reflection, kind};
use crate::error::ShaderError;
use crate::shader::{BindingKind, ShaderStage, TableBinding, TableKind, written_members};

/// Reflects a variable of a group other than 0, a part of a table, that a stage uses.
pub(super) fn table_binding(
    context: &Reflection<'_>,
    variable: &naga::GlobalVariable,
    (number, name): (&naga::ResourceBinding, String),
    stage: ShaderStage,
) -> Result<TableBinding, ShaderError> {
    let group = number.group;
    let is_array = matches!(
        context.module.types[variable.ty].inner,
        TypeInner::BindingArray { .. }
    );
    let kind = table_kind(context.module, variable).ok_or_else(|| {
        context.problem(match variable.space {
            AddressSpace::Storage { .. } if is_array => written_members(&name),
            _ => format!(
            "{name} is in @group({group}); resources belong in group 0, at @group(0), and arrays \
             (binding_array) of images with their samplers, or of storage buffers that are read, in \
             groups of their own"
            ),
        })
    })?;
    let binding = TableBinding {
        group,
        binding: number.binding,
        name,
        kind,
        stages: stage.to_vk(),
    };
    binding.check(context.label)
}

/// Returns the part of a table that a variable is; `None` if it is none.
fn table_kind(module: &naga::Module, variable: &naga::GlobalVariable) -> Option<TableKind> {
    let ty = variable.ty;
    let (base, count) = match &module.types[ty].inner {
        &TypeInner::BindingArray { base, size } => match size {
            naga::ArraySize::Constant(count) => (base, Some(count.get())),
            naga::ArraySize::Dynamic => (base, None),
            naga::ArraySize::Pending(_) => return None,
        },
        _ => (ty, Some(1)),
    };
    let is_array = base != ty;
    match kind(&module.types[base].inner, variable.space)? {
        // Synchronization of members relies on tables being read-only.
        BindingKind::StorageBuffer if is_array && is_read(variable.space) => {
            Some(TableKind::Buffers)
        }
        BindingKind::Sampler => Some(TableKind::Samplers(count.unwrap_or(1))),
        // The fallback has no depth format, so depth textures cannot be compared.
        BindingKind::SampledImage(image) if is_array && !is_depth(module, base) => {
            Some(TableKind::Images(image))
        }
        _ => None,
    }
}

fn is_read(space: AddressSpace) -> bool {
    matches!(space, AddressSpace::Storage { access } if access == naga::StorageAccess::LOAD)
}

fn is_depth(module: &naga::Module, ty: naga::Handle<naga::Type>) -> bool {
    let inner = &module.types[ty].inner;
    matches!(
        inner,
        TypeInner::Image {
            class: ImageClass::Depth { .. },
            ..
        }
    )
}
