//! Frames: pacing, progress, and which stream submits to which queues.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use quadrille_sync::{Progress, QueueIndex, States, TimelinePoint, Topology};

use crate::device::fault;
use crate::device::retire::Waiting;
use crate::device::stream::{Lane, Mailbox, StreamDesc};
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::Timeline;
use crate::device::{Device, DeviceQueue};
use crate::error::{Error, FrameError};
use crate::record::call_cache::CallCaches;
use crate::record::pools::Pools;
use crate::record::timing::{DeviceTimes, Timing};
use crate::submit::ring::{Return, Ring};
use crate::submit::transient::Transients;
use crate::submit::watch::Watch;

/// A host wait for a value of a timeline.
type Wait = fn(&Timeline, &Device, u64, &mut TimeLimit) -> Result<(), vk::Result>;

/// How long dropping waits for the device.
const DROP_TIMEOUT: Duration = Duration::from_secs(5);

/// A runner of frames: the main loop, which has all queues of a device, or a stream beside it
/// (see [`Gpu::stream`](crate::Gpu::stream)), which has one.
///
/// ```text
/// begin -> (acquire windows) -> exchange -> (place_transients) -> plan -> record -> submit
///       -> States::commit -> retire
/// ```
///
/// A step that fails before `submit` leaves nothing behind: the frame is simply not submitted, and
/// the next `begin` makes its command buffers usable again.
pub struct Frames {
    pub(crate) device: Arc<Device>,
    /// One per frame in flight.
    pub(crate) slots: Vec<Slot>,
    /// The slot of the frame that has begun last.
    pub(crate) current: usize,
    /// How many frames have begun.
    pub(crate) number: u64,
    /// The encoded calls of lists in earlier frames.
    pub(crate) call_caches: CallCaches,
    /// A frame is recorded and not submitted; nothing may be retired between.
    pub(crate) recorded: bool,
    /// Only part of a frame was submitted; nothing is true any more.
    pub(crate) broken: bool,
    /// The submitted work, for reports of hangs.
    pub(crate) watch: Watch,
    /// The index of its first timeline among those of the device.
    pub(crate) first: usize,
    /// The queues that it submits to.
    pub(crate) lanes: Vec<Lane>,
    /// The topology that it plans for.
    pub(crate) topology: Topology,
    /// The version of the device's streams that `topology` is of.
    version: u64,
    /// Where others leave word; the main loop has none.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    /// The rings that it reads.
    pub(crate) rings: Vec<Arc<Ring>>,
    /// The ring entries that the next frame returns.
    pub(crate) returns: Vec<Return>,
    waiting: Waiting,
    /// The memory of transient resources.
    pub(crate) transients: Transients,
    /// Measures frames on the device, if that is wanted.
    pub(crate) timing: Option<Timing>,
}

/// Resources that a frame in flight owns.
#[derive(Default)]
pub(crate) struct Slot {
    pub pools: Pools,
    /// Per lane, the value that is reached when the frame is done.
    pub done: Vec<u64>,
}

/// The frame that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSlot {
    /// The index of the frame in flight: below [`Gpu::frames_in_flight`]. Resources kept once per
    /// frame in flight (upload buffers, say) are free again at this index.
    ///
    /// [`Gpu::frames_in_flight`]: crate::Gpu::frames_in_flight
    pub index: usize,
    /// How many frames began before it.
    pub number: u64,
}

impl Frames {
    /// The main loop's: all queues.
    pub(crate) fn new(device: &Arc<Device>) -> Self {
        let lane = |(queue, of): (usize, &DeviceQueue)| Lane {
            timeline: Arc::clone(&of.timeline),
            queue,
        };
        let lanes = device.queues.iter().enumerate().map(lane).collect();
        Self::on(device, 0, lanes, None)
    }

    /// A stream's: one queue.
    pub(crate) fn stream(device: &Arc<Device>, desc: &StreamDesc) -> Result<Self, Error> {
        let (first, lane) = device.open_lane(desc)?;
        let mailbox = device.open_mailbox();
        Ok(Self::on(device, first, vec![lane], Some(mailbox)))
    }

