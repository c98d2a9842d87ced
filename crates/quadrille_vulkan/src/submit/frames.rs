//! [`Frames`]: frame pacing, progress, and the queues of a stream.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use quadrille_sync::states::{Progress, States, TimelinePoint};
use quadrille_sync::topology::{QueueIndex, Topology};

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
use crate::submit::user_timelines::InUse;
use crate::submit::watch::Watch;

/// A host wait for a value of a timeline.
type Wait = fn(&Timeline, &Device, u64, &mut TimeLimit) -> Result<(), vk::Result>;

/// Timeout of the wait for the device on drop.
const DROP_TIMEOUT: Duration = Duration::from_secs(5);

/// Frame driver of the main loop, with all queues of a device, or of a stream
/// (see [`Gpu::stream`](crate::device::Gpu::stream)), with one queue.
///
/// ```text
/// begin -> (acquire windows) -> exchange -> (place_transients) -> plan -> record -> submit
///       -> States::commit -> retire
/// ```
///
/// A failure before `submit` has no side effects: the frame is not submitted, and the next `begin` reuses its
/// command buffers.
pub struct Frames {
    pub(crate) device: Arc<Device>,
    /// One per frame in flight.
    pub(crate) slots: Vec<Slot>,
    /// Slot of the last frame that has begun.
    pub(crate) current: usize,
    /// Number of frames that have begun.
    pub(crate) number: u64,
    /// Encoded calls of lists in earlier frames.
    pub(crate) call_caches: CallCaches,
    /// Whether a frame is recorded but not submitted; nothing may be retired meanwhile.
    pub(crate) recorded: bool,
    /// Whether a frame was submitted only in part, so that the states are invalid.
    pub(crate) broken: bool,
    /// The submitted work, for reports of hangs.
    pub(crate) watch: Watch,
    /// Index of its first timeline among those of the device.
    pub(crate) first: usize,
    /// Queues that it submits to.
    pub(crate) lanes: Vec<Lane>,
    /// Topology that frames are planned for.
    pub(crate) topology: Topology,
    /// The version of the device's streams at which `topology` was built.
    version: u64,
    /// Messages from other threads; the main loop has none.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    /// Rings that it reads.
    pub(crate) rings: Vec<Arc<Ring>>,
    /// Ring entries that the next frame returns to their producers.
    pub(crate) returns: Vec<Return>,
    waiting: Waiting,
    /// Values of the program's timeline semaphores in submissions that may be incomplete.
    pub(crate) in_use: Vec<InUse>,
    /// Memory of transient resources.
    pub(crate) transients: Transients,
    /// Timestamps of passes, if frames are measured.
    pub(crate) timing: Option<Timing>,
}

/// Resources that a frame in flight owns.
#[derive(Default)]
pub(crate) struct Slot {
    pub pools: Pools,
    /// Per lane, the timeline value of the frame's completion.
    pub done: Vec<u64>,
}

/// A frame that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSlot {
    /// Index of the frame in flight, below [`Gpu::frames_in_flight`]. The device no longer uses the per-frame resources
    /// of this index, such as upload buffers.
    ///
    /// [`Gpu::frames_in_flight`]: crate::device::Gpu::frames_in_flight
    pub index: usize,
    /// The number of frames that began before it.
    pub number: u64,
}

impl Frames {
    /// Creates the frames of the main loop, with all queues.
    pub(crate) fn new(device: &Arc<Device>) -> Self {
        let lane = |(queue, of): (usize, &DeviceQueue)| Lane {
            timeline: Arc::clone(&of.timeline),
            queue,
        };
        let lanes = device.queues.iter().enumerate().map(lane).collect();
        Self::on(device, 0, lanes, None)
    }

