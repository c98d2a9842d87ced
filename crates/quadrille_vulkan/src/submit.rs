//! Submission of a recorded frame: one walk over its plan.

pub(crate) mod frames;
mod record;
pub(crate) mod ring;
pub(crate) mod sharing;
pub(crate) mod transient;
pub(crate) mod user_timelines;
pub(crate) mod watch;

pub use frames::{FrameSlot, Frames};
pub use ring::{Closed, Consumer, Producer, RingEntry};
pub use sharing::SharingChanged;
pub use transient::TransientMemory;

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use quadrille_sync::frame::PassIndex;
use quadrille_sync::plan::{HostStep, Plan, Step, SubmitCall};
use quadrille_sync::resource::{ResourceId, ResourceIndex};
use quadrille_sync::states::{States, TimelinePoint};
use quadrille_sync::topology::QueueIndex;

use crate::convert;
use crate::device::batch::{Batch, RETRIES, semaphore_info};
use crate::device::gate::Point;
use crate::device::timeline::Timeline;
use crate::error::FrameError;
use crate::present::swapchain::Swapchain;
use crate::present::{PresentSignal, Presented};
use crate::record::{FrameInput, Recorded};

/// Outcome of a frame's presents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// The outcome of each swapchain image that was presented.
    pub presented: Vec<(ResourceId, Presented)>,
}

/// A present to make after the submissions.
struct PlannedPresent {
    window: usize,
    /// The timeline point of the submission before it.
    point: TimelinePoint,
    signal: PresentSignal,
    id: ResourceId,
}

/// Timeout for other streams to submit the work that a present depends on.
const PRESENT_TIMEOUT: Duration = Duration::from_secs(5);

impl Frames {
    /// Submits a recorded frame and presents its windows. `states` must be those that the plan was
    /// solved from; the caller commits the plan to them afterwards, if this succeeds.
    ///
    /// `windows` must have the swapchains of all swapchain images in the plan.
    ///
    /// # Errors
    /// After [`FrameError::PartlySubmitted`] neither the old nor the new states are valid, and the
    /// device has to be recreated, as for [`FrameError::DeviceLost`]. After any other error
    /// nothing was submitted. Use [`Frames::submit_with_host`] for frames with host passes between submissions.
    pub fn submit(
        &mut self,
        input: FrameInput<'_>,
        recorded: Recorded,
        states: &States,
        windows: &mut [&mut Swapchain],
    ) -> Result<Submitted, FrameError> {
        if let Some(step) = input.plan.host.iter().find(|step| step.before.is_some()) {
            let name = &input.frame.pass(step.pass).name;
            let problem = format!(
                "the host pass `{name}` comes between submissions, and `submit` runs no host \
                 passes; call `submit_with_host`"
            );
            return Err(FrameError::Mismatch { problem });
        }
        self.submit_with_host(input, recorded, states, windows, &mut |_| {})
    }