    fn on(
        device: &Arc<Device>,
        first: usize,
        lanes: Vec<Lane>,
        mailbox: Option<Arc<Mailbox>>,
    ) -> Self {
        // Another owner may have gone before; what it submitted is to be waited for as ours is.
        let done: Vec<u64> = lanes.iter().map(|lane| lane.timeline.submitted()).collect();
        let slot = || Slot {
            pools: Pools::default(),
            done: done.clone(),
        };
        Self {
            device: Arc::clone(device),
            slots: (0..device.frames_in_flight).map(|_| slot()).collect(),
            current: 0,
            number: 0,
            call_caches: CallCaches::default(),
            recorded: false,
            broken: false,
            watch: Watch::new(lanes.len()),
            first,
            version: device.streams.version(),
            topology: device.topology_of(first, &lanes),
            lanes,
            mailbox,
            rings: Vec::new(),
            returns: Vec::new(),
            waiting: Waiting::default(),
            transients: Transients::default(),
            timing: None,
        }
    }

    /// Returns the topology to plan frames for: the queues of this stream, and the timelines of others.
    /// It changes when streams and rings are added or removed; `begin` brings it up to date.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The states to begin with: nothing is known but how far the timelines have got.
    pub fn states(&self) -> States {
        States::starting_at(&self.device.timelines.submitted()[..self.topology.queues.len()])
    }

    /// The lane with this timeline, if it is this stream's.
    pub(crate) fn lane(&self, timeline: usize) -> Option<&Lane> {
        self.lanes.get(timeline.checked_sub(self.first)?)
    }

    /// Whether the stream is to come to its end: the main loop has, or a ring's other
    /// side.
    pub fn is_stopping(&self) -> bool {
        let mailbox = self.mailbox.as_ref();
        mailbox.is_some_and(|mailbox| mailbox.stop.load(Ordering::Acquire))
    }

    /// Begins a frame: waits until the frame that last used its slot is done on all queues, so
    /// that the CPU is never more than [`Gpu::frames_in_flight`] ahead.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on; the frame can be begun again.
    ///
    /// [`Gpu::frames_in_flight`]: crate::Gpu::frames_in_flight
    pub fn begin(&mut self, timeout: Duration) -> Result<FrameSlot, FrameError> {
        if let Some(call) = self.device.loss() {
            // A call that returns no error may have noticed, such as one that queries a fence.
            return Err(FrameError::DeviceLost { call });
        }
        let next = (self.number % self.slots.len() as u64) as usize;
        let done = std::mem::take(&mut self.slots[next].done);
        let waited = self.wait_values(&done, timeout);
        if waited.is_ok() {
            for (lane, &value) in done.iter().enumerate() {
                self.watch.reached(lane, value);
            }
        }
        self.slots[next].done = done;
        waited?;
        if let Some(timing) = &mut self.timing {
            timing.take(&self.device, next);
        }
        let version = self.device.streams.version();
        if version != self.version {
            self.version = version;
            self.topology = self.device.topology_of(self.first, &self.lanes);
        }
        self.slots[next]
            .pools
            .reset(&self.device)
            .map_err(FrameError::vulkan(&self.device, "vkResetCommandPool"))?;
        self.transients.count_frame();
        let number = self.number;
        self.number += 1;
        self.current = next;
        self.recorded = false;
        Ok(FrameSlot {
            index: next,
            number,
        })
    }

    /// Whether it is measured when passes of all frames run on the device.
    pub fn is_measured(&self) -> bool {
        self.timing.as_ref().is_some_and(|it| it.frames.is_none())
    }

    /// Measures from now on, or no more, when passes run on the device. Costs a timestamp a pass.
    pub fn measure(&mut self, wanted: bool) {
        if wanted {
            self.timing().frames = None;
        } else if let Some(timing) = &mut self.timing {
            timing.frames = Some(0);
        }
    }

    /// Measures when passes of the next so many frames run on the device, if not all are measured.
    pub fn measure_next(&mut self, frames: u32) {
        if !self.is_measured() {
            self.timing().frames = Some(frames);
        }
    }

    fn timing(&mut self) -> &mut Timing {
        self.timing.get_or_insert_with(|| Timing::new(&self.device))
    }

