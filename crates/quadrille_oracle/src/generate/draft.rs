//! A frame under construction: passes in their intended order.

use quadrille_sync::frame::{
    Frame, PassIndex, PassKind, QueueRequest, TimelineUse, TimelineUseKind, Use, UserTimeline,
};
use quadrille_sync::resource::{Resource, ResourceIndex};

use crate::order::{Order, overlap, share_memory, writers};
use crate::random::Random;

/// Passes in intended order: each follows the earlier ones that it conflicts with.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) passes: Vec<DraftPass>,
    pub(super) cull: bool,
    /// By pass: earlier passes that it is declared to follow.
    after: Vec<Vec<usize>>,
    /// The passes in the order in which they are declared.
    declared: Vec<usize>,
}

/// A pass under construction. Its uses name resources by their number in the world.
#[derive(Clone, Debug)]
pub(super) struct DraftPass {
    pub(super) name: String,
    pub(super) kind: PassKind,
    pub(super) queue: QueueRequest,
    pub(super) side_effect: bool,
    pub(super) prologue: bool,
    pub(super) cost_us: u32,
    pub(super) uses: Vec<Use>,
    /// Values of users' timelines; the pass is filled in when the frame is made.
    pub(super) timeline_uses: Vec<TimelineUse>,
}

impl Draft {
    /// Declares the order of all conflicting passes, except where it can be inferred, and also some
    /// order that no hazard requires.
    pub(super) fn declare_order(&mut self, random: &mut Random, resources: &[Resource]) {
        let count = self.passes.len();
        self.declared = (0..count).collect();
        if random.chance(35) {
            random.shuffle(&mut self.declared);
        }
        self.after = vec![Vec::new(); count];
        let plain = Draft {
            declared: (0..count).collect(),
            ..self.clone()
        };
        let names: Vec<usize> = (0..resources.len()).collect();
        let frame = plain.frame(resources, &names);
        let mut order = Order::of(&frame);
        for later in 0..count {
            for earlier in (0..later).rev() {
                let pair = (PassIndex(earlier as u32), PassIndex(later as u32));
                let needed = conflict(&frame, pair) && !order.precedes(pair.0, pair.1);
                let inferred = needed && is_inferred(&frame, pair) && random.chance(60);
                let spare = !needed && random.chance(6);
                if (needed && !inferred) || spare {
                    order.add(pair.0, pair.1);
                    self.after[later].push(earlier);
                }
            }
        }
    }

    /// Makes some passes that conflict with no earlier pass part of the prologue.
    pub(super) fn choose_prologues(&mut self, random: &mut Random, resources: &[Resource]) {
        let names: Vec<usize> = (0..resources.len()).collect();
        self.declared = (0..self.passes.len()).collect();
        let frame = self.frame(resources, &names);
        for pass in frame.pass_indices() {
            let mut earlier = (0..pass.0).map(PassIndex);
            let clashes = earlier.any(|earlier| conflict(&frame, (earlier, pass)));
            let made = &mut self.passes[pass.0 as usize];
            made.prologue = made.kind == PassKind::Device && !clashes && random.chance(15);
        }
    }

    /// Lets some passes signal values of one or two users' timelines, which rise in the order that is meant, and wait
    /// for values that passes before them signal, or that nobody in the frame signals.
    pub(super) fn choose_timelines(&mut self, random: &mut Random) {
        let count = random.between(1, 2) as u32;
        let mut reached = [0; 2];
        for made in &mut self.passes {
            // Order through a pass of the prologue does not suppress inferred order.
            let is_usual = made.kind == PassKind::Device && !made.prologue;
            if !is_usual || !random.chance(40) {
                continue;
            }
            let timeline = random.below(count as usize) as u32;
            let reached = &mut reached[timeline as usize];
            let mut add = |kind, value| {
                made.timeline_uses.push(TimelineUse {
                    pass: PassIndex::default(),
                    timeline,
                    kind,
                    value,
                });
            };
            if random.chance(50) {
                let value = random.between(0, *reached);
                add(TimelineUseKind::Wait, value as u64);
            }
            if random.chance(60) {
                // Between two signals of the frame somebody else may signal.
                *reached += random.between(1, 2);
                add(TimelineUseKind::Signal, *reached as u64);
            }
        }
    }

