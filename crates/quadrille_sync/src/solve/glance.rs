//! Phase `glance`: frames whose order is clear at a glance.
//!
//! Most frames are such: one queue suits all passes, resources are used as a whole, and of two
//! passes that need an order one is declared to come right after the other, or after it in a chain,
//! or is the only one that writes. Then there is nothing that the phases from `check` to `arrange`
//! would find out, and one walk through the uses, in the order in which they are declared, sees what
//! those would decide: the order in which passes are submitted.
//!
//! Whoever is in doubt gives up: a frame that is not clear takes the long way, which also finds the
//! words for what is wrong with it. A test holds the two against each other.

use super::arrange::{Calls, by_level, improve};
use super::border::{Border, End};
use super::check::{check_ids, impossible};
use super::levels::{Before, Levels};
use super::lower::Lowered;
use super::split::{Draft, Split};
use crate::access::Target;
use crate::flags::{Layout, Stages};
use crate::frame::{Frame, PassDecl, PassKind, Preference, Use};
use crate::range::SubRange;
use crate::resource::{Lifetime, Resource};
use crate::states::{Entry, States, Tenure};
use crate::topology::{FamilyIndex, OrderPolicy, Queue, QueueIndex, Topology};

/// No pass, or no reader.
const NONE: u32 = u32::MAX;

/// The frame, if its order is clear: then it has no errors, all its passes are
/// kept, and there is nothing to choose.
pub(super) fn glance(frame: &Frame, topology: &Topology, states: &States) -> Option<Clear> {
    let queue = topology
        .indices()
        .find(|it| !topology.queue(*it).is_foreign())?;
    let count = topology.queues.len();
    let is_inside = |queue: &Queue| !queue.family.is_outside();
    let is_usual = count <= Topology::MAX_QUEUES
        && states.queue_count() <= count
        && topology.queues.iter().all(is_inside);
    if !is_usual || frame.cull || !frame.gives.is_empty() || frame.passes.is_empty() {
        return None;
    }
    let mut sight = Sight {
        frame,
        queue: topology.queue(queue),
        index: queue,
        stages: Stages::supported_by(topology.queue(queue).capabilities),
        is_only_queue: count == 1,
        may_cluster: topology.order == OrderPolicy::Free,
        spots: vec![Spot::default(); frame.passes.len()],
        readers: Vec::with_capacity(frame.uses.len()),
        edges: Edges::new(frame),
        last_effect: NONE,
        calls: Calls::default(),
        lowered: Vec::with_capacity(frame.uses.len()),
        uses: 0,
        after: 0,
    };
    let mut lines = lines(frame, topology, states)?;
    for (at, pass) in (0..).zip(&frame.passes) {
        sight.see(&mut lines, at, pass)?;
    }
    let drafts = vec![sight.arrange(&lines, topology)?];
    let host = Vec::new();
    Some(Clear {
        split: Split { drafts, host },
        lowered: sight.lowered,
    })
}

/// A frame that is clear at a glance.
pub(super) struct Clear {
    /// The frame as one submission.
    pub(super) split: Split,
    /// By use, what it asks for.
    pub(super) lowered: Vec<Lowered>,
}

/// No use.
const END: End = End {
    writes: false,
    discard: false,
    layout: Layout::Undefined,
};

/// What has been seen of a resource so far.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The last pass that uses it, writes it, and changes something: contents or layout.
    user: u32,
    writer: u32,
    change: u32,
    /// The last of the readers since the last write.
    reader: u32,
    /// The first use, and the last of those who read like it right after it.
    head: End,
    first_reader: u32,
    /// The first pass that uses it.
    first: u32,
    /// The last use.
    tail: End,
    is_image: bool,
    target: Target,
    lifetime: Lifetime,
    /// Somebody has written the contents.
    defined: bool,
    /// Who writes comes before those who read: that needs no words, as long as only one writes.
    inferred: bool,
    /// Several passes write.
    several: bool,
}

/// What has been seen of a pass.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// A chain of declared order that it is on, named by its first pass.
    chain: u32,
    /// The pass that is declared to come right after it, of those seen the last one.
    next: u32,
    /// The chain goes on behind it.
    goes_on: bool,
}

impl Default for Spot {
    fn default() -> Self {
        Self {
            chain: NONE,
            next: NONE,
            goes_on: false,
        }
    }
}

