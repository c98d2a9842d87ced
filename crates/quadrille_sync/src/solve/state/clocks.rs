//! Waits between queues, by vector clocks.
//!
//! There is one timeline semaphore per queue, and one value per submission. Every queue has a vector
//! clock: for each other queue, the highest value that it is ordered after, and the stages that wait
//! for it. A wait transitively covers all waits before its signal: a wait for value `v` of queue `r`
//! also raises the clock to that of `r` when it signalled `v`. A point that the clock covers needs no
//! wait. A barrier whose first scope is the stages of the wait extends the wait to other stages by a
//! dependency chain.
//!
//! While a frame is planned, values count from 1 on each queue, and value 1 belongs to the queue's
//! *window*, a submission before all others for what was not predicted (see `queues/ownership`).
//! Windows are rarely used; [`Numbers`] closes the gaps.

use crate::flags::Stages;
use crate::plan::{Reason, RelativePoint, Wait};
use crate::solve::state::numbers::Numbers;
use crate::states::{Joined, Learned, States};
use crate::topology::{QueueIndex, Topology};

/// Less than any value: the queue is not known to be ordered after any point.
const NOTHING: i64 = i64::MIN;

/// An entry of a queue's clock, now or when a submission signals: the highest value of another queue's
/// timeline that it is ordered after.
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: i64,
    /// The stages that wait for the value.
    stages: Stages,
    /// The value is a point of this frame, or one that the plan waits for. False for a value copied
    /// from another queue's clock at the start of the frame.
    exact: bool,
    /// The submission of this frame whose wait raised the entry, and the queue it waited for.
    wait: Option<(usize, QueueIndex)>,
}

impl Entry {
    /// A value, without stages.
    fn of(value: i64, exact: bool) -> Self {
        Self {
            value,
            stages: Stages::empty(),
            exact,
            wait: None,
        }
    }

    /// Lets more stages wait for the value.
    fn add(&mut self, stages: Stages) {
        self.stages = (self.stages | stages).simplified();
    }

    /// The stages that have waited for a value.
    fn waiting(&self, value: i64) -> Stages {
        if self.value >= value {
            self.stages
        } else {
            Stages::empty()
        }
    }
}

/// The vector clocks.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) queues: usize,
    /// The clock of each queue now.
    now: Vec<Entry>,
    /// The clock of each queue when the frame began.
    start: Vec<i64>,
    /// The clock of each submission when it signalled.
    snapshots: Vec<Entry>,
    /// For each queue: the queues, as bits, whose clocks at the start of the frame it includes.
    joined_now: Vec<u32>,
    /// For each submission: its queue's `joined_now` when it signalled.
    joined: Vec<u32>,
    /// The waits of each submission.
    waits: Vec<Vec<Wait>>,
    /// The submissions of each queue, in order of value.
    by_queue: Vec<Vec<usize>>,
    joins: Vec<Joined>,
}

/// Timeline point to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) queue: QueueIndex,
    pub(crate) value: i64,
}

impl From<RelativePoint> for Point {
    fn from(point: RelativePoint) -> Self {
        Self {
            queue: point.queue,
            value: point.offset,
        }
    }
}

impl Timeline {
    /// The clocks at the start of a frame.
    pub(crate) fn new(topology: &Topology, states: &States) -> Self {
        let queues = topology.queues.len();
        let mut now = Vec::with_capacity(queues * queues);
        for queue in topology.indices() {
            for of in topology.indices() {
                let known = states.clock_entry(queue, of);
                // Values fit: they count submissions.
                let value = known.value as i64 - states.base(of) as i64;
                let value = if known.value == 0 { NOTHING } else { value };
                let mut entry = Entry::of(value, false);
                entry.add(known.stages);
                now.push(entry);
            }
        }
        Self {
            queues,
            start: now.iter().map(|entry| entry.value).collect(),
            now,
            snapshots: Vec::new(),
            joined_now: (0..queues).map(|queue| 1 << queue).collect(),
            joined: Vec::new(),
            waits: Vec::new(),
            by_queue: vec![Vec::new(); queues],
            joins: Vec::new(),
        }
    }