    /// The times of the frame that was done last, once: of the frame before the one that
    /// [`Frames::begin`] made room for. `None` unless it was measured.
    pub fn device_times(&mut self) -> Option<DeviceTimes> {
        self.timing.as_mut()?.last.take()
    }

    /// How far each queue has got.
    ///
    /// # Errors
    /// The device is lost.
    pub fn progress(&self) -> Result<Progress, FrameError> {
        let values = self.device.timelines.reached(&self.device);
        let values = values.map_err(FrameError::vulkan(
            &self.device,
            "vkGetSemaphoreCounterValue",
        ))?;
        Ok(Progress { values })
    }

    /// Waits for timeline points: for what a host pass needs, or for a readback.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on.
    pub fn wait(&self, points: &[TimelinePoint], timeout: Duration) -> Result<(), FrameError> {
        let mut values = vec![0; self.lanes.len()];
        for point in points {
            let at = usize::from(point.queue.0).checked_sub(self.first);
            match at.and_then(|at| values.get_mut(at)) {
                Some(value) => *value = point.value.max(*value),
                None => {
                    let problem = format!("queue {} is not this stream's", point.queue.0);
                    return Err(FrameError::Mismatch { problem });
                }
            }
        }
        self.wait_values(&values, timeout)?;
        if self.lanes.len() > 1 {
            // The wait transitively covers what other queues signalled before. The validation layer, which takes each
            // timeline for itself, learns that from their counters.
            self.progress()?;
        }
        Ok(())
    }

    /// Waits until everything that was submitted is done.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on.
    pub fn drain(&mut self, timeout: Duration) -> Result<(), FrameError> {
        self.wait_values(&self.submitted(), timeout)
    }

    /// The same at the end, until there is proof: a device that does not get on is not waited for
    /// twice.
    fn drain_last(&mut self) -> Result<(), FrameError> {
        let timeout = self.device.last.timeout(DROP_TIMEOUT);
        let drained = self.wait_values_by(Timeline::wait_for_proof, &self.submitted(), timeout);
        self.device.last.note(drained.is_ok());
        drained
    }

    /// The value that each lane's last submission signals.
    fn submitted(&self) -> Vec<u64> {
        let lanes = self.lanes.iter();
        lanes.map(|lane| lane.timeline.submitted()).collect()
    }

    /// Destroys what was dropped and what no queue can use any more, and has the states forget
    /// it. The main loop does so for all streams. To be called once a frame, after the frame was committed and before the next is
    /// recorded; between recording and submitting it does nothing.
    pub fn retire(&mut self, states: &mut States, progress: &Progress) {
        if !self.recorded && self.mailbox.is_none() {
            self.waiting.retire(&self.device, states, &progress.values);
            self.device.reap();
        }
    }

    /// Waits for a value on each lane, all within one timeout.
    fn wait_values(&self, values: &[u64], timeout: Duration) -> Result<(), FrameError> {
        self.wait_values_by(Timeline::wait, values, timeout)
    }

    fn wait_values_by(
        &self,
        wait: Wait,
        values: &[u64],
        timeout: Duration,
    ) -> Result<(), FrameError> {
        let mut limit = TimeLimit::new(timeout);
        for (index, (queue, &wanted)) in self.lanes.iter().zip(values).enumerate() {
            match wait(&queue.timeline, &self.device, wanted, &mut limit) {
                Ok(()) => {}
                Err(vk::Result::TIMEOUT) => {
                    let reached = queue.timeline.reached(&self.device).unwrap_or(0);
                    let (passes, finished) = self.watch.stuck(index, reached);
                    let last_done = self.last_done(index);
                    return Err(FrameError::Timeout {
                        queue: (self.first + index) as u8,
                        wanted,
                        reached,
                        waited: limit.spent(),
                        passes,
                        finished,
                        last_done,
                    });
                }
                Err(result) => {
                    return Err(FrameError::vulkan(&self.device, "vkWaitSemaphores")(result));
                }
            }
        }
        Ok(())
    }