/// A pass that reads, and the reader of the same resource before it.
#[derive(Clone, Copy, Debug)]
struct Reader {
    pass: u32,
    before: u32,
}

/// Which passes each pass comes right after, in the order in which they were seen.
#[derive(Clone, Debug)]
struct Edges {
    from: Vec<u32>,
    /// By pass: where its list ends.
    ends: Vec<u32>,
    /// By pass: one more than the highest level of those before, and the highest of all.
    levels: Vec<u32>,
    highest: u32,
    /// Of the pass whose list grows: the place behind the last one in it, and its level.
    behind: u32,
    level: u32,
}

impl Edges {
    fn new(frame: &Frame) -> Self {
        Self {
            from: Vec::with_capacity(frame.uses.len()),
            ends: Vec::with_capacity(frame.passes.len()),
            levels: Vec::with_capacity(frame.passes.len()),
            highest: 0,
            behind: 0,
            level: 0,
        }
    }

    /// Adds a pass to the list.
    #[inline]
    fn add(&mut self, from: u32) {
        self.from.push(from);
        self.behind = self.behind.max(from + 1);
        self.level = self.level.max(self.levels[from as usize] + 1);
    }

    /// Ends the list, and begins that of the next pass; the place behind the last pass in it.
    #[inline]
    fn close(&mut self) -> u32 {
        let level = std::mem::take(&mut self.level);
        self.ends.push(self.from.len() as u32);
        self.levels.push(level);
        self.highest = self.highest.max(level);
        std::mem::take(&mut self.behind)
    }
}

impl Before for Edges {
    fn before(&self, pass: u32) -> &[u32] {
        let begin = pass.checked_sub(1).map_or(0, |it| self.ends[it as usize]);
        &self.from[begin as usize..self.ends[pass as usize] as usize]
    }
}

/// All that has been seen so far.
struct Sight<'a> {
    frame: &'a Frame,
    queue: &'a Queue,
    index: QueueIndex,
    stages: Stages,
    is_only_queue: bool,
    /// Readers may change places; see [`cluster`](super::cluster).
    may_cluster: bool,
    spots: Vec<Spot>,
    readers: Vec<Reader>,
    edges: Edges,
    /// The last pass with side effects.
    last_effect: u32,
    calls: Calls,
    /// By use, what it asks for.
    lowered: Vec<Lowered>,
    /// How many uses and predecessors belong to the passes that were seen.
    uses: u32,
    after: u32,
}

