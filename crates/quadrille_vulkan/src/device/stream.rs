//! Streams: threads that plan and submit independently of the main loop.
//!
//! A stream is a separate [`Frames`] with its own timeline, used with its own [`States`](quadrille_sync::states::States).
//! Resources are handed over between streams by value; see [`Handover`](quadrille_sync::states::Handover) and
//! [`ring`](crate::device::Gpu::ring).
//!
//! A stream has one queue. If a suitable queue has not been used by the main loop yet, the stream owns it
//! exclusively, and the main loop plans without it; a wait may then be submitted before its signal.
//! Else the stream shares a queue, and its submissions are held back until their waits are certain
//! to end (see [`gate`](crate::device::gate)).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::{Capabilities, Queue, Topology};

use crate::device::Device;
use crate::device::batch::{Batch, RETRIES, queue_submit};
use crate::device::gate::{Entry, Gate, Point};
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::Timeline;
use crate::error::{Error, FrameError};
use crate::lock;

/// Time that tear-down waits for the threads of streams.
const JOIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Description of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDesc {
    /// Name in errors and debuggers.
    pub name: String,
    /// Required capabilities of its queue.
    pub capabilities: Capabilities,
    /// Whether to share a queue even if an unused one is available.
    pub shared: bool,
}

impl StreamDesc {
    /// Description of a stream for compute and copies.
    pub fn compute(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            capabilities: Capabilities::COMPUTE | Capabilities::TRANSFER,
            shared: false,
        }
    }
}

/// A stream's timeline on a queue.
pub(crate) struct Lane {
    /// The timeline that it signals.
    pub timeline: Arc<Timeline>,
    /// Index of its queue among those of the device.
    pub queue: usize,
}

/// Messages from other threads to a stream.
#[derive(Default)]
pub(crate) struct Mailbox {
    /// Ids of destroyed resources, to be removed from the stream's states.
    pub forgotten: Mutex<Vec<ResourceId>>,
    /// Whether the stream should end.
    pub stop: AtomicBool,
}

/// Destroys objects that no queue uses any more.
pub(crate) type Destroy = Box<dyn FnOnce(&Device) + Send>;

/// Objects that a dropped stream leaves to the device.
struct LeftOver {
    /// Destroys the objects of its submissions once those are complete.
    destroy: Option<Destroy>,
    lane: usize,
    timeline: Arc<Timeline>,
    /// Index of its queue; `None` for rings.
    queue: Option<usize>,
}

/// Users of a queue.
#[derive(Clone, Copy, Default)]
struct QueueUse {
    /// Whether one stream owns it exclusively.
    reserved: bool,
    /// Number of streams that share it with the main loop.
    shared_by: u32,
}

/// The streams of a device.
pub(crate) struct Streams {
    table: Mutex<Table>,
    gate: Mutex<Gate<DeferredBatch>>,
    /// Notified when a submission becomes certain.
    moved: Condvar,
    /// Lanes whose held-back submission failed.
    failed: Mutex<Vec<(usize, vk::Result)>>,
}

#[derive(Default)]
struct Table {
    /// Incremented by changes that invalidate topologies.
    version: u64,
    queues: Vec<QueueUse>,
    mailboxes: Vec<Arc<Mailbox>>,
    left_over: Vec<LeftOver>,
    threads: Vec<JoinHandle<()>>,
}

/// A submission that is held back.
pub(crate) struct DeferredBatch {
    queue: usize,
    batch: Batch,
}

impl Streams {
    /// Creates the state of a device with this number of queues and no streams.
    pub(crate) fn new(queues: usize) -> Self {
        let mut gate = Gate::default();
        gate.grow(queues);
        let table = Table {
            queues: vec![QueueUse::default(); queues],
            ..Table::default()
        };
        Self {
            table: Mutex::new(table),
            gate: Mutex::new(gate),
            moved: Condvar::new(),
            failed: Mutex::default(),
        }
    }

