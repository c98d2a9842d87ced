//! Resources and aspects that an access applies to.

use std::fmt::{self, Display, Formatter};

use crate::flags::Aspects;
use crate::range::SubRange;
use crate::resource::ResourceKind;

/// A set of resources: buffers, images with any of some aspects, or both. Also describes the part that a
/// use accesses.
///
/// ```
/// use quadrille_sync::access::{Access, Target};
/// assert_eq!(Access::DepthReadOnly.target(), Target::DEPTH);
/// assert_eq!(Target::DEPTH.to_string(), "images with depth or stencil");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target(u32);

impl Target {
    /// Buffers.
    pub const BUFFER: Self = Self(1 << 31);
    /// Images with any aspects.
    pub const IMAGE: Self = Self(!Self::BUFFER.0);
    /// Both.
    pub const ANY: Self = Self(!0);
    /// Images with color, or planes of it.
    pub const COLOR: Self = Self(
        Aspects::COLOR
            .union(Aspects::PLANE_0)
            .union(Aspects::PLANE_1)
            .union(Aspects::PLANE_2)
            .bits(),
    );
    /// Images with depth or stencil.
    pub const DEPTH: Self = Self(Aspects::DEPTH.union(Aspects::STENCIL).bits());

    /// Returns the target that covers a whole resource.
    pub(crate) const fn of(kind: &ResourceKind) -> Self {
        match kind {
            ResourceKind::Buffer { .. } => Self::BUFFER,
            ResourceKind::Image { aspects, .. } => Self(aspects.bits()),
        }
    }

    /// Returns the target that covers a range of a resource.
    pub(crate) const fn of_part(kind: &ResourceKind, range: &SubRange) -> Self {
        match range {
            SubRange::Subresources(part) => Self(part.aspects.bits()),
            SubRange::Slices(part) => Self(part.aspects.bits()),
            _ => Self::of(kind),
        }
    }

    /// The aspects of the part that a use accesses; `None` for a buffer.
    pub(crate) fn aspects(self) -> Option<Aspects> {
        (self != Self::BUFFER).then(|| Aspects::from_bits_truncate(self.0))
    }

    /// Returns the intersection of both.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the two sets intersect: one common aspect is enough.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Display for Target {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match *self {
            Self::BUFFER => "buffers",
            Self::IMAGE => "images",
            Self::COLOR => "images with color",
            Self::DEPTH => "images with depth or stencil",
            _ => "buffers and images",
        })
    }
}
