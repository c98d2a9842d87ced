//! The first use of a range in a frame, which the next frame is expected to repeat.

use std::sync::Arc;

use crate::flags::Layout;
use crate::frame::{Frame, PassIndex};
use crate::plan::Scope;
use crate::solve::state::State;
use crate::states::{First, FirstUse, Previous};
use crate::topology::{FamilyIndex, QueueIndex};

/// A use that may be the first of a range in a frame.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Early {
    pub(in crate::solve) pass: PassIndex,
    pub(in crate::solve) queue: QueueIndex,
    pub(in crate::solve) family: FamilyIndex,
    pub(in crate::solve) step: u32,
    pub(in crate::solve) scope: Scope,
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) writes: bool,
    pub(in crate::solve) discard: bool,
}

/// Notes what the next frame may need to predict.
#[inline]
pub(in crate::solve) fn note_first(frame: &Frame, early: Early, state: &mut State) {
    if state.first.is_none() {
        note_early(frame, early, state);
    }
}

/// The same where it is the first.
fn note_early(frame: &Frame, early: Early, state: &mut State) {
    let pass = &frame.pass(early.pass).name;
    let is_same = |First { used, .. }: &mut First| {
        used.queue == early.queue
            && used.scope == early.scope
            && used.layout == early.layout
            && (used.writes, used.discard) == (early.writes, early.discard)
            && (Arc::ptr_eq(&used.pass, pass) || used.pass == *pass)
    };
    // Frames repeat, and then there is nothing to allocate, nor to count.
    if let Some(same) = state.previous_first.take_if(is_same) {
        state.first = Some(First {
            step: early.step,
            again: same.step,
            used: same.used,
        });
        return;
    }
    state.first = Some(First {
        step: early.step,
        again: 0,
        used: Arc::new(FirstUse {
            queue: early.queue,
            family: early.family,
            scope: early.scope,
            layout: early.layout,
            writes: early.writes,
            discard: early.discard,
            pass: pass.clone(),
        }),
    });
}

/// The first use of a range in the next frame, if this one used it too: that of the frame before, or
/// for want of one that of this frame.
pub(in crate::solve) fn next_use(state: &State) -> Option<Previous<'_>> {
    let first = state.first.as_ref()?;
    Some(state.previous().unwrap_or(Previous {
        step: first.step,
        used: &first.used,
    }))
}
