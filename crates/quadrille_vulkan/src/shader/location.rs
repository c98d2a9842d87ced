//! Variables that stages pass to each other, at numbered locations, and whether two ends fit.

use std::fmt;

/// A variable at a location: an input or an output of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Its number, `@location` in WGSL.
    pub location: u32,
    /// Its type; `None` for types other than numbers and vectors of them.
    pub ty: Option<LocationType>,
}

/// A number, or a vector of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocationType {
    /// The kind of its numbers.
    pub scalar: ScalarKind,
    /// How wide each of them is.
    pub bits: u32,
    /// How many there are: 1 for a number alone.
    pub components: u32,
}

/// Kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarKind {
    /// Floating-point numbers, normalised ones included.
    Float,
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
}

impl Location {
    /// Whether an input can have what an output gives: numbers of one kind and width, and as many of
    /// them or fewer (section "Interface Matching"). What is not known fits.
    pub(crate) fn can_have(&self, output: &Self) -> bool {
        let (Some(wanted), Some(given)) = (self.ty, output.ty) else {
            return true;
        };
        wanted.scalar == given.scalar
            && wanted.bits == given.bits
            && wanted.components <= given.components
    }

    /// Whether an input can have vertex attributes of this kind; a missing component is made up
    /// (section "Vertex Input Extraction").
    pub(crate) fn can_have_attribute(&self, scalar: ScalarKind) -> bool {
        self.ty.is_none_or(|ty| ty.scalar == scalar)
    }
}

/// As in WGSL.
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

    /// In words.
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
