//! Gate that holds back submissions of several streams until their waits cannot deadlock a shared queue.
//!
//! Streams submit out of order with each other: one may wait for a value whose signal another has not
//! submitted yet. On a queue of one stream Vulkan allows this (wait-before-signal). On a shared queue it would be a
//! deadlock, since the signal is queued after the wait. So each stream has a **lane** (FIFO) on each of its queues, and
//!
//! - a submission is **certain** once all values that it waits for will be signalled by certain
//!   submissions, or have been signalled by the host, and those before it in its lane are certain;
//! - a submission to a shared queue is held back until it is certain;
//! - a submission to a queue of one stream is made at once. Its certainty is tracked too,
//!   because other submissions may wait for it, and because presents have to: a binary semaphore
//!   may only be waited for when everything that its signal depends on has been submitted.
//!
//! Lanes and timelines share indices: each lane signals its own timeline, and some timelines have no lane. The gate is
//! pure: its owner submits the returned entries in their order.

use std::collections::VecDeque;

/// A value of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Its index among the timelines of the device.
    pub timeline: usize,
    /// The value.
    pub value: u64,
}

/// A submission at the gate.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    /// The timeline values that it waits for.
    pub waits: Vec<Point>,
    /// The timeline values that it signals.
    pub signals: Vec<Point>,
    /// The work to submit.
    pub work: T,
}

/// A submission that is not certain yet.
#[derive(Clone, Debug)]
struct Waiting<T> {
    waits: Vec<Point>,
    signals: Vec<Point>,
    /// `None` once it was returned for submission.
    work: Option<T>,
}

#[derive(Clone, Debug)]
struct Lane<T> {
    /// Whether its queue belongs to its stream alone.
    direct: bool,
    waiting: VecDeque<Waiting<T>>,
}

/// The gate of a device.
#[derive(Clone, Debug)]
pub(crate) struct Gate<T> {
    lanes: Vec<Lane<T>>,
    /// By timeline, the highest value that is certain to be signalled.
    certain: Vec<u64>,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        let (lanes, certain) = (Vec::new(), Vec::new());
        Self { lanes, certain }
    }
}

impl<T> Gate<T> {
    /// Adds timelines up to this number. Their lanes are direct at first.
    pub(crate) fn grow(&mut self, timelines: usize) {
        while self.lanes.len() < timelines {
            self.lanes.push(Lane {
                direct: true,
                waiting: VecDeque::new(),
            });
            self.certain.push(0);
        }
    }

    /// Sets whether the queue of a lane belongs to its stream alone.
    pub(crate) fn set_direct(&mut self, lane: usize, direct: bool) {
        self.lanes[lane].direct = direct;
    }

    /// Whether all these values are certain to be signalled.
    pub(crate) fn are_certain(&self, points: &[Point]) -> bool {
        points
            .iter()
            .all(|point| self.certain[point.timeline] >= point.value)
    }

    /// Whether nothing waits in a lane.
    pub(crate) fn is_empty(&self, lane: usize) -> bool {
        self.lanes[lane].waiting.is_empty()
    }

    /// Records signals that bypass the gate, or were made by the host.
    pub(crate) fn signalled(&mut self, points: &[Point]) {
        for point in points {
            let certain = &mut self.certain[point.timeline];
            *certain = point.value.max(*certain);
        }
    }

    /// Adds a submission to its lane, and returns it if it has to be submitted at once. Call
    /// [`next`](Gate::next) afterwards.
    pub(crate) fn push(&mut self, lane: usize, entry: Entry<T>) -> Option<T> {
        let Entry {
            waits,
            signals,
            work,
        } = entry;
        if self.is_empty(lane) && self.are_certain(&waits) {
            self.signalled(&signals);
            return Some(work);
        }
        let at = &mut self.lanes[lane];
        let (held, at_once) = if at.direct {
            (None, Some(work))
        } else {
            (Some(work), None)
        };
        at.waiting.push_back(Waiting {
            waits,
            signals,
            work: held,
        });
        at_once
    }

    /// Returns the next held-back submission that has become certain, with its lane.
    pub(crate) fn next(&mut self) -> Option<(usize, T)> {
        let mut lane = 0;
        while lane < self.lanes.len() {
            let head = self.lanes[lane].waiting.front();
            if !head.is_some_and(|head| self.are_certain(&head.waits)) {
                lane += 1;
                continue;
            }
            if let Some(head) = self.lanes[lane].waiting.pop_front() {
                self.signalled(&head.signals);
                if let Some(work) = head.work {
                    return Some((lane, work));
                }
            }
            // Lanes before this one may have waited for it.
            lane = 0;
        }
        None
    }
}

#[cfg(test)]
mod tests;
