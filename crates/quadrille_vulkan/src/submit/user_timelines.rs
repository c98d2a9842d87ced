//! Timeline semaphores of the program in submissions.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use quadrille_sync::frame::{TimelineUse, TimelineUseKind as Kind};
use quadrille_sync::plan::Submission;
use quadrille_sync::states::States;
use quadrille_sync::topology::QueueIndex;

use crate::device::batch::{Batch, semaphore_info};
use crate::device::gate::Point;
use crate::device::time_limit::TimeLimit;
use crate::error::FrameError;
use crate::record::FrameInput;
use crate::resources::binary_state::{Binary, BinaryState};
use crate::resources::timeline_semaphore::{MAX_DIFFERENCE, TimelineSemaphore};
use crate::submit::frames::Frames;

/// A value that a pending submission waits for or signals.
pub(crate) struct InUse {
    pass: Arc<str>,
    kind: Kind,
    semaphore: TimelineSemaphore,
    value: u64,
    /// Lane of the submission, and the timeline value that it signals there.
    done: (usize, u64),
}

/// Interval at which waits poll values that the program may never signal.
const POLL: Duration = Duration::from_millis(20);

/// Maximum wait at tear-down for a signal that another signal depends on.
const END_TIMEOUT: Duration = Duration::from_secs(1);

impl Frames {
    /// Checks the values of a frame before any of it is submitted.
    pub(crate) fn check_timelines(&self, input: &FrameInput<'_>) -> Result<(), FrameError> {
        if input.frame.timelines.len() != input.timelines.len() {
            let (given, named) = (input.timelines.len(), input.frame.timelines.len());
            let problem = format!("there are {given} semaphores for {named} timelines");
            return Err(FrameError::Mismatch { problem });
        }
        for (at, one) in input.frame.timeline_uses.iter().enumerate() {
            let (semaphore, value) = self.resolve(input, one)?;
            if let Some(binary) = semaphore.binary() {
                check_binary(input, at, (semaphore.name(), binary, value))?;
                continue;
            }
            let reached = semaphore.value()?;
            let highest = semaphore.highest()?;
            let pass = || input.frame.pass(one.pass).name.to_string();
            let timeline = || semaphore.name().to_string();
            if one.kind == Kind::Signal && value <= highest {
                return Err(FrameError::TimelineSignal {
                    pass: pass(),
                    timeline: timeline(),
                    value,
                    highest,
                });
            }
            if value.saturating_sub(reached) > MAX_DIFFERENCE {
                return Err(FrameError::TimelineDistance {
                    pass: pass(),
                    timeline: timeline(),
                    value,
                    reached,
                    most: MAX_DIFFERENCE,
                });
            }
        }
        Ok(())
    }