    /// Returns the draft without one pass.
    pub(super) fn without(&self, pass: usize) -> Self {
        let mut draft = self.clone();
        draft.passes.remove(pass);
        draft
    }

    /// Builds the frame. Resource `i` of the draft becomes resource `names[i]` of the world.
    pub(super) fn frame(&self, resources: &[Resource], names: &[usize]) -> Frame {
        let mut frame = Frame {
            cull: self.cull,
            ..Frame::default()
        };
        let mut indices = vec![None; resources.len()];
        let place = |pass: &usize| {
            let found = self.declared.iter().position(|declared| declared == pass);
            PassIndex(found.unwrap_or_default() as u32)
        };
        for declared in &self.declared {
            let pass = &self.passes[*declared];
            let uses: Vec<Use> = pass
                .uses
                .iter()
                .map(|declared| {
                    let number = names[declared.resource.0 as usize];
                    let index = *indices[number]
                        .get_or_insert_with(|| frame.add_resource(resources[number].clone()));
                    Use {
                        resource: index,
                        ..*declared
                    }
                })
                .collect();
            let after = self
                .after
                .get(*declared)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let after: Vec<PassIndex> = after.iter().map(place).collect();
            let index = frame.add_pass(pass.name.as_str(), pass.queue, &uses, &after);
            let made = &mut frame.passes[index.0 as usize];
            made.kind = pass.kind;
            made.side_effect = pass.side_effect;
            made.prologue = pass.prologue;
            made.cost_us = pass.cost_us;
            let uses = pass.timeline_uses.iter();
            let uses = uses.map(|one| TimelineUse {
                pass: index,
                ..*one
            });
            frame.timeline_uses.extend(uses);
        }
        let timelines = frame.timeline_uses.iter().map(|one| one.timeline + 1);
        frame.timelines = (0..timelines.max().unwrap_or_default())
            .map(|number| UserTimeline {
                name: format!("t{number}").into(),
                base: 0,
            })
            .collect();
        frame
    }
}

/// The index in uses of a draft for a resource of the world.
pub(super) fn named(number: usize) -> ResourceIndex {
    ResourceIndex(number as u32)
}

/// Whether two passes conflict: they use a common range and one writes it, or they use different
/// resources in the same memory.
fn conflict(frame: &Frame, (a, b): (PassIndex, PassIndex)) -> bool {
    frame.uses_of(a).iter().any(|first| {
        let mut uses = frame.uses_of(b).iter();
        uses.any(|second| {
            let writes = first.access.is_write() || second.access.is_write();
            writes && overlap(frame, first, second) || share_memory(frame, first, second)
        })
    })
}

/// Whether the order of two passes is inferred without a declaration: in each range of conflict, the
/// first is the only writer and the second only reads.
fn is_inferred(frame: &Frame, (writer, reader): (PassIndex, PassIndex)) -> bool {
    let mut pairs = frame.uses_of(reader).iter().flat_map(|read| {
        let written = frame.uses_of(writer).iter();
        written.map(move |written| (read, written))
    });
    if pairs.any(|(read, written)| share_memory(frame, read, written)) {
        return false;
    }
    frame.uses_of(reader).iter().all(|read| {
        let touched = |written: &&Use| overlap(frame, read, written);
        let mut touching = frame.uses_of(writer).iter().filter(touched).peekable();
        if touching.peek().is_none() {
            return true;
        }
        let only_reads = !read.access.is_write();
        let reads_too = touching.any(|written| !written.access.is_write());
        only_reads && !reads_too && writers(frame, read).eq([writer])
    })
}
