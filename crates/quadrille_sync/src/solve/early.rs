//! The first use of a range in a frame, which the next frame is expected to repeat.

use std::sync::Arc;

use super::track::State;
use super::walk::Walk;
use crate::flags::Layout;
use crate::frame::PassIndex;
use crate::plan::Scope;
use crate::states::{First, FirstUse};
use crate::topology::{FamilyIndex, QueueIndex};

/// A use that may be the first of a range in a frame.
#[derive(Clone, Copy)]
pub(super) struct Early {
    pub(super) pass: PassIndex,
    pub(super) queue: QueueIndex,
    pub(super) family: FamilyIndex,
    pub(super) step: u32,
    pub(super) scope: Scope,
    pub(super) layout: Layout,
    pub(super) writes: bool,
    pub(super) discard: bool,
}

/// Notes what the next frame may need to predict.
#[inline]
pub(super) fn note_first(walk: &Walk<'_>, early: Early, state: &mut State) {
    if state.first.is_none() {
        note_early(walk, early, state);
    }
}

/// The same where it is the first.
fn note_early(walk: &Walk<'_>, early: Early, state: &mut State) {
    let pass = &walk.frame.pass(early.pass).name;
    let is_same = |first: &&First| {
        first.queue == early.queue
            && first.scope == early.scope
            && first.layout == early.layout
            && (first.writes, first.discard) == (early.writes, early.discard)
            && (Arc::ptr_eq(&first.pass, pass) || first.pass == *pass)
    };
    // Frames repeat, and then there is nothing to allocate.
    let again = state.previous_first.as_ref().filter(is_same);
    let anew = || {
        Arc::new(FirstUse {
            queue: early.queue,
            family: early.family,
            scope: early.scope,
            layout: early.layout,
            writes: early.writes,
            discard: early.discard,
            pass: pass.clone(),
        })
    };
    state.first = Some(First {
        step: early.step,
        used: again.map_or_else(anew, |first| first.used.clone()),
    });
}