    /// Opens the next submission of a queue and returns its value. Submissions are numbered in
    /// the order in which they are opened.
    pub(crate) fn open(&mut self, queue: QueueIndex) -> i64 {
        let submission = self.joined.len();
        let by_queue = &mut self.by_queue[usize::from(queue.0)];
        by_queue.push(submission);
        let value = by_queue.len() as i64;
        self.joined.push(0);
        self.waits.push(Vec::new());
        let count = self.snapshots.len() + self.queues;
        self.snapshots.resize(count, Entry::of(NOTHING, false));
        self.close(submission, queue, value);
        value
    }

    /// Stores the clock of a submission. Must be called again once the submission is complete.
    pub(crate) fn close(&mut self, submission: usize, queue: QueueIndex, value: i64) {
        let now = &self.now[usize::from(queue.0) * self.queues..][..self.queues];
        let snapshot = &mut self.snapshots[submission * self.queues..][..self.queues];
        snapshot.copy_from_slice(now);
        snapshot[usize::from(queue.0)] = Entry::of(value, true);
        self.joined[submission] = self.joined_now[usize::from(queue.0)];
    }

    /// The submission that signals a value of this frame.
    pub(crate) fn submission(&self, point: Point) -> Option<usize> {
        let index = usize::try_from(point.value - 1).ok()?;
        self.by_queue[usize::from(point.queue.0)]
            .get(index)
            .copied()
    }

    /// Whether a submission of this frame is ordered after a point.
    pub(crate) fn is_after(&self, submission: usize, point: Point) -> bool {
        let row = submission * self.queues;
        self.snapshots[row + usize::from(point.queue.0)].value >= point.value
    }

    /// The stages of a queue that waits order after a point. The point may be on the queue itself, if
    /// another queue waited for it and this queue waited for that queue: such waits make all memory
    /// visible, like any wait.
    pub(crate) fn ordered_by_waits(&self, queue: QueueIndex, point: Point) -> Stages {
        let entry = self.now[usize::from(queue.0) * self.queues + usize::from(point.queue.0)];
        entry.waiting(point.value)
    }

    /// Orders the submission that is being planned after a point, for the given stages. Returns
    /// stages that are ordered after the point. These may differ from `stages`; then a barrier has to
    /// chain from them. With `all` they are `stages`.
    pub(crate) fn require(
        &mut self,
        (at, queue): (usize, QueueIndex),
        point: Point,
        stages: Stages,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let entry = self.now[usize::from(queue.0) * self.queues + usize::from(point.queue.0)];
        if entry.value >= point.value {
            match entry.wait {
                Some((by, of)) if by == at => {
                    self.widen((at, queue), of, stages, reason);
                    return stages;
                }
                _ if entry.stages.covers(stages) => return stages,
                _ if !all => return entry.stages,
                _ => {}
            }
        }
        self.wait((at, queue), point, stages, reason);
        stages
    }

    /// Adds stages to an existing wait of a submission.
    fn widen(
        &mut self,
        (at, queue): (usize, QueueIndex),
        of: QueueIndex,
        stages: Stages,
        reason: Reason,
    ) {
        let row = usize::from(queue.0) * self.queues;
        let mut waits = self.waits[at].iter_mut();
        let Some(wait) = waits.find(|wait| wait.point.queue == of) else {
            unreachable!("a clock entry names a wait of its submission");
        };
        wait.stages = (wait.stages | stages).simplified();
        push_reason(&mut wait.reasons, reason);
        let (point, waiting) = (Point::from(wait.point), wait.stages);
        for other in 0..self.queues {
            // The widened wait covers an entry if it raised the entry, or implies its value.
            let implied = self.value_at(point, QueueIndex(other as u8));
            let entry = &mut self.now[row + other];
            if entry.wait == Some((at, of)) || entry.value <= implied {
                entry.add(waiting);
            }
        }
    }

