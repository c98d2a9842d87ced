//! More readers for what a barrier has written: a change of layout, or an acquire.
//!
//! The first reader of a range may find it in another layout or family. What the barrier before it
//! writes is shown to that reader alone, so readers in other stages that come later would each
//! need a call behind it. But as long as the call with that barrier is the last one of the queue,
//! the barrier can show it to them too, as global memory barriers do for plain dependencies.

use std::ops::Range;

use smallvec::SmallVec;

use super::issued::{Issued, remember};
use super::narrow::unseen;
use super::record::OfRange;
use super::seen::see;
use super::track::{Mark, State};
use super::walk::{Call, Plain, Request, Walk};
use crate::flags::Stages;
use crate::frame::Use;
use crate::plan::Scope;
use crate::range::{JOINED, RangeMap, SubRange, for_each_union, intervals, join_at};
use crate::resource::{ResourceIndex, ResourceKind};
use crate::states::EndPass;
use crate::topology::BarrierStyle;

/// Where the last barrier for a range of a resource is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// The number of its call; 0 for none.
    call: u32,
    /// Its place among the barriers of the call for images, or for buffers; that of barriers that
    /// joined since may be lower.
    place: u32,
}

/// What barriers of the last call can show more of, once it is known that nothing else does.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    interval: Range<u64>,
    dst: Scope,
}

/// What a barrier has written, and whom it shows that now.
#[derive(Clone, Copy, Debug)]
struct Shown {
    range: SubRange,
    dst: Scope,
    /// The pass before which its call stands.
    step: u32,
}

/// Notes where the last barriers of a call are, of which some are new.
pub(super) fn note(standing: &mut [Standing], call: &Call, images: usize, buffers: usize) {
    let mut note = |resource: ResourceIndex, place: usize| {
        standing[resource.0 as usize] = Standing {
            call: call.number,
            place: place as u32,
        };
    };
    let batch = &call.batch;
    for place in batch.images.len().saturating_sub(images)..batch.images.len() {
        note(batch.images[place].resource, place);
    }
    for place in batch.buffers.len().saturating_sub(buffers)..batch.buffers.len() {
        note(batch.buffers[place].resource, place);
    }
}

impl Walk<'_> {
    /// Offers to show what a barrier has written to `dst` on the queue of a request too, which reads
    /// an interval in the state in which that barrier has left it. Says whether it can: whether the
    /// last write, which `mark` stands for, is a barrier of the last call of the submission.
    pub(super) fn show_more(
        &mut self,
        request: &Request,
        interval: &Range<u64>,
        mark: &Mark,
        dst: Scope,
    ) -> bool {
        if self.next_use.is_some() || !self.is_by_barrier(request, mark) {
            return false;
        }
        let Some(call) = &self.last_calls[usize::from(request.queue.0)] else {
            return false;
        };
        let Standing {
            call: number,
            place,
        } = self.standing[request.resource.0 as usize];
        // A barrier may have joined a call that stands before earlier passes.
        let is_last = call.submission == request.submission && call.step <= mark.step;
        if !is_last || number != call.number {
            return false;
        }
        let kind = &self.frame.resource(request.resource).kind;
        let about = About::new(request, kind, interval, place);
        let can = match kind {
            ResourceKind::Image { .. } => covering(&call.batch.images, &about).is_some(),
            ResourceKind::Buffer { .. } => covering(&call.batch.buffers, &about).is_some(),
        };
        if can {
            let interval = interval.clone();
            self.offers.push(Offer { interval, dst });
        }
        can
    }

    /// Takes the offers that were made to a request: barriers show more, unless a global barrier that
    /// another range needs shows it in any case. Notes who sees what they show: all that they have
    /// written, not just what the request asked for, and in all of their stages.
    pub(super) fn take_offers(&mut self, request: &Request, map: &mut RangeMap<State>) {
        let mut offers = std::mem::take(&mut self.offers);
        for offer in offers.drain(..) {
            for Shown { range, dst, step } in self.take_offer(request, &offer) {
                let kind = &self.frame.resource(request.resource).kind;
                let is_written =
                    |mark: &Mark| mark.step >= step && self.is_by_barrier(request, mark);
                intervals(kind, &range, |interval| {
                    map.update(interval, |_, state| {
                        if state.write.as_ref().is_some_and(is_written) {
                            see(state, request.queue, dst);
                        }
                    });
                });
            }
        }
        // Emptied, for its memory.
        self.offers = offers;
    }

    fn take_offer(&mut self, request: &Request, offer: &Offer) -> SmallVec<[Shown; 2]> {
        let queue = usize::from(request.queue.0);
        let Some(call) = &mut self.last_calls[queue] else {
            unreachable!("offers are made by a call, and taken before there is another");
        };
        let place = self.standing[request.resource.0 as usize].place;
        let kind = &self.frame.resource(request.resource).kind;
        let about = About::new(request, kind, &offer.interval, place);
        let (step, number) = (call.step, call.number);
        let is_global = self.topology.barriers == BarrierStyle::Merged;
        // What comes behind the call in the same submission is left to no wait.
        let is_behind = |it: &&Plain| {
            it.shown.is_none() && it.mark.queue == request.queue && it.mark.step >= step
        };
        let behind = self.plain.iter().filter(|it| is_global && is_behind(it));
        let is_shown = |left: Stages| {
            let left = left.expanded();
            let leads = |it: &Plain| it.src.stages.intersects(left) && it.dst.contains(offer.dst);
            behind.clone().any(leads)
        };
        let issued = &mut self.issued[queue];
        let mut shown = SmallVec::new();
        let note = |range, dst, order: Option<_>| {
            let order = order.map(|order| Issued::new(step, number, false, order));
            order.into_iter().for_each(|it| remember(issued, it));
            shown.push(Shown { range, dst, step });
        };
        match kind {
            ResourceKind::Image { .. } => {
                widen(&mut call.batch.images, &about, offer.dst, is_shown, note);
            }
            ResourceKind::Buffer { .. } => {
                widen(&mut call.batch.buffers, &about, offer.dst, is_shown, note);
            }
        }
        shown
    }

    /// Whether what a request's resource was last written by, on the same queue, is a barrier before
    /// the pass of a mark, and not that pass itself.
    fn is_by_barrier(&self, request: &Request, mark: &Mark) -> bool {
        let EndPass::Pass(pass) = mark.pass else {
            return false;
        };
        let is_here = mark.queue == request.queue && mark.step < request.step;
        let mut uses = self.frame.uses_of(pass).iter();
        let writes = |one: &Use| {
            let meets = one.resource == request.resource && one.range.overlaps(&request.range);
            meets && one.access.is_write()
        };
        is_here && mark.scope.access.is_empty() && !uses.any(writes)
    }
}

