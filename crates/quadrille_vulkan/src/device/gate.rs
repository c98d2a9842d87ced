//! Hold-back: the order in which the submissions of several streams reach their queues.
//!
//! Streams submit out of order with each other: one may wait for a value that another has not
//! submitted the signal of yet. On a queue that belongs to one stream alone that is Vulkan's to
//! sort out. Where streams share a queue it would stop both for ever, since what would signal
//! comes behind what waits. So there is a **lane** for each stream on each of its queues, first in
//! first out, and
//!
//! - a submission is **certain** once all values that it waits for will be signalled by certain
//!   submissions, or have been signalled by the host, and those before it in its lane are certain;
//! - what comes to a shared queue is held back until it is certain;
//! - what comes to a queue of one stream goes on at once; whether it is certain still counts,
//!   because others may wait for it, and because presenting has to wait for it: a binary semaphore
//!   may only be waited for when everything that its signal depends on has been submitted.
//!
//! Lanes and timelines have the same numbers: each lane signals a timeline of its own, and some
//! timelines have no lane. The gate is pure: its owner submits what it hands out, in that
//! order.

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
    /// None once it has been handed out.
    work: Option<T>,
}

#[derive(Clone, Debug)]
struct Lane<T> {
    /// Its queue belongs to its stream alone.
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
    /// Makes room for timelines. Their lanes are direct at first.
    pub(crate) fn grow(&mut self, timelines: usize) {
        while self.lanes.len() < timelines {
            self.lanes.push(Lane {
                direct: true,
                waiting: VecDeque::new(),
            });
            self.certain.push(0);
        }
    }

    /// Says whether the queue of a lane belongs to its stream alone.
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

    /// Notes what has been submitted beside the gate, or signalled by the host.
    pub(crate) fn signalled(&mut self, points: &[Point]) {
        for point in points {
            let certain = &mut self.certain[point.timeline];
            *certain = point.value.max(*certain);
        }
    }

    /// Takes a submission to its lane, and hands it back if it is to be submitted at once. Ask
    /// for the [`next`](Gate::next) ones afterwards.
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

    /// The next submission that was held back and need not be any more, with its lane.
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
