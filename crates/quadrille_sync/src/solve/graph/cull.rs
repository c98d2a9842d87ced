//! Phase `cull`: removes passes whose results nothing reads. Off unless the frame turns it on.
//!
//! A pass is kept if it
//!
//! - has side effects, runs on the host, or uses a timeline semaphore of the user;
//! - writes a resource that outlives the frame (a persistent one or a swapchain image), because a
//!   later frame, a readback or a stream may read it;
//! - declares no write, because its purpose is unknown;
//! - writes results that a kept pass reads.
//!
//! Order through a culled pass still holds: culling follows ordering.

use crate::frame::{Frame, PassIndex, PassKind, Use};
use crate::resource::Lifetime;
use crate::solve::graph::range_uses::RangeUses;

/// Whether each pass is kept. `uses` is sorted by order.
pub(crate) fn cull(frame: &Frame, uses: &RangeUses) -> Vec<bool> {
    let mut kept = vec![true; frame.passes.len()];
    if !frame.cull {
        return kept;
    }
    let sources = sources(frame, uses);
    kept.fill(false);
    let mut open: Vec<u32> = frame.pass_indices().map(|pass| pass.0).collect();
    open.retain(|pass| is_root(frame, *pass));
    while let Some(pass) = open.pop() {
        if !std::mem::replace(&mut kept[pass as usize], true) {
            open.extend(&sources[pass as usize]);
        }
    }
    kept
}

/// Returns whether a pass runs even if no pass reads its results: it has an effect that outlives the
/// frame, or one that its declaration does not show.
fn is_root(frame: &Frame, pass: u32) -> bool {
    let decl = &frame.passes[pass as usize];
    let is_written_for_frame = |one: &Use| {
        one.access.is_write() && frame.resource(one.resource).lifetime == Lifetime::Transient
    };
    let outlives = |one: &Use| one.access.is_write() && !is_written_for_frame(one);
    let uses = frame.uses_of(PassIndex(pass));
    decl.side_effect
        || frame.timeline_uses_of(PassIndex(pass)).next().is_some()
        || decl.kind == PassKind::Host
        || uses.iter().any(outlives)
        || !uses.iter().any(is_written_for_frame)
}

/// By pass: the passes whose writes it uses without discarding them.
fn sources(frame: &Frame, uses: &RangeUses) -> Vec<Vec<u32>> {
    let mut sources = vec![Vec::new(); frame.passes.len()];
    for (_, members) in uses.spans() {
        let mut writer = None;
        for member in members {
            if !frame.uses[member.one as usize].discard {
                sources[member.pass as usize].extend(writer);
            }
            if member.writes {
                writer = Some(member.pass);
            }
        }
    }
    sources
}