impl Sight<'_> {
    /// Looks at the next pass.
    fn see(&mut self, lines: &mut [Line], at: u32, pass: &PassDecl) -> Option<()> {
        let is_contiguous = pass.uses.start == self.uses && pass.after.start == self.after;
        let is_usual = pass.kind == PassKind::Device && !pass.prologue;
        if !is_contiguous || !is_usual || !self.suits(pass) {
            return None;
        }
        (self.uses, self.after) = (pass.uses.end, pass.after.end);
        self.see_declared(at, pass)?;
        if pass.side_effect {
            self.come_after(self.last_effect);
            self.last_effect = at;
        }
        let frame = self.frame;
        for one in frame.uses.get(range(&pass.uses))? {
            let line = lines.get_mut(one.resource.0 as usize)?;
            self.see_use(line, at, one)?;
        }
        let behind = self.edges.close();
        self.calls.add(at, behind);
        Some(())
    }

    /// Whether a pass runs on the queue, as far as its uses do.
    fn suits(&self, pass: &PassDecl) -> bool {
        let request = &pass.queue;
        let is_wished = match request.fixed {
            Some(fixed) => fixed == self.index,
            None => self.is_only_queue || request.preference == Preference::Main,
        };
        is_wished && self.queue.capabilities.contains(request.required)
    }

    /// Notes that the pass that is looked at comes after another one, if that is any.
    fn come_after(&mut self, from: u32) {
        if from != NONE {
            self.edges.add(from);
        }
    }

    /// Notes which passes the next one is declared to come after.
    fn see_declared(&mut self, at: u32, pass: &PassDecl) -> Option<()> {
        let mut chain = at;
        for before in self.frame.after.get(range(&pass.after))? {
            let spot = self.spots.get_mut(before.0 as usize)?;
            if before.0 >= at {
                return None;
            }
            spot.next = at;
            if chain == at && !spot.goes_on {
                spot.goes_on = true;
                chain = spot.chain;
            }
        }
        self.spots[at as usize].chain = chain;
        Some(())
    }

    /// Whether a pass is declared to come before the one that is looked at.
    fn is_before(&self, from: u32, to: u32) -> bool {
        let spot = &self.spots[from as usize];
        spot.next == to || spot.chain == self.spots[to as usize].chain
    }

    /// Looks at a use of a pass.
    #[inline]
    fn see_use(&mut self, line: &mut Line, at: u32, one: &Use) -> Option<()> {
        let row = one.access.named()?;
        let runs = self.stages.contains(row.stages) || one.access.runs_in(self.stages);
        let is_host = row.stages.contains(Stages::HOST);
        // Twice by one pass, or contents that nobody has written, or nobody looks at.
        let is_odd = line.user == at
            || row.reads && !one.discard && !line.defined
            || one.discard && !row.writes
            || !row.target.meets(line.target);
        if one.range != SubRange::Whole || is_host || !runs || is_odd {
            return None;
        }
        let lowered = Lowered::new(one, row, line.is_image, line.lifetime);
        self.lowered.push(lowered);
        let (layout, is_used) = (line.tail.layout, line.user != NONE);
        line.user = at;
        line.tail = End {
            writes: row.writes,
            discard: one.discard,
            layout: lowered.layout,
        };
        if !is_used {
            (line.head, line.first) = (line.tail, at);
        }
        if row.writes {
            self.write(at, line)
        } else {
            let changes = is_used && layout != line.tail.layout;
            self.read(at, line, changes)
        }
    }

    /// A pass that writes comes after all that have read since the last write, and these after
    /// that.
    #[inline]
    fn write(&mut self, at: u32, line: &mut Line) -> Option<()> {
        line.defined = true;
        if line.writer != NONE {
            line.several = true;
            let is_ordered = line.reader != NONE || self.is_before(line.writer, at);
            if !is_ordered || line.inferred {
                return None;
            }
        }
        self.come_after(line.change);
        line.close_first();
        if !self.come_after_readers(line.reader, Some(at)) {
            return None;
        }
        (line.writer, line.change, line.reader) = (at, at, NONE);
        Some(())
    }

    /// A pass that reads comes after the last write; and if the layout changes, after those who
    /// have read in the old one.
    #[inline]
    fn read(&mut self, at: u32, line: &mut Line, changes: bool) -> Option<()> {
        if line.writer != NONE && !self.is_before(line.writer, at) {
            line.inferred = true;
            if line.several {
                return None;
            }
        }
        self.come_after(line.change);
        if changes && line.reader != NONE && self.may_cluster {
            // Readers who want different layouts may come in a better order.
            return None;
        }
        if changes {
            // Those before the last change come before it.
            line.close_first();
            self.come_after_readers(line.reader, None);
            line.change = at;
        }
        let reader = Reader {
            pass: at,
            before: line.reader,
        };
        line.reader = self.readers.len() as u32;
        self.readers.push(reader);
        Some(())
    }

    /// Notes that the pass that is looked at comes after all of a list of readers, and says whether
    /// all of them are declared to come before a writer.
    #[inline]
    fn come_after_readers(&mut self, last: u32, writer: Option<u32>) -> bool {
        let mut next = last;
        while let Some(Reader { pass, before }) = self.readers.get(next as usize).copied() {
            if writer.is_some_and(|at| !self.is_before(pass, at)) {
                return false;
            }
            self.edges.add(pass);
            next = before;
        }
        true
    }

    /// The passes of a list of readers, the last one first.
    fn readers_since(&self, last: u32) -> impl Iterator<Item = u32> {
        let mut next = last;
        std::iter::from_fn(move || {
            let reader = self.readers.get(next as usize)?;
            next = reader.before;
            Some(reader.pass)
        })
    }

    /// The passes in the order in which they are submitted.
    fn arrange(&mut self, lines: &[Line], topology: &Topology) -> Option<Draft> {
        let is_all = (self.uses, self.after) == (count(&self.frame.uses), count(&self.frame.after));
        if !is_all || !self.can_present(lines, topology) {
            return None;
        }
        let mut drafts = [Draft {
            queue: self.index,
            passes: self.frame.pass_indices().collect(),
        }];
        if topology.order == OrderPolicy::Free {
            let known = std::mem::take(&mut self.edges.levels);
            let mut levels = Levels::known(known, self.edges.highest);
            let place = |pass| Some(pass);
            if improve(
                &self.edges,
                || self.border(lines),
                &drafts,
                &mut levels,
                &self.calls,
                place,
            ) {
                let passes = &drafts[0].passes;
                drafts[0].passes = by_level(passes, |pass| levels.of(pass), levels.highest(0));
            }
        }
        let [draft] = drafts;
        Some(draft)
    }

    /// What the frame has to do with one like it before.
    fn border(&self, lines: &[Line]) -> Border {
        let mut border = Border::of(lines.len(), self.frame.uses.len());
        let lines = lines.iter().zip(&self.frame.resources);
        for (line, resource) in lines.filter(|(line, _)| line.user != NONE) {
            let first_reader = match line.change {
                NONE => line.reader,
                _ => line.first_reader,
            };
            let first = self.readers_since(first_reader);
            let first = first.chain((line.head.writes).then_some(line.first));
            // Those who read in another layout come before the change.
            let is_like = |reader: &u32| line.change == NONE || *reader >= line.change;
            let last = self.readers_since(line.reader).take_while(is_like);
            let last = last.chain((line.tail.writes).then_some(line.user));
            border.add(resource, [line.head, line.tail], first, last);
        }
        border
    }

    /// Whether all images of swapchains that are used are written, and can be presented.
    fn can_present(&self, lines: &[Line], topology: &Topology) -> bool {
        let is_presented = |(line, resource): &(&Line, &Resource)| {
            resource.lifetime == Lifetime::Swapchain && line.user != NONE
        };
        let mut presented = lines.iter().zip(&self.frame.resources);
        let can_present = topology.queues.iter().any(|queue| queue.can_present);
        !presented.any(|it| is_presented(&it) && !(can_present && it.0.writer != NONE))
    }
}

