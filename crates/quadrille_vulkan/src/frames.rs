//! Frames: pacing, progress, and the one owner of the queues.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ash::vk;
use quadrille_sync::{Progress, QueueIndex, States, TimelinePoint};

use crate::device::Device;
use crate::error::FrameError;
use crate::handle::IdTable;
use crate::pools::Pools;
use crate::retire::Waiting;
use crate::timing::{DeviceTimes, Timing};

/// How long dropping waits for the device.
const DROP_PATIENCE: Duration = Duration::from_secs(5);

/// The one owner of a device's queues, which runs frames:
///
/// ```text
/// begin -> (acquire windows) -> record -> submit -> States::commit -> retire
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
    /// From ids to indices, used again by each frame.
    pub(crate) ids: IdTable,
    /// A frame is recorded and not submitted; nothing may be retired between.
    pub(crate) recorded: bool,
    /// Only part of a frame was submitted; nothing is true any more.
    pub(crate) broken: bool,
    /// The last pass submitted to each queue, for reports of hangs.
    pub(crate) last_passes: Vec<Arc<str>>,
    waiting: Waiting,
    /// Measures frames on the device, if that is wanted.
    pub(crate) timing: Option<Timing>,
}

/// What a frame in flight owns.
#[derive(Default)]
pub(crate) struct Slot {
    pub pools: Pools,
    /// Per queue, the value that is reached when the frame is done.
    pub done: Vec<u64>,
}

/// The frame that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSlot {
    /// Which of the frames in flight it is: below [`Gpu::frames_in_flight`]. What is kept once
    /// per frame in flight (upload buffers, say) is free again at this index.
    ///
    /// [`Gpu::frames_in_flight`]: crate::Gpu::frames_in_flight
    pub index: usize,
    /// How many frames began before it.
    pub number: u64,
}

impl Frames {
    pub(crate) fn new(device: &Arc<Device>) -> Self {
        let queues = device.queues.len();
        // Another owner may have gone before; what it submitted is to be waited for as ours is.
        let done: Vec<u64> = device
            .queues
            .iter()
            .map(|queue| queue.timeline.submitted())
            .collect();
        let slot = || Slot {
            pools: Pools::default(),
            done: done.clone(),
        };
        Self {
            device: Arc::clone(device),
            slots: (0..device.frames_in_flight).map(|_| slot()).collect(),
            current: 0,
            number: 0,
            ids: IdTable::default(),
            recorded: false,
            broken: false,
            last_passes: vec!["none".into(); queues],
            waiting: Waiting::default(),
            timing: None,
        }
    }

    /// Begins a frame: waits until the frame that last used its slot is done on all queues, so
    /// that the CPU is never more than [`Gpu::frames_in_flight`] ahead.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on; the frame can be begun again.
    ///
    /// [`Gpu::frames_in_flight`]: crate::Gpu::frames_in_flight
    pub fn begin(&mut self, timeout: Duration) -> Result<FrameSlot, FrameError> {
        let next = (self.number % self.slots.len() as u64) as usize;
        let done = std::mem::take(&mut self.slots[next].done);
        let waited = self.wait_values(&done, timeout);
        self.slots[next].done = done;
        waited?;
        if let Some(timing) = &mut self.timing {
            timing.take(&self.device, next);
        }
        self.slots[next]
            .pools
            .reset(&self.device)
            .map_err(FrameError::vulkan("vkResetCommandPool"))?;
        let number = self.number;
        self.number += 1;
        self.current = next;
        self.recorded = false;
        Ok(FrameSlot {
            index: next,
            number,
        })
    }

    /// Measures from now on, or no more, when passes run on the device. Costs a timestamp a pass.
    pub fn measure(&mut self, wanted: bool) {
        if wanted {
            self.timing.get_or_insert_with(|| Timing::new(&self.device));
        } else if let Some(mut timing) = self.timing.take() {
            match self.drain(DROP_PATIENCE) {
                Ok(()) | Err(FrameError::DeviceLost { .. }) => timing.destroy(&self.device),
                Err(error) => tracing::error!("timestamp queries are leaked: {error}"),
            }
        }
    }

