//! Rings: a fixed number of buffers or images that one stream writes in order and another reads.
//!
//! A ring has a few equal slots. The **producer** writes entry `n` to slot `n` modulo their number; the **consumer**
//! takes entries and reads them. Neither waits for the other on the host: the producer's write of a slot waits, on the
//! device, until the consumer has *returned* the slot's previous entry. The wait may be submitted long before the
//! signal (wait-before-signal). The producer's lead is bounded by its stream's frames in flight.
//!
//! Both sides may read an entry that the consumer has taken: the producer usually computes the next one from
//! it. So slots are concurrent if the device has several queue families, and images stay in the
//! layout for sampling.
//!
//! Entries are returned on a timeline of the ring, which the consumer's stream signals after it takes
//! a newer entry. When the consumer is dropped that timeline is signalled far ahead, so that no submission of the
//! producer waits forever.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use quadrille_sync::access::{Access, CustomAccess};
use quadrille_sync::flags::{Layout, Stages};
use quadrille_sync::resource::Sharing;
use quadrille_sync::states::{Handover, States, TimelinePoint};
use quadrille_sync::topology::QueueIndex;

use crate::device::Device;
use crate::device::batch::Batch;
use crate::device::gate::Point;
use crate::device::stream::Mailbox;
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::Timeline;
use crate::error::Error;
use crate::lock;
use crate::resources::handle::Handle;
use crate::submit::frames::Frames;

/// Increment of a ring's timeline at its end. The guaranteed minimum of
/// `maxTimelineSemaphoreValueDifference` is 2^31 - 1.
const FAR: u64 = 1 << 30;

/// The writing side of a ring.
pub struct Producer {
    ring: Arc<Ring>,
    /// Number of the entry to write next.
    next: u64,
    /// Whether the slot of that entry is reserved.
    reserved: bool,
}

/// The reading side of a ring. Attach it to the stream that reads: see [`Frames::attach`].
pub struct Consumer {
    ring: Arc<Ring>,
}

/// Error: the consumer of a ring was dropped, or its stream is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other side of the ring is gone")]
pub struct Closed;

/// An entry that was reserved by the producer or taken by the consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingEntry {
    /// Number of the entry, from 1 on.
    pub number: u64,
    /// Buffer or image with the contents. A consumer may read it until it takes the next entry.
    pub slot: Handle,
}

/// State that the two sides share.
pub(crate) struct Ring {
    device: Arc<Device>,
    slots: Vec<Handle>,
    /// The index of the timeline on which entries are returned.
    index: usize,
    /// The value of that timeline at the ring's creation; entry numbers start from it.
    base: u64,
    returns: Arc<Timeline>,
    state: Mutex<State>,
    published: Condvar,
}

#[derive(Default)]
struct State {
    /// Entries that are published but not taken.
    published: VecDeque<(u64, Handover)>,
    /// Number of the last entry taken.
    taken: u64,
    /// Handover of a taken entry, not yet imported to the states of the reading stream.
    arriving: Option<Handover>,
    /// Number of the last entry whose return was submitted.
    returned: u64,
    /// Whether the consumer was dropped.
    closed: bool,
    /// Whether the timeline was signalled far ahead, so that nothing waits for returns.
    released: bool,
    /// Whether the producer was dropped.
    ended: bool,
    /// Whether a stream reads the ring, and is responsible for its final signal.
    attached: bool,
}

/// Signal due on a stream's queue before its next frame.
pub(crate) struct Return {
    ring: Arc<Ring>,
    value: u64,
    /// The last uses of the returned entries.
    after: Vec<TimelinePoint>,
}

impl Ring {
    /// Creates a ring of these slots; see [`Gpu::ring`](crate::device::Gpu::ring).
    pub(crate) fn open(
        device: &Arc<Device>,
        name: &str,
        slots: Vec<Handle>,
    ) -> Result<(Producer, Consumer), Error> {
        let invalid = |problem: String| {
            Err(Error::Invalid {
                name: name.to_owned(),
                problem,
            })
        };
        if slots.len() < 2 {
            let count = slots.len();
            return invalid(format!("a ring needs two slots at least, not {count}"));
        }
        for (at, slot) in slots.iter().enumerate() {
            if slots[..at].iter().any(|other| other.id() == slot.id()) {
                return invalid(format!("{} is in the ring twice", slot.name()));
            }
            let owned = slot.declare().sharing == Sharing::Exclusive;
            if owned && device.families().len() > 1 {
                return invalid(format!(
                    "{} is exclusive, and two queue families may read it at a time; make it with \
                     `.with_sharing(Sharing::Concurrent)`",
                    slot.name()
                ));
            }
        }
        let (index, returns) = device.timelines.take(device, name)?;
        device.note_timelines();
        let base = returns.submitted();
        let state = State {
            taken: base,
            returned: base,
            ..State::default()
        };
        let ring = Arc::new(Self {
            device: Arc::clone(device),
            slots,
            index,
            base,
            returns,
            state: Mutex::new(state),
            published: Condvar::new(),
        });
        let producer = Producer {
            ring: Arc::clone(&ring),
            next: base + 1,
            reserved: false,
        };
        Ok((producer, Consumer { ring }))
    }