    /// Creates the frames of a stream, with one queue.
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
        // A previous owner may have used the timelines; wait for its submissions as well.
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
            in_use: Vec::new(),
            transients: Transients::default(),
            timing: None,
        }
    }

    /// Returns the topology to plan frames for: the queues of this stream, and the timelines of others. It changes when
    /// streams and rings are added or removed; `begin` updates it.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns initial states: no resources, and the current values of the timelines.
    pub fn states(&self) -> States {
        States::starting_at(&self.device.timelines.submitted()[..self.topology.queues.len()])
    }

    /// The lane with this timeline, if it is this stream's.
    pub(crate) fn lane(&self, timeline: usize) -> Option<&Lane> {
        self.lanes.get(timeline.checked_sub(self.first)?)
    }

    /// Whether the stream should end, because the main loop or the other side of a ring has ended.
    pub fn is_stopping(&self) -> bool {
        let mailbox = self.mailbox.as_ref();
        mailbox.is_some_and(|mailbox| mailbox.stop.load(Ordering::Acquire))
    }

    /// Begins a frame: waits until the previous frame in its slot is complete on all queues, so
    /// that the CPU is never more than [`Gpu::frames_in_flight`] ahead.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that is stuck; the frame can be begun again.
    ///
    /// [`Gpu::frames_in_flight`]: crate::device::Gpu::frames_in_flight
    pub fn begin(&mut self, timeout: Duration) -> Result<FrameSlot, FrameError> {
        if let Some(call) = self.device.loss() {
            // The loss may have been detected by a call that returned no result, such as a fence query.
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

    /// Whether device times of the passes of all frames are measured.
    pub fn is_measured(&self) -> bool {
        self.timing.as_ref().is_some_and(|it| it.frames.is_none())
    }

    /// Starts or stops measuring device times of passes, at the cost of a timestamp per pass.
    pub fn measure(&mut self, wanted: bool) {
        if wanted {
            self.timing().frames = None;
        } else if let Some(timing) = &mut self.timing {
            timing.frames = Some(0);
        }
    }

    /// Measures device times of passes in the next `frames` frames, unless all are measured.
    pub fn measure_next(&mut self, frames: u32) {
        if !self.is_measured() {
            self.timing().frames = Some(frames);
        }
    }

    fn timing(&mut self) -> &mut Timing {
        self.timing.get_or_insert_with(|| Timing::new(&self.device))
    }

    /// Takes the device times of the last complete frame: the previous one in the slot of the frame that has begun.
    /// `None` if it was not measured, or its times were taken already.
    pub fn device_times(&mut self) -> Option<DeviceTimes> {
        self.timing.as_mut()?.last.take()
    }

    /// Returns the current values of all timelines.
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

    /// Waits for timeline points, as for a host pass or a readback.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that is stuck.
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
        self.wait_values(&values, timeout)
    }

    /// Waits for completion of all submissions.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that is stuck.
    pub fn drain(&mut self, timeout: Duration) -> Result<(), FrameError> {
        self.wait_values(&self.submitted(), timeout)
    }

    /// [`drain`](Self::drain) for tear-down, until completion is proven. After a timeout a second call does not wait
    /// again.
    fn drain_last(&mut self) -> Result<(), FrameError> {
        let timeout = self.device.last.timeout(DROP_TIMEOUT);
        self.end_timelines();
        let drained = self.wait_values_by(Timeline::wait_for_proof, &self.submitted(), timeout);
        self.device.last.note(drained.is_ok());
        drained
    }

    /// The value that each lane's last submission signals.
    fn submitted(&self) -> Vec<u64> {
        let lanes = self.lanes.iter();
        lanes.map(|lane| lane.timeline.submitted()).collect()
    }

    /// Destroys dropped objects that no queue uses any more, and removes them from the states. The main loop does
    /// so for all streams. Call it once a frame, after the commit and before the next frame is recorded; between
    /// recording and submitting it does nothing.
    pub fn retire(&mut self, states: &mut States, progress: &Progress) {
        if !self.recorded && self.mailbox.is_none() {
            self.waiting.retire(&self.device, states, &progress.values);
            self.device.reap();
        }
    }

    /// Waits for a value on each lane, all within one timeout.
    ///
    /// A wait transitively covers earlier signals of other queues, and a wait that takes longer than a slice reads a
    /// counter, which may be ahead of the wanted value. The validation layer tracks each timeline separately, and
    /// learns of those signals only when their counters are read, so all are read after a wait.
    fn wait_values(&self, values: &[u64], timeout: Duration) -> Result<(), FrameError> {
        let mut lanes = self.lanes.iter().zip(values);
        let waits = lanes.any(|(lane, &value)| !lane.timeline.is_known(value));
        self.wait_values_by(Timeline::wait, values, timeout)?;
        if waits && self.lanes.len() > 1 {
            self.progress()?;
        }
        Ok(())
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
                    if let Some(error) = self.late_timeline(limit.spent()) {
                        return Err(error);
                    }
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

    /// The last pass of a lane whose end timestamp the device has written.
    fn last_done(&self, lane: usize) -> Option<String> {
        let queue = QueueIndex((self.first + lane) as u8);
        let done = self.timing.as_ref()?.last_done(&self.device, queue);
        done.map(|pass| pass.to_string())
    }

    /// Describes the work of each busy queue in a sentence, followed by the driver's fault report if available
    /// (`VK_EXT_device_fault`), for reports of a lost device. If frames are measured ([`Frames::measure`]) it names the
    /// pass at which the device stopped; else only the passes of incomplete submissions.
    pub fn describe_work(&self) -> Vec<String> {
        let describe = |(index, lane): (usize, &Lane)| {
            // A lost device may no longer report values.
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

    /// Records the value that a submission to a queue signals.
    pub(crate) fn note_submitted(&mut self, queue: QueueIndex, value: u64) {
        let at = usize::from(queue.0) - self.first;
        self.lanes[at].timeline.note_submitted(value);
        self.slots[self.current].done[at] = value;
    }
}

impl Frames {
    /// Waits for all signals of this stream, and then signals its ring timelines far ahead, so that no other stream
    /// waits for it forever.
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

    /// Ends the main loop, and with it all streams.
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
            // Destroying objects in use is undefined behavior; leaking them is not. The device's own tear-down will
            // time out as well, and leak the rest.
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

    /// Ends a stream. Waits for its submissions only if other streams wait for it, since they may in turn wait for a
    /// stream that has not submitted yet.
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
            .retire_stream(mailbox, Box::new(destroy), self.first, lanes);
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