    /// Orders a submission that was planned before after a point. Returns the stages from which a
    /// barrier at its end can chain: all stages or, without `all`, stages that already wait.
    pub(crate) fn require_late(
        &mut self,
        (at, queue): (usize, QueueIndex),
        point: Point,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let stages = Stages::ALL_COMMANDS;
        let row = at * self.queues;
        let known = self.snapshots[row + usize::from(point.queue.0)];
        if known.value >= point.value && (!all || known.stages.covers(stages)) {
            return known.stages;
        }
        // An existing wait for the same queue is raised to the later value, and an existing wait that
        // the new one implies is merged into it. The stages of either will wait for the point.
        let mut waits = self.waits[at].iter();
        let wait = waits
            .find(|wait| wait.point.queue == point.queue || self.implies(point, wait.point.into()));
        let stages = match wait {
            Some(wait) if !all => wait.stages,
            _ => stages,
        };
        self.wait((at, queue), point, stages, reason);
        let learned = self.snapshot(point);
        for (of, learned) in learned.into_iter().enumerate() {
            let known = &mut self.snapshots[row + of];
            if learned.value > known.value {
                *known = Entry { stages, ..learned };
            }
        }
        self.joined[at] |= self.joined_at(point);
        stages
    }

    /// Adds a wait, or raises the existing one for the queue, and raises the clock accordingly.
    fn wait(
        &mut self,
        (at, queue): (usize, QueueIndex),
        point: Point,
        stages: Stages,
        reason: Reason,
    ) {
        add_wait(&mut self.waits[at], point, stages, reason);
        let (of, stages) = self.merge_implied((at, queue), point.queue);
        let wait = Some((at, of));
        let row = usize::from(queue.0) * self.queues;
        for (of, learned) in self.snapshot(point).into_iter().enumerate() {
            let entry = &mut self.now[row + of];
            if learned.value > entry.value {
                *entry = Entry {
                    wait,
                    ..Entry::of(learned.value, learned.exact)
                };
                entry.add(stages);
            } else if entry.wait == wait || entry.value == learned.value {
                // More stages wait for the same value.
                entry.add(stages);
            }
        }
        let joined = self.joined_at(point) & !self.joined_now[usize::from(queue.0)];
        self.joined_now[usize::from(queue.0)] |= joined;
        let others = (0..self.queues as u8).filter(|other| joined & (1 << other) != 0);
        let others = others.map(QueueIndex);
        self.joins
            .extend(others.map(|of| Joined { queue, of, stages }));
    }

    /// Merges waits of a submission into the waits that imply them, as numbering does at the end, so
    /// that later requests find all stages that will wait. Returns the queue and the stages of the
    /// wait that the one for `of` is merged into.
    fn merge_implied(
        &mut self,
        (at, queue): (usize, QueueIndex),
        mut of: QueueIndex,
    ) -> (QueueIndex, Stages) {
        let row = usize::from(queue.0) * self.queues;
        let mut waits = std::mem::take(&mut self.waits[at]);
        let mut wait = 0;
        while wait < waits.len() {
            let Some(other) = implied_by(self, &waits, wait) else {
                wait += 1;
                continue;
            };
            let (dropped, kept) = merge(&mut waits, wait, other);
            let stages = kept.stages;
            let (from, to) = (Some((at, dropped)), Some((at, kept.point.queue)));
            for entry in &mut self.now[row..row + self.queues] {
                if entry.wait == from || entry.wait == to {
                    entry.wait = to;
                    entry.add(stages);
                }
            }
            if of == dropped {
                of = kept.point.queue;
            }
        }
        let wait = waits.iter().find(|wait| wait.point.queue == of);
        let stages = wait.map_or(Stages::empty(), |wait| wait.stages);
        self.waits[at] = waits;
        (of, stages)
    }

    /// Returns the entries that a wait for a point adds to a clock.
    fn snapshot(&self, point: Point) -> Vec<Entry> {
        let of = usize::from(point.queue.0);
        let mut learned = match self.submission(point) {
            Some(submission) => self.snapshots[submission * self.queues..][..self.queues].to_vec(),
            None if point.value == 0 => self.start[of * self.queues..][..self.queues]
                .iter()
                .map(|value| Entry::of(*value, false))
                .collect(),
            // An older submission of an earlier frame: its clock is not kept.
            None => vec![Entry::of(NOTHING, false); self.queues],
        };
        learned[of] = Entry::of(point.value, true);
        learned
    }

