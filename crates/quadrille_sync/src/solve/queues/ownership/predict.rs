//! Releases at the end of a frame: to the family that is predicted to use a range first in the next
//! frame, and to other streams.

use super::outside::Outside;
use super::release::{Destination, Releases};
use super::window::{complete_pending, for_each_pending};
use crate::plan::PassRef;
use crate::range::EVERYTHING;
use crate::resource::{Lifetime, ResourceIndex};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::lookahead::next_use;
use crate::solve::barriers::slices::for_each_whole;
use crate::solve::state::predecessors::for_each_predecessor_of;
use crate::solve::state::{Maps, State};

/// Appends releases for the next frame to this frame's last uses.
pub(crate) fn predict(builder: &mut Builder<'_>, maps: &mut Maps) {
    if !builder.inputs.has_families {
        return;
    }
    for at in 0..maps.len() {
        let resource = ResourceIndex(at as u32);
        let declared = builder.inputs.frame.resource(resource);
        let persistent = declared.lifetime == Lifetime::Persistent;
        let used = builder.last_uses.submission(at as u32).is_some();
        // The host may use an image for longer than the device; its layout must not change
        // meanwhile.
        let seen_by_host = declared.is_image() && builder.hosted[at].is_some();
        if !persistent || !builder.inputs.is_owned(resource) || !used || seen_by_host {
            continue;
        }
        let mut releases = Releases::default();
        for_each_whole(&declared.kind, &maps[at], EVERYTHING, |run, states| {
            if let Some(to) = next(resource, states) {
                releases.add(builder, &to, run, states);
            }
        });
        releases.release(builder, maps);
    }
}

/// The family that is predicted to use a run, or all runs of a mip level, first in the next frame, if
/// it is not the owner.
fn next(resource: ResourceIndex, states: &[&State]) -> Option<Destination> {
    let [of_all, ..] = states else { return None };
    // A range that this frame has not used is not predicted.
    let nexts = states.iter().filter_map(|state| next_use(state));
    let next = nexts.min_by_key(|next| next.step)?.used;
    // A discard needs no transfer, unless other parts of the range keep their contents.
    let is_kept = |state: &&State| {
        let discards = next_use(state).is_some_and(|next| next.used.discard);
        state.defined && !discards
    };
    let is_lost = next.discard && !states.iter().any(is_kept);
    if is_lost || of_all.rare.pending().is_some() {
        return None;
    }
    let mut used_in_frame = false;
    for_each_predecessor_of(states, |tracked, _| used_in_frame |= tracked.value > 0);
    // Without a last use (the host used it later) there is no submission for a predicted release.
    if !used_in_frame || of_all.owner.is_none_or(|owner| owner == next.family) {
        return None;
    }
    Some(Destination {
        resource,
        family: next.family,
        layout: next.layout,
        later: PassRef::Next(next.pass.clone()),
    })
}

/// Releases resources that are given to other streams, to the families that will own them.
pub(crate) fn give(builder: &mut Builder<'_>, maps: &mut Maps) {
    let frame = builder.inputs.frame;
    for give in &frame.gives {
        let outside = give.family.is_outside();
        if !builder.inputs.is_owned(give.resource) && !outside {
            continue;
        }
        let to = Destination {
            resource: give.resource,
            family: give.family,
            layout: give.layout,
            later: PassRef::Next(if outside {
                give.family.to_string().into()
            } else {
                "another stream".into()
            }),
        };
        let map = &mut maps[give.resource.0 as usize];
        for_each_pending(
            map,
            EVERYTHING,
            |_, pending| pending.to != give.family,
            |map, pending| {
                complete_pending(builder, give.resource, to.later.clone(), &pending, map)
            },
        );
        Outside::of_others(map, give.family).pass_on(builder, give.resource, &to.later, map);
        let mut releases = Releases::default();
        let kind = &frame.resource(give.resource).kind;
        for_each_whole(kind, map, EVERYTHING, |run, states| {
            let [state, ..] = states else { return };
            let is_there = state.rare.pending().is_some() || state.owner == Some(give.family);
            // Ownership is not tracked with one family, and no transfer is needed between streams.
            let stays = state.owner.is_none() && !outside;
            if !is_there && !stays {
                releases.add(builder, &to, run, states);
            }
        });
        releases.release(builder, maps);
    }
}
