//! Device times of passes, converted to the CPU's clock.
//!
//! A timestamp is written at the beginning of a submission and after each of its passes, once all earlier commands are
//! complete. So a pass's time is its contribution to the queue's busy time: if passes overlap, the later one gets only
//! the time after the end of the earlier one, and the times of a queue add up to its busy time. Barriers count for
//! the pass that follows them.
//!
//! Device and CPU have different clocks. With `VK_EXT_calibrated_timestamps` both are read together once a second.
//! Otherwise a frame's first timestamp is assumed to be the time of its submission, which is too early by the time
//! until the device starts.

mod clock;

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use quadrille_sync::frame::PassIndex;
use quadrille_sync::plan::{Plan, Step};
use quadrille_sync::states::TimelinePoint;
use quadrille_sync::topology::QueueIndex;

use crate::device::Device;
use crate::error::FrameError;
use crate::record::FrameInput;

use clock::DeviceClock;

/// Device time of a pass.
#[derive(Clone, Debug)]
pub struct PassTime {
    /// The pass.
    pub name: Arc<str>,
    /// Its index in its frame.
    pub pass: PassIndex,
    /// The queue that ran it.
    pub queue: QueueIndex,
    /// End of the previous pass on its queue, or of its submission's waits.
    pub begin: Instant,
    /// Completion of the pass and all earlier ones on its queue.
    pub end: Instant,
}

/// Device time of a submission.
#[derive(Clone, Debug)]
pub struct SubmissionTime {
    /// The queue that ran it.
    pub queue: QueueIndex,
    /// End of its waits.
    pub begin: Instant,
    /// Completion of its last pass.
    pub end: Instant,
    /// The points it waited for.
    pub waits: Vec<TimelinePoint>,
    /// The point it signalled.
    pub signal: TimelinePoint,
}

/// Device times of a frame.
#[derive(Clone, Debug, Default)]
pub struct DeviceTimes {
    /// The number of the frame: [`FrameSlot::number`](crate::submit::FrameSlot::number).
    pub frame: u64,
    /// Whether the device's clock is calibrated with the CPU's. If not, the frame's start is an
    /// estimate, and only differences of times are valid.
    pub calibrated: bool,
    /// The submissions, in the order of the plan. Those of queues without timestamps are missing.
    pub submissions: Vec<SubmissionTime>,
    /// The passes, in the order of the plan, also without those of queues without timestamps.
    pub passes: Vec<PassTime>,
}

/// Measurements of a frame in flight.
#[derive(Default)]
struct Measured {
    pool: vk::QueryPool,
    capacity: u32,
    /// Submissions in the order of their queries.
    submissions: Vec<MeasuredSubmission>,
    /// Number and submit time of the frame; `None` before it is submitted.
    submitted: Option<(u64, Instant)>,
}

struct MeasuredSubmission {
    /// Its index in the plan.
    at: usize,
    queue: QueueIndex,
    /// `timestampValidBits` of the queue.
    bits: u32,
    first_query: u32,
    waits: Vec<TimelinePoint>,
    signal: TimelinePoint,
    passes: Vec<(PassIndex, Arc<str>)>,
}

/// Measures the frames of a device.
pub(crate) struct Timing {
    /// By frame in flight.
    slots: Vec<Measured>,
    clock: DeviceClock,
    /// The number of frames still to measure; `None` for all.
    pub(crate) frames: Option<u32>,
    /// The times of the frame that was done last.
    pub(crate) last: Option<DeviceTimes>,
}

/// The timestamp queries of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queries {
    pool: vk::QueryPool,
    next: u32,
}

impl Queries {
    /// Writes a timestamp after completion of all earlier commands.
    pub(crate) fn write(&mut self, device: &Device, buffer: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: the buffer is being recorded outside rendering for a queue with timestamps; the
        // query was reset and no other chunk writes it.
        unsafe {
            device
                .raw
                .cmd_write_timestamp2(buffer, all, self.pool, self.next)
        };
        self.next += 1;
    }
}

