//! Check of an access against the declarations of its pass.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

use super::{Frame, PassIndex, Use};
use crate::access::Access;
use crate::error::Words;
use crate::range::{SubRange, intervals};
use crate::resource::{ResourceIndex, ResourceKind};

/// An access that a pass makes and does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredAccess {
    /// The resource.
    pub resource: Arc<str>,
    /// The access of the pass.
    pub access: Access,
    /// The range that it accesses.
    pub range: SubRange,
    /// The accesses that the pass declares of the resource.
    pub declared: Vec<(Access, SubRange)>,
}

/// `StorageWriteCompute of all, while it declares StorageReadCompute of bytes 0..512`.
impl Display for UndeclaredAccess {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (access, range) = (self.access.name(), Words(&self.range));
        write!(out, "{access} of {range}, while it declares ")?;
        if self.declared.is_empty() {
            return write!(out, "nothing of it");
        }
        for (at, (access, range)) in self.declared.iter().enumerate() {
            let before = match at {
                0 => "",
                _ => " and ",
            };
            write!(out, "{before}{} of {}", access.name(), Words(range))?;
        }
        Ok(())
    }
}

impl Frame {
    /// Checks that a pass declares an access to all of a range of a resource. Declared accesses that cover
    /// this one ([`Access::covers`]) count, together if each covers a part of the range.
    ///
    /// Planning does not call this: a frame holds only declarations. Code that knows the commands of a pass
    /// calls it before they reach the device. Ranges beyond the end of the resource are not checked here.
    ///
    /// ```
    /// use quadrille_sync::access::Access;
    /// use quadrille_sync::frame::PassIndex;
    /// use quadrille_sync::range::SubRange;
    /// use quadrille_sync::resource::ResourceIndex;
    /// use quadrille_sync::text::parse_frame;
    /// let frame = parse_frame("
    /// buffer cells 0 bytes 1024
    /// pass count
    ///   StorageReadCompute cells
    /// ")?;
    /// let (count, cells) = (PassIndex(0), ResourceIndex(0));
    /// let checked = |access| frame.check_declared(count, cells, SubRange::Whole, access);
    /// assert!(checked(Access::StorageReadCompute).is_ok());
    /// let expected = "StorageWriteCompute of all, while it declares StorageReadCompute of all";
    /// assert_eq!(checked(Access::StorageWriteCompute).unwrap_err().to_string(), expected);
    /// # Ok::<(), quadrille_sync::text::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the accesses that the pass declares instead.
    pub fn check_declared(
        &self,
        pass: PassIndex,
        resource: ResourceIndex,
        range: SubRange,
        access: Access,
    ) -> Result<(), UndeclaredAccess> {
        let kind = &self.resource(resource).kind;
        if !range.fits(kind) {
            return Ok(());
        }
        let is_of_it = |one: &&Use| one.resource == resource && one.range.fits(kind);
        let declared = self.uses_of(pass).iter().filter(is_of_it);
        let allowing = declared.clone().filter(|one| one.access.covers(access));
        let mut ranges = allowing.map(|one| one.range);
        let is_declared = ranges.clone().any(|one| one.covers(&range, kind))
            || are_covering(kind, &mut ranges, &range);
        if is_declared {
            return Ok(());
        }
        Err(UndeclaredAccess {
            resource: Arc::clone(&self.resource(resource).name),
            access,
            range,
            declared: declared.map(|one| (one.access, one.range)).collect(),
        })
    }
}

/// Whether the union of some ranges covers a range.
fn are_covering(
    kind: &ResourceKind,
    ranges: &mut dyn Iterator<Item = SubRange>,
    wanted: &SubRange,
) -> bool {
    let mut given: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        intervals(kind, &range, |part| given.push(part));
    }
    given.sort_unstable_by_key(|part| part.start);
    let mut is_covered = true;
    intervals(kind, wanted, |part| {
        let mut at = part.start;
        for one in &given {
            if one.start <= at {
                at = at.max(one.end);
            }
        }
        is_covered &= at >= part.end;
    });
    is_covered
}

#[cfg(test)]
mod tests;