    /// Version number that changes with the assignment of queues to streams.
    pub(crate) fn version(&self) -> u64 {
        lock(&self.table).version
    }

    /// Whether any stream exists besides the main loop.
    pub(crate) fn are_there(&self) -> bool {
        !lock(&self.table).mailboxes.is_empty()
    }

    /// Makes every stream remove a resource, whose id will be reused, from its states.
    pub(crate) fn forget(&self, id: ResourceId) {
        for mailbox in &lock(&self.table).mailboxes {
            lock(&mailbox.forgotten).push(id);
        }
    }

    /// Registers a thread for tear-down to join.
    pub(crate) fn add_thread(&self, thread: JoinHandle<()>) {
        lock(&self.table).threads.push(thread);
    }

    /// Signals all streams to stop.
    pub(crate) fn stop(&self) {
        for mailbox in &lock(&self.table).mailboxes {
            mailbox.stop.store(true, Ordering::Release);
        }
    }

    /// Joins the threads of streams. They must have been signalled to stop, and their waits must have ended.
    pub(crate) fn join(&self) {
        let mut limit = TimeLimit::new(JOIN_TIMEOUT);
        let threads = std::mem::take(&mut lock(&self.table).threads);
        for thread in threads {
            let ended = limit.until(|_| thread.is_finished().then_some(()));
            if ended.is_none() {
                tracing::error!("the thread of a stream does not come to its end; it is left");
            } else if thread.join().is_err() {
                tracing::error!("the thread of a stream has panicked");
            }
        }
    }
}

impl Device {
    /// Returns the topology for a stream whose lanes have the indices from `first` on.
    pub(crate) fn topology_of(&self, first: usize, lanes: &[Lane]) -> Topology {
        let table = lock(&self.streams.table);
        let count = self.timelines.count();
        let mut topology = self.topology.clone();
        for queue in &mut topology.queues {
            queue.capabilities = Capabilities::empty();
            queue.can_present = false;
        }
        let foreign = topology.queues[0].clone();
        topology.queues.resize(count, foreign);
        for (at, lane) in lanes.iter().enumerate() {
            if first > 0 || !table.queues[lane.queue].reserved {
                topology.queues[first + at] = self.topology.queues[lane.queue].clone();
            }
        }
        topology
    }

    /// Opens a lane for a new stream, and returns it with its index.
    pub(crate) fn open_lane(&self, desc: &StreamDesc) -> Result<(usize, Lane), Error> {
        self.reap();
        let mut table = lock(&self.streams.table);
        let (queue, alone) = self.choose_queue(&table, desc)?;
        let (index, timeline) = self.timelines.take(self, &desc.name)?;
        let mut gate = lock(&self.streams.gate);
        gate.grow(self.timelines.count());
        gate.set_direct(index, alone);
        if alone {
            table.queues[queue].reserved = true;
        } else {
            table.queues[queue].shared_by += 1;
            gate.set_direct(queue, false);
        }
        table.version += 1;
        tracing::info!(
            stream = %desc.name, queue, alone, "a stream on queue {queue}"
        );
        Ok((index, Lane { timeline, queue }))
    }

    /// Adds new timelines to the gate.
    pub(crate) fn note_timelines(&self) {
        let mut table = lock(&self.streams.table);
        table.version += 1;
        lock(&self.streams.gate).grow(self.timelines.count());
    }

