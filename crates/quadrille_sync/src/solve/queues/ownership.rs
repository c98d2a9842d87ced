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
//! Windows cost a submission, so transfers are predicted. Most frames repeat the previous frame, or
//! the one before it (double buffering). So [`predict`] takes the first use of a range in the
//! previous frame as that of the next frame. If its family does not own the range, `predict` appends
//! the release to this frame's last use. After a misprediction, a window of the predicted family
//! acquires the range and releases it to the family that needs it.
//!
//! After an unpredicted transfer, the first use of the previous frame is dropped, so that a single
//! change is not predicted again. The cost: a range that alternates between families, with one
//! family per frame, is never predicted, and each of its frames has a window.
//!
//! Adjacent ranges with equal transfers share one release and one acquire.
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