    /// Submits a frame in which device passes depend on host passes. Calls `host` for each of these on this thread,
    /// once the device has reached the points that the pass waits for, and then submits the passes that depend on it.
    /// Everything else is submitted before; windows are presented last.
    ///
    /// Host passes without a dependent submission ([`HostStep::before`] is `None`) are left to the caller.
    ///
    /// # Errors
    /// Returns the errors of [`Frames::submit`], and a timeout if the device does not reach the points of a host pass
    /// within [`DeviceInfo::timeout`](crate::device::DeviceInfo::timeout), after which the device has to be recreated.
    pub fn submit_with_host(
        &mut self,
        input: FrameInput<'_>,
        recorded: Recorded,
        states: &States,
        windows: &mut [&mut Swapchain],
        host: &mut dyn FnMut(PassIndex),
    ) -> Result<Submitted, FrameError> {
        self.check_submit(&input, &recorded)?;
        self.check_timelines(&input)?;
        let mut presents = Vec::new();
        let batches = self.batches(&input, &recorded, states, windows, &mut presents);
        let batches = match batches {
            Ok(batches) => batches,
            Err(error) => {
                give_back(windows, presents);
                return Err(error);
            }
        };
        let signals = certain_signals(&input, &batches);
        if let Err(error) = self.submit_segments(input.plan, batches, states, host) {
            if self.broken {
                give_up(windows, presents)
            } else {
                give_back(windows, presents)
            }
            return Err(error);
        }
        self.recorded = false;
        self.note_timelines(&input, states);
        if !signals.is_empty()
            && let Err(error) = self.wait_timelines(self.device.info.timeout())
        {
            // The frame is already submitted, and the next one that waits for it reports the delay.
            tracing::error!(
                "no window is presented, and no binary semaphore can be waited for: {error}"
            );
            give_up(windows, std::mem::take(&mut presents));
        } else if let Err(error) = self.wait_presentable(&signals) {
            give_up(windows, presents);
            return Err(error);
        } else {
            Self::note_certain(&input);
        }
        if let Some(timing) = &mut self.timing {
            let point = |queue, offset| TimelinePoint {
                queue,
                value: states.absolute(queue, offset),
            };
            timing.submitted(self.current, self.number - 1, input.plan, point);
        }
        self.note_frame(&input, states, windows);

        let mut submitted = Submitted::default();
        let mut failed = Ok(());
        for present in presents {
            let window = &mut windows[present.window];
            let lane = usize::from(present.point.queue.0) - self.first;
            let queue = self.lanes[lane].queue;
            match window.present(queue, present.point, present.signal) {
                Ok(presented) => submitted.presented.push((present.id, presented)),
                // The frame is already submitted, so the other windows are still presented.
                Err(error) => failed = Err(error),
            }
        }
        match failed {
            Err(FrameError::DeviceLost { call }) => Err(FrameError::DeviceLost { call }),
            Err(error) => {
                tracing::error!("a window is not presented: {error}");
                Ok(submitted)
            }
            Ok(()) => Ok(submitted),
        }
    }

    fn check_submit(
        &mut self,
        input: &FrameInput<'_>,
        recorded: &Recorded,
    ) -> Result<(), FrameError> {
        let wrong = |problem: &str| {
            Err(FrameError::Mismatch {
                problem: problem.to_owned(),
            })
        };
        let (first, lanes) = (self.first, self.lanes.len());
        self.device
            .held_back_failure(first, lanes)
            .inspect_err(|_| self.broken = true)?;
        if self.broken {
            return wrong("an earlier frame was submitted in part; the device is to be recreated");
        }
        if !self.recorded || recorded.slot != self.current {
            return wrong("the command buffers are not those of the frame that has begun");
        }
        if recorded.buffers.len() != input.plan.submissions.len() {
            return wrong("the command buffers are those of another plan");
        }
        Ok(())
    }