    /// Chooses the queue of a stream. Returns its index and whether the stream owns it exclusively.
    fn choose_queue(&self, table: &Table, desc: &StreamDesc) -> Result<(usize, bool), Error> {
        let queues = &self.topology.queues;
        let suits = |at: &usize| {
            queues[*at].capabilities.contains(desc.capabilities) && !table.queues[*at].reserved
        };
        let needless = |queue: &Queue| {
            let extra = queue.capabilities.difference(desc.capabilities);
            extra.bits().count_ones()
        };
        // The main loop keeps its main queue, and all queues that it has used.
        let untouched = |at: &usize| {
            let used = self.queues[*at].timeline.submitted() > 0;
            *at > 0 && !used && table.queues[*at].shared_by == 0 && !desc.shared
        };
        let all = 0..queues.len();
        let free = all.clone().filter(suits).filter(untouched);
        if let Some(queue) = free.min_by_key(|at| needless(&queues[*at])) {
            return Ok((queue, true));
        }
        let shared = all.filter(suits);
        let shared = shared.min_by_key(|at| (*at == 0, needless(&queues[*at])));
        shared
            .map(|queue| (queue, false))
            .ok_or_else(|| Error::Invalid {
                name: desc.name.clone(),
                problem: format!(
                    "no queue of {} that other streams do not have to themselves can do {:?}",
                    self.topology, desc.capabilities
                ),
            })
    }