/// Returns the name of the last completed pass: `passes` have one query each, from `first` on.
fn written(
    device: &Device,
    pool: vk::QueryPool,
    first: u32,
    passes: &[(PassIndex, Arc<str>)],
) -> Option<Arc<str>> {
    // Pairs of a value and its availability.
    let mut results = vec![[0_u64; 2]; passes.len()];
    if results.is_empty() {
        return None;
    }
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: the queries are of this pool and were reset before they were submitted.
    let read = unsafe {
        device
            .raw
            .get_query_pool_results(pool, first, &mut results, flags)
    };
    match device.note("vkGetQueryPoolResults", read) {
        Ok(()) | Err(vk::Result::NOT_READY) => last_available(passes, &results),
        Err(_) => None,
    }
}

/// The last pass before the first one whose result is not available.
fn last_available(passes: &[(PassIndex, Arc<str>)], results: &[[u64; 2]]) -> Option<Arc<str>> {
    let there = results.iter().take_while(|[_, available]| *available != 0);
    let count = there.count();
    let (_, name) = passes.get(count.checked_sub(1)?)?;
    Some(Arc::clone(name))
}

impl Timing {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            frames: None,
            slots: (0..device.frames_in_flight)
                .map(|_| Measured::default())
                .collect(),
            clock: DeviceClock::new(device),
            last: None,
        }
    }

    /// Prepares queries before a frame is recorded. `bits_of` returns the `timestampValidBits` of a queue,
    /// 0 if it has no timestamps.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        slot: usize,
        input: &FrameInput<'_>,
        bits_of: impl Fn(QueueIndex) -> u32,
    ) -> Result<(), FrameError> {
        let measured = &mut self.slots[slot];
        measured.submitted = None;
        measured.submissions.clear();
        match &mut self.frames {
            Some(0) => return Ok(()),
            Some(left) => *left -= 1,
            None => {}
        }
        let mut count = 0;
        for (at, submission) in input.plan.submissions.iter().enumerate() {
            let bits = bits_of(submission.queue);
            if bits == 0 {
                continue;
            }
            let passes = submission.steps.iter().filter_map(|step| match step {
                Step::Pass(pass) => Some((*pass, Arc::clone(&input.frame.pass(*pass).name))),
                Step::Barriers(_) => None,
            });
            let passes: Vec<_> = passes.collect();
            let queue = submission.queue;
            measured.submissions.push(MeasuredSubmission {
                at,
                queue,
                bits,
                first_query: count,
                waits: Vec::new(),
                signal: TimelinePoint { queue, value: 0 },
                passes,
            });
            let last = &measured.submissions[measured.submissions.len() - 1];
            count += 1 + last.passes.len() as u32;
        }
        if count > measured.capacity {
            // SAFETY: the frame that used the pool is done.
            unsafe { device.raw.destroy_query_pool(measured.pool, None) };
            measured.pool = vk::QueryPool::null();
            measured.capacity = 0;
            let capacity = count.next_power_of_two();
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(device.pool_queries(capacity));
            // SAFETY: the count is above zero.
            measured.pool = unsafe { device.raw.create_query_pool(&info, None) }
                .map_err(FrameError::vulkan(device, "vkCreateQueryPool"))?;
            measured.capacity = capacity;
        }
        if count > 0 {
            // SAFETY: the frame that used the queries is done, and the feature is enabled.
            unsafe { device.raw.reset_query_pool(measured.pool, 0, count) };
        }
        Ok(())
    }

    /// Returns the queries of a chunk that begins with this step of a submission. If `step` is 0, the first one is
    /// for the beginning of the submission.
    pub(crate) fn queries(
        &self,
        slot: usize,
        plan: &Plan,
        at: usize,
        step: usize,
    ) -> Option<Queries> {
        let measured = &self.slots[slot];
        let found = measured
            .submissions
            .iter()
            .find(|submission| submission.at == at)?;
        let before = plan.submissions[at].steps[..step].iter();
        let is_pass = |step: &&Step| matches!(step, Step::Pass(_));
        let skipped = before.filter(is_pass).count() as u32 + u32::from(step > 0);
        Some(Queries {
            pool: measured.pool,
            next: found.first_query + skipped,
        })
    }

    /// Notes that a frame was submitted; `point` converts relative values of the plan.
    pub(crate) fn submitted(
        &mut self,
        slot: usize,
        number: u64,
        plan: &Plan,
        point: impl Fn(QueueIndex, i64) -> TimelinePoint,
    ) {
        let measured = &mut self.slots[slot];
        measured.submitted = Some((number, Instant::now()));
        for known in &mut measured.submissions {
            let submission = &plan.submissions[known.at];
            known.signal = point(submission.queue, submission.signal);
            let waits = submission.waits.iter();
            let waits = waits.map(|wait| point(wait.point.queue, wait.point.offset));
            known.waits = waits.collect();
        }
    }

    /// Reads the timestamps of a complete frame.
    pub(crate) fn take(&mut self, device: &Device, slot: usize) {
        let measured = &mut self.slots[slot];
        let Some((frame, submitted)) = measured.submitted.take() else {
            return;
        };
        let count = measured
            .submissions
            .iter()
            .map(|it| 1 + it.passes.len())
            .sum();
        let mut ticks = vec![0u64; count];
        if count == 0 {
            return;
        }
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the queries are of this pool and were written by submissions that are done.
        let read = unsafe {
            device
                .raw
                .get_query_pool_results(measured.pool, 0, &mut ticks, flags)
        };
        if let Err(error) = device.note("vkGetQueryPoolResults", read) {
            tracing::debug!("vkGetQueryPoolResults fails: {error}");
            return;
        }
        self.clock.calibrate(device);
        let first = measured
            .submissions
            .iter()
            .map(|it| ticks[it.first_query as usize]);
        let first = first.min().unwrap_or(0);
        let clock = self.clock.or_guess(first, submitted);
        let mut times = DeviceTimes {
            frame,
            calibrated: self.clock.is_calibrated(),
            ..DeviceTimes::default()
        };
        for known in &mut measured.submissions {
            let mask = u64::MAX >> (64 - known.bits.min(64));
            let at = |query: u32| clock.instant(ticks[query as usize] & mask, mask);
            let begin = at(known.first_query);
            let mut end = begin;
            for (query, (pass, name)) in (known.first_query + 1..).zip(known.passes.drain(..)) {
                let now = at(query).max(end);
                times.passes.push(PassTime {
                    name,
                    pass,
                    queue: known.queue,
                    begin: end,
                    end: now,
                });
                end = now;
            }
            times.submissions.push(SubmissionTime {
                queue: known.queue,
                begin,
                end,
                waits: std::mem::take(&mut known.waits),
                signal: known.signal,
            });
        }
        self.last = Some(times);
    }

    /// Returns the last pass of a queue whose end timestamp is written, among the frames in flight. May be called while
    /// the device works or hangs; a lost device may report none.
    pub(crate) fn last_done(&self, device: &Device, queue: QueueIndex) -> Option<Arc<str>> {
        let is_submitted = |measured: &&Measured| measured.submitted.is_some();
        let mut frames: Vec<_> = self.slots.iter().filter(is_submitted).collect();
        frames.sort_unstable_by_key(|measured| measured.submitted.map(|(frame, _)| frame));
        let mut last = None;
        for measured in frames {
            let submissions = measured.submissions.iter();
            for known in submissions.filter(|known| known.queue == queue) {
                let written = written(device, measured.pool, known.first_query + 1, &known.passes);
                last = written.or(last);
            }
        }
        last
    }

    /// Destroys the queries. The device must no longer use them.
    pub(crate) fn destroy(&mut self, device: &Device) {
        for measured in &mut self.slots {
            // SAFETY: nothing uses the pool any more.
            unsafe { device.raw.destroy_query_pool(measured.pool, None) };
            *measured = Measured::default();
        }
    }
}

#[cfg(test)]
mod tests;