    /// The slot of an entry; numbers start at `base + 1`.
    fn slot(&self, turn: u64) -> &Handle {
        let number = turn.saturating_sub(self.base + 1);
        &self.slots[(number % self.slots.len() as u64) as usize]
    }

    /// Signals the timeline far ahead, which ends all waits for returned entries. The consumer's side must no longer
    /// use the slots, and no return may be pending.
    fn release(&self) {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.released, true) {
            return;
        }
        let value = self.returns.submitted() + FAR;
        self.device.signal(self.index, &self.returns, value);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let timeline = Arc::clone(&self.returns);
        self.device.leave_timeline(self.index, timeline);
    }
}

impl Producer {
    /// Reserves the slot of the next entry, to be written in the frame that is being recorded by the stream
    /// with these states. Returns the same entry until it is published.
    ///
    /// # Errors
    /// [`Closed`] if the consumer is gone.
    pub fn reserve(&mut self, states: &mut States) -> Result<RingEntry, Closed> {
        if lock(&self.ring.state).closed {
            return Err(Closed);
        }
        let slot = self.ring.slot(self.next).clone();
        let before = self.next - self.ring.slots.len().min(self.next as usize) as u64;
        if !self.reserved && before > self.ring.base {
            let done = TimelinePoint {
                queue: QueueIndex(self.ring.index as u8),
                value: before,
            };
            states.returned(slot.id(), done);
        }
        states.prepare_to_lend(slot.id());
        self.reserved = true;
        Ok(RingEntry {
            number: self.next - self.ring.base,
            slot,
        })
    }

    /// Returns the access to declare in a last pass of the frame that writes an entry; `None` if none is needed. It
    /// transitions images to the layout for sampling.
    pub fn publish_access(&self) -> Option<Access> {
        let is_image = matches!(self.ring.slots[0], Handle::Image(_));
        is_image.then_some(Access::Custom(CustomAccess {
            stages: Stages::ALL_COMMANDS,
            access: quadrille_sync::flags::AccessMask::MEMORY_READ,
            layout: Layout::ShaderReadOnlyOptimal,
            writes: false,
        }))
    }

    /// Makes the reserved entry available to the consumer. The frame that writes it must have been
    /// submitted and committed to these states.
    pub fn publish(&mut self, states: &mut States) {
        let slot = self.ring.slot(self.next);
        let lent = self.reserved.then(|| states.lend(slot.id())).flatten();
        let Some(handover) = lent else {
            tracing::error!(
                "a turn of {} is published without being written",
                slot.name()
            );
            return;
        };
        lock(&self.ring.state)
            .published
            .push_back((self.next, handover));
        self.ring.published.notify_all();
        self.next += 1;
        self.reserved = false;
    }

    /// Whether the consumer is gone.
    pub fn is_closed(&self) -> bool {
        lock(&self.ring.state).closed
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        lock(&self.ring.state).ended = true;
        self.ring.published.notify_all();
    }
}

impl Consumer {
    /// Takes the newest published entry and skips older ones; `None` if there is no new one.
    ///
    /// The entry taken before is returned with the next frame that the stream submits, and must not be
    /// used in it.
    pub fn take_newest(&mut self) -> Option<RingEntry> {
        let mut state = lock(&self.ring.state);
        let newest = state.published.drain(..).next_back()?;
        Some(self.arrive(&mut state, newest))
    }

    /// Takes the next entry; `None` if it is not published yet.
    pub fn take_next(&mut self) -> Option<RingEntry> {
        let mut state = lock(&self.ring.state);
        let next = state.published.pop_front()?;
        Some(self.arrive(&mut state, next))
    }

