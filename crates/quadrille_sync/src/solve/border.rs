//! The border of two frames, for frames that repeat.
//!
//! Between the last passes of a frame, those behind its last barrier call, and the first ones of the
//! next there is no call yet. Every other barrier that the next frame's first users of a range need
//! goes into the last call of this one (see [`prepare`](super::prepare)). So no call has to stand at
//! the border if nobody comes first in a frame who depends on those who come last: such passes begin
//! on the second level, behind the first call of their own frame.

use std::ops::Range;

use super::levels::{Before, Levels};
use super::split::Draft;
use super::touch::{Member, Touches};
use crate::flags::Layout;
use crate::frame::{Frame, PassIndex};
use crate::resource::{Lifetime, Resource};
use crate::topology::QueueIndex;

/// How often levels are found anew: whoever moves may come last in the end, and others depend on
/// that.
const ROUNDS: u32 = 8;

/// Who depends on whom across the border.
#[derive(Debug, Default)]
pub(super) struct Border {
    crossings: Vec<Crossing>,
    /// The passes of all crossings.
    passes: Vec<u32>,
}

/// A range whose first users need a barrier; parts of [`Border::passes`].
#[derive(Debug)]
struct Crossing {
    first: Range<usize>,
    /// Those whom the first ones come after; none if they need a barrier of their own in any case.
    last: Option<Range<usize>>,
}

/// The passes of some uses.
fn passes(members: &[Member]) -> impl Iterator<Item = u32> {
    members.iter().map(|it| it.pass)
}

/// The first or the last use of a range in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) writes: bool,
    pub(super) discard: bool,
    /// Of images.
    pub(super) layout: Layout,
}

impl Border {
    /// Nothing yet, with room for so many ranges and passes.
    pub(super) fn of(ranges: usize, passes: usize) -> Self {
        Self {
            crossings: Vec::with_capacity(ranges),
            passes: Vec::with_capacity(passes),
        }
    }

    /// What a frame has to do with one like it before; `touches` is sorted by order.
    pub(super) fn new(frame: &Frame, touches: &Touches) -> Self {
        let mut border = Self::default();
        for (span, members) in touches.spans() {
            let resource = frame.resource(span.resource);
            let end = |member: &Member| {
                let one = &frame.uses[member.one as usize];
                End {
                    writes: member.writes,
                    discard: one.discard,
                    layout: match resource.is_image() {
                        true => one.access.layout(),
                        false => Layout::Undefined,
                    },
                }
            };
            let ([head, ..], [.., tail]) = (members, members) else {
                continue;
            };
            let (head, tail) = (end(head), end(tail));
            let reads = |member: &Member, like: End| {
                !like.writes && !member.writes && end(member).layout == like.layout
            };
            let first = members.iter().take_while(|it| reads(it, head)).count();
            let last = members.iter().rev().take_while(|it| reads(it, tail));
            let last = members.len() - last.count().max(1);
            let (first, last) = (&members[..first.max(1)], &members[last..]);
            border.add(resource, [head, tail], passes(first), passes(last));
        }
        border
    }

    /// Adds a range with its first and its last use, and those who use it likewise right after the
    /// one and right before the other.
    pub(super) fn add(
        &mut self,
        resource: &Resource,
        [head, tail]: [End; 2],
        first: impl Iterator<Item = u32>,
        last: impl Iterator<Item = u32>,
    ) {
        let is_kept = resource.lifetime == Lifetime::Persistent && resource.has_past();
        let changes = head.layout != tail.layout;
        // Nobody foresees what comes, or gives contents up before.
        let is_unforeseen = !is_kept || changes && head.discard;
        if !is_unforeseen && !changes && !head.writes && !tail.writes {
            return;
        }
        let first = self.keep(first);
        let last = (!is_unforeseen).then(|| self.keep(last));
        self.crossings.push(Crossing { first, last });
    }

    fn keep(&mut self, passes: impl Iterator<Item = u32>) -> Range<usize> {
        let begin = self.passes.len();
        self.passes.extend(passes);
        begin..self.passes.len()
    }

