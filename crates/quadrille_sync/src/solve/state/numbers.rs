//! The last phase: final numbers of submissions and timeline values.

use crate::topology::QueueIndex;

/// Final timeline values and submission indices, without those of unused windows.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// By queue: the final value for each provisional value of this frame, which counts from 1.
    values: Vec<Vec<i64>>,
    /// By submission under construction: its final index.
    indices: Vec<u32>,
    /// The final number of submissions.
    pub(crate) count: u32,
}

impl Numbers {
    /// Numbers submissions, given the queue of each and whether it is used.
    pub(crate) fn new(
        queues: usize,
        records: impl ExactSizeIterator<Item = (QueueIndex, bool)>,
    ) -> Self {
        let mut numbers = Self {
            values: vec![Vec::new(); queues],
            indices: Vec::with_capacity(records.len()),
            count: 0,
        };
        for (queue, used) in records {
            numbers.indices.push(numbers.count);
            numbers.count += u32::from(used);
            let values = &mut numbers.values[usize::from(queue.0)];
            let before = values.last().copied().unwrap_or(0);
            values.push(before + i64::from(used));
        }
        numbers
    }

    /// The final value for a point.
    pub(crate) fn value(&self, queue: QueueIndex, value: i64) -> i64 {
        let index = usize::try_from(value - 1).ok();
        let number = index.and_then(|index| self.values[usize::from(queue.0)].get(index));
        number.copied().unwrap_or(value)
    }

    /// The final index of a submission, or if it is unused, that of the next one that is used.
    pub(crate) fn index(&self, submission: u32) -> u32 {
        self.indices
            .get(submission as usize)
            .copied()
            .unwrap_or(submission)
    }
}