    /// Creates the mailbox of a new stream.
    pub(crate) fn open_mailbox(&self) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        lock(&self.streams.table)
            .mailboxes
            .push(Arc::clone(&mailbox));
        mailbox
    }

    /// Takes over the objects of a dropped stream, until its submissions are complete.
    pub(crate) fn retire_stream(
        &self,
        mailbox: &Arc<Mailbox>,
        destroy: Destroy,
        first: usize,
        lanes: Vec<Lane>,
    ) {
        let mut table = lock(&self.streams.table);
        table.mailboxes.retain(|known| !Arc::ptr_eq(known, mailbox));
        let mut destroy = Some(destroy);
        for (at, lane) in lanes.into_iter().enumerate() {
            table.left_over.push(LeftOver {
                destroy: destroy.take(),
                lane: first + at,
                timeline: lane.timeline,
                queue: Some(lane.queue),
            });
        }
    }

    /// Takes over the timeline of a dropped ring, until all its signals have completed.
    pub(crate) fn leave_timeline(&self, index: usize, timeline: Arc<Timeline>) {
        lock(&self.streams.table).left_over.push(LeftOver {
            destroy: None,
            lane: index,
            timeline,
            queue: None,
        });
    }

    /// Destroys objects of dropped streams that the device no longer uses.
    pub(crate) fn reap(&self) {
        self.reap_if(|left| {
            let submitted = left.timeline.submitted();
            let done = self
                .timelines
                .has_reached(self, (&left.timeline, submitted));
            done.unwrap_or(false)
        });
    }

    fn reap_if(&self, is_done: impl Fn(&mut LeftOver) -> bool) {
        let mut table = lock(&self.streams.table);
        let Table {
            left_over,
            queues,
            version,
            ..
        } = &mut *table;
        for mut left in left_over.extract_if(.., is_done) {
            if let Some(destroy) = left.destroy.take() {
                destroy(self);
            }
            self.timelines.give_back(left.lane);
            let Some(queue) = left.queue else { continue };
            let queue_use = &mut queues[queue];
            if queue_use.shared_by > 0 {
                queue_use.shared_by -= 1;
                if queue_use.shared_by == 0 {
                    lock(&self.streams.gate).set_direct(queue, true);
                }
            } else {
                queue_use.reserved = false;
            }
            *version += 1;
        }
    }

    /// Waits for the submissions of dropped streams, and destroys their objects. No stream may submit any more.
    pub(crate) fn reap_all(&self, timeout: Duration) -> bool {
        let timelines: Vec<_> = lock(&self.streams.table)
            .left_over
            .iter()
            .map(|left| Arc::clone(&left.timeline))
            .collect();
        let mut limit = TimeLimit::new(timeout);
        for timeline in timelines {
            let waited = timeline.wait_for_proof(self, timeline.submitted(), &mut limit);
            if waited.is_err() && !self.is_lost_for_certain() {
                return false;
            }
        }
        self.reap_if(|_| true);
        true
    }

    /// Submits a run of batches of one lane, or holds back those that are not certain; then submits held-back ones that
    /// have become certain.
    pub(crate) fn submit_run(
        &self,
        lane: usize,
        queue: usize,
        batches: Vec<Batch>,
        retries: u32,
    ) -> Result<(), vk::Result> {
        let mut gate = lock(&self.streams.gate);
        let outcome = if runs_at_once(&gate, lane, &batches) {
            queue_submit(self, queue, &batches, retries).map(|()| {
                for batch in &batches {
                    gate.signalled(&batch.signal_points);
                }
            })
        } else {
            self.push_each(&mut gate, lane, queue, batches)
        };
        self.release(&mut gate);
        outcome
    }

    fn push_each(
        &self,
        gate: &mut Gate<DeferredBatch>,
        lane: usize,
        queue: usize,
        batches: Vec<Batch>,
    ) -> Result<(), vk::Result> {
        for batch in batches {
            let entry = Entry {
                waits: batch.wait_points.clone(),
                signals: batch.signal_points.clone(),
                work: DeferredBatch { queue, batch },
            };
            if let Some(DeferredBatch { queue, batch }) = gate.push(lane, entry) {
                queue_submit(self, queue, &[batch], RETRIES)?;
            }
        }
        Ok(())
    }

    /// Submits held-back batches that have become certain.
    fn release(&self, gate: &mut Gate<DeferredBatch>) {
        while let Some((lane, DeferredBatch { queue, batch })) = gate.next() {
            if let Err(result) = queue_submit(self, queue, &[batch], RETRIES) {
                tracing::error!("a submission that was held back fails: {result}");
                lock(&self.streams.failed).push((lane, result));
            }
        }
        self.streams.moved.notify_all();
    }

    /// Waits until everything that these signals depend on is submitted.
    pub(crate) fn wait_certain(&self, points: &[Point], timeout: Duration) -> bool {
        let mut limit = TimeLimit::new(timeout);
        let mut gate = lock(&self.streams.gate);
        while !gate.are_certain(points) {
            // The loss of the device does not notify `moved`.
            if limit.is_over() || self.is_lost() {
                return false;
            }
            let waited = limit.wait(|slice| self.streams.moved.wait_timeout(gate, slice));
            gate = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        true
    }

    /// Signals a timeline from the host. No signal of it may be pending.
    pub(crate) fn signal(&self, index: usize, timeline: &Timeline, value: u64) {
        let mut gate = lock(&self.streams.gate);
        timeline.note_submitted(value);
        if let Err(result) = timeline.signal(self, value) {
            tracing::error!("vkSignalSemaphore fails: {result}");
        }
        gate.signalled(&[Point {
            timeline: index,
            value,
        }]);
        self.release(&mut gate);
    }

    /// Returns the error of a held-back submission of these lanes.
    pub(crate) fn held_back_failure(&self, first: usize, lanes: usize) -> Result<(), FrameError> {
        let mut failed = lock(&self.streams.failed);
        let mine = |(lane, _): &(usize, vk::Result)| (first..first + lanes).contains(lane);
        let Some(at) = failed.iter().position(mine) else {
            return Ok(());
        };
        let (_, result) = failed.remove(at);
        let call = "vkQueueSubmit2";
        Err(match self.loss() {
            Some(call) => FrameError::DeviceLost { call },
            None => FrameError::PartlySubmitted { call, result },
        })
    }
}

/// Whether a whole run can be submitted in one call.
fn runs_at_once(gate: &Gate<DeferredBatch>, lane: usize, batches: &[Batch]) -> bool {
    let mut own = 0;
    gate.is_empty(lane)
        && batches.iter().all(|batch| {
            let mut waits = batch.wait_points.iter();
            let certain = waits.all(|wait| {
                wait.timeline == lane && wait.value <= own || gate.are_certain(&[*wait])
            });
            let signals = batch.signal_points.iter();
            let signals = signals.filter(|signal| signal.timeline == lane);
            own = signals.map(|signal| signal.value).fold(own, u64::max);
            certain
        })
}
