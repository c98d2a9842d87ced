//! More readers for what a barrier has written: a change of layout, or an acquire.
//!
//! The first reader of a range may find it in another layout or family. What the barrier before it
//! writes is shown to that reader alone, so readers in other stages that come later would each
//! need a call behind it. But as long as the call with that barrier is the last one of the queue,
//! the barrier can show it to them too, as global memory barriers do for plain dependencies.

use std::ops::Range;

use smallvec::SmallVec;

use super::issued::{Issued, remember};
use super::record::OfRange;
use super::seen::see;
use super::track::{Mark, State};
use super::walk::{Call, Request, Walk};
use crate::frame::Use;
use crate::plan::Scope;
use crate::range::{JOINED, RangeMap, SubRange, for_each_union, intervals, join_at};
use crate::resource::{ResourceIndex, ResourceKind};
use crate::states::EndPass;

/// Where the last barrier for a range of a resource is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// The number of its call; 0 for none.
    call: u32,
    /// Its place among the barriers of the call for images, or for buffers; that of barriers that
    /// joined since may be lower.
    place: u32,
}

/// What a barrier has written, and whom it shows that now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
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
    /// Shows what a barrier has written to `dst` on the queue of a request too, which reads an
    /// interval in the state in which that barrier has left it. Says whether it could: whether the
    /// last write, which `mark` stands for, is a barrier of the last call of the submission.
    pub(super) fn show_more(
        &mut self,
        request: &Request,
        interval: &Range<u64>,
        mark: &Mark,
        dst: Scope,
    ) -> bool {
        let queue = usize::from(request.queue.0);
        if self.next_use.is_some() || !self.is_by_barrier(request, mark) {
            return false;
        }
        // A barrier may have joined a call that stands before earlier passes.
        let stands =
            |call: &&mut Call| call.submission == request.submission && call.step <= mark.step;
        let Some(call) = self.last_calls[queue].as_mut().filter(stands) else {
            return false;
        };
        let Standing {
            call: number,
            place,
        } = self.standing[request.resource.0 as usize];
        if number != call.number {
            return false;
        }
        let kind = &self.frame.resource(request.resource).kind;
        let issued = &mut self.issued[queue];
        let (step, batch) = (call.step, &mut call.batch);
        let about = About {
            resource: request.resource,
            kind,
            interval: interval.start..interval.end.min(kind.length()),
            place: place as usize,
        };
        let shown = &mut self.shown;
        let note = |range, dst, order: Option<_>| {
            let order = order.map(|order| Issued::new(step, number, false, order));
            order.into_iter().for_each(|it| remember(issued, it));
            shown.push(Shown { range, dst, step });
        };
        match kind {
            ResourceKind::Image { .. } => widen(&mut batch.images, &about, dst, note),
            ResourceKind::Buffer { .. } => widen(&mut batch.buffers, &about, dst, note),
        }
    }

    /// Notes who sees what barriers show more of than before: all that they have written, not just
    /// what the request asked for, and in all of their stages.
    pub(super) fn settle_shown(&mut self, request: &Request, map: &mut RangeMap<State>) {
        let kind = &self.frame.resource(request.resource).kind;
        let mut shown = std::mem::take(&mut self.shown);
        for Shown { range, dst, step } in shown.drain(..) {
            let is_written = |mark: &Mark| mark.step >= step && self.is_by_barrier(request, mark);
            intervals(kind, &range, |interval| {
                map.update(interval, |_, state| {
                    if state.write.as_ref().is_some_and(is_written) {
                        see(state, request.queue, dst);
                    }
                });
            });
        }
        // Emptied, for its memory.
        self.shown = shown;
    }

    /// Whether what a request's resource was last written by, on the same queue, is a barrier before
    /// the pass of a mark, and not that pass itself.
    fn is_by_barrier(&self, request: &Request, mark: &Mark) -> bool {
        let EndPass::Pass(pass) = mark.pass else {
            return false;
        };
        let is_here = mark.queue == request.queue && mark.step < request.step;
        let mut uses = self.frame.uses_of(pass).iter();
        let writes = |one: &Use| one.resource == request.resource && one.access.is_write();
        is_here && mark.scope.access.is_empty() && !uses.any(writes)
    }
}

/// What more is to be shown of.
struct About<'a> {
    resource: ResourceIndex,
    kind: &'a ResourceKind,
    interval: Range<u64>,
    /// Where the last barrier of the resource is, or a little behind.
    place: usize,
}

/// Adds a scope to the second one of those barriers that together cover an interval, if they do, and
/// passes on whom they show what now, and what they order.
fn widen<B: OfRange>(
    barriers: &mut Vec<B>,
    about: &About<'_>,
    dst: Scope,
    mut note: impl FnMut(SubRange, Scope, Option<(Scope, Scope)>),
) -> bool {
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
    if covered < interval.end - interval.start {
        return false;
    }
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
    true
}
