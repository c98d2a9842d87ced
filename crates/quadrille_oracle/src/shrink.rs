//! Shrinks a failing sequence while it still fails in the same way.

use quadrille_sync::frame::{Frame, PassIndex, TimelineUse};
use quadrille_sync::range::SubRange;

use crate::sequence::Sequence;

/// Returns the smallest sequence found that fails like `sequence`; a sequence that does not fail is returned
/// unchanged.
pub fn shrink(sequence: &Sequence) -> Sequence {
    let Err(failure) = sequence.run() else {
        return sequence.clone();
    };
    let fails_like = |candidate: &Sequence| {
        candidate
            .run()
            .is_err_and(|other| other.kind.is_like(&failure.kind))
    };
    shrink_while(sequence, fails_like)
}

/// Returns the smallest sequence found for which `holds` is true. It must be true for `sequence`.
fn shrink_while(sequence: &Sequence, holds: impl Fn(&Sequence) -> bool) -> Sequence {
    let mut best = sequence.clone();
    loop {
        let smaller = candidates(&best).find(&holds);
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Returns sequences that are one step smaller, the largest reductions first.
fn candidates(sequence: &Sequence) -> impl Iterator<Item = Sequence> + '_ {
    let frames = 0..sequence.frames.len();
    let without_frame = frames.clone().map(|at| {
        let mut smaller = sequence.clone();
        smaller.frames.remove(at);
        smaller
    });
    let without_import = (0..sequence.imports.len()).map(|at| {
        let mut smaller = sequence.clone();
        smaller.imports.remove(at);
        smaller
    });
    let smaller_frames = frames.flat_map(move |at| {
        smaller_frames(&sequence.frames[at]).map(move |frame| {
            let mut smaller = sequence.clone();
            smaller.frames[at] = frame;
            smaller
        })
    });
    let everywhere = pass_names(sequence).into_iter().map(|name| {
        let mut smaller = sequence.clone();
        for frame in &mut smaller.frames {
            if let Some(at) = frame.passes.iter().position(|pass| *pass.name == *name) {
                *frame = without_pass(frame, at);
            }
        }
        smaller
    });
    without_frame
        .chain(everywhere)
        .chain(smaller_frames)
        .chain(without_import)
}

fn pass_names(sequence: &Sequence) -> Vec<std::sync::Arc<str>> {
    let passes = sequence.frames.iter().flat_map(|frame| &frame.passes);
    let mut names: Vec<_> = passes.map(|pass| pass.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// Frames that are one step smaller.
fn smaller_frames(frame: &Frame) -> impl Iterator<Item = Frame> + '_ {
    let passes = (0..frame.passes.len()).map(|at| without_pass(frame, at));
    let uses = (0..frame.uses.len()).map(|at| without_use(frame, at));
    let edges = (0..frame.after.len()).map(|at| without_edge(frame, at));
    let simpler_uses = (0..frame.uses.len()).flat_map(move |at| {
        let mut whole = frame.clone();
        whole.uses[at].range = SubRange::Whole;
        let mut keeps = frame.clone();
        keeps.uses[at].discard = false;
        [whole, keeps]
            .into_iter()
            .filter(move |simpler| simpler != frame)
    });
    let simpler_passes = (0..frame.passes.len()).flat_map(move |at| {
        let mut free = frame.clone();
        free.passes[at].queue.fixed = None;
        let mut cheap = frame.clone();
        cheap.passes[at].cost_us = 0;
        let mut plain = frame.clone();
        plain.passes[at].side_effect = false;
        let mut usual = frame.clone();
        usual.passes[at].prologue = false;
        [free, cheap, plain, usual]
            .into_iter()
            .filter(move |simpler| simpler != frame)
    });
    let resources = (0..frame.resources.len()).filter_map(|at| without_resource(frame, at));
    let gives = (0..frame.gives.len()).map(|at| {
        let mut kept = frame.clone();
        kept.gives.remove(at);
        kept
    });
    let timeline_uses = (0..frame.timeline_uses.len()).map(|at| {
        let mut fewer = frame.clone();
        fewer.timeline_uses.remove(at);
        fewer
    });
    let placed = (0..frame.resources.len()).filter(|at| frame.resources[*at].memory.is_some());
    let apart = placed.map(|at| {
        let mut apart = frame.clone();
        apart.resources[at].memory = None;
        apart
    });
    passes
        .chain(uses)
        .chain(resources)
        .chain(gives)
        .chain(timeline_uses)
        .chain(apart)
        .chain(edges)
        .chain(simpler_uses)
        .chain(simpler_passes)
}

/// The frame with its passes rebuilt from lists.
pub(crate) fn rebuilt(
    frame: &Frame,
    mut edit: impl FnMut(usize, &mut Vec<quadrille_sync::frame::Use>, &mut Vec<PassIndex>) -> bool,
) -> Frame {
    let mut made = Frame {
        resources: frame.resources.clone(),
        gives: frame.gives.clone(),
        cull: frame.cull,
        timelines: frame.timelines.clone(),
        ..Frame::default()
    };
    for (at, pass) in frame.pass_indices().enumerate() {
        let mut uses = frame.uses_of(pass).to_vec();
        let mut after = frame.after_of(pass).to_vec();
        if !edit(at, &mut uses, &mut after) {
            continue;
        }
        let old = frame.pass(pass);
        let index = made.add_pass(old.name.clone(), old.queue, &uses, &after);
        let new = &mut made.passes[index.0 as usize];
        (new.kind, new.side_effect) = (old.kind, old.side_effect);
        (new.prologue, new.cost_us) = (old.prologue, old.cost_us);
        let timeline_uses = frame.timeline_uses_of(pass);
        let timeline_uses = timeline_uses.map(|one| TimelineUse {
            pass: index,
            ..*one
        });
        made.timeline_uses.extend(timeline_uses);
    }
    made
}

/// Removes a pass; its successors then follow its predecessors.
fn without_pass(frame: &Frame, gone: usize) -> Frame {
    let bridge = frame.after_of(PassIndex(gone as u32)).to_vec();
    rebuilt(frame, |at, _, after| {
        if after.contains(&PassIndex(gone as u32)) {
            after.extend(&bridge);
        }
        after.retain(|earlier| earlier.0 as usize != gone);
        for earlier in after.iter_mut().filter(|earlier| earlier.0 as usize > gone) {
            earlier.0 -= 1;
        }
        after.dedup();
        at != gone
    })
}

fn without_use(frame: &Frame, gone: usize) -> Frame {
    let mut first = 0;
    rebuilt(frame, |_, uses, _| {
        let count = uses.len();
        if (first..first + count).contains(&gone) {
            uses.remove(gone - first);
        }
        first += count;
        true
    })
}

fn without_edge(frame: &Frame, gone: usize) -> Frame {
    let mut first = 0;
    rebuilt(frame, |_, _, after| {
        let count = after.len();
        if (first..first + count).contains(&gone) {
            after.remove(gone - first);
        }
        first += count;
        true
    })
}

/// Removes a resource, if it is unused.
fn without_resource(frame: &Frame, gone: usize) -> Option<Frame> {
    let used = frame.uses.iter().map(|declared| declared.resource);
    let given = frame.gives.iter().map(|give| give.resource);
    if used
        .chain(given)
        .any(|resource| resource.0 as usize == gone)
    {
        return None;
    }
    let mut smaller = frame.clone();
    smaller.resources.remove(gone);
    for give in smaller
        .gives
        .iter_mut()
        .filter(|give| give.resource.0 as usize > gone)
    {
        give.resource.0 -= 1;
    }
    for declared in smaller
        .uses
        .iter_mut()
        .filter(|declared| declared.resource.0 as usize > gone)
    {
        declared.resource.0 -= 1;
    }
    Some(smaller)
}

#[cfg(test)]
mod tests;
