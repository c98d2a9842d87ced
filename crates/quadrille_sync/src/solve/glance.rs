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

use super::arrange::by_level;
use super::check::{check_ids, impossible};
use super::split::{Draft, Split};
use crate::flags::{Layout, Stages};
use crate::frame::{Frame, PassDecl, PassIndex, PassKind, Preference, Use};
use crate::range::SubRange;
use crate::resource::{Lifetime, Resource};
use crate::states::{Entry, States, Tenure};
use crate::topology::{FamilyIndex, OrderPolicy, Queue, QueueIndex, Topology};

/// No pass, or no reader.
const NONE: u32 = u32::MAX;

/// The frame as one submission, if its order is clear: then it has no errors, all its passes are
/// kept, and there is nothing to choose.
pub(super) fn glance(frame: &Frame, topology: &Topology, states: &States) -> Option<Split> {
    let queue = topology
        .indices()
        .find(|it| !topology.queue(*it).is_foreign())?;
    let count = topology.queues.len();
    let is_usual = count <= Topology::MAX_QUEUES && states.queue_count() <= count;
    if !is_usual || frame.cull || !frame.gives.is_empty() || frame.passes.is_empty() {
        return None;
    }
    let mut sight = Sight {
        frame,
        queue: topology.queue(queue),
        index: queue,
        stages: Stages::supported_by(topology.queue(queue).capabilities),
        is_only_queue: count == 1,
        lines: lines(frame, topology, states)?,
        spots: vec![Spot::default(); frame.passes.len()],
        readers: Vec::with_capacity(frame.uses.len()),
        last_effect: NONE,
        calls: Calls::default(),
        uses: 0,
        after: 0,
    };
    for (at, pass) in (0..).zip(&frame.passes) {
        sight.see(at, pass)?;
    }
    let passes = sight.finish(topology)?;
    let host = Vec::new();
    let drafts = vec![Draft { queue, passes }];
    Some(Split { drafts, host })
}

/// What has been seen of a resource so far.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The last pass that uses it, writes it, and changes something: contents or layout.
    user: u32,
    writer: u32,
    change: u32,
    /// The last of the readers since the last write.
    reader: u32,
    /// What an image is in since somebody has used it.
    layout: Layout,
    is_image: bool,
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
    /// How many passes it comes after one after the other.
    level: u32,
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
            level: 0,
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

/// How many barrier calls the declared order needs, each as late as it may stand.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: u32,
    /// The last call stands before this pass.
    last: u32,
}

/// All that has been seen so far.
struct Sight<'a> {
    frame: &'a Frame,
    queue: &'a Queue,
    index: QueueIndex,
    stages: Stages,
    is_only_queue: bool,
    lines: Vec<Line>,
    spots: Vec<Spot>,
    readers: Vec<Reader>,
    /// The last pass with side effects.
    last_effect: u32,
    calls: Calls,
    /// How many uses and predecessors belong to the passes that were seen.
    uses: u32,
    after: u32,
}

/// What a pass comes after.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    level: u32,
    /// One more than the last of those passes.
    end: u32,
}

