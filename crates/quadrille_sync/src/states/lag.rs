//! Frames that repeat move states on without touching them.
//!
//! A plan that is committed repeatedly leaves equal states behind, except for timeline values.
//! Each time, the values of its own accesses grow by the number of values that their queues
//! signal; all others stay. So until another plan is committed it is enough to count these
//! offsets. Such a commit takes the same time whatever the number of resources.

use super::TimelinePoint;

/// How far the values stored in states lie behind the real ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lag {
    /// By queue, the last value signalled before the repeating plan was stored: higher values are
    /// that plan's.
    base: Vec<u64>,
    /// By queue, how much higher those values are by now; empty if the stored values are real.
    by: Vec<u64>,
}

impl Lag {
    /// A plan is about to be stored, after these last values.
    pub(super) fn begin(&mut self, base: &[u64]) {
        self.base.clear();
        self.base.extend_from_slice(base);
        self.by.clear();
    }

    /// The plan that was stored last is committed again, and each queue signals so many values.
    pub(super) fn repeat(&mut self, signals: &[u64]) {
        self.by.resize(self.base.len(), 0);
        for (by, signals) in self.by.iter_mut().zip(signals) {
            *by += signals;
        }
    }

    /// Whether the stored values are the real ones.
    pub(super) fn is_none(&self) -> bool {
        self.by.is_empty()
    }

    /// The stored values are real from now on.
    pub(super) fn end(&mut self) {
        self.by.clear();
    }

    /// The real value of a stored point.
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
