//! Barriers as the maker of mutants sees them: where they are, and how to change them.

use std::fmt::{self, Display, Formatter};

use quadrille_sync::{
    BarrierBatch, ImageBarrier, Plan, Reason, Scope, Stages, Step, Topology, Transfer, TransferHalf,
};

use super::excuse::Excuses;
use super::maker::Maker;
use super::part::Element;
use super::restrict::Purpose;
use super::{Excuse, Mutation};
use crate::area::Area;
use crate::stages::touches;

/// Where a barrier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) submission: usize,
    pub(super) step: usize,
    pub(super) kind: Kind,
}

/// Which barrier of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Buffer(usize),
    Image(usize),
}

/// A barrier without its range.
#[derive(Clone, Copy)]
pub(super) struct Barrier {
    pub(super) spot: Spot,
    pub(super) src: Scope,
    pub(super) dst: Scope,
    pub(super) half: Option<TransferHalf>,
    pub(super) excuses: Excuses,
}

impl Maker<'_> {
    /// Adds the mutants of one barrier call.
    pub(super) fn mutate_batch(&mut self, submission: usize, step: usize, batch: &BarrierBatch) {
        let spot = |kind| Spot {
            submission,
            step,
            kind,
        };
        if let Some(memory) = &batch.memory {
            self.purposes = memory.reasons.iter().map(Purpose::from).collect();
            let scopes = (memory.src, memory.dst);
            let barrier = self.barrier(spot(Kind::Memory), scopes, None, &memory.reasons);
            self.mutate_barrier(barrier);
        }
        for (at, buffer) in batch.buffers.iter().enumerate() {
            let area = Area::bytes(buffer.offset, buffer.size);
            let of_range = Purpose::of_range(&buffer.reason, area);
            self.purposes = vec![self.unless_order(spot(Kind::Buffer(at)), of_range)];
            let (spot, scopes) = (spot(Kind::Buffer(at)), (buffer.src, buffer.dst));
            let reasons = std::slice::from_ref(&buffer.reason);
            let barrier = self.barrier(spot, scopes, buffer.transfer, reasons);
            self.mutate_barrier(barrier);
            self.mutate_family(barrier);
            let bytes = buffer.offset..buffer.offset + buffer.size;
            self.mutate_size(spot, bytes, barrier.excuses.range);
        }
        for (at, image) in batch.images.iter().enumerate() {
            let area = Area::subresources(&image.range);
            let of_range = Purpose::of_range(&image.reason, area);
            self.purposes = vec![self.unless_order(spot(Kind::Image(at)), of_range)];
            let (spot, scopes) = (spot(Kind::Image(at)), (image.src, image.dst));
            let reasons = std::slice::from_ref(&image.reason);
            let barrier = self.barrier(spot, scopes, image.transfer, reasons);
            self.mutate_barrier(barrier);
            self.mutate_family(barrier);
            self.mutate_image(barrier, image);
        }
    }

    /// What a barrier is for, without its range if it only orders.
    fn unless_order(&self, spot: Spot, purpose: Purpose) -> Purpose {
        let about = Element::Barrier(spot).area(self.plan);
        Purpose {
            area: purpose.area.filter(|_| about.is_some()),
            ..purpose
        }
    }

    fn barrier(
        &self,
        spot: Spot,
        (src, dst): (Scope, Scope),
        transfer: Option<Transfer>,
        reasons: &[Reason],
    ) -> Barrier {
        let half = transfer.map(|transfer| transfer.half);
        let unexcused = Barrier {
            spot,
            src,
            dst,
            half,
            excuses: Excuses::default(),
        };
        let excuses = self.excuses(&unexcused, reasons);
        Barrier {
            excuses,
            ..unexcused
        }
    }
}

impl Maker<'_> {
    /// Adds the mutants whose half of a transfer names another family at either end.
    fn mutate_family(&mut self, barrier: Barrier) {
        if !barrier.is_transfer() {
            return;
        }
        let spot = barrier.spot;
        let predicted = barrier.excuses.all;
        let predicted = predicted.filter(|excuse| *excuse == Excuse::Prediction);
        self.add(Mutation::Family, None, format!("from, {spot}"), |plan| {
            spot.edit_transfer(plan, |transfer| transfer.from.0 += 1);
        });
        // Where nobody may ever acquire, nobody may ever see to whom it was released.
        self.add(Mutation::Family, predicted, format!("to, {spot}"), |plan| {
            spot.edit_transfer(plan, |transfer| transfer.to.0 += 100);
        });
    }
}

