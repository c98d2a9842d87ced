//! Release and acquire of exclusive resources between queue families.
//!
//! Where a pass needs a range that another family owns, the owner releases it and the pass's queue
//! acquires it just before the pass, after a wait for the release. The release is put
//!
//! - at the end of the last submission that uses the range, if that is in this frame; after reads on
//!   several queues in a submission of its own (see `emit/own_signal`);
//! - else in the owner's *window*: one submission before all others of its queue, for all
//!   resources that leave the family. After a host pass that device passes depend on there are new
//!   windows, because a range that the host uses cannot be released before.
//!
//! Windows cost a submission, so transfers are predicted. Most frames repeat: a frame is like the
//! last, or like the one before (two resources that change places). So [`predict`] looks at the
//! first use of a range two frames before the next one. If its family is another one, `predict`
//! appends the release to this frame's last use. After a misprediction, the window of the family
//! that should have acquired acquires, and releases the range to the family that needs it.
//!
//! An unpredicted transfer counts as a lasting change: the frame before it no longer predicts the
//! next one. Otherwise a single change would be predicted again. The price is that an owner that
//! changes in every frame, and that no frame ever shares with another, is not predicted: each
//! frame has a window.
//!
//! Neighbours with equal transfers share one release and one acquire.
//!
//! A discard needs no transfer: contents are lost, and only order matters.

use crate::plan::{Transfer, TransferHalf};
use crate::topology::FamilyIndex;

mod acquire;
mod outside;
mod predict;
mod release;
mod window;

pub(crate) use acquire::acquire_needed;
pub(crate) use predict::{give, predict};
pub(crate) use release::{Destination, Releases, own_release_queue};
pub(crate) use window::{complete_for_host, for_each_pending};

/// One half of a transfer.
pub(crate) fn half(from: FamilyIndex, to: FamilyIndex, half: TransferHalf) -> Transfer {
    Transfer { from, to, half }
}