impl Sight<'_> {
    /// Looks at the next pass.
    fn see(&mut self, at: u32, pass: &PassDecl) -> Option<()> {
        let is_contiguous = pass.uses.start == self.uses && pass.after.start == self.after;
        let is_usual = pass.kind == PassKind::Device && !pass.prologue;
        if !is_contiguous || !is_usual || !self.suits(pass) {
            return None;
        }
        (self.uses, self.after) = (pass.uses.end, pass.after.end);
        self.see_declared(at, pass)?;
        let mut behind = Behind::default();
        if pass.side_effect {
            if self.last_effect != NONE {
                behind.add(self.last_effect, &self.spots);
            }
            self.last_effect = at;
        }
        let frame = self.frame;
        for one in frame.uses.get(range(&pass.uses))? {
            self.see_use(at, one, &mut behind)?;
        }
        self.spots[at as usize].level = behind.level;
        if behind.end > self.calls.last {
            let count = self.calls.count + 1;
            self.calls = Calls { count, last: at };
        }
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
    fn see_use(&mut self, at: u32, one: &Use, behind: &mut Behind) -> Option<()> {
        let row = one.access.named()?;
        let runs = self.stages.contains(row.stages) || one.access.runs_in(self.stages);
        let is_host = row.stages.contains(Stages::HOST);
        let mut line = *self.lines.get(one.resource.0 as usize)?;
        // Twice by one pass, or contents that nobody has written, or nobody looks at.
        let is_odd = line.user == at
            || row.reads && !one.discard && !line.defined
            || one.discard && !row.writes;
        if one.range != SubRange::Whole || is_host || !runs || is_odd {
            return None;
        }
        let (layout, is_used) = (line.layout, line.user != NONE);
        line.user = at;
        line.layout = row.layout;
        if row.writes {
            self.write(at, &mut line, behind)?;
        } else {
            let changes = line.is_image && is_used && layout != row.layout;
            self.read(at, &mut line, changes, behind)?;
        }
        self.lines[one.resource.0 as usize] = line;
        Some(())
    }

    /// A pass that writes comes after all that have read since the last write, and these after
    /// that.
    fn write(&self, at: u32, line: &mut Line, behind: &mut Behind) -> Option<()> {
        line.defined = true;
        if line.writer != NONE {
            line.several = true;
            let is_ordered = line.reader != NONE || self.is_before(line.writer, at);
            if !is_ordered || line.inferred {
                return None;
            }
        }
        behind.add_some(line.change, &self.spots);
        for reader in self.readers_since(line.reader) {
            if !self.is_before(reader, at) {
                return None;
            }
            behind.add(reader, &self.spots);
        }
        (line.writer, line.change, line.reader) = (at, at, NONE);
        Some(())
    }

    /// A pass that reads comes after the last write; and if the layout changes, after those who
    /// have read in the old one.
    fn read(&mut self, at: u32, line: &mut Line, changes: bool, behind: &mut Behind) -> Option<()> {
        if line.writer != NONE && !self.is_before(line.writer, at) {
            line.inferred = true;
            if line.several {
                return None;
            }
        }
        behind.add_some(line.change, &self.spots);
        if changes {
            // Those before the last change come before it.
            self.readers_since(line.reader)
                .for_each(|reader| behind.add(reader, &self.spots));
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

    /// The passes of a list of readers, the last one first.
    fn readers_since(&self, last: u32) -> impl Iterator<Item = u32> {
        let mut next = last;
        std::iter::from_fn(move || {
            let reader = self.readers.get(next as usize)?;
            next = reader.before;
            Some(reader.pass)
        })
    }

    /// The order in which passes are submitted.
    fn finish(self, topology: &Topology) -> Option<Vec<PassIndex>> {
        let is_all = (self.uses, self.after) == (count(&self.frame.uses), count(&self.frame.after));
        if !is_all || !self.can_present(topology) {
            return None;
        }
        let declared: Vec<PassIndex> = self.frame.pass_indices().collect();
        let highest = self.spots.iter().map(|spot| spot.level).max()?;
        // In order of levels, a call stands before each but the first.
        if topology.order == OrderPolicy::Declared || highest >= self.calls.count {
            return Some(declared);
        }
        let level = |pass: PassIndex| self.spots[pass.0 as usize].level;
        Some(by_level(&declared, level, highest))
    }

    /// Whether all images of swapchains that are used are written, and can be presented.
    fn can_present(&self, topology: &Topology) -> bool {
        let is_presented = |(line, resource): &(&Line, &Resource)| {
            resource.lifetime == Lifetime::Swapchain && line.user != NONE
        };
        let mut presented = self.lines.iter().zip(&self.frame.resources);
        let can_present = topology.queues.iter().any(|queue| queue.can_present);
        !presented.any(|it| is_presented(&it) && !(can_present && it.0.writer != NONE))
    }
}

impl Behind {
    fn add(&mut self, pass: u32, spots: &[Spot]) {
        self.level = self.level.max(spots[pass as usize].level + 1);
        self.end = self.end.max(pass + 1);
    }

    fn add_some(&mut self, pass: u32, spots: &[Spot]) {
        if pass != NONE {
            self.add(pass, spots);
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
            layout: Layout::Undefined,
            is_image,
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
    let mut defined = is_image;
    for (_, state) in entry.map.iter() {
        if state.pending.is_some() || !state.owner.is_none_or(is_known) {
            return None;
        }
        defined = match is_image {
            true => defined && state.defined,
            false => defined || state.defined,
        };
    }
    Some(defined)
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
