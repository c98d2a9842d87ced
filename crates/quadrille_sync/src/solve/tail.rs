//! Barriers at the end of a submission, behind all of its passes.
//!
//! Some could stand in a call before one of these. There they might hold it back, because the barriers
//! of a call order commands together; here they hold back nobody.

use super::logical::{first_scope, second_scope};
use crate::plan::{BarrierBatch, ImageBarrier, Scope, Step};
use crate::resource::ResourceIndex;

/// The barriers behind the last pass of a submission.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// Layout transitions for the host, or for several readers elsewhere.
    pub(super) changes: BarrierBatch,
    /// All others, some of which may lead on from the changes.
    pub(super) others: BarrierBatch,
}

impl Tail {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.others.is_empty()
    }

    /// The calls: one, unless something leads on from a change, because barriers of one call do not
    /// chain.
    pub(super) fn into_steps(self) -> impl Iterator<Item = Step> {
        let Self {
            mut changes,
            mut others,
        } = self;
        let is_both = !changes.is_empty() && !others.is_empty();
        if is_both && !leads_on(&changes, &others) {
            let memory = others.memory.take();
            changes.append(&mut others);
            changes.memory = memory;
        }
        let calls = [changes, others].into_iter();
        let calls = calls.filter(|batch| !batch.is_empty());
        calls.map(|batch| Step::Barriers(Box::new(batch)))
    }
}

/// Whether a barrier has to come after one of the changes: it changes the same part again, or makes
/// visible what the change has done to it.
fn leads_on(changes: &BarrierBatch, others: &BarrierBatch) -> bool {
    let is_later = |change: &ImageBarrier| {
        let is_same =
            |it: &ImageBarrier| it.resource == change.resource && it.range.overlaps(&change.range);
        let shows = |resource: ResourceIndex, src: Scope| {
            let chain = second_scope(change.dst.stages) & first_scope(src.stages);
            resource == change.resource && !chain.is_empty()
        };
        let mut memory = others.memory.iter();
        others.images.iter().any(is_same)
            || memory.any(|memory| {
                let mut reasons = memory.reasons.iter();
                reasons.any(|reason| shows(reason.resource, memory.src))
            })
    };
    changes.images.iter().any(is_later)
}
