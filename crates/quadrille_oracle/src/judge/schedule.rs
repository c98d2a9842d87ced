//! Timelines: the order in which submissions can run, and whether they can.

use quadrille_sync::{RelativePoint, SubmitPolicy};

use super::Trial;
use super::clock::Signalled;
use crate::violation::Violation;

impl Trial<'_> {
    /// The submissions in an order in which they can execute: submission order, except that a wait
    /// may have to be skipped until its signal has come (which only `Submit::Coalesced` allows).
    pub(super) fn schedule(&mut self) -> Vec<usize> {
        self.judge_signals();
        let count = self.plan.submissions.len();
        let mut values: Vec<i128> = self
            .judge
            .queues
            .iter()
            .map(|queue| i128::from(queue.value()))
            .collect();
        let mut order = Vec::with_capacity(count);
        let mut left: Vec<usize> = (0..count).filter(|at| self.has_queue(*at)).collect();
        while let Some(found) = self.first_runnable(&left, &values) {
            let index = left.remove(found);
            if found != 0 {
                self.object_to_waits(&left[..found], &values, false);
            }
            let submission = &self.plan.submissions[index];
            let queue = usize::from(submission.queue.0);
            values[queue] = values[queue].max(self.absolute(queue, submission.signal));
            order.push(index);
        }
        self.object_to_waits(&left, &values, true);
        order.append(&mut left);
        order
    }

    /// The first of these submissions that runs now: the first left of its queue, and all it waits
    /// for has been signalled.
    fn first_runnable(&self, left: &[usize], values: &[i128]) -> Option<usize> {
        (0..left.len()).find(|at| {
            let submission = &self.plan.submissions[left[*at]];
            let first_of_queue = left[..*at]
                .iter()
                .all(|before| self.plan.submissions[*before].queue != submission.queue);
            first_of_queue
                && submission
                    .waits
                    .iter()
                    .all(|wait| self.reached(wait.point, values))
        })
    }

    /// Reports the waits of these submissions that nothing has satisfied.
    fn object_to_waits(&mut self, submissions: &[usize], values: &[i128], for_ever: bool) {
        for submission in submissions.iter().copied() {
            for wait in &self.plan.submissions[submission].waits {
                if self.reached(wait.point, values) {
                    continue;
                }
                let queue = wait.point.queue;
                let value = self.absolute(usize::from(queue.0), wait.point.offset);
                let violation = if for_ever {
                    Violation::Deadlock {
                        submission,
                        queue,
                        value,
                    }
                } else if self.judge.topology.submit == SubmitPolicy::InOrder {
                    Violation::WaitBeforeSignal {
                        submission,
                        queue,
                        value,
                    }
                } else {
                    continue;
                };
                if !self.violations.contains(&violation) {
                    self.violations.push(violation);
                }
            }
        }
    }

    /// Signals must grow from submission to submission of a queue.
    fn judge_signals(&mut self) {
        let queues = self.judge.queues.iter();
        let mut values: Vec<u64> = queues.map(|queue| queue.value()).collect();
        for (submission, declared) in self.plan.submissions.iter().enumerate() {
            let queue = declared.queue;
            let Some(last) = values.get(usize::from(queue.0)).copied() else {
                let index = u64::from(queue.0);
                self.violations.push(Violation::UnknownIndex {
                    what: "queue",
                    index,
                });
                continue;
            };
            let value = self.absolute(usize::from(queue.0), declared.signal);
            if value <= i128::from(last) {
                let violation = Violation::SignalNotIncreasing {
                    submission,
                    queue,
                    value,
                    last,
                };
                self.violations.push(violation);
            }
            values[usize::from(queue.0)] = last.max(u64::try_from(value).unwrap_or(0));
        }
    }

    fn has_queue(&self, submission: usize) -> bool {
        usize::from(self.plan.submissions[submission].queue.0) < self.judge.queues.len()
    }

    /// The absolute value of an offset from a queue's base.
    fn absolute(&self, queue: usize, offset: i64) -> i128 {
        let base = self.judge.queues.get(queue).map_or(0, |queue| queue.base);
        i128::from(base) + i128::from(offset)
    }

    fn reached(&self, point: RelativePoint, values: &[i128]) -> bool {
        let queue = usize::from(point.queue.0);
        values
            .get(queue)
            .is_some_and(|value| *value >= self.absolute(queue, point.offset))
    }

    /// What a wait for a point is ordered after: the first signal that reaches it. None if there
    /// was none: nothing is known by value 0.
    pub(super) fn signal_of(&self, point: RelativePoint) -> Option<Signalled> {
        let queue = usize::from(point.queue.0);
        let value = self.absolute(queue, point.offset);
        let signals = &self.judge.queues.get(queue)?.signals;
        let enough = |(signal, _): &&(u64, Signalled)| i128::from(*signal) >= value;
        (value > 0)
            .then(|| signals.iter().find(enough))
            .flatten()
            .map(|(_, seen)| seen.clone())
    }
}
