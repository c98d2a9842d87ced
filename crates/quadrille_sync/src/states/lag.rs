//! Frames that repeat move states on without touching them.
//!
//! A plan that is committed again and again leaves the same states behind, but for when things
//! happened: what it does itself lies as many values further on each time as each queue signals, and
//! everything else stays. So as long as nothing else happens it is enough to note how far that is, and
//! a commit takes the same time whatever the number of resources.

use super::TimelinePoint;

/// How far what is written down in states lies behind what holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lag {
    /// By queue, what it had signalled last before the plan that repeats was written down: points
    /// above are that plan's.
    base: Vec<u64>,
    /// By queue, how much further on those points lie by now; empty if what is written down holds.
    by: Vec<u64>,
}

impl Lag {
    /// A plan is about to be written down, after these last values.
    pub(super) fn begin(&mut self, base: &[u64]) {
        self.base.clear();
        self.base.extend_from_slice(base);
        self.by.clear();
    }

    /// The plan that was written down last is committed again, and each queue signals so many values.
    pub(super) fn repeat(&mut self, signals: &[u64]) {
        self.by.resize(self.base.len(), 0);
        for (by, signals) in self.by.iter_mut().zip(signals) {
            *by += signals;
        }
    }

    /// Whether what is written down holds.
    pub(super) fn is_none(&self) -> bool {
        self.by.is_empty()
    }

    /// What is written down will hold from now on.
    pub(super) fn end(&mut self) {
        self.by.clear();
    }

    /// The value that a point has which is written down.
    #[inline]
    pub(super) fn value(&self, point: TimelinePoint) -> u64 {
        let queue = usize::from(point.queue.0);
        match self.by.get(queue) {
            Some(by) if point.value > self.base[queue] => point.value + by,
            _ => point.value,
        }
    }
}

#[cfg(test)]
mod tests;
