//! Constant-time commits of a repeated plan.
//!
//! A plan that is committed repeatedly leaves equal states, except for timeline values: with each commit,
//! the values of its own accesses grow by the number of values that their queues signal, and all others
//! stay. So until another plan is committed, only these offsets are counted. The time of such a commit is
//! independent of the number of resources.

use super::TimelinePoint;

/// Offsets between stored and actual timeline values.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueOffsets {
    /// By queue: the last value signalled before the repeated plan was stored. Higher stored values
    /// belong to that plan.
    base: Vec<u64>,
    /// By queue: the offset of those values. Empty if the stored values are the actual ones.
    by: Vec<u64>,
}

impl ValueOffsets {
    /// Begins with a plan that is about to be stored, after these last values.
    pub(super) fn begin(&mut self, base: &[u64]) {
        self.base.clear();
        self.base.extend_from_slice(base);
        self.by.clear();
    }

    /// Counts another commit of the stored plan; `signals` is the number of values by queue.
    pub(super) fn repeat(&mut self, signals: &[u64]) {
        self.by.resize(self.base.len(), 0);
        for (by, signals) in self.by.iter_mut().zip(signals) {
            *by += signals;
        }
    }

    /// Whether the stored values are the actual ones.
    pub(super) fn is_none(&self) -> bool {
        self.by.is_empty()
    }

    /// Clears the offsets, after they were added to the stored values.
    pub(super) fn end(&mut self) {
        self.by.clear();
    }

    /// The actual value of a stored point.
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
