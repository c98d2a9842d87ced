//! Resources that come from an owner outside of the device and go back there. Such an owner knows the values of users'
//! timelines alone, so its side ends where a pass waits, and begins where a pass signals.

use quadrille_sync::frame::{PassIndex, TimelineUse, TimelineUseKind as Kind};
use quadrille_sync::plan::{BufferBarrier, ImageBarrier, Step, Transfer, TransferHalf};
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::ResourceIndex;

use super::FrameCheck;
use crate::area::Area;
use crate::order::Order;

/// Half of a transfer from or to an owner outside of the device.
struct Half {
    submission: usize,
    resource: ResourceIndex,
    range: SubRange,
    half: TransferHalf,
}

impl FrameCheck<'_> {
    /// An acquire comes no sooner than the wait of the first pass that uses the range, and a release no later than the
    /// signal of the last.
    pub(super) fn judge_exchanges(&mut self) {
        if self.frame.timeline_uses.is_empty() {
            return;
        }
        let order = Order::of(self.frame);
        for half in self.halves() {
            let kind = match half.half {
                TransferHalf::Acquire => Kind::Wait,
                TransferHalf::Release => Kind::Signal,
            };
            let Some((pass, submission)) = self.end_of(&half, &order) else {
                continue;
            };
            let why = match kind {
                Kind::Wait if half.submission < submission => {
                    "it waits, and what it waits for is acquired before"
                }
                Kind::Signal if half.submission > submission => {
                    "it signals, and what it signals for is released after that"
                }
                _ => continue,
            };
            let uses = self.frame.timeline_uses_of(pass);
            let late: Vec<TimelineUse> = uses.filter(|one| one.kind == kind).copied().collect();
            for one in &late {
                self.object_timeline(one, why);
            }
        }
    }

    /// All halves of transfers from and to the outside.
    fn halves(&self) -> Vec<Half> {
        let mut halves = Vec::new();
        for (submission, of) in self.plan.submissions.iter().enumerate() {
            let mut add = |transfer: Option<Transfer>, resource, range| {
                let is_outside = |it: &Transfer| match it.half {
                    TransferHalf::Acquire => it.from.is_outside(),
                    TransferHalf::Release => it.to.is_outside(),
                };
                if let Some(transfer) = transfer.filter(is_outside) {
                    halves.push(Half {
                        submission,
                        resource,
                        range,
                        half: transfer.half,
                    });
                }
            };
            for step in &of.steps {
                let Step::Barriers(batch) = step else {
                    continue;
                };
                for ImageBarrier {
                    transfer,
                    resource,
                    range,
                    ..
                } in &batch.images
                {
                    add(*transfer, *resource, SubRange::Subresources(*range));
                }
                for BufferBarrier {
                    transfer,
                    resource,
                    offset,
                    size,
                    ..
                } in &batch.buffers
                {
                    let (offset, size) = (*offset, *size);
                    add(*transfer, *resource, SubRange::Bytes { offset, size });
                }
            }
        }
        halves
    }

    /// The pass of the device before all others that use the range of an acquire, or after all others that use that of a
    /// release, and its submission; none if there is no such pass.
    fn end_of(&self, half: &Half, order: &Order) -> Option<(PassIndex, usize)> {
        let kind = &self.frame.resources.get(half.resource.0 as usize)?.kind;
        let area = Area::of(kind, &half.range);
        let uses_it = |pass: PassIndex| {
            let mut uses = self.frame.uses_of(pass).iter();
            uses.any(|one| {
                let of_it = one.resource == half.resource;
                of_it && Area::of(kind, &one.range).intersection(&area).is_some()
            })
        };
        let mut users: Vec<(PassIndex, Option<usize>)> = Vec::new();
        for (submission, of) in self.plan.submissions.iter().enumerate() {
            for step in &of.steps {
                let Step::Pass(pass) = step else { continue };
                if uses_it(*pass) {
                    users.push((*pass, Some(submission)));
                }
            }
        }
        // The whole resource stays until the host is done with any part of it.
        let uses_any = |pass: &PassIndex| {
            let mut uses = self.frame.uses_of(*pass).iter();
            uses.any(|one| one.resource == half.resource)
        };
        let on_host = self.plan.host.iter().map(|step| step.pass);
        users.extend(on_host.filter(uses_any).map(|pass| (pass, None)));
        let is_end = |(pass, _): &(PassIndex, Option<usize>)| {
            let mut others = users.iter().filter(|(other, _)| other != pass);
            others.all(|(other, _)| match half.half {
                TransferHalf::Acquire => order.precedes(*pass, *other),
                TransferHalf::Release => order.precedes(*other, *pass),
            })
        };
        let (pass, submission) = users.iter().copied().find(is_end)?;
        Some((pass, submission?))
    }
}
