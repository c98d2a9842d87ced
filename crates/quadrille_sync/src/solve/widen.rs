//! Waits that have been widened, and need not have been.
//!
//! Where a submission waits for another that comes after some access anyway, more stages wait for that
//! one, and nothing else is needed. But the next run of a range may have been accessed later on the
//! queue of that access, and be waited for by a wait of its own, which the first run could have rested
//! on too. Then what was widened for it is taken back.

use super::record::Record;
use super::timeline::{Entry, Point, Timeline, push_reason};
use crate::flags::Stages;
use crate::plan::{Reason, Wait};
use crate::topology::QueueIndex;

/// A wait that more stages wait for since, because of accesses that it implies.
#[derive(Clone, Debug)]
pub(super) struct Widened {
    submission: usize,
    /// The last of the accesses, all on one queue.
    point: Point,
    /// The stages in which they have to be waited for.
    stages: Stages,
    /// The wait as it was, and what its queue knew.
    before: Wait,
    known: Vec<Entry>,
}

impl Timeline {
    /// Lets more stages wait for what a submission waits for already, which a point comes before.
    pub(super) fn widen(
        &mut self,
        records: &mut [Record],
        (submission, of): (usize, QueueIndex),
        needed: Point,
        stages: Stages,
        reason: Reason,
    ) -> Stages {
        let record = &mut records[submission].submission;
        let row = usize::from(record.queue.0) * self.queues;
        let mut waits = record.waits.iter_mut();
        let Some(wait) = waits.find(|wait| wait.point.queue == of) else {
            unreachable!("a clock entry names a wait of its submission");
        };
        match &mut self.widened {
            Some(widened) if widened.before.point == wait.point => {
                widened.stages |= stages;
                widened.point.value = widened.point.value.max(needed.value);
            }
            // The queue's own wait is the one that would be needed otherwise.
            widened if of != needed.queue && !wait.stages.covers(stages) => {
                *widened = Some(Widened {
                    submission,
                    point: needed,
                    stages,
                    before: wait.clone(),
                    known: self.now[row..row + self.queues].to_vec(),
                });
            }
            widened => *widened = None,
        }
        wait.stages = (wait.stages | stages).simplified();
        push_reason(&mut wait.reasons, reason);
        let (point, waiting) = (Point::from(wait.point), wait.stages);
        for other in 0..self.queues {
            // Some may have been learned from another wait, and follow from this one too.
            let taught = self.value_at(point, QueueIndex(other as u8));
            let entry = &mut self.now[row + other];
            if entry.wait == Some((submission, of)) || entry.value <= taught {
                entry.add(waiting);
            }
        }
        stages
    }

    /// Nothing is taken back once anything else has been asked for: it may rest on it.
    pub(super) fn forget_widened(&mut self, submission: usize, queue: QueueIndex) {
        let is_it = |it: &mut Widened| (it.submission, it.point.queue) == (submission, queue);
        self.widened = self.widened.take_if(is_it);
    }

    /// Takes back what was widened, if a submission is about to wait for something later in all the
    /// stages that it was widened for.
    pub(super) fn take_back(
        &mut self,
        records: &mut [Record],
        submission: usize,
        point: Point,
        stages: Stages,
    ) {
        self.forget_widened(submission, point.queue);
        let does_it = |it: &Widened| point.value >= it.point.value && stages.covers(it.stages);
        // What has been learned by the new wait is not in what was known.
        let widened = self.widened.take().filter(does_it);
        let Some(Widened { before, known, .. }) = widened else {
            return;
        };
        let record = &mut records[submission].submission;
        let row = usize::from(record.queue.0) * self.queues;
        self.now[row..row + self.queues].copy_from_slice(&known);
        let mut waits = record.waits.iter_mut();
        if let Some(wait) = waits.find(|wait| wait.point == before.point) {
            *wait = before;
        }
    }
}
