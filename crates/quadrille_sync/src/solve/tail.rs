//! Barriers at the end of a submission, behind all of its passes.
//!
//! Some could stand in a call before one of these. There they might hold it back, because the barriers
//! of a call order commands together; here they hold back nobody.

use super::logical::{first_scope, second_scope};
use crate::plan::{BarrierBatch, BufferBarrier, ImageBarrier, Scope, Step};
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

    /// The calls behind all others: one, unless something leads on from a barrier before it, because
    /// barriers of one call do not chain. Where no pass is between them and those at the beginning of
    /// the submission, that is `head`, which then comes before them.
    pub(super) fn into_steps(self, head: BarrierBatch) -> impl Iterator<Item = Step> {
        let Self { changes, others } = self;
        let mut calls: Vec<BarrierBatch> = Vec::with_capacity(1);
        for mut batch in [head, changes, others] {
            match calls.last_mut() {
                _ if batch.is_empty() => {}
                Some(call) if call.memory.is_none() && !leads_on(call, &batch) => {
                    let memory = batch.memory.take();
                    call.append(&mut batch);
                    call.memory = memory;
                }
                _ => calls.push(batch),
            }
        }
        let steps = calls.into_iter();
        steps.map(|batch| Step::Barriers(Box::new(batch)))
    }
}

/// Whether a barrier has to come after one of those before it: it moves or changes the same part again,
/// or makes visible what that has done to it.
fn leads_on(before: &BarrierBatch, after: &BarrierBatch) -> bool {
    let shows = |resource: ResourceIndex, dst: Scope| {
        let is_led_on = |src: Scope| {
            let chain = second_scope(dst.stages) & first_scope(src.stages);
            !chain.is_empty()
        };
        after.memory.iter().any(|memory| {
            let mut reasons = memory.reasons.iter();
            reasons.any(|reason| reason.resource == resource) && is_led_on(memory.src)
        })
    };
    let is_image_led_on = |one: &ImageBarrier| {
        let is_same =
            |it: &ImageBarrier| it.resource == one.resource && it.range.overlaps(&one.range);
        after.images.iter().any(is_same) || shows(one.resource, one.dst)
    };
    let is_buffer_led_on = |one: &BufferBarrier| {
        let is_same = |it: &BufferBarrier| {
            let is_apart = it.offset + it.size <= one.offset || one.offset + one.size <= it.offset;
            it.resource == one.resource && !is_apart
        };
        after.buffers.iter().any(is_same) || shows(one.resource, one.dst)
    };
    before.images.iter().any(is_image_led_on) || before.buffers.iter().any(is_buffer_led_on)
}
