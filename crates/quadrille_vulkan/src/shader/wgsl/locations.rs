//! Locations of inputs and outputs, with their types.

use naga::TypeInner;

use crate::shader::{Location, LocationType, ScalarKind};

/// Returns the locations of variables of these types, and of the members of structures among them.
pub(super) fn locations<'a>(
    module: &naga::Module,
    variables: impl Iterator<Item = (naga::Handle<naga::Type>, &'a Option<naga::Binding>)>,
) -> Vec<Location> {
    let mut locations = Vec::new();
    let mut take = |ty: naga::Handle<naga::Type>, binding: &Option<naga::Binding>| {
        if let Some(naga::Binding::Location { location, .. }) = binding {
            locations.push(Location {
                location: *location,
                ty: location_type(&module.types[ty].inner),
            });
        }
    };
    for (ty, binding) in variables {
        take(ty, binding);
        if let TypeInner::Struct { members, .. } = &module.types[ty].inner {
            members
                .iter()
                .for_each(|member| take(member.ty, &member.binding));
        }
    }
    locations.sort_unstable();
    locations
}

/// Converts a scalar kind; `None` for booleans and abstract types.
pub(super) fn scalar_kind(kind: naga::ScalarKind) -> Option<ScalarKind> {
    match kind {
        naga::ScalarKind::Float => Some(ScalarKind::Float),
        naga::ScalarKind::Sint => Some(ScalarKind::Sint),
        naga::ScalarKind::Uint => Some(ScalarKind::Uint),
        _ => None,
    }
}

/// Converts a scalar or vector type; `None` for other types.
fn location_type(inner: &TypeInner) -> Option<LocationType> {
    let (scalar, components) = match inner {
        TypeInner::Scalar(scalar) => (scalar, 1),
        TypeInner::Vector { size, scalar } => (scalar, *size as u32),
        _ => return None,
    };
    Some(LocationType {
        scalar: scalar_kind(scalar.kind)?,
        bits: 8 * u32::from(scalar.width),
        components,
    })
}
