//! A timeline semaphore: one per queue of each stream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ash::vk;

use crate::device::Device;
use crate::device::time_limit::TimeLimit;

/// A queue's timeline semaphore and the highest value that a submission signals.
pub(crate) struct Timeline {
    /// The semaphore.
    pub semaphore: vk::Semaphore,
    submitted: AtomicU64,
    /// The highest value that is about to be submitted. Set before `vkQueueSubmit2`, since the device may signal the
    /// value before `submitted` is updated. A failed submission leaves it higher until the value is used.
    announced: AtomicU64,
    /// The highest value known to be reached: waits and queries for it or a lower one need no Vulkan call.
    known: AtomicU64,
}

impl Timeline {
    /// Creates a timeline with value 0.
    pub(crate) fn new(device: &ash::Device) -> Result<Self, vk::Result> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timeline semaphores enabled.
        let semaphore = unsafe { device.create_semaphore(&info, None) }?;
        Ok(Self {
            semaphore,
            submitted: AtomicU64::new(0),
            announced: AtomicU64::new(0),
            known: AtomicU64::new(0),
        })
    }

    /// Destroys the semaphore. No submission or wait may use it any more.
    pub(crate) fn destroy(&self, device: &ash::Device) {
        // SAFETY: created from this device, and unused.
        unsafe { device.destroy_semaphore(self.semaphore, None) };
    }

    /// The highest value submitted for signalling.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Records the value of a submission.
    pub(crate) fn note_submitted(&self, value: u64) {
        self.submitted.fetch_max(value, Ordering::AcqRel);
    }

    /// Records a value that is about to be submitted for signalling.
    pub(crate) fn announce(&self, value: u64) {
        self.announced.fetch_max(value, Ordering::AcqRel);
    }

    /// Returns the current value (`vkGetSemaphoreCounterValue`). A value above all announced ones is
    /// reported as `ERROR_DEVICE_LOST`, which is no proof of the loss: see
    /// [`Device::is_lost_for_certain`].
    pub(crate) fn reached(&self, device: &Device) -> Result<u64, vk::Result> {
        const CALL: &str = "vkGetSemaphoreCounterValue";
        // SAFETY: the semaphore is a timeline semaphore of this device and alive.
        let read = unsafe { device.raw.get_semaphore_counter_value(self.semaphore) };
        let value = device.note(CALL, read)?;
        // After the read: a value announced and signalled in between would otherwise look too high.
        let announced = self.announced.load(Ordering::Acquire);
        if let Err(result) = believe(value, announced) {
            if !device.is_lost() {
                tracing::error!(
                    "a timeline reads {value}, and {announced} is the highest value that \
                     anything was to signal; so the device is lost"
                );
            }
            device.lost_by(CALL);
            return Err(result);
        }
        self.note_reached(value);
        Ok(value)
    }

    /// Whether a value is reached. Queries the semaphore only if that is unknown.
    pub(crate) fn has_reached(&self, device: &Device, value: u64) -> Result<bool, vk::Result> {
        if self.is_known(value) {
            return Ok(true);
        }
        self.reached(device).map(|reached| reached >= value)
    }

    fn note_reached(&self, value: u64) {
        self.known.fetch_max(value, Ordering::AcqRel);
    }

    /// The highest value that is known to be reached.
    pub(crate) fn known(&self) -> u64 {
        self.known.load(Ordering::Acquire)
    }

    /// Whether a value is known to be reached.
    pub(crate) fn is_known(&self, value: u64) -> bool {
        self.known() >= value
    }

    /// Signals a value from the host. It must be higher than the current one, and lower than all pending signals.
    pub(crate) fn signal(&self, device: &Device, value: u64) -> Result<(), vk::Result> {
        self.announce(value);
        let info = vk::SemaphoreSignalInfo::default()
            .semaphore(self.semaphore)
            .value(value);
        // SAFETY: as in `reached`; the value is valid by the caller's contract.
        device.note("vkSignalSemaphore", unsafe {
            device.raw.signal_semaphore(&info)
        })
    }

    /// Waits on the host until a value is reached. Returns the error `TIMEOUT` if the limit is over before.
    pub(crate) fn wait(
        &self,
        device: &Device,
        value: u64,
        limit: &mut TimeLimit,
    ) -> Result<(), vk::Result> {
        if self.is_known(value) {
            return Ok(());
        }
        let waited = limit.until(|slice| self.wait_slice(device, value, slice));
        waited.unwrap_or(Err(vk::Result::TIMEOUT))
    }

    /// Waits like [`Timeline::wait`] for proof that everything up to a value is complete: its signal,
    /// or `VK_ERROR_DEVICE_LOST` from a Vulkan call. An impossible counter value proves nothing, so
    /// the wait continues until the limit is over.
    pub(crate) fn wait_for_proof(
        &self,
        device: &Device,
        value: u64,
        limit: &mut TimeLimit,
    ) -> Result<(), vk::Result> {
        if self.is_known(value) {
            return Ok(());
        }
        let is_proof = |waited: &Result<(), vk::Result>| {
            *waited != Err(vk::Result::ERROR_DEVICE_LOST) || device.is_lost_for_certain()
        };
        let waited = limit.until(|slice| self.wait_slice(device, value, slice).filter(is_proof));
        waited.unwrap_or(Err(vk::Result::TIMEOUT))
    }

    /// Waits for at most one slice of time; `None` while the value is not known to be reached.
    /// After `TIMEOUT` or an out-of-memory error it may still be reached, so the value is queried.
    fn wait_slice(
        &self,
        device: &Device,
        value: u64,
        slice: Duration,
    ) -> Option<Result<(), vk::Result>> {
        match device.note("vkWaitSemaphores", self.wait_once(device, value, slice)) {
            Ok(()) => {
                self.note_reached(value);
                return Some(Ok(()));
            }
            Err(result) if is_passing(result) => {}
            Err(result) => return Some(Err(result)),
        }
        match self.has_reached(device, value) {
            Ok(has_reached) => has_reached.then_some(Ok(())),
            Err(result) if is_passing(result) => None,
            Err(result) => Some(Err(result)),
        }
    }

    fn wait_once(&self, device: &Device, value: u64, timeout: Duration) -> Result<(), vk::Result> {
        let semaphores = [self.semaphore];
        let values = [value];
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: as in `reached`; the arrays have one element each and outlive the call.
        unsafe { device.raw.wait_semaphores(&info, nanoseconds(timeout)) }
    }
}

/// Returns a counter's value if a submission can have signalled it. On some drivers a counter of `u64::MAX` is the
/// only sign of a lost device.
fn believe(value: u64, announced: u64) -> Result<u64, vk::Result> {
    if value <= announced {
        Ok(value)
    } else {
        Err(vk::Result::ERROR_DEVICE_LOST)
    }
}

/// Whether an error is temporary, so that the call may be retried.
fn is_passing(result: vk::Result) -> bool {
    use vk::Result as R;
    matches!(
        result,
        R::TIMEOUT | R::ERROR_OUT_OF_HOST_MEMORY | R::ERROR_OUT_OF_DEVICE_MEMORY
    )
}

/// Converts a timeout to nanoseconds.
pub(crate) fn nanoseconds(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