impl Line {
    /// Notes, at the first change, who has used the resource before.
    fn close_first(&mut self) {
        if self.change == NONE {
            self.first_reader = self.reader;
        }
    }
}

/// All resources as the last frame left them, if each is what it was, and nothing special.
fn lines(frame: &Frame, topology: &Topology, states: &States) -> Option<Vec<Line>> {
    let mut errors = Vec::new();
    check_ids(frame, states, &mut errors);
    if !errors.is_empty() {
        return None;
    }
    let mut lines = Vec::with_capacity(frame.resources.len());
    for resource in &frame.resources {
        if impossible(resource).is_some() || resource.memory.is_some() {
            return None;
        }
        let is_image = resource.is_image();
        let entry = states.entry(resource.id);
        let defined = entry.map_or(Some(false), |entry| look_at(entry, topology, is_image))?;
        lines.push(Line {
            user: NONE,
            writer: NONE,
            change: NONE,
            reader: NONE,
            head: END,
            first_reader: NONE,
            first: NONE,
            tail: END,
            is_image,
            target: Target::of(&resource.kind),
            lifetime: resource.lifetime,
            defined: defined && resource.lifetime == Lifetime::Persistent,
            inferred: false,
            several: false,
        });
    }
    Some(lines)
}

/// Whether there are contents in a resource: in a part of a buffer, or all of an image. Nothing if
/// it is not this stream's, or some family has it that the topology does not have.
fn look_at(entry: &Entry, topology: &Topology, is_image: bool) -> Option<bool> {
    let is_known = |family: FamilyIndex| {
        let mut queues = topology.queues.iter();
        queues.any(|queue| queue.family == family && !queue.is_foreign())
    };
    if entry.tenure != Tenure::Own {
        return None;
    }
    let (mut defined, mut is_here) = (is_image, true);
    entry.map.for_each(|state| {
        is_here &= state.rare.pending().is_none() && state.owner.is_none_or(is_known);
        defined = match is_image {
            true => defined && state.defined,
            false => defined || state.defined,
        };
    });
    is_here.then_some(defined)
}

fn range(part: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    part.start as usize..part.end as usize
}

fn count<T>(list: &[T]) -> u32 {
    list.len() as u32
}

#[cfg(test)]
#[path = "glance_tests.rs"]
mod tests;
