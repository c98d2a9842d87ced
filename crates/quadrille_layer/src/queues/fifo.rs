//! The hold-back model: one FIFO of submissions per virtual queue. Pure.
//!
//! An independent queue can wait for a signal that is submitted later to another queue. The one real queue behind all
//! virtual queues would block forever. So a head is forwarded only when every wait is *covered*: by a signal that was
//! forwarded before it, or by the host.
//!
//! A binary semaphore is modeled as a timeline whose values count its signals: the n-th pushed wait waits for value n.
//! So a later wait cannot consume the signal meant for an earlier one, in any order of forwarding.

use std::collections::{HashMap, VecDeque};

/// A value of a semaphore; for a binary semaphore, the number of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The semaphore's handle.
    pub(crate) semaphore: u64,
    /// Value to wait for or to signal. Ignored when a binary semaphore is pushed.
    pub(crate) value: u64,
}

/// Position in the order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(pub(crate) u64);

/// A submission that is not forwarded to the real queue yet.
#[derive(Debug)]
pub(crate) struct PendingSubmission<T> {
    pub(crate) ticket: Ticket,
    waits: Vec<Point>,
    signals: Vec<Point>,
    pub(crate) work: T,
}

impl<T> PendingSubmission<T> {
    /// Whether this submission would end a wait. For a binary semaphore, any signal would.
    pub(crate) fn signals_at_least(&self, wait: Point, kind: Kind) -> bool {
        let ends = |signal: &Point| kind == Kind::Binary || signal.value >= wait.value;
        self.signals
            .iter()
            .any(|signal| signal.semaphore == wait.semaphore && ends(signal))
    }
}

/// Kind of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Timeline,
    Binary,
    /// Destroyed: waits for it never end.
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Semaphore {
    kind: Kind,
    covered: u64,
    waits: u64,
}

/// A wait that prevents the head of a queue from being forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub(crate) queue: usize,
    pub(crate) ticket: Ticket,
    pub(crate) wait: Point,
    pub(crate) kind: Kind,
}

/// The submissions of all virtual queues of one device.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    queues: Vec<VecDeque<PendingSubmission<T>>>,
    semaphores: HashMap<u64, Semaphore>,
    next_ticket: u64,
    epoch: u64,
}

impl<T> Fifo<T> {
    /// Creates a model of `queue_count` empty queues.
    pub(crate) fn new(queue_count: usize) -> Self {
        Self {
            queues: (0..queue_count).map(|_| VecDeque::new()).collect(),
            semaphores: HashMap::new(),
            next_ticket: 0,
            epoch: 0,
        }
    }

    /// Adds a timeline semaphore with this value.
    pub(crate) fn create_timeline(&mut self, semaphore: u64, value: u64) {
        let state = Semaphore {
            kind: Kind::Timeline,
            covered: value,
            waits: 0,
        };
        self.semaphores.insert(semaphore, state);
    }

    /// Adds an unsignalled binary semaphore.
    pub(crate) fn create_binary(&mut self, semaphore: u64) {
        let state = Semaphore {
            kind: Kind::Binary,
            covered: 0,
            waits: 0,
        };
        self.semaphores.insert(semaphore, state);
    }

    /// Marks a semaphore as destroyed.
    pub(crate) fn destroy(&mut self, semaphore: u64) {
        self.semaphores.remove(&semaphore);
    }

    /// Resolves a wait to a point; a binary semaphore gets the next number.
    pub(crate) fn resolve_wait(&mut self, wait: Point) -> Point {
        match self.semaphores.get_mut(&wait.semaphore) {
            Some(state) if state.kind == Kind::Binary => {
                state.waits += 1;
                Point {
                    value: state.waits,
                    ..wait
                }
            }
            _ => wait,
        }
    }

    /// Appends a submission to a queue.
    pub(crate) fn push(
        &mut self,
        queue: usize,
        waits: &[Point],
        signals: Vec<Point>,
        work: T,
    ) -> Ticket {
        let waits = waits.iter().map(|wait| self.resolve_wait(*wait)).collect();
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.epoch += 1;
        self.queues[queue].push_back(PendingSubmission {
            ticket,
            waits,
            signals,
            work,
        });
        ticket
    }

    /// Returns the queues whose head may be forwarded, each with its head's ticket.
    pub(crate) fn runnable(&self) -> Vec<(usize, Ticket)> {
        let heads = self.queues.iter().enumerate();
        heads
            .filter_map(|(index, queue)| Some((index, queue.front()?)))
            .filter(|(_, head)| head.waits.iter().all(|wait| self.is_covered(*wait)))
            .map(|(index, head)| (index, head.ticket))
            .collect()
    }

    /// Removes the head of a queue for forwarding; its signals count as covered.
    pub(crate) fn take(&mut self, queue: usize) -> Option<T> {
        let head = self.queues[queue].pop_front()?;
        for signal in &head.signals {
            self.signal(*signal);
        }
        self.epoch += 1;
        Some(head.work)
    }

    /// Records a signal that was forwarded, or made by the host or the presentation engine.
    pub(crate) fn signal(&mut self, signal: Point) {
        let Some(state) = self.semaphores.get_mut(&signal.semaphore) else {
            return;
        };
        match state.kind {
            Kind::Binary => state.covered += 1,
            Kind::Timeline | Kind::Gone => state.covered = state.covered.max(signal.value),
        }
        self.epoch += 1;
    }

    /// Records the timeline value that the driver reports.
    pub(crate) fn observe(&mut self, reached: Point) {
        if !self.is_covered(reached) {
            self.signal(reached);
        }
    }

    /// Whether a wait for this point would end without further forwarding.
    pub(crate) fn is_covered(&self, point: Point) -> bool {
        let Some(state) = self.semaphores.get(&point.semaphore) else {
            return false;
        };
        state.covered >= point.value
    }

    /// Returns the waits that block the heads of the queues.
    pub(crate) fn blocked(&self) -> Vec<Blocked> {
        let heads = self.queues.iter().enumerate();
        heads
            .filter_map(|(queue, pending)| Some((queue, pending.front()?)))
            .flat_map(|(queue, head)| head.waits.iter().map(move |wait| (queue, head, *wait)))
            .filter(|(_, _, wait)| !self.is_covered(*wait))
            .map(|(queue, head, wait)| Blocked {
                queue,
                ticket: head.ticket,
                wait,
                kind: self.kind(wait.semaphore),
            })
            .collect()
    }

    /// Pending submissions of one queue, oldest first.
    pub(crate) fn pending(&self, queue: usize) -> impl Iterator<Item = &PendingSubmission<T>> {
        self.queues[queue].iter()
    }

    /// All held submissions.
    pub(crate) fn all_pending(&self) -> impl Iterator<Item = &PendingSubmission<T>> {
        self.queues.iter().flatten()
    }

    /// Number of held submissions.
    pub(crate) fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Drops all held submissions after the loss of the device.
    pub(crate) fn clear(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.epoch += 1;
    }

    /// Counter of events that could end a wait.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    fn kind(&self, semaphore: u64) -> Kind {
        let state = self.semaphores.get(&semaphore);
        state.map_or(Kind::Gone, |state| state.kind)
    }
}

#[cfg(test)]
mod tests;
