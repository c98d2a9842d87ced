//! Phase `cut`: splits submissions after each signal, and before each wait, of a user's timeline.
//!
//! `VkSubmitInfo2` waits before its first command and signals after its last. Without a cut, passes
//! before the wait would be delayed, and passes after the signal would delay the signal. That is a
//! deadlock if those passes wait for work that another party starts after the signal.

use crate::frame::{Frame, PassIndex, TimelineUseKind as Kind};
use crate::solve::schedule::split::{Draft, Split};

/// Cuts the submissions of a frame.
pub(crate) fn cut(frame: &Frame, split: Split) -> Split {
    if frame.timeline_uses.is_empty() {
        return split;
    }
    let mut result = Split::default();
    // By old submission: the index of its first new one.
    let mut starts = Vec::with_capacity(split.drafts.len());
    for draft in split.drafts {
        starts.push(result.drafts.len());
        let is_apart = |before: &PassIndex, after: &PassIndex| {
            frame.has_timeline_use(*before, Kind::Signal)
                || frame.has_timeline_use(*after, Kind::Wait)
        };
        let pieces = draft.passes.chunk_by(|a, b| !is_apart(a, b));
        result.drafts.extend(pieces.map(|passes| Draft {
            queue: draft.queue,
            passes: passes.to_vec(),
        }));
    }
    result.host = split.host;
    for host in &mut result.host {
        host.before = host.before.map(|before| starts[before]);
    }
    result
}
