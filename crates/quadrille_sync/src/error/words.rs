//! Text of ranges, flags, lists and cycles of passes in errors.

use std::fmt::{self, Display, Formatter};

use super::{ConflictingAccess, CycleStep};
use crate::flags::{Aspects, Layout};
use crate::range::{Slices, SubRange, SubresourceRange};

/// The layout of a lent image, as part of a sentence.
pub(super) struct LentAs(pub(super) Option<Layout>);

impl Display for LentAs {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(layout) => write!(
                out,
                "; the image stays in layout {layout:?}, so lend it in the layout that is needed"
            ),
            None => write!(out, "; write to it once it is returned"),
        }
    }
}

/// Description of how the lifetimes of two resources overlap.
pub(super) struct AtOnce<'a> {
    pub(super) resource: &'a str,
    pub(super) user: &'a str,
    pub(super) other: &'a str,
    pub(super) other_user: &'a str,
}

impl Display for AtOnce<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            resource,
            user,
            other,
            other_user,
        } = self;
        if user == other_user {
            return write!(
                out,
                "pass `{user}` uses both. Resources in the same memory take turns: use them in \
                 different passes"
            );
        }
        write!(
            out,
            "pass `{other_user}` uses `{other}` while `{user}`, which does not come before it, \
             still needs `{resource}`. Resources in the same memory take turns: order all passes \
             that use one before those that use the other, such as `{other_user}.after({user})`"
        )
    }
}

/// The two ways to order two passes, as a sentence.
pub(super) struct EitherOrder<'a>(pub(super) &'a str, pub(super) &'a str);

impl Display for EitherOrder<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self(one, other) = self;
        if one == other {
            return write!(
                out,
                "Both are called so: order them where they are added, such as `({one}, {one}).chain()`."
            );
        }
        write!(
            out,
            "Write `{one}.after({other})` or `{other}.after({one})`."
        )
    }
}

/// A range in words.
pub(crate) struct Words<'a>(pub(crate) &'a SubRange);

impl Display for Words<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match *self.0 {
            SubRange::Whole => write!(out, "all"),
            SubRange::Bytes { offset, size } => {
                write!(out, "bytes {offset}..{}", offset.saturating_add(size))
            }
            SubRange::Subresources(SubresourceRange {
                aspects,
                base_mip,
                mip_count,
                base_layer,
                layer_count,
            }) => write!(
                out,
                "mip levels {base_mip}..{}, array layers {base_layer}..{}, aspects {}",
                u64::from(base_mip) + u64::from(mip_count),
                u64::from(base_layer) + u64::from(layer_count),
                Bits(aspects),
            ),
            SubRange::Slices(Slices {
                aspects,
                mip,
                base,
                count,
            }) => write!(
                out,
                "slices {base}..{} of mip level {mip}, aspects {}",
                u64::from(base) + u64::from(count),
                Bits(aspects),
            ),
        }
    }
}

/// A list with commas and an "and".
pub(super) struct List<'a>(pub(super) &'a [ConflictingAccess]);

impl Display for List<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (at, party) in self.0.iter().enumerate() {
            let before = match at {
                0 => "",
                _ if at + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(out, "{before}{party}")?;
        }
        Ok(())
    }
}

/// A cycle as a sentence.
pub(super) struct Cycle<'a>(pub(super) &'a [CycleStep]);

impl Display for Cycle<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            let before = &self.0[(at + self.0.len() - 1) % self.0.len()].pass;
            let comma = if at == 0 { "" } else { ", " };
            write!(out, "{comma}`{}` comes after `{before}`", step.pass)?;
            if let Some(resource) = &step.resource {
                write!(out, " because it reads `{resource}`")?;
            }
        }
        Ok(())
    }
}

/// Object of a use: an image with the aspects of the range, or a buffer.
pub(super) struct UsedObject(pub(super) Option<Aspects>);

impl Display for UsedObject {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(aspects) => write!(out, "an image with {}", Bits(aspects)),
            None => write!(out, "a buffer"),
        }
    }
}

/// Flags with their Vulkan names.
pub(super) struct Bits<T>(pub(super) T);

impl<T: bitflags::Flags> Display for Bits<T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(out, "none");
        }
        for (at, (name, _)) in self.0.iter_names().enumerate() {
            let before = if at == 0 { "" } else { " and " };
            write!(out, "{before}{name}")?;
        }
        Ok(())
    }
}