    /// The queues whose clocks at the start of the frame a wait for a point includes.
    fn joined_at(&self, point: Point) -> u32 {
        match self.submission(point) {
            Some(submission) => self.joined[submission],
            None if point.value == 0 => 1 << point.queue.0,
            None => 0,
        }
    }
}

/// The number of latest reasons that are compared. Equal reasons come from successive runs of a range,
/// while a barrier may be shared by thousands of passes, so a full search would be slow.
const REPEATED: usize = 16;

/// Adds a reason unless it has just been added.
pub(crate) fn push_reason(reasons: &mut Vec<Reason>, reason: Reason) {
    let recent = reasons.len().saturating_sub(REPEATED);
    if !reasons[recent..].contains(&reason) {
        reasons.push(reason);
    }
}

/// Drops waits that other waits imply, and adds their stages and reasons to those.
fn drop_implied(timeline: &Timeline, waits: &mut Vec<Wait>) {
    let mut at = 0;
    while at < waits.len() {
        match implied_by(timeline, waits, at) {
            None => at += 1,
            Some(other) => drop(merge(waits, at, other)),
        }
    }
}

/// The wait of a submission that implies one of its others, if there is one.
fn implied_by(timeline: &Timeline, waits: &[Wait], at: usize) -> Option<usize> {
    let point = Point::from(waits[at].point);
    let mut others = waits.iter();
    others.position(|other| timeline.implies(other.point.into(), point))
}

/// Merges one wait into another. Returns the queue of the dropped wait, and the wait that remains.
fn merge(waits: &mut Vec<Wait>, dropped: usize, kept: usize) -> (QueueIndex, &Wait) {
    let Wait {
        point,
        stages,
        reasons,
    } = waits.remove(dropped);
    let kept = &mut waits[kept - usize::from(dropped < kept)];
    kept.stages = (kept.stages | stages).simplified();
    for reason in reasons {
        push_reason(&mut kept.reasons, reason);
    }
    (point.queue, kept)
}

/// Adds a wait, or raises the existing one for the queue.
fn add_wait(waits: &mut Vec<Wait>, point: Point, stages: Stages, reason: Reason) {
    match waits
        .iter_mut()
        .find(|wait| wait.point.queue == point.queue)
    {
        Some(wait) => {
            wait.point.offset = wait.point.offset.max(point.value);
            wait.stages = (wait.stages | stages).simplified();
            push_reason(&mut wait.reasons, reason);
        }
        None => waits.push(Wait {
            point: RelativePoint {
                queue: point.queue,
                offset: point.value,
            },
            stages,
            reasons: vec![reason],
        }),
    }
}

impl Timeline {
    /// Takes the waits of a submission, without those that its other waits imply.
    pub(crate) fn take_waits(&mut self, submission: usize) -> Vec<Wait> {
        let mut waits = std::mem::take(&mut self.waits[submission]);
        drop_implied(self, &mut waits);
        waits
    }

    /// Whether a wait for one point implies a wait for another point of another queue.
    pub(crate) fn implies(&self, one: Point, other: Point) -> bool {
        one.queue != other.queue && self.value_at(one, other.queue) >= other.value
    }

    /// The value of a queue that a wait for a point implies.
    pub(crate) fn value_at(&self, point: Point, of: QueueIndex) -> i64 {
        let (queue, of) = (usize::from(point.queue.0), usize::from(of.0));
        match self.submission(point) {
            _ if queue == of => point.value,
            Some(submission) => self.snapshots[submission * self.queues + of].value,
            None if point.value == 0 => self.start[queue * self.queues + of],
            None => NOTHING,
        }
    }
}

impl Timeline {
    /// Returns the entries that the frame added to each queue's clock.
    pub(crate) fn learned(&self, numbers: &Numbers) -> (Vec<Learned>, Vec<Joined>) {
        let mut learned = Vec::new();
        for (at, entry) in self.now.iter().enumerate() {
            let queue = QueueIndex((at / self.queues) as u8);
            let of = QueueIndex((at % self.queues) as u8);
            if entry.exact && entry.wait.is_some() {
                let value = numbers.value(of, entry.value);
                learned.push(Learned {
                    queue,
                    of,
                    value,
                    stages: entry.stages,
                });
            }
        }
        (learned, self.joins.clone())
    }
}
