//! Requirements of a pass on a range.

use std::sync::Arc;

use crate::flags::Layout;
use crate::frame::PassIndex;
use crate::plan::Scope;
use crate::range::SubRange;
use crate::resource::ResourceIndex;
use crate::solve::state::{State, TrackedAccess};
use crate::states::{EndPass, FirstUse};
use crate::topology::{FamilyIndex, QueueIndex};

/// A use of a range that is about to be compared with the range's state.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) resource: ResourceIndex,
    pub(crate) range: SubRange,
    pub(crate) submission: usize,
    pub(crate) queue: QueueIndex,
    pub(crate) family: FamilyIndex,
    pub(crate) value: i64,
    pub(crate) step: u32,
    pub(crate) pass: PassIndex,
    /// With look-ahead: the use in the next frame that needs the barrier, instead of `pass`.
    pub(crate) next: Option<Arc<FirstUse>>,
    pub(crate) scope: Scope,
    /// The union of the scopes of all uses of the pass that overlap this one, itself included.
    /// Barriers within one call do not chain, so a layout transition has to be visible to all of them.
    pub(crate) shared: Scope,
    /// Undefined for buffers.
    pub(crate) layout: Layout,
    pub(crate) image: bool,
    /// The resource has an owner.
    pub(crate) exclusive: bool,
    pub(crate) writes: bool,
    pub(crate) discard: bool,
    /// Whether it concerns layout and owner of mip levels alone; see
    /// [`slices`](crate::solve::barriers::slices).
    pub(crate) is_for_level: bool,
}

impl Request {
    /// The access to note in the state; `scope` is the first scope of later barriers.
    pub(crate) fn tracked(&self, scope: Scope) -> TrackedAccess {
        let pass = EndPass::Pass(self.pass);
        TrackedAccess {
            queue: self.queue,
            value: self.value,
            scope,
            pass,
            step: self.step,
        }
    }

    /// Whether contents need not be kept: the pass discards them, or writes undefined contents.
    pub(crate) fn discards(&self, state: &State) -> bool {
        self.discard || self.writes && !state.defined
    }

    /// Whether another family owns a range, or its acquire is pending.
    pub(crate) fn finds_elsewhere(&self, state: &State) -> bool {
        // Ownership is not tracked with one family, but an external owner is never that family.
        let is_other =
            |owner: FamilyIndex| owner != self.family && (self.exclusive || owner.is_outside());
        state.rare.pending().is_some() || state.owner.is_some_and(is_other)
    }
}