/// Whether nobody has used a range since a barrier on the queue of a request that comes before the
/// request too, or can: it was there for others, who have slices of the same mip level, or what was
/// acquired with it.
pub(super) fn follows_barrier(
    walk: &mut Walk<'_>,
    request: &Request,
    interval: &Range<u64>,
    state: &State,
) -> bool {
    // What the host has looked at since is over.
    let is_kept = state.rare.pending().is_none() && state.rare.promised().is_none();
    let is_untouched = state.reads.is_empty() && is_kept && state.rare.aliased().is_empty();
    let is_barrier = |mark: &&Mark| mark.queue == request.queue && mark.scope.access.is_empty();
    let Some(mark) = state
        .write
        .as_ref()
        .filter(|_| is_untouched)
        .filter(is_barrier)
    else {
        return false;
    };
    let left = unseen(state, request.queue, request.scope);
    left.stages.is_empty() || walk.show_more(request, interval, mark, left)
}

/// What more is to be shown of.
struct About<'a> {
    resource: ResourceIndex,
    kind: &'a ResourceKind,
    interval: Range<u64>,
    /// Where the last barrier of the resource is, or a little behind.
    place: usize,
}

impl<'a> About<'a> {
    fn new(request: &Request, kind: &'a ResourceKind, interval: &Range<u64>, place: u32) -> Self {
        Self {
            resource: request.resource,
            kind,
            interval: interval.start..interval.end.min(kind.length()),
            place: place as usize,
        }
    }
}

/// The places of those barriers that together cover an interval, if they do.
fn covering<B: OfRange>(barriers: &[B], about: &About<'_>) -> Option<SmallVec<[usize; 4]>> {
    let mut parts: SmallVec<[Range<u64>; 4]> = SmallVec::new();
    let mut places: SmallVec<[usize; 4]> = SmallVec::new();
    let interval = &about.interval;
    let nearby = about.place.saturating_sub(2 * JOINED)..=about.place;
    for place in nearby.rev().filter(|place| *place < barriers.len()) {
        let (resource, range) = barriers[place].about();
        if resource != about.resource {
            continue;
        }
        let before = parts.len();
        intervals(about.kind, &range, |part| {
            let (start, end) = (part.start.max(interval.start), part.end.min(interval.end));
            parts.extend((start < end).then_some(start..end));
        });
        places.extend((parts.len() > before).then_some(place));
    }
    let mut covered = 0;
    for_each_union(&mut parts, |part| covered += part.end - part.start);
    (covered >= interval.end - interval.start).then_some(places)
}

/// Adds a scope to the second one of those barriers that together cover an interval, except where
/// something else shows it to whom they show theirs, and passes on whom they show what now, and what
/// they order.
fn widen<B: OfRange>(
    barriers: &mut Vec<B>,
    about: &About<'_>,
    dst: Scope,
    is_shown: impl Fn(Stages) -> bool,
    mut note: impl FnMut(SubRange, Scope, Option<(Scope, Scope)>),
) {
    let mut places = covering(barriers, about).unwrap_or_default();
    places.retain(|place| !is_shown(barriers[*place].dst().stages));
    for place in places.iter().copied() {
        let shown = barriers[place].dst();
        *shown = shown.union(dst);
        let shown = *shown;
        note(barriers[place].about().1, shown, barriers[place].orders());
    }
    // Those that now say the same may be one, from the last on: what is behind moves up.
    for place in places {
        join_at(barriers, place, B::take_in);
    }
}
