//! What a pass needs of a range.

use std::sync::Arc;

use crate::flags::Layout;
use crate::frame::PassIndex;
use crate::plan::Scope;
use crate::range::SubRange;
use crate::resource::ResourceIndex;
use crate::solve::state::{Mark, State};
use crate::states::{EndPass, FirstUse};
use crate::topology::{FamilyIndex, QueueIndex};

/// A use of a range that is about to be compared with the range's state.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Request {
    pub(in crate::solve) resource: ResourceIndex,
    pub(in crate::solve) range: SubRange,
    pub(in crate::solve) submission: usize,
    pub(in crate::solve) queue: QueueIndex,
    pub(in crate::solve) family: FamilyIndex,
    pub(in crate::solve) value: i64,
    pub(in crate::solve) step: u32,
    pub(in crate::solve) pass: PassIndex,
    /// The use by the next frame that a barrier is made for, instead of the pass.
    pub(in crate::solve) next: Option<Arc<FirstUse>>,
    pub(in crate::solve) scope: Scope,
    /// The scopes of all uses of the pass that overlap this one, or of it alone. Barriers of one
    /// call do not chain, so a layout transition has to be visible to all of them.
    pub(in crate::solve) shared: Scope,
    /// Undefined for buffers.
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) image: bool,
    /// The resource has an owner.
    pub(in crate::solve) exclusive: bool,
    pub(in crate::solve) writes: bool,
    pub(in crate::solve) discard: bool,
    /// Asks for layout and owner of mip levels alone; see
    /// [`slices`](crate::solve::barriers::slices).
    pub(in crate::solve) is_for_level: bool,
}

impl Request {
    /// The mark of the request in the state, with the given accesses to make available later.
    pub(in crate::solve) fn mark(&self, scope: Scope) -> Mark {
        let pass = EndPass::Pass(self.pass);
        Mark {
            queue: self.queue,
            value: self.value,
            scope,
            pass,
            step: self.step,
        }
    }

    /// Whether contents need not be kept: they are not needed, or undefined.
    pub(in crate::solve) fn discards(&self, state: &State) -> bool {
        self.discard || self.writes && !state.defined
    }

    /// Whether another family owns a range, or its acquire is pending.
    pub(in crate::solve) fn finds_elsewhere(&self, state: &State) -> bool {
        // Ownership is not tracked with one family, but an external owner is never that family.
        let is_other =
            |owner: FamilyIndex| owner != self.family && (self.exclusive || owner.is_outside());
        state.rare.pending().is_some() || state.owner.is_some_and(is_other)
    }
}

impl Scope {
    /// The scope of an execution dependency.
    pub(in crate::solve) fn stages_only(self) -> Self {
        Self {
            stages: self.stages,
            access: crate::flags::AccessMask::empty(),
        }
    }
}
