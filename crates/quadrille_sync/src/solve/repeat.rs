//! Waits that say again what an earlier wait of the queue says.
//!
//! Submissions are decided one after the other, and nobody waits for what the queue is known to be
//! ordered after. But windows and releases learn late what they have to wait for: then a submission
//! behind them may have waited for the same already.

use crate::flags::Stages;
use crate::plan::Submission;

/// The last waits of each queue for each other one.
pub(super) struct Repeated {
    queues: usize,
    /// By waiting queue and signalling queue.
    last: Vec<Option<(i64, Stages)>>,
}

impl Repeated {
    pub(super) fn new(queues: usize) -> Self {
        Self {
            queues,
            last: vec![None; queues * queues],
        }
    }

    /// Drops the waits of the next submission that an earlier one of its queue covers: as late a
    /// signal, in all their stages.
    pub(super) fn drop(&mut self, submission: &mut Submission) {
        let row = usize::from(submission.queue.0) * self.queues;
        submission.waits.retain(|wait| {
            let last = &mut self.last[row + usize::from(wait.point.queue.0)];
            let (value, stages) = (wait.point.offset, wait.stages);
            if last.is_some_and(|(known, by)| known >= value && by.covers(stages)) {
                return false;
            }
            *last = Some((value, stages));
            true
        });
    }
}