    /// The times of the frame that was done last, once: of the frame before the one that
    /// [`Frames::begin`] made room for. `None` unless frames are measured.
    pub fn device_times(&mut self) -> Option<DeviceTimes> {
        self.timing.as_mut()?.last.take()
    }

    /// How far each queue has got.
    ///
    /// # Errors
    /// The device is lost.
    pub fn progress(&self) -> Result<Progress, FrameError> {
        let device = &self.device;
        let reached = device
            .queues
            .iter()
            .map(|queue| device.note(queue.timeline.reached(&device.raw)));
        let values = reached
            .collect::<Result<_, _>>()
            .map_err(FrameError::vulkan("vkGetSemaphoreCounterValue"))?;
        Ok(Progress { values })
    }

    /// Waits for timeline points: for what a host pass needs, or for a readback.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on.
    pub fn wait(&self, points: &[TimelinePoint], timeout: Duration) -> Result<(), FrameError> {
        let mut values = vec![0; self.device.queues.len()];
        for point in points {
            match values.get_mut(usize::from(point.queue.0)) {
                Some(value) => *value = point.value.max(*value),
                None => {
                    let problem = format!("there is no queue {}", point.queue.0);
                    return Err(FrameError::Mismatch { problem });
                }
            }
        }
        self.wait_values(&values, timeout)
    }

    /// Waits until everything that was submitted is done.
    ///
    /// # Errors
    /// [`FrameError::Timeout`] names the queue that does not get on.
    pub fn drain(&mut self, timeout: Duration) -> Result<(), FrameError> {
        let submitted: Vec<u64> = self
            .device
            .queues
            .iter()
            .map(|queue| queue.timeline.submitted())
            .collect();
        self.wait_values(&submitted, timeout)
    }

    /// Destroys what was dropped and what no queue can use any more, and has the states forget
    /// it. To be called once a frame, after the frame was committed and before the next is
    /// recorded; between recording and submitting it does nothing.
    pub fn retire(&mut self, states: &mut States, progress: &Progress) {
        if !self.recorded {
            self.waiting.retire(&self.device, states, &progress.values);
        }
    }

    /// Waits for a value on each queue, all within one timeout.
    fn wait_values(&self, values: &[u64], timeout: Duration) -> Result<(), FrameError> {
        let start = Instant::now();
        for (index, (queue, &wanted)) in self.device.queues.iter().zip(values).enumerate() {
            let left = timeout.saturating_sub(start.elapsed());
            match self
                .device
                .note(queue.timeline.wait(&self.device.raw, wanted, left))
            {
                Ok(()) => {}
                Err(vk::Result::TIMEOUT) => {
                    let reached = queue.timeline.reached(&self.device.raw).unwrap_or(0);
                    return Err(FrameError::Timeout {
                        queue: index as u8,
                        wanted,
                        reached,
                        waited: start.elapsed(),
                        last_pass: self.last_passes[index].to_string(),
                    });
                }
                Err(result) => return Err(FrameError::vulkan("vkWaitSemaphores")(result)),
            }
        }
        Ok(())
    }

    /// Notes what a queue was told to signal.
    pub(crate) fn note_submitted(&mut self, queue: QueueIndex, value: u64) {
        let at = usize::from(queue.0);
        self.device.queues[at].timeline.note_submitted(value);
        self.slots[self.current].done[at] = value;
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        match self.drain(DROP_PATIENCE) {
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
            Err(error) => tracing::error!("command pools are leaked: {error}"),
        }
        self.waiting.give_back(&self.device);
        self.device.compiler.settle();
        self.device.frames_taken.store(false, Ordering::Release);
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