    /// Returns the semaphore and the absolute value of a use.
    fn resolve<'a>(
        &self,
        input: &FrameInput<'a>,
        one: &TimelineUse,
    ) -> Result<(&'a TimelineSemaphore, u64), FrameError> {
        let at = one.timeline as usize;
        let both = input.frame.timelines.get(at).zip(input.timelines.get(at));
        let Some((timeline, semaphore)) = both else {
            let problem = format!("there is no timeline {at}");
            return Err(FrameError::Mismatch { problem });
        };
        if !semaphore.is_of(&self.device) {
            let name = semaphore.name().to_string();
            return Err(FrameError::OtherDevice { name });
        }
        Ok((semaphore, timeline.base.saturating_add(one.value)))
    }

    /// Adds the waits and signals of a submission's passes.
    pub(crate) fn add_timelines(
        &self,
        input: &FrameInput<'_>,
        submission: &Submission,
        batch: &mut Batch,
    ) -> Result<(), FrameError> {
        for one in submission.timeline_uses(input.frame) {
            let (semaphore, value) = self.resolve(input, one)?;
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            let info = semaphore_info(semaphore.raw(), all).value(value);
            if one.kind == Kind::Wait {
                batch.waits.push(info);
                continue;
            }
            batch.signals.push(info);
            // A wait of an earlier frame, perhaps on another queue, unsignals the semaphore first.
            if let Some(waited) = semaphore.binary().and_then(BinaryState::waited) {
                let timeline = self.timeline(QueueIndex(waited.timeline as u8))?;
                if !timeline.is_known(waited.value) {
                    batch.wait(&timeline, waited, all);
                }
            }
        }
        Ok(())
    }

    /// Records the values of a submitted frame.
    pub(crate) fn note_timelines(&mut self, input: &FrameInput<'_>, states: &States) {
        let Self {
            in_use,
            lanes,
            first,
            ..
        } = self;
        in_use.retain(|one| !lanes[one.done.0].timeline.is_known(one.done.1));
        for submission in &input.plan.submissions {
            let value = states.absolute(submission.queue, submission.signal);
            let done = (usize::from(submission.queue.0) - *first, value);
            for one in submission.timeline_uses(input.frame) {
                let at = one.timeline as usize;
                let both = input.frame.timelines.get(at).zip(input.timelines.get(at));
                let Some((timeline, semaphore)) = both else {
                    continue;
                };
                let value = timeline.base.saturating_add(one.value);
                if let Some(binary) = semaphore.binary() {
                    let timeline = usize::from(submission.queue.0);
                    let done = Point {
                        timeline,
                        value: done.1,
                    };
                    binary.note_used(one.kind == Kind::Signal, done);
                } else if one.kind == Kind::Signal {
                    semaphore.submitted(value);
                }
                in_use.push(InUse {
                    pass: Arc::clone(&input.frame.pass(one.pass).name),
                    kind: one.kind,
                    semaphore: semaphore.clone(),
                    value,
                    done,
                });
            }
        }
    }

    /// Notes that everything is submitted that the signals of the frame's exportable semaphores depend on.
    pub(crate) fn note_certain(input: &FrameInput<'_>) {
        for binary in input.timelines.iter().filter_map(TimelineSemaphore::binary) {
            binary.note_certain();
        }
    }

    /// Returns the pending waits whose signals are not known to be submitted.
    fn open_waits(&self) -> impl Iterator<Item = &InUse> {
        let waits = self.in_use.iter().filter(|one| one.kind == Kind::Wait);
        waits.filter(|one| one.semaphore.is_certain(one.value).is_ok_and(|it| !it))
    }

    /// Waits until the signals of all waits are submitted: before that, a present may not wait for a binary semaphore
    /// that depends on them (`VUID-vkQueuePresentKHR-pWaitSemaphores-03268`).
    pub(crate) fn wait_timelines(&self, timeout: Duration) -> Result<(), FrameError> {
        let mut limit = TimeLimit::new(timeout);
        loop {
            let Some(one) = self.open_waits().next() else {
                return Ok(());
            };
            let waited = limit.wait(|slice| one.semaphore.wait(one.value, slice.min(POLL)));
            if !waited? && limit.is_over() {
                return self.late_timeline(timeout).map_or(Ok(()), Err);
            }
        }
    }

    /// Returns an error for the first pending wait whose signal is not known to be submitted.
    pub(crate) fn late_timeline(&self, waited: Duration) -> Option<FrameError> {
        self.open_waits().find_map(|one| {
            let reached = one.semaphore.value().ok()?;
            (reached < one.value).then(|| FrameError::TimelineWait {
                pass: one.pass.to_string(),
                timeline: one.semaphore.name().to_string(),
                wanted: one.value,
                reached,
                waited,
            })
        })
    }

    /// Signals all values that pending submissions wait for and nothing has signalled, before the device is destroyed.
    pub(crate) fn end_timelines(&self) {
        let mut open: Vec<&InUse> = self.open_waits().collect();
        open.sort_by_key(|one| one.value);
        let mut limit = TimeLimit::new(END_TIMEOUT);
        for one in open {
            // Another process that shares the semaphore may be about to signal.
            let reached = limit.until(|slice| match one.semaphore.wait(one.value, slice) {
                Ok(false) => None,
                other => other.ok(),
            });
            if reached == Some(true) {
                continue;
            }
            let (name, value) = (one.semaphore.name(), one.value);
            tracing::error!(
                "pass `{}` waits for value {value} of the timeline `{name}`, which nobody signals; it is \
                 signalled now, because the device is to be destroyed",
                one.pass
            );
            if let Some(before) = one.semaphore.pending_below(value) {
                // Lower pending values are signalled first; otherwise the signal would be rejected.
                let _ = one.semaphore.wait(before, END_TIMEOUT);
            }
            if let Err(error) = one.semaphore.signal(value) {
                tracing::error!("{error}");
            }
        }
    }
}

/// Checks that a frame uses a binary semaphore once, and in its turn.
fn check_binary(
    input: &FrameInput<'_>,
    at: usize,
    (name, binary, value): (&str, &BinaryState, u64),
) -> Result<(), FrameError> {
    let one = &input.frame.timeline_uses[at];
    let mut earlier = input.frame.timeline_uses[..at].iter();
    let is_twice = earlier.any(|it| it.timeline == one.timeline);
    let problem = binary.misuse(one.kind == Kind::Signal, value);
    let twice = "another pass of the frame uses it too; let one pass use it, and order the other one after that";
    let Some(problem) = problem.or(is_twice.then_some(twice)) else {
        return Ok(());
    };
    Err(FrameError::BinarySemaphore {
        pass: input.frame.pass(one.pass).name.to_string(),
        semaphore: name.to_owned(),
        problem,
    })
}

/// Whether a submission signals a binary semaphore that somebody else waits for.
pub(crate) fn signals_binary(input: &FrameInput<'_>, submission: &Submission) -> bool {
    submission.timeline_uses(input.frame).any(|one| {
        let semaphore = input.timelines.get(one.timeline as usize);
        let binary = semaphore.and_then(TimelineSemaphore::binary);
        one.kind == Kind::Signal && binary.is_some_and(|it| it.kind() != Binary::Imported)
    })
}