    /// The last pass of a lane that the device has written a timestamp behind.
    fn last_done(&self, lane: usize) -> Option<String> {
        let queue = QueueIndex((self.first + lane) as u8);
        let done = self.timing.as_ref()?.last_done(&self.device, queue);
        done.map(|pass| pass.to_string())
    }

    /// Describes the work of each busy queue in a sentence, followed by the driver's report of the
    /// fault where it has one (`VK_EXT_device_fault`): for reports of a lost device. Where the device
    /// stopped is known if frames are measured ([`Frames::measure`]); else only which passes are not
    /// known to be done.
    pub fn describe_work(&self) -> Vec<String> {
        let describe = |(index, lane): (usize, &Lane)| {
            // A lost device may report none any more.
            let reached = lane.timeline.reached(&self.device).unwrap_or(0);
            let (passes, finished) = self.watch.stuck(index, reached);
            let done = self.last_done(index).or(finished);
            (!passes.is_empty()).then(|| {
                format!(
                    "queue {} had the passes {} to do; the last pass known to be done is {}",
                    self.first + index,
                    passes.join(", "),
                    done.as_deref().unwrap_or("none")
                )
            })
        };
        let work = self.lanes.iter().enumerate().filter_map(describe);
        work.chain(fault::describe(&self.device)).collect()
    }

    /// Notes the value that a submission to a queue signals.
    pub(crate) fn note_submitted(&mut self, queue: QueueIndex, value: u64) {
        let at = usize::from(queue.0) - self.first;
        self.lanes[at].timeline.note_submitted(value);
        self.slots[self.current].done[at] = value;
    }
}

impl Frames {
    /// Waits for all that this stream was to signal, and then lets go streams that wait for what it
    /// would have signalled next: after this, other streams get on.
    fn release(&mut self) -> Result<(), FrameError> {
        self.drain_last()?;
        let device = Arc::clone(&self.device);
        for timeline in self.ring_timelines() {
            let mut limit = TimeLimit::new(device.last.timeout(DROP_TIMEOUT));
            let waited = timeline.wait_for_proof(&device, timeline.submitted(), &mut limit);
            device.last.note(waited != Err(vk::Result::TIMEOUT));
            waited.map_err(FrameError::vulkan(&device, "vkWaitSemaphores"))?;
        }
        self.release_rings();
        Ok(())
    }

    /// The end of the main loop: that of all streams.
    fn end_main(&mut self) {
        self.device.streams.stop();
        match self.release() {
            Ok(()) | Err(FrameError::DeviceLost { .. }) => {
                for slot in &mut self.slots {
                    slot.pools.destroy(&self.device);
                }
                if let Some(timing) = &mut self.timing {
                    timing.destroy(&self.device);
                }
            }
            // Destroying what the device still uses is undefined; leaking it is not. The device
            // will find itself busy too, and leak the rest.
            Err(error) => {
                tracing::error!("command pools are leaked: {error}");
                self.device.last.hold();
            }
        }
        self.device.streams.join();
        self.transients.close(&self.device);
        self.waiting.give_back(&self.device);
        self.device.compiler.settle();
        self.device.frames_taken.store(false, Ordering::Release);
    }

    /// The end of a stream. It waits for nothing unless others wait for it: what it has submitted
    /// may itself wait for a stream that has not submitted yet.
    fn end_stream(&mut self, mailbox: &Arc<Mailbox>) {
        if !self.rings.is_empty()
            && let Err(error) = self.release()
        {
            tracing::error!("a stream does not return what it has taken: {error}");
        }
        self.transients.close(&self.device);
        let (slots, timing) = (std::mem::take(&mut self.slots), self.timing.take());
        let destroy = move |device: &Device| {
            for mut slot in slots {
                slot.pools.destroy(device);
            }
            if let Some(mut timing) = timing {
                timing.destroy(device);
            }
        };
        let lanes = std::mem::take(&mut self.lanes);
        self.device
            .leave(mailbox, Box::new(destroy), self.first, lanes);
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        match self.mailbox.take() {
            None => self.end_main(),
            Some(mailbox) => self.end_stream(&mailbox),
        }
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "Frames({} begun on {})",
            self.number, self.device.info.name
        )
    }
}
