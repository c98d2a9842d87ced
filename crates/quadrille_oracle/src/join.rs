//! Barriers that could be one: pairs in one call that hold back the same for neighbouring ranges.

use quadrille_sync::{
    BufferBarrier, ImageBarrier, PassRef, Plan, Reason, Scope, Step, SubRange, SubresourceRange,
    Transfer, TransferHalf,
};

/// Two barriers that could be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjoined {
    /// The submission that both are in.
    pub submission: usize,
    /// Why the first is there; the reason of the other differs at most in its passes.
    pub reason: Reason,
    /// What the first covers.
    pub first: SubRange,
    /// What the second covers.
    pub second: SubRange,
}

/// A barrier as far as it matters whether it joins another one.
#[derive(Clone, Debug)]
struct Part {
    call: (usize, usize),
    range: SubRange,
    scopes: (Scope, Scope),
    layouts: (i32, i32),
    transfer: Option<Transfer>,
    reason: Reason,
}

/// All pairs of barriers of one call with one second scope, of ranges that make one range that
/// Vulkan can name. Their first scopes may differ: who is held back waits for both.
///
/// Halves of transfers are only meant where they say the same for the same pass, and both other
/// halves do too, in one call; an acquire of what an earlier frame has released is bound to what was
/// released there.
pub fn unjoined(plan: &Plan) -> Vec<Unjoined> {
    let parts = parts(plan);
    let mut found = Vec::new();
    for (at, one) in parts.iter().enumerate() {
        let others = parts[at + 1..].iter();
        for other in others.take_while(|other| other.call == one.call) {
            if one.joins(other, &parts) && touch(&one.range, &other.range) {
                found.push(Unjoined {
                    submission: one.call.0,
                    reason: one.reason.clone(),
                    first: one.range,
                    second: other.range,
                });
            }
        }
    }
    found
}

impl Part {
    /// Whether two barriers could be one, but for their ranges.
    fn joins(&self, other: &Self, parts: &[Part]) -> bool {
        let Some(transfer) = self.transfer else {
            return self.holds_back_the_same(other);
        };
        if !self.says_the_same(other) {
            return false;
        }
        match (self.partner(parts), other.partner(parts)) {
            (Some(one), Some(other)) => one.says_the_same(other),
            // Who acquires in the next frame is foreseen by name.
            (None, None) => {
                transfer.half == TransferHalf::Release
                    && matches!(self.reason.later, PassRef::Next(_))
            }
            _ => false,
        }
    }

    /// Whether two barriers of one call differ in nothing but range, first scope and passes.
    fn holds_back_the_same(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            (
                it.call,
                it.scopes.1,
                it.layouts,
                it.transfer,
                it.reason.resource,
                it.reason.rung,
            )
        };
        key(self) == key(other)
    }

    /// Whether two barriers differ in nothing but range and earlier pass.
    fn says_the_same(&self, other: &Self) -> bool {
        self.holds_back_the_same(other)
            && self.scopes == other.scopes
            && self.reason.later == other.reason.later
    }

    /// The other half of a transfer, if it is in the same plan.
    fn partner<'a>(&self, parts: &'a [Part]) -> Option<&'a Part> {
        let transfer = self.transfer?;
        parts.iter().find(|other| {
            other.range == self.range
                && other.reason.resource == self.reason.resource
                && other.reason.later == self.reason.later
                && other.transfer.is_some_and(|it| {
                    (it.from, it.to) == (transfer.from, transfer.to) && it.half != transfer.half
                })
        })
    }
}

/// All barriers of ranges, in order.
fn parts(plan: &Plan) -> Vec<Part> {
    let mut parts = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        for (step_at, step) in submission.steps.iter().enumerate() {
            if let Step::Barriers(batch) = step {
                let call = (at, step_at);
                let (buffers, images) = (batch.buffers.iter(), batch.images.iter());
                parts.extend(buffers.map(|barrier| of_buffer(call, barrier)));
                parts.extend(images.map(|barrier| of_image(call, barrier)));
            }
        }
    }
    parts
}

fn of_buffer(call: (usize, usize), barrier: &BufferBarrier) -> Part {
    Part {
        call,
        range: SubRange::Bytes {
            offset: barrier.offset,
            size: barrier.size,
        },
        scopes: (barrier.src, barrier.dst),
        layouts: (0, 0),
        transfer: barrier.transfer,
        reason: barrier.reason.clone(),
    }
}

fn of_image(call: (usize, usize), barrier: &ImageBarrier) -> Part {
    Part {
        call,
        range: SubRange::Subresources(barrier.range),
        scopes: (barrier.src, barrier.dst),
        layouts: (barrier.old_layout.value(), barrier.new_layout.value()),
        transfer: barrier.transfer,
        reason: barrier.reason.clone(),
    }
}

/// Whether two ranges of a resource are one without a gap or an overlap.
fn touch(one: &SubRange, other: &SubRange) -> bool {
    match (one, other) {
        (
            SubRange::Bytes { offset: a, size },
            SubRange::Bytes {
                offset: b,
                size: b_size,
            },
        ) => a + size == *b || b + b_size == *a,
        (SubRange::Subresources(one), SubRange::Subresources(other)) => make_a_box(one, other),
        _ => false,
    }
}

/// Whether two boxes differ in one direction alone, and touch there.
fn make_a_box(one: &SubresourceRange, other: &SubresourceRange) -> bool {
    let meet = |(a, a_count): (u32, u32), (b, b_count)| a + a_count == b || b + b_count == a;
    let mips = |it: &SubresourceRange| (it.base_mip, it.mip_count);
    let layers = |it: &SubresourceRange| (it.base_layer, it.layer_count);
    let same = [
        mips(one) == mips(other),
        layers(one) == layers(other),
        one.aspects == other.aspects,
    ];
    match same {
        [true, true, false] => !one.aspects.intersects(other.aspects),
        [true, false, true] => meet(layers(one), layers(other)),
        [false, true, true] => meet(mips(one), mips(other)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
