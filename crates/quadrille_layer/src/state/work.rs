//! The held submissions of a device, and their forwarding to the real queue.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ash::vk::{self, Handle};

use crate::queues::fifo::{Fifo, Kind, Point};
use crate::queues::schedule::Schedule;
use crate::settings::script::FenceFault;
use crate::state::driver::Driver;
use crate::state::submission::{Submission, points};

/// Submissions that a device has not forwarded yet.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) fifo: Fifo<Submission>,
    schedule: Schedule,
    fences: HashMap<vk::Fence, Fault>,
}

/// The held submissions behind their lock, which also guards the real queue.
#[derive(Debug)]
pub(crate) struct WorkLock(Mutex<Work>);

impl WorkLock {
    /// Creates the state without submissions.
    pub(crate) fn new(seed: Option<u64>, queue_count: usize) -> Self {
        Self(Mutex::new(Work::new(seed, queue_count)))
    }

    /// Locks the work and the real queue.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the work, unless another thread has.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Work>> {
        self.0.try_lock().ok()
    }
}

/// Fault of a fence: not signalled when the driver signals it.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Never,
    NotBefore(Instant),
}

impl Work {
    /// Creates the state without submissions.
    fn new(seed: Option<u64>, queue_count: usize) -> Self {
        Self {
            fifo: Fifo::new(queue_count),
            schedule: Schedule::new(seed, queue_count),
            fences: HashMap::new(),
        }
    }

    /// Appends a submission to a virtual queue.
    pub(crate) fn push(&mut self, queue: usize, submission: Submission) {
        let batch = submission.batch.as_ref();
        let waits = batch.map(|batch| points(&batch.waits)).unwrap_or_default();
        let signals = batch
            .map(|batch| points(&batch.signals))
            .unwrap_or_default();
        self.fifo.push(queue, &waits, signals, submission);
    }

    /// Forwards as many submissions as the schedule chooses while the app does not wait.
    pub(crate) fn forward_unasked(&mut self, driver: &Driver) -> vk::Result {
        let count = self.schedule.unasked(self.fifo.len());
        self.forward(driver, count)
    }

    /// Forwards as many submissions as the schedule chooses when the app polls.
    pub(crate) fn forward_polled(&mut self, driver: &Driver) -> vk::Result {
        let count = self.schedule.polled(self.fifo.len());
        self.forward(driver, count)
    }

    /// Forwards until `done`, or until nothing more can be forwarded. Returns which.
    pub(crate) fn forward_until(
        &mut self,
        driver: &Driver,
        done: impl Fn(&Self) -> bool,
    ) -> Result<bool, vk::Result> {
        while !done(self) {
            match self.forward_next(driver) {
                None => return Ok(false),
                Some(vk::Result::SUCCESS) => {}
                Some(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn forward(&mut self, driver: &Driver, count: usize) -> vk::Result {
        for _ in 0..count {
            match self.forward_next(driver) {
                None => break,
                Some(vk::Result::SUCCESS) => {}
                Some(error) => return error,
            }
        }
        vk::Result::SUCCESS
    }

    /// Forwards the submission that the schedule chooses; `None` if every head is blocked.
    fn forward_next(&mut self, driver: &Driver) -> Option<vk::Result> {
        let mut heads = self.fifo.runnable();
        if heads.is_empty() {
            self.observe(driver);
            heads = self.fifo.runnable();
        }
        let queue = self.schedule.choose(&heads)?;
        let submission = self.fifo.take(queue)?;
        let fence = match submission.fault {
            None => submission.fence,
            Some(FenceFault::Never) => {
                self.fences.insert(submission.fence, Fault::Never);
                vk::Fence::null()
            }
            Some(FenceFault::Late(delay)) => {
                let fault = Fault::NotBefore(Instant::now() + delay);
                self.fences.insert(submission.fence, fault);
                submission.fence
            }
        };
        // SAFETY: `&mut self` comes from the lock that guards the real queue; the app keeps submitted objects alive.
        let result = unsafe { submission.forward(driver, fence) };
        if result != vk::Result::SUCCESS {
            driver
                .calls()
                .note("forward", &format!("the driver returned {result:?}"));
            self.lose(driver);
        }
        Some(result)
    }

    /// Queries the timelines that heads wait for: the host or another process may have signalled them.
    fn observe(&mut self, driver: &Driver) {
        let blocked = self.fifo.blocked();
        let timelines = blocked.iter().filter(|one| one.kind == Kind::Timeline);
        for semaphore in timelines.map(|one| one.wait.semaphore) {
            // SAFETY: a semaphore that a submission waits for is valid.
            let value = unsafe {
                driver
                    .next
                    .core
                    .get_semaphore_counter_value(vk::Semaphore::from_raw(semaphore))
            };
            if let Ok(value) = value {
                self.fifo.observe(Point { semaphore, value });
            }
        }
    }

    /// Whether the driver's status of a fence applies: the fence is not held, and has no active fault.
    pub(crate) fn may_signal(&self, fence: vk::Fence) -> bool {
        let pending = self
            .fifo
            .all_pending()
            .any(|pending| pending.work.fence == fence);
        let faulty = match self.fences.get(&fence) {
            None => false,
            Some(Fault::Never) => true,
            Some(Fault::NotBefore(time)) => Instant::now() < *time,
        };
        !pending && !faulty
    }

    /// Whether some fence never signals because of the script.
    pub(crate) fn has_dead_fence(&self) -> bool {
        self.fences
            .values()
            .any(|fault| matches!(fault, Fault::Never))
    }

    /// Applies a fault to a fence that is not part of a submission.
    pub(crate) fn spoil(&mut self, fence: vk::Fence, fault: FenceFault) {
        let fault = match fault {
            FenceFault::Never => Fault::Never,
            FenceFault::Late(delay) => Fault::NotBefore(Instant::now() + delay),
        };
        self.fences.insert(fence, fault);
    }

    /// Removes a fence that was reset or destroyed.
    pub(crate) fn forget_fence(&mut self, fence: vk::Fence) {
        self.fences.remove(&fence);
    }

    /// Loses the device. Forwarded work is completed first, so that the app may destroy its objects; held work is
    /// dropped.
    pub(crate) fn lose(&mut self, driver: &Driver) {
        self.fifo.clear();
        // An error means that the device is really lost, which changes nothing here.
        // SAFETY: `&mut self` comes from the lock that guards the real queue.
        let _ = unsafe { driver.next.core.device_wait_idle() };
        // Marked last: otherwise another thread of the app could notice the loss and destroy objects of work that still
        // executes. The lock prevents forwarding meanwhile.
        driver.mark_lost();
    }
}
