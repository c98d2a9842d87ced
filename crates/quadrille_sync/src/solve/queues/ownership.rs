//! Release and acquire of exclusive resources between queue families.
//!
//! Where a pass needs a range that another family owns, the owner releases it and the pass's queue
//! acquires it just before the pass, after a wait for the release. The release is put
//!
//! - at the end of the last submission that uses the range, if that is in this frame;
//! - else in the owner's *window*: one submission before all others of its queue, for all
//!   resources that leave the family. After a host pass that device passes come after there are
//!   new windows, because what the host has touched cannot be released before.
//!
//! Windows cost a submission, so they are foreseen. Frames repeat, mostly: every frame is like the
//! last, or like the one before (two resources that change places). So [`predict`] looks at who
//! used a range first two frames before the next one, and if that is another family, appends the
//! release to this frame's last use. A prediction that proves wrong is made good in the window of
//! the family that should have acquired: it acquires, and releases what is needed elsewhere.
//!
//! What nobody has foreseen is taken for a change that stays: the frame before it is then no guide to the
//! next one, or whatever happens once would be expected again. The price is that an owner that changes
//! in every frame, and that no frame ever shares with another, is not foreseen: each frame has a window.
//!
//! Neighbours that change hands alike do so by one release and one acquire.
//!
//! Discarding takes over without all this: contents are lost, and only order matters.

use crate::plan::{Transfer, TransferHalf};
use crate::topology::FamilyIndex;

mod acquire;
mod foresee;
mod outside;
mod release;
mod window;

pub(in crate::solve) use acquire::bring;
pub(in crate::solve) use foresee::{give, predict};
pub(in crate::solve) use release::{Departures, Destination};
pub(in crate::solve) use window::{for_each_pending, settle_for_host};

/// One half of a transfer.
pub(in crate::solve) fn half(from: FamilyIndex, to: FamilyIndex, half: TransferHalf) -> Transfer {
    Transfer { from, to, half }
}
