//! Declared and inferred order of a frame's passes.

use quadrille_sync::frame::{Frame, PassIndex, TimelineUseKind, Use};

use crate::area::Area;

/// Explicit order of passes, with its transitive closure.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// By pass: a bit for each pass that comes before it.
    before: Vec<Vec<u64>>,
}

impl Order {
    /// The explicit order of a frame, with that of its prologue and its timelines. In a cycle, passes
    /// precede themselves.
    pub(crate) fn of(frame: &Frame) -> Self {
        let mut pairs = prologues(frame);
        pairs.extend(rising(frame));
        Self::closed(frame, &pairs)
    }

    /// The transitive closure of the explicit order of a frame and further pairs.
    fn closed(frame: &Frame, pairs: &[(PassIndex, PassIndex)]) -> Self {
        let count = frame.passes.len();
        let words = count.div_ceil(64);
        let mut order = Self {
            before: vec![vec![0; words]; count],
        };
        // Edges mostly point backwards, so this ends after a round or two.
        loop {
            let mut changed = false;
            for (first, second) in pairs {
                changed |= order.add(*first, *second);
            }
            for pass in frame.pass_indices() {
                for earlier in frame.after_of(pass) {
                    changed |= order.add(*earlier, pass);
                }
            }
            if !changed {
                return order;
            }
        }
    }

    /// Whether `first` comes before `second`.
    pub(crate) fn precedes(&self, first: PassIndex, second: PassIndex) -> bool {
        let (word, bit) = (first.0 as usize / 64, first.0 % 64);
        self.before[second.0 as usize]
            .get(word)
            .is_some_and(|bits| bits & (1 << bit) != 0)
    }

    /// Whether the two passes have an order.
    pub(crate) fn ordered(&self, a: PassIndex, b: PassIndex) -> bool {
        self.precedes(a, b) || self.precedes(b, a)
    }

    /// Orders `earlier`, and all passes before it, before `later`. Returns whether that is new.
    pub(crate) fn add(&mut self, earlier: PassIndex, later: PassIndex) -> bool {
        let (first, second) = (earlier.0 as usize, later.0 as usize);
        if first >= self.before.len() {
            return false;
        }
        let mut bits = self.before[first].clone();
        bits[first / 64] |= 1 << (first % 64);
        let mut changed = false;
        for (mine, theirs) in self.before[second].iter_mut().zip(bits) {
            changed |= *mine | theirs != *mine;
            *mine |= theirs;
        }
        changed
    }

    /// Pairs of a writer and a reader with inferred order: the writer is the only one of a range that
    /// the reader reads.
    pub(crate) fn inferred(&self, frame: &Frame) -> Vec<(PassIndex, PassIndex)> {
        let mut pairs = Vec::new();
        for reader in frame.pass_indices() {
            for read in frame
                .uses_of(reader)
                .iter()
                .filter(|read| !read.access.is_write())
            {
                let writers: Vec<PassIndex> = writers(frame, read).collect();
                if let [writer] = writers[..]
                    && writer != reader
                    && !self.ordered(writer, reader)
                    && !pairs.contains(&(writer, reader))
                {
                    pairs.push((writer, reader));
                }
            }
        }
        pairs
    }
}

/// Pairs of a prologue pass and another pass that use a common range, which one of them writes. The
/// prologue pass comes first, unless the explicit order is the reverse.
pub(crate) fn prologues(frame: &Frame) -> Vec<(PassIndex, PassIndex)> {
    let explicit = Order::closed(frame, &[]);
    let mut pairs = Vec::new();
    let prepares = |pass: &PassIndex| frame.pass(*pass).prologue;
    for first in frame.pass_indices().filter(prepares) {
        for second in frame.pass_indices().filter(|second| !prepares(second)) {
            let touches = frame.uses_of(first).iter().any(|one| {
                let mut uses = frame.uses_of(second).iter();
                uses.any(|other| {
                    let writes = one.access.is_write() || other.access.is_write();
                    writes && overlap(frame, one, other)
                })
            });
            if touches && !explicit.precedes(second, first) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// Pairs of a pass that signals a timeline value, and a pass that signals a higher value or waits for
/// the same or a higher value.
fn rising(frame: &Frame) -> Vec<(PassIndex, PassIndex)> {
    let mut pairs = Vec::new();
    for one in &frame.timeline_uses {
        for other in &frame.timeline_uses {
            let waits = other.kind == TimelineUseKind::Wait;
            let is_later = one.value < other.value || waits && one.value == other.value;
            let signals = one.kind == TimelineUseKind::Signal && one.timeline == other.timeline;
            if signals && is_later && one.pass != other.pass {
                pairs.push((one.pass, other.pass));
            }
        }
    }
    pairs
}

/// The passes outside of the prologue that write any part of the range of a use.
pub(crate) fn writers<'a>(frame: &'a Frame, read: &'a Use) -> impl Iterator<Item = PassIndex> {
    frame.pass_indices().filter(|pass| {
        let mut uses = frame.uses_of(*pass).iter();
        let writes = uses.any(|other| other.access.is_write() && overlap(frame, read, other));
        writes && !frame.pass(*pass).prologue
    })
}

/// Whether two uses overlap.
pub(crate) fn overlap(frame: &Frame, a: &Use, b: &Use) -> bool {
    let Some(resource) = frame.resources.get(a.resource.0 as usize) else {
        return false;
    };
    let area = |declared: &Use| Area::of(&resource.kind, &declared.range);
    a.resource == b.resource && area(a).intersection(&area(b)).is_some()
}

/// Whether two uses are of different resources that lie in the same memory.
pub(crate) fn share_memory(frame: &Frame, a: &Use, b: &Use) -> bool {
    let memory = |one: &Use| frame.resources.get(one.resource.0 as usize)?.memory;
    let both = memory(a).zip(memory(b));
    a.resource != b.resource && both.is_some_and(|(a, b)| a.overlaps(&b))
}

#[cfg(test)]
mod tests;
