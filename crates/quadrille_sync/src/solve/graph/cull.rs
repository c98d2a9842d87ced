//! Phase `cull`: which passes have results that no pass needs?
//!
//! Off unless the frame turns it on. Needed are passes with side effects, host passes, passes that
//! write resources that outlive the frame (persistent ones, images of swapchains), and passes
//! whose results these read, directly or not. Order through a culled pass still holds: culling
//! follows ordering.

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

/// Whether a pass has an effect that outlives the frame.
fn is_root(frame: &Frame, pass: u32) -> bool {
    let decl = &frame.passes[pass as usize];
    let outlives = |one: &Use| {
        one.access.is_write() && frame.resource(one.resource).lifetime != Lifetime::Transient
    };
    decl.side_effect
        || decl.kind == PassKind::Host
        || frame.uses_of(PassIndex(pass)).iter().any(outlives)
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
