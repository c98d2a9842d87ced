//! A device: its virtual queues, and the state of the objects that the app created from it.

use std::sync::MutexGuard;
use std::sync::atomic::AtomicU64;

use ash::vk;

use crate::calls::{Call, Calls};
use crate::queues::virtual_queue::VirtualQueues;
use crate::state::driver::Driver;
use crate::state::names::Names;
use crate::state::poison::Poison;
use crate::state::pools::Pools;
use crate::state::present_ids::Shown;
use crate::state::swapchains::Swapchains;
use crate::state::work::{Work, WorkLock};

/// A device as the app uses it: one real queue executes all virtual queues.
pub(crate) struct Device {
    pub(crate) driver: Driver,
    pub(crate) queues: VirtualQueues,
    work: WorkLock,
    pub(crate) pools: Pools,
    pub(crate) names: Names,
    pub(crate) swapchains: Swapchains,
    pub(crate) shown: Shown,
    /// Last buffer address that was queried; initially 0.
    pub(crate) last_address: AtomicU64,
    /// Garbage for undefined contents, if poison is on.
    pub(crate) poison: Option<Poison>,
}

impl Device {
    /// Creates a device with these virtual queues.
    pub(crate) fn new(driver: Driver, queues: VirtualQueues, poison: Option<Poison>) -> Self {
        Self {
            work: WorkLock::new(driver.instance.settings.seed, queues.len()),
            driver,
            queues,
            pools: Pools::default(),
            names: Names::default(),
            swapchains: Swapchains::default(),
            shown: Shown::default(),
            last_address: AtomicU64::new(0),
            poison,
        }
    }

    /// The handle, which the layer does not wrap.
    pub(crate) fn handle(&self) -> vk::Device {
        self.driver.handle()
    }

    /// Counting, log and script.
    pub(crate) fn calls(&self) -> &Calls {
        self.driver.calls()
    }

    /// The held submissions; the lock also guards the real queue.
    pub(crate) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock()
    }

    /// Locks the held submissions, unless another thread has.
    pub(crate) fn try_work(&self) -> Option<MutexGuard<'_, Work>> {
        self.work.try_lock()
    }

    /// Whether the device has been lost, really or by the script.
    pub(crate) fn is_lost(&self) -> bool {
        self.driver.is_lost()
    }

    /// Fills fresh memory with garbage, if poison is on.
    ///
    /// # Safety
    /// `memory` must have just been allocated with `info`, and no other thread may use it yet.
    pub(crate) unsafe fn fill(&self, info: &vk::MemoryAllocateInfo<'_>, memory: vk::DeviceMemory) {
        if let Some(poison) = &self.poison {
            // SAFETY: by the caller's contract.
            unsafe { poison.fill(&self.driver, &self.work, info, memory) };
        }
    }

    /// Acquires the next image in the script's order, or another if it is not available.
    pub(crate) fn acquire_in_order(
        &self,
        info: &vk::AcquireNextImageInfoKHR<'_>,
        index: &mut u32,
        real: &impl Fn(&vk::AcquireNextImageInfoKHR<'_>, &mut u32) -> vk::Result,
    ) -> vk::Result {
        self.swapchains
            .acquire_in_order(&self.driver, &self.work, info, index, real)
    }

    /// Runs a call that may lose the device. If the script injects a loss, the device is lost before: a lost device
    /// must not execute anything when the app gets the error.
    pub(crate) fn run(&self, call: Call<'_>, real: impl FnOnce() -> vk::Result) -> vk::Result {
        if call.injected() == Some(vk::Result::ERROR_DEVICE_LOST) {
            self.work().lose(&self.driver);
        }
        call.run(real)
    }

    /// Returns the index of a virtual queue.
    pub(crate) fn position(&self, queue: vk::Queue) -> usize {
        match self.queues.position(queue) {
            Some(position) => position,
            None => unreachable!("the app passes a queue that vkGetDeviceQueue returned"),
        }
    }
}
