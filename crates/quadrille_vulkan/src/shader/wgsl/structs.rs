//! Structs of a module, for comparison with rows.

use naga::{Binding, Handle, Module, Type, TypeInner};

use super::super::ScalarKind;
use super::super::compose::Joined;
use super::locations::scalar_kind;
use super::{guarded, parse};
use crate::error::ShaderError;
use crate::shader::nesting;

/// A struct of a module.
pub(in crate::shader) struct ShaderStruct {
    /// Size in bytes.
    pub bytes: u32,
    /// Members in their order.
    pub members: Vec<StructMember>,
}

/// A member of a struct.
pub(in crate::shader) struct StructMember {
    /// Its name.
    pub name: String,
    /// Offset in the struct in bytes.
    pub offset: u32,
    /// Its `@location`.
    pub location: Option<u32>,
    /// Scalar kind of each 4-byte word; `None` for padding and for types that are not 32-bit scalars.
    pub numbers: Vec<Option<ScalarKind>>,
}

impl ShaderStruct {
    /// Whether it is a stage input.
    pub(in crate::shader) fn is_input(&self) -> bool {
        self.members.iter().any(|member| member.location.is_some())
    }
}

/// Finds the struct that a module declares by this name.
pub(in crate::shader) fn find(
    label: &str,
    joined: &Joined,
    name: &str,
) -> Result<Option<ShaderStruct>, ShaderError> {
    if let Err(spanned) = nesting::check(joined.text()) {
        return Err(joined.error(&spanned.message, &[(spanned.at, String::new())], Vec::new()));
    }
    guarded(label, || {
        let module = parse(joined)?;
        let mut types = module.types.iter();
        let found = types.find_map(|(_, ty)| match &ty.inner {
            TypeInner::Struct { members, span } => {
                let own = joined.own_name(ty.name.as_deref()?);
                (own == (name, false)).then_some((members, *span))
            }
            _ => None,
        });
        Ok(found.map(|(members, bytes)| ShaderStruct {
            bytes,
            members: members.iter().map(|it| member(&module, it)).collect(),
        }))
    })
}

fn member(module: &Module, member: &naga::StructMember) -> StructMember {
    let mut numbers = Vec::new();
    add_numbers(module, member.ty, &mut numbers);
    StructMember {
        name: member.name.clone().unwrap_or_default(),
        offset: member.offset,
        location: match member.binding {
            Some(Binding::Location { location, .. }) => Some(location),
            _ => None,
        },
        numbers,
    }
}

/// Adds the scalar kind of each word of a type.
fn add_numbers(module: &Module, ty: Handle<Type>, to: &mut Vec<Option<ScalarKind>>) {
    let first = to.len();
    match &module.types[ty].inner {
        TypeInner::Struct { members, span } => {
            for member in members {
                to.resize(first + member.offset as usize / 4, None);
                add_numbers(module, member.ty, to);
            }
            to.resize(first + *span as usize / 4, None);
        }
        &TypeInner::Array { base, size, stride } => {
            let count = match size {
                naga::ArraySize::Constant(count) => count.get(),
                naga::ArraySize::Pending(_) | naga::ArraySize::Dynamic => 0,
            };
            for at in 0..count {
                add_numbers(module, base, to);
                to.resize(first + ((at + 1) * stride) as usize / 4, None);
            }
        }
        &TypeInner::Matrix {
            columns,
            rows,
            scalar,
        } => {
            let stride = naga::proc::Alignment::from(rows) * u32::from(scalar.width);
            for column in 1..=columns as u32 {
                to.extend((0..rows as u32).map(|_| number(scalar)));
                to.resize(first + (column * stride) as usize / 4, None);
            }
        }
        &TypeInner::Vector { size, scalar } => to.extend((0..size as u32).map(|_| number(scalar))),
        &(TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar)) => to.push(number(scalar)),
        _ => to.push(None),
    }
}

fn number(scalar: naga::Scalar) -> Option<ScalarKind> {
    scalar_kind(scalar.kind).filter(|_| scalar.width == 4)
}