impl Barrier {
    /// What taking it out is called.
    pub(super) fn drop_mutation(&self) -> Mutation {
        match self.half {
            None => Mutation::DropBarrier,
            Some(TransferHalf::Release) => Mutation::DropRelease,
            Some(TransferHalf::Acquire) => Mutation::DropAcquire,
        }
    }

    /// Whether it moves ownership.
    pub(super) fn is_transfer(&self) -> bool {
        self.half.is_some()
    }

    pub(super) fn is_release(&self) -> bool {
        self.half == Some(TransferHalf::Release)
    }

    pub(super) fn is_acquire(&self) -> bool {
        self.half == Some(TransferHalf::Acquire)
    }

    /// Whether Vulkan looks at its first scope.
    pub(super) fn has_src(&self, topology: &Topology) -> bool {
        !self.is_acquire() || topology.maintenance8
    }

    /// Whether it only orders, and neither moves nor shows anything.
    pub(super) fn only_orders(&self) -> bool {
        !self.is_transfer() && self.src.access.is_empty() && self.dst.access.is_empty()
    }

    /// Whether two barriers have equal access scopes in the stages of a queue.
    pub(super) fn covers_the_same(&self, other: &Self, queue: Stages) -> bool {
        let within = |a: Scope, b: Scope| {
            let mut mine = touches(a).filter(|touch| queue.contains(touch.stage));
            mine.all(|touch| touches(b).any(|other| other == touch))
        };
        let same = |a: Scope, b: Scope| within(a, b) && within(b, a);
        same(self.src, other.src) && same(self.dst, other.dst)
    }
}

impl Spot {
    /// The call that it is in.
    pub(super) fn batch(self, plan: &Plan) -> Option<&BarrierBatch> {
        match &plan.submissions[self.submission].steps[self.step] {
            Step::Barriers(batch) => Some(batch),
            Step::Pass(_) => None,
        }
    }

    fn batch_mut(self, plan: &mut Plan) -> Option<&mut BarrierBatch> {
        match &mut plan.submissions[self.submission].steps[self.step] {
            Step::Barriers(batch) => Some(batch),
            Step::Pass(_) => None,
        }
    }

    /// Gives the barrier these scopes.
    pub(super) fn put(self, plan: &mut Plan, src: Scope, dst: Scope) {
        let Some(batch) = self.batch_mut(plan) else {
            return;
        };
        match self.kind {
            Kind::Memory => {
                if let Some(memory) = &mut batch.memory {
                    (memory.src, memory.dst) = (src, dst);
                }
            }
            Kind::Buffer(at) => (batch.buffers[at].src, batch.buffers[at].dst) = (src, dst),
            Kind::Image(at) => (batch.images[at].src, batch.images[at].dst) = (src, dst),
        }
    }

    /// Lets the barrier be about this area.
    pub(super) fn clip(self, plan: &mut Plan, area: &Area) {
        let Some(batch) = self.batch_mut(plan) else {
            return;
        };
        match self.kind {
            Kind::Memory => {}
            Kind::Buffer(at) => {
                let bytes = area.line();
                batch.buffers[at].offset = bytes.start;
                batch.buffers[at].size = bytes.end - bytes.start;
            }
            Kind::Image(at) => batch.images[at].range = area.range(),
        }
    }

    /// Makes a buffer barrier one byte shorter.
    pub(super) fn shorten(self, plan: &mut Plan) {
        if let (Kind::Buffer(at), Some(batch)) = (self.kind, self.batch_mut(plan)) {
            batch.buffers[at].size -= 1;
        }
    }

    /// Changes half of a transfer.
    fn edit_transfer(self, plan: &mut Plan, edit: impl FnOnce(&mut Transfer)) {
        let Some(batch) = self.batch_mut(plan) else {
            return;
        };
        let transfer = match self.kind {
            Kind::Memory => None,
            Kind::Buffer(at) => batch.buffers[at].transfer.as_mut(),
            Kind::Image(at) => batch.images[at].transfer.as_mut(),
        };
        transfer.map(edit);
    }

    /// Changes an image barrier.
    pub(super) fn edit_image(self, plan: &mut Plan, edit: impl FnOnce(&mut ImageBarrier)) {
        if let (Kind::Image(at), Some(batch)) = (self.kind, self.batch_mut(plan)) {
            edit(&mut batch.images[at]);
        }
    }
}

impl Display for Spot {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Spot {
            submission,
            step,
            kind,
        } = self;
        write!(
            out,
            "barrier {kind:?} in step {step} of submission {submission}"
        )
    }
}