    /// Converts all submissions for Vulkan, in the order of the plan.
    fn batches(
        &self,
        input: &FrameInput<'_>,
        recorded: &Recorded,
        states: &States,
        windows: &mut [&mut Swapchain],
        presents: &mut Vec<PlannedPresent>,
    ) -> Result<Vec<Batch>, FrameError> {
        let mut batches = Vec::with_capacity(input.plan.submissions.len());
        for (submission, buffers) in input.plan.submissions.iter().zip(&recorded.buffers) {
            let mut batch = Batch::default();
            for wait in &submission.waits {
                let value = states.absolute(wait.point.queue, wait.point.offset);
                let stages = convert::stages(wait.stages);
                let timeline = self.timeline(wait.point.queue)?;
                batch.wait(&timeline, point(wait.point.queue, value), stages);
            }
            for acquire in &submission.acquires {
                let (window, _) = find_window(input, windows, acquire.resource)?;
                let acquired = windows[window].acquired.as_ref();
                // After an abandoned frame the image may still be acquired, with its semaphore already waited for.
                if let Some(semaphore) = acquired.and_then(|acquired| acquired.wait) {
                    let stages = convert::stages(acquire.stages);
                    batch.waits.push(semaphore_info(semaphore, stages));
                }
            }
            let buffer = |&buffer| vk::CommandBufferSubmitInfo::default().command_buffer(buffer);
            batch.buffers.extend(buffers.iter().map(buffer));
            self.add_timelines(input, submission, &mut batch)?;
            let value = states.absolute(submission.queue, submission.signal);
            let timeline = self.timeline(submission.queue)?;
            batch.signal(&timeline, point(submission.queue, value));
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            for &resource in &submission.presents {
                let (window, id) = find_window(input, windows, resource)?;
                let signal = windows[window]
                    .present_signal()
                    .map_err(FrameError::vulkan(&self.device, "vkCreateSemaphore"))?;
                batch.signals.push(semaphore_info(signal.semaphore, all));
                let queue = submission.queue;
                presents.push(PlannedPresent {
                    window,
                    point: TimelinePoint { queue, value },
                    signal,
                    id,
                });
            }
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Returns a timeline of this or another stream.
    fn timeline(&self, queue: QueueIndex) -> Result<Arc<Timeline>, FrameError> {
        let index = usize::from(queue.0);
        let own = self.lane(index).map(|lane| Arc::clone(&lane.timeline));
        own.or_else(|| self.device.timelines.get(index))
            .ok_or_else(|| FrameError::Mismatch {
                problem: format!("the plan names queue {}", queue.0),
            })
    }

    /// Submits the plan, and runs the host passes between its submissions. Signals that return ring entries are
    /// submitted first.
    fn submit_segments(
        &mut self,
        plan: &Plan,
        batches: Vec<Batch>,
        states: &States,
        host: &mut dyn FnMut(PassIndex),
    ) -> Result<(), FrameError> {
        let mut is_first = true;
        for (lane, batch) in self.take_returns() {
            self.submit_run(lane, vec![batch], is_first)?;
            is_first = false;
        }
        let mut batches: Vec<_> = batches.into_iter().map(Some).collect();
        let calls = plan.submit_calls(&self.device.topology);
        let mut calls = calls.as_slice();
        for segment in plan.segments() {
            for step in &plan.host[segment.host] {
                self.run_host(step, states, host, is_first)?;
            }
            let end = segment.submissions.end;
            let is_now = |call: &&SubmitCall| call.submissions.iter().all(|at| *at < end);
            let (now, later) = calls.split_at(calls.iter().take_while(is_now).count());
            calls = later;
            self.submit_calls(now, &mut batches, &mut is_first)?;
        }
        Ok(())
    }

    /// Waits for the points of a host pass, and runs it.
    fn run_host(
        &mut self,
        step: &HostStep,
        states: &States,
        host: &mut dyn FnMut(PassIndex),
        is_first: bool,
    ) -> Result<(), FrameError> {
        let timeout = self.device.info.timeout();
        if let Err(error) = self.wait(&step.points(states), timeout) {
            if is_first {
                return Err(error);
            }
            self.broken = true;
            let FrameError::Timeout { .. } = error else {
                return Err(error);
            };
            // Submitted work cannot be canceled, so the frame cannot be retried.
            tracing::error!("{error}");
            return Err(FrameError::PartlySubmitted {
                call: "vkWaitSemaphores",
                result: vk::Result::TIMEOUT,
            });
        }
        host(step.pass);
        Ok(())
    }

    /// Makes one `vkQueueSubmit2` for each call of the plan. Submissions to a queue shared with other streams may be
    /// held back.
    fn submit_calls(
        &mut self,
        calls: &[SubmitCall],
        batches: &mut [Option<Batch>],
        is_first: &mut bool,
    ) -> Result<(), FrameError> {
        for call in calls {
            let queue = call.queue;
            let run: Vec<_> = call
                .submissions
                .iter()
                .filter_map(|&at| batches[at].take())
                .collect();
            let signals = run.iter().flat_map(|batch| batch.signal_points.first());
            let signals: Vec<_> = signals.copied().collect();
            self.submit_run(usize::from(queue.0), run, *is_first)?;
            for signal in signals {
                self.note_submitted(queue, signal.value);
            }
            *is_first = false;
        }
        Ok(())
    }

    /// Submits a run of submissions to one queue.
    fn submit_run(
        &mut self,
        lane: usize,
        batches: Vec<Batch>,
        is_first: bool,
    ) -> Result<(), FrameError> {
        let Some(queue) = self.lane(lane).map(|lane| lane.queue) else {
            let problem = format!("queue {lane} belongs to another stream");
            return Err(FrameError::Mismatch { problem });
        };
        // Submitted batches cannot be canceled, so the rest has to follow.
        let retries = if is_first { 0 } else { RETRIES };
        let submitted = self.device.submit_run(lane, queue, batches, retries);
        match submitted {
            Ok(()) => Ok(()),
            Err(result) if is_first || result == vk::Result::ERROR_DEVICE_LOST => {
                Err(FrameError::vulkan(&self.device, "vkQueueSubmit2")(result))
            }
            Err(result) => {
                self.broken = true;
                Err(FrameError::PartlySubmitted {
                    call: "vkQueueSubmit2",
                    result,
                })
            }
        }
    }

    /// Waits until everything that the signals depend on is submitted, also by other streams: only then may a binary
    /// semaphore be waited for (section "Queue Operations", `vkQueuePresentKHR`).
    fn wait_presentable(&mut self, signals: &[Point]) -> Result<(), FrameError> {
        if self.device.wait_certain(signals, PRESENT_TIMEOUT) {
            return Ok(());
        }
        self.broken = true;
        if let Some(call) = self.device.loss() {
            return Err(FrameError::DeviceLost { call });
        }
        Err(FrameError::PartlySubmitted {
            call: "waiting for what a present depends on",
            result: vk::Result::TIMEOUT,
        })
    }

    /// Updates the windows and the hang report after a submission.
    fn note_frame(
        &mut self,
        input: &FrameInput<'_>,
        states: &States,
        windows: &mut [&mut Swapchain],
    ) {
        for submission in &input.plan.submissions {
            let value = states.absolute(submission.queue, submission.signal);
            let point = TimelinePoint {
                queue: submission.queue,
                value,
            };
            for acquire in &submission.acquires {
                if let Ok((window, _)) = find_window(input, windows, acquire.resource) {
                    windows[window].note_waited(point);
                }
            }
        }
        for (at, submission) in input.plan.submissions.iter().enumerate() {
            let value = states.absolute(submission.queue, submission.signal);
            let lane = usize::from(submission.queue.0) - self.first;
            let passes = submission.steps.iter().filter_map(|step| match step {
                Step::Pass(pass) => Some(&input.frame.pass(*pass).name),
                Step::Barriers(_) => None,
            });
            self.watch.note(at, (lane, value), passes);
        }
    }
}

/// Returns the points of the submissions that signal binary semaphores for presents and for others.
fn certain_signals(input: &FrameInput<'_>, batches: &[Batch]) -> Vec<Point> {
    let submissions = input.plan.submissions.iter().zip(batches);
    let signalling = submissions.filter(|(submission, _)| {
        !submission.presents.is_empty() || user_timelines::signals_binary(input, submission)
    });
    signalling
        .flat_map(|(_, batch)| batch.signal_points.clone())
        .collect()
}

fn point(queue: QueueIndex, value: u64) -> Point {
    Point {
        timeline: usize::from(queue.0),
        value,
    }
}

/// Finds the window of a swapchain image.
fn find_window(
    input: &FrameInput<'_>,
    windows: &[&mut Swapchain],
    resource: ResourceIndex,
) -> Result<(usize, ResourceId), FrameError> {
    let handle = input.handles.get(resource.0 as usize);
    let id = handle.map(crate::resources::handle::Handle::id);
    let window = windows
        .iter()
        .position(|window| Some(window.image().id()) == id);
    let acquired = window.filter(|&window| windows[window].acquired.is_some());
    match (acquired, id) {
        (Some(window), Some(id)) => Ok((window, id)),
        _ => {
            let name = handle.map_or("a resource", |handle| handle.name());
            let problem = format!("{name} is no acquired image of a window that was given");
            Err(FrameError::Mismatch { problem })
        }
    }
}

/// Gives up the semaphores of a frame that may have been submitted in part.
fn give_up(windows: &mut [&mut Swapchain], presents: Vec<PlannedPresent>) {
    for present in presents {
        windows[present.window].give_up(present.signal);
    }
}

/// Returns unsubmitted semaphores and fences to their windows.
fn give_back(windows: &mut [&mut Swapchain], presents: Vec<PlannedPresent>) {
    for present in presents {
        windows[present.window].take_back(present.signal);
    }
}
