//! Phase `cull`: which passes have results that no pass needs?
//!
//! Off unless the frame turns it on. Needed are passes with side effects, host passes, passes that
//! use timelines of users, passes that
//! write resources that outlive the frame (persistent ones, images of swapchains), passes that
//! declare no write, and passes whose results these read, directly or not. Order through a culled
//! pass still holds: culling follows ordering.
//!
//! A frame does not show which later frame, readback or stream reads a persistent resource, so a
//! write to one is always needed. A pass without a declared write has no results that could be
//! unread: whatever it is for, its declaration does not say.

use crate::frame::{Frame, PassIndex, PassKind, Use};
use crate::resource::Lifetime;
use crate::solve::graph::touch::Touches;

/// Whether each pass is kept. `touches` is sorted by order.
pub(crate) fn cull(frame: &Frame, touches: &Touches) -> Vec<bool> {
    let mut kept = vec![true; frame.passes.len()];
    if !frame.cull {
        return kept;
    }
    let sources = sources(frame, touches);
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

/// Returns whether a pass runs even if no pass reads its results: it has an effect that outlives the frame, or one
/// that its declaration does not show.
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

/// For each pass, the passes whose writes it reads or keeps.
fn sources(frame: &Frame, touches: &Touches) -> Vec<Vec<u32>> {
    let mut sources = vec![Vec::new(); frame.passes.len()];
    for (_, members) in touches.spans() {
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
