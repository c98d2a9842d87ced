//! Stage inputs and outputs by location, and matching of their types.

use std::fmt;

/// A variable at a location: an input or an output of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Its number, `@location` in WGSL.
    pub location: u32,
    /// Its type; `None` for types other than numbers and vectors of them.
    pub ty: Option<LocationType>,
}

/// Type of a scalar or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocationType {
    /// The kind of its numbers.
    pub scalar: ScalarKind,
    /// Width of a component in bits.
    pub bits: u32,
    /// Number of components; 1 for a scalar.
    pub components: u32,
}

/// Kind of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarKind {
    /// Floating-point numbers, including normalized formats.
    Float,
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
}

impl Location {
    /// Whether an input matches an output: equal scalar type, and no more components (section "Interface
    /// Matching"). Unknown types match.
    pub(crate) fn can_have(&self, output: &Self) -> bool {
        let (Some(wanted), Some(given)) = (self.ty, output.ty) else {
            return true;
        };
        wanted.scalar == given.scalar
            && wanted.bits == given.bits
            && wanted.components <= given.components
    }

    /// Whether an input matches vertex attributes of this kind; missing components get default values
    /// (section "Vertex Input Extraction").
    pub(crate) fn can_have_attribute(&self, scalar: ScalarKind) -> bool {
        self.ty.is_none_or(|ty| ty.scalar == scalar)
    }
}

/// Formats as in WGSL.
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "@location({})", self.location)?;
        let Some(ty) = self.ty else { return Ok(()) };
        let (scalar, bits) = (ty.scalar.letter(), ty.bits);
        match ty.components {
            1 => write!(formatter, " {scalar}{bits}"),
            components => write!(formatter, " vec{components}<{scalar}{bits}>"),
        }
    }
}

impl ScalarKind {
    fn letter(self) -> char {
        match self {
            Self::Float => 'f',
            Self::Sint => 'i',
            Self::Uint => 'u',
        }
    }

    /// Name in errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Float => "floating-point numbers",
            Self::Sint => "signed integers",
            Self::Uint => "unsigned integers",
        }
    }
}

#[cfg(test)]
#[path = "location_tests.rs"]
mod tests;
