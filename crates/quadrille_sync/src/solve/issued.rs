//! Barriers that have been issued, which spare later passes some of their own.

use crate::plan::Scope;

/// How many barriers per queue are remembered to spare later ones.
const REMEMBERED: usize = 8;

/// A barrier that has been issued on a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    /// The pass that its call stands before.
    pub(super) step: u32,
    /// The number of its call: two may stand before one pass.
    pub(super) call: u32,
    /// It is the global memory barrier of its call, and may still grow.
    pub(super) is_global: bool,
    /// Both scopes with all that they cover written out, so that bits say what is in them.
    pub(super) src: Scope,
    pub(super) dst: Scope,
}

impl Issued {
    #[inline]
    pub(super) fn new(step: u32, call: u32, is_global: bool, (src, dst): (Scope, Scope)) -> Self {
        Self {
            step,
            call,
            is_global,
            src: src.expanded(),
            dst: dst.expanded(),
        }
    }
}

/// The barriers that are remembered.
#[inline]
pub(super) fn remembered(issued: &[Issued]) -> &[Issued] {
    &issued[issued.len().saturating_sub(REMEMBERED)..]
}

/// Remembers a barrier of a call, if it says more than one of the same call that is remembered; what
/// global barriers say is said by one.
pub(super) fn remember(issued: &mut Vec<Issued>, new: Issued) {
    let forgotten = issued.len().saturating_sub(REMEMBERED);
    let same = |it: &&mut Issued| new.is_global && it.is_global && it.call == new.call;
    if let Some(global) = issued[forgotten..].iter_mut().find(same) {
        global.src = global.src.union(new.src).expanded();
        global.dst = global.dst.union(new.dst).expanded();
        return;
    }
    let says =
        |it: &Issued| it.call == new.call && it.src.contains(new.src) && it.dst.contains(new.dst);
    if issued[forgotten..].iter().any(says) {
        return;
    }
    // Those that are forgotten go now and then, for then all others move.
    if forgotten == REMEMBERED {
        issued.drain(..forgotten);
    }
    issued.push(new);
}
