//! Which slices of a 3D image hold nothing that anybody needs, though earlier passes have written them:
//! the next pass that uses them discards what is there.
//!
//! Whoever brings a mip level into another layout, or to another family, does so for all of its slices.
//! If several passes fill them anew, each its own, the first of them need not keep the others'.

use std::ops::Range;

use super::touch::{Member, Touches};
use super::walk::Walk;
use crate::frame::PassKind;
use crate::resource::ResourceIndex;

/// Who uses slices next, as far as a frame has been walked through.
#[derive(Debug)]
pub(super) struct Upcoming<'a> {
    touches: &'a Touches,
    /// Whether each pass is kept.
    kept: &'a [bool],
    /// By span: how many of its members are known to have run.
    ran: Vec<u32>,
}

impl<'a> Upcoming<'a> {
    /// Nobody has run yet. In which order `touches` has passes that only read does not matter.
    pub(super) fn new(touches: &'a Touches, kept: &'a [bool]) -> Self {
        let ran = match touches.levels().len() {
            0 => Vec::new(),
            _ => vec![0; touches.spans().len()],
        };
        Self { touches, kept, ran }
    }
}

/// Adds the slices within an interval that the next pass to use them, be it the one that is being
/// planned, discards.
pub(super) fn add_discarded_next(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    within: &Range<u64>,
    discarded: &mut Vec<Range<u64>>,
) {
    let Walk {
        frame,
        ran,
        upcoming: Some(upcoming),
        ..
    } = walk
    else {
        return;
    };
    // Who comes after a host pass is not looked at: it is told nowhere whether that has run.
    let has_run = |member: &&Member| {
        let pass = member.pass as usize;
        ran[pass].is_some() || !upcoming.kept[pass]
    };
    let is_device = |pass: u32| frame.passes[pass as usize].kind == PassKind::Device;
    for (at, interval, members) in upcoming.touches.slices(resource, within) {
        let first = upcoming.ran[at] as usize;
        let first = first + members[first..].iter().take_while(has_run).count();
        upcoming.ran[at] = first as u32;
        let next = members.get(first);
        if next.is_some_and(|it| is_device(it.pass) && frame.uses[it.one as usize].discard) {
            discarded.push(interval);
        }
    }
}