    /// Whether anybody who comes first depends on somebody who comes last.
    pub(super) fn crosses(
        &self,
        comes_first: impl Fn(u32) -> bool,
        comes_last: impl Fn(u32) -> bool,
    ) -> bool {
        let crosses = |crossing: &Crossing| {
            let last = crossing.last.clone().map(|last| &self.passes[last]);
            let mut first = self.passes[crossing.first.clone()].iter();
            last.is_none_or(|last| last.iter().any(|pass| comes_last(*pass)))
                && first.any(|pass| comes_first(*pass))
        };
        self.crossings.iter().any(crosses)
    }

    /// Moves passes to the second level, so that no call has to stand at the border, if that makes
    /// no submission have more levels. Whether one has to stand there all the same.
    pub(super) fn part(&self, graph: &impl Before, drafts: &[Draft], levels: &mut Levels) -> bool {
        let ends = Ends::new(drafts);
        let deepest: Vec<u32> = (0..drafts.len()).map(|at| levels.highest(at)).collect();
        let mut is_stuck: Vec<bool> = deepest.iter().map(|highest| *highest == 0).collect();
        for round in 0.. {
            let mut early = self.early(&ends, drafts, levels);
            let any = !early.is_empty();
            early.retain(|(at, _)| !is_stuck[*at]);
            if early.is_empty() {
                return any;
            }
            early.sort_unstable();
            for of_draft in early.chunk_by(|one, other| one.0 == other.0) {
                let at = of_draft[0].0;
                let moved = of_draft.iter();
                moved.for_each(|(_, pass)| levels.set_minimum(*pass, 1));
                levels.find(graph, at, &drafts[at]);
                if levels.highest(at) > deepest[at] || round == ROUNDS {
                    // The call stands anyway, and then nobody has to move.
                    is_stuck[at] = true;
                    let passes = drafts[at].passes.iter();
                    passes.for_each(|pass| levels.set_minimum(*pass, 0));
                    levels.find(graph, at, &drafts[at]);
                }
            }
        }
        true
    }

    /// The passes on the first level of the first submission of their queue who depend on others
    /// behind the last call of that queue.
    fn early(&self, ends: &Ends, drafts: &[Draft], levels: &Levels) -> Vec<(usize, PassIndex)> {
        let mut early = Vec::new();
        for Crossing { last, first } in &self.crossings {
            let comes_last = |queue: QueueIndex, pass: &u32| {
                let pass = PassIndex(*pass);
                let at = levels.draft_of(pass);
                let at = at.filter(|at| ends.is_last[*at] && drafts[*at].queue == queue);
                at.is_some_and(|at| levels.of(pass) == levels.highest(at))
            };
            let last = last.clone().map(|last| &self.passes[last]);
            // Most passes are on other levels.
            let first = self.passes[first.clone()].iter().map(|it| PassIndex(*it));
            for pass in first.filter(|it| levels.of(*it) == 0) {
                let at = levels.draft_of(pass);
                let Some(at) = at.filter(|at| ends.is_first[*at]) else {
                    continue;
                };
                let mut last = last.map(<[u32]>::iter);
                let queue = drafts[at].queue;
                if last
                    .as_mut()
                    .is_none_or(|last| last.any(|pass| comes_last(queue, pass)))
                {
                    early.push((at, pass));
                }
            }
        }
        early
    }
}

/// Which submissions are the first and the last of their queues.
struct Ends {
    is_first: Vec<bool>,
    is_last: Vec<bool>,
}

impl Ends {
    fn new(drafts: &[Draft]) -> Self {
        let mut ends = Self {
            is_first: vec![false; drafts.len()],
            is_last: vec![false; drafts.len()],
        };
        // By queue: the last submission so far.
        let mut last: Vec<(QueueIndex, usize)> = Vec::new();
        for (at, draft) in drafts.iter().enumerate() {
            match last.iter_mut().find(|(queue, _)| *queue == draft.queue) {
                Some((_, last)) => *last = at,
                None => {
                    ends.is_first[at] = true;
                    last.push((draft.queue, at));
                }
            }
        }
        last.iter().for_each(|(_, at)| ends.is_last[*at] = true);
        ends
    }
}
