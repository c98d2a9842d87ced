//! Timelines: an order in which the submissions of a plan can execute, or a deadlock.

use quadrille_sync::plan::RelativePoint;
use quadrille_sync::topology::SubmitPolicy;

use super::FrameCheck;
use super::clock::Signalled;
use crate::violation::Violation;

/// A step in the execution of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The submission with this index runs.
    Submission(usize),
    /// The host pass with this index runs.
    Host(usize),
}

impl FrameCheck<'_> {
    /// The submissions and host passes in an order in which they can execute: submission order, except
    /// that a submission is postponed until its waits are signalled (allowed only with
    /// `SubmitPolicy::Coalesced`). Submissions after a host pass execute after it.
    pub(super) fn schedule(&mut self) -> Vec<Event> {
        self.judge_signals();
        let mut values: Vec<i128> = self
            .judge
            .queues
            .iter()
            .map(|queue| i128::from(queue.value()))
            .collect();
        let mut left = self.events();
        let mut order = Vec::with_capacity(left.len());
        while let Some(found) = self.first_runnable(&left, &values) {
            let event = left.remove(found);
            if found != 0 {
                self.object_to_waits(&left[..found], &values, false);
            }
            if let Event::Submission(index) = event {
                let submission = &self.plan.submissions[index];
                let queue = usize::from(submission.queue.0);
                values[queue] = values[queue].max(self.absolute(queue, submission.signal));
            }
            order.push(event);
        }
        self.object_to_waits(&left, &values, true);
        order.append(&mut left);
        order
    }

    /// All submissions in plan order, with the host passes in between.
    pub(super) fn events(&self) -> Vec<Event> {
        let count = self.plan.submissions.len();
        let host = |index: Option<usize>| {
            let steps = self.plan.host.iter().enumerate();
            steps
                .filter(move |(_, step)| {
                    // An index beyond the last submission counts as `None`.
                    let before = step.before.map(|before| before as usize);
                    before.filter(|before| *before < count) == index
                })
                .map(|(at, _)| Event::Host(at))
        };
        let mut events = Vec::new();
        for index in 0..count {
            events.extend(host(Some(index)));
            if self.has_queue(index) {
                events.push(Event::Submission(index));
            }
        }
        events.extend(host(None));
        events
    }

    /// The first of these events that can execute now: all events that must precede it have executed,
    /// and all its waits have been signalled.
    fn first_runnable(&self, left: &[Event], values: &[i128]) -> Option<usize> {
        (0..left.len()).find(|at| {
            let is_free = left[..*at].iter().all(|before| match (before, left[*at]) {
                (Event::Host(_), _) => false,
                (Event::Submission(before), Event::Submission(index)) => {
                    let queue = |index: usize| self.plan.submissions[index].queue;
                    queue(*before) != queue(index)
                }
                (Event::Submission(_), Event::Host(_)) => true,
            });
            let waits = self.waits_of(left[*at]);
            is_free && waits.iter().all(|point| self.reached(*point, values))
        })
    }

    /// Returns the points that an event waits for.
    fn waits_of(&self, event: Event) -> Vec<RelativePoint> {
        match event {
            Event::Submission(index) => {
                let waits = self.plan.submissions[index].waits.iter();
                waits.map(|wait| wait.point).collect()
            }
            Event::Host(index) => self.plan.host[index].waits.clone(),
        }
    }

    /// Reports the waits of these events that have not been signalled.
    fn object_to_waits(&mut self, events: &[Event], values: &[i128], for_ever: bool) {
        for event in events.iter().copied() {
            for point in self.waits_of(event) {
                if self.reached(point, values) {
                    continue;
                }
                let queue = point.queue;
                let value = self.absolute(usize::from(queue.0), point.offset);
                let violation = match event {
                    Event::Host(index) if for_ever => {
                        let pass = self.plan.host[index].pass;
                        let declared = self.frame.passes.get(pass.0 as usize);
                        let name = declared.map_or("unknown".into(), |pass| pass.name.clone());
                        Violation::HostDeadlock {
                            pass: name,
                            queue,
                            value,
                        }
                    }
                    Event::Submission(submission) if for_ever => Violation::Deadlock {
                        submission,
                        queue,
                        value,
                    },
                    Event::Submission(submission)
                        if self.judge.topology.submit == SubmitPolicy::InOrder =>
                    {
                        Violation::WaitBeforeSignal {
                            submission,
                            queue,
                            value,
                        }
                    }
                    _ => continue,
                };
                if !self.violations.contains(&violation) {
                    self.violations.push(violation);
                }
            }
        }
    }

    /// Checks that signal values increase from submission to submission of a queue.
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

    /// Returns the operations that a wait for a point is ordered after: those of the first signal that reaches it.
    /// `None` without such a signal, and for value 0, which orders nothing.
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
