//! Releases at the end of a frame: to whom the next frame will need a range, and to other streams.

use std::ops::Range;

use super::release::{Destination, release};
use super::window::{redirect, return_outside};
use crate::plan::PassRef;
use crate::resource::{Lifetime, ResourceIndex};
use crate::solve::barrier::for_each_predecessor;
use crate::solve::track::{Maps, State};
use crate::solve::walk::Walk;

/// Appends releases for the next frame to this frame's last uses.
pub(in crate::solve) fn predict(walk: &mut Walk<'_>, maps: &mut Maps) {
    for (at, map) in maps.iter_mut().enumerate() {
        let resource = ResourceIndex(at as u32);
        let declared = walk.frame.resource(resource);
        let persistent = declared.lifetime == Lifetime::Persistent;
        let used = walk.last_uses.submission(at as u32).is_some();
        // The host may look at an image for longer than the device; a layout must not change
        // under its eyes.
        let seen_by_host = declared.is_image() && walk.hosted[at].is_some();
        if !persistent || !walk.is_owned(resource) || !used || seen_by_host {
            continue;
        }
        map.update(crate::range::EVERYTHING, |interval, state| {
            predict_range(walk, resource, &interval, state);
        });
    }
}

/// See [`predict`].
fn predict_range(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    interval: &Range<u64>,
    state: &mut State,
) {
    let next = state.previous_first.as_ref().or(state.first.as_ref());
    let touched = state.first.is_some() && state.pending.is_none();
    let Some(next) = next.filter(|next| touched && !next.discard) else {
        return;
    };
    let mut used_in_frame = false;
    for_each_predecessor(state, |mark, _| used_in_frame |= mark.value > 0);
    // Without a last use (the host came after it) there is no place to foresee anything.
    if !used_in_frame || state.owner.is_none_or(|owner| owner == next.family) {
        return;
    }
    let to = Destination {
        resource,
        family: next.family,
        layout: next.layout,
        later: PassRef::Next(next.pass.clone()),
    };
    let pending = release(walk, &to, interval, state);
    state.pending = Some(pending);
}

/// Releases what leaves for other streams to the families that will have it.
pub(in crate::solve) fn give(walk: &mut Walk<'_>, maps: &mut Maps) {
    for give in &walk.frame.gives {
        let outside = give.family.is_outside();
        if !walk.is_owned(give.resource) && !outside {
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
        maps[give.resource.0 as usize].update(crate::range::EVERYTHING, |interval, state| {
            let other = state.owner.filter(|owner| owner.is_outside());
            let other = other.filter(|owner| *owner != give.family);
            state.pending = match state.pending.take() {
                Some(pending) if pending.to == give.family => Some(pending),
                Some(pending) => Some(redirect(walk, &to, pending)),
                // It never came.
                None if state.owner == Some(give.family) => None,
                None if state.owner.is_none() && !outside => None,
                None => Some(match other {
                    Some(owner) => return_outside(walk, &to, owner, &interval, state.layout),
                    None => release(walk, &to, &interval, state),
                }),
            };
        });
    }
}
