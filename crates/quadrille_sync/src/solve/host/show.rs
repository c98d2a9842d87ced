//! Where what a host pass reads is shown to it.
//!
//! A barrier at the end of a submission makes memory visible to the host, and the pass waits for that
//! submission. It is a global one, so it serves whatever the pass reads, and what several submissions
//! could show is shown by as few as can be: one that comes after another on its queue, or that has
//! waited for it, can show what that one has done too, and the pass waits for it in any case.

use std::ops::Range;

use super::{source_at, wait_for};
use crate::plan::{HostStep, Reason, Scope};
use crate::resource::ResourceIndex;
use crate::solve::track::{Maps, Mark};
use crate::solve::walk::Walk;
use crate::states::EndPass;

/// A write that a host pass has to be shown.
pub(super) struct Show {
    pub(super) resource: ResourceIndex,
    pub(super) interval: Range<u64>,
    /// The write.
    pub(super) mark: Mark,
    /// The submission at whose end it is shown.
    pub(super) place: usize,
    /// For another host pass it has been shown there already.
    pub(super) is_shown: bool,
    pub(super) dst: Scope,
    pub(super) reason: Reason,
}

/// Adds the barriers that show a host pass what it needs, and lets it wait for them.
pub(super) fn show_all(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    step: &mut HostStep,
    mut shows: Vec<Show>,
) {
    gather(walk, &mut shows);
    for show in shows {
        let point = walk.point(show.place);
        wait_for(step, point);
        if show.is_shown {
            continue;
        }
        let src = source_at(walk, show.place, &show.mark, true, &show.reason);
        walk.records[show.place]
            .tail
            .others
            .merge(src, show.dst, show.reason);
        let resource = show.resource.0;
        walk.last_uses
            .note(resource, point.queue, point.value, show.place);
        // The host may have overwritten it since.
        maps[resource as usize].update(show.interval, |_, state| {
            let own = EndPass::Pass(step.pass);
            let mut host = state.rare.host_mut().into_iter();
            if let Some(host) = host.find(|host| host.mark.pass == own) {
                (host.mark.queue, host.mark.value) = (point.queue, point.value);
            }
        });
    }
}

/// Leaves out submissions whose end can do without a barrier, because others can show all that it
/// would.
fn gather(walk: &mut Walk<'_>, shows: &mut [Show]) {
    let mut places: Vec<usize> = shows.iter().map(|show| show.place).collect();
    places.sort_unstable();
    places.dedup();
    let mut at = 0;
    while at < places.len() {
        let place = places.remove(at);
        let mut moved = Vec::new();
        let mut here = shows.iter().enumerate().filter(|(_, it)| it.place == place);
        // What is shown already needs no barrier, and the wait for it comes with another one.
        let leads_here = |other: &usize| {
            let (other, here) = (walk.point(*other), walk.point(place));
            let is_later = other.queue == here.queue && other.value >= here.value;
            is_later || walk.timeline.implies(other, here)
        };
        let is_awaited = places.iter().any(leads_here);
        let is_left = here.any(|(index, show)| {
            if show.is_shown && is_awaited {
                return false;
            }
            let mut others = places.iter();
            let other = others.find(|other| can_show(walk, **other, &show.mark));
            moved.extend(other.map(|other| (index, *other)));
            other.is_none()
        });
        if is_left {
            places.insert(at, place);
            at += 1;
        } else {
            for (index, to) in moved {
                shows[index].place = to;
                shows[index].is_shown = false;
            }
        }
    }
}

/// Whether the end of a submission comes after a write.
fn can_show(walk: &mut Walk<'_>, place: usize, mark: &Mark) -> bool {
    let queue = walk.point(place).queue;
    walk.past.consult(mark, queue);
    walk.timeline.knows(place, mark.point())
}