    /// Waits until there is an entry to take or the producer is gone, and returns whether there is one.
    pub fn wait(&self, timeout: Duration) -> bool {
        let mut limit = TimeLimit::new(timeout);
        let mut state = lock(&self.ring.state);
        while state.published.is_empty() && !state.ended && !limit.is_over() {
            let waited = limit.wait(|slice| self.ring.published.wait_timeout(state, slice));
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        !state.published.is_empty()
    }

    /// Whether the producer is gone and all published entries were taken.
    pub fn is_ended(&self) -> bool {
        let state = lock(&self.ring.state);
        state.ended && state.published.is_empty()
    }

    fn arrive(&self, state: &mut State, (number, handover): (u64, Handover)) -> RingEntry {
        state.taken = number;
        state.arriving = Some(handover);
        RingEntry {
            number: number - self.ring.base,
            slot: self.ring.slot(number).clone(),
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let attached = {
            let mut state = lock(&self.ring.state);
            state.closed = true;
            state.attached
        };
        if !attached {
            self.ring.release();
        }
    }
}

impl Frames {
    /// Makes this stream the reader of a ring: it imports the entries that the consumer takes, and returns them.
    pub fn attach(&mut self, consumer: &Consumer) {
        lock(&consumer.ring.state).attached = true;
        self.rings.push(Arc::clone(&consumer.ring));
    }

    /// Imports changes of other streams to the states. Call it before each frame is planned, after its handles are
    /// known.
    pub fn exchange(&mut self, states: &mut States) {
        if let Some(mailbox) = &self.mailbox {
            forget(mailbox, states);
        }
        self.returns.clear();
        for ring in &self.rings {
            let mut state = lock(&ring.state);
            if state.released {
                continue;
            }
            let returning = if state.closed {
                state.returned.max(ring.returns.submitted()) + FAR
            } else {
                state.taken.saturating_sub(1)
            };
            if returning > state.returned {
                let mut after: Vec<TimelinePoint> = Vec::new();
                let kept = (!state.closed).then(|| ring.slot(state.taken).id());
                for slot in &ring.slots {
                    if Some(slot.id()) != kept {
                        states.give_back(slot.id());
                    }
                    // Include uses of the current slot, which may have held an earlier entry.
                    after.extend(states.last_uses(slot.id()));
                }
                self.returns.push(Return {
                    ring: Arc::clone(ring),
                    value: returning,
                    after,
                });
            }
            if let Some(handover) = state.arriving.take() {
                states.take(handover);
            }
        }
        self.rings.retain(|ring| !lock(&ring.state).released);
    }

    /// Takes the batches that return entries: one for each ring, with its lane.
    pub(crate) fn take_returns(&mut self) -> Vec<(usize, Batch)> {
        let mut batches = Vec::new();
        for returned in std::mem::take(&mut self.returns) {
            let Return { ring, value, after } = returned;
            let own = |point: &TimelinePoint| self.lane(usize::from(point.queue.0)).is_some();
            let last = after
                .iter()
                .filter(|point| own(point))
                .max_by_key(|point| point.value);
            let lane = last.map_or(self.first, |point| usize::from(point.queue.0));
            let mut batch = Batch::default();
            for point in after.iter().filter(|point| own(point)) {
                let timeline = usize::from(point.queue.0);
                // Earlier work of the same queue precedes the signal without a wait.
                if let (true, Some(other)) = (timeline != lane, self.lane(timeline)) {
                    let point = Point {
                        timeline,
                        value: point.value,
                    };
                    batch.wait(
                        &other.timeline,
                        point,
                        ash::vk::PipelineStageFlags2::ALL_COMMANDS,
                    );
                }
            }
            let point = Point {
                timeline: ring.index,
                value,
            };
            batch.signal(&ring.returns, point);
            batches.push((lane, batch));
            ring.returns.note_submitted(value);
            let mut state = lock(&ring.state);
            state.returned = value;
            state.released = state.closed;
        }
        batches
    }

    /// Ends the waits of other streams for entries that this stream would have returned. All its submissions must be
    /// complete, returns included.
    pub(crate) fn release_rings(&mut self) {
        for ring in self.rings.drain(..) {
            lock(&ring.state).closed = true;
            ring.release();
        }
    }

    /// The timelines of rings that this stream signals.
    pub(crate) fn ring_timelines(&self) -> impl Iterator<Item = &Arc<Timeline>> {
        self.rings.iter().map(|ring| &ring.returns)
    }
}

/// Removes destroyed resources from the states, since their ids are reused.
fn forget(mailbox: &Mailbox, states: &mut States) {
    for id in lock(&mailbox.forgotten).drain(..) {
        states.remove(id);
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Producer(turn {} is next)", self.next)
    }
}

impl std::fmt::Debug for Consumer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = lock(&self.ring.state);
        write!(formatter, "Consumer(turn {} is taken)", state.taken)
    }
}
