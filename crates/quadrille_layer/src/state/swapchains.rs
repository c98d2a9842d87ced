//! Swapchains as controlled by the script: their maximum number per surface, the time of the first image, and the order
//! of images.
//!
//! The driver determines the order of its images. To return a chosen one, the layer acquires images until it has it,
//! keeps the others in stock, and signals the app's semaphore and fence itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use crate::settings::script::FenceFault;
use crate::state::driver::Driver;
use crate::state::work::WorkLock;

/// Timeout in ns of an acquisition while another image could be returned instead.
const TRY_NS: u64 = 20_000_000;

/// The swapchains of a driver.
#[derive(Debug, Default)]
pub(crate) struct Swapchains {
    /// Existing swapchains.
    live: Mutex<HashMap<vk::SwapchainKHR, Live>>,
    /// Images in stock, for swapchains with a scripted order.
    ruled: Mutex<HashMap<vk::SwapchainKHR, Stock>>,
}

#[derive(Debug)]
struct Live {
    surface: vk::SurfaceKHR,
    images: Images,
}

/// Availability of a swapchain's images.
#[derive(Clone, Copy, Debug)]
enum Images {
    Always,
    From(Instant),
    Never,
}

#[derive(Debug, Default)]
struct Stock {
    handed_out: usize,
    images: Vec<u32>,
    fence: vk::Fence,
}

impl Swapchains {
    fn live(&self) -> MutexGuard<'_, HashMap<vk::SwapchainKHR, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of swapchains of a surface.
    pub(crate) fn count(&self, surface: vk::SurfaceKHR) -> usize {
        let live = self.live();
        live.values().filter(|live| live.surface == surface).count()
    }

    /// Adds a created swapchain.
    pub(crate) fn add(
        &self,
        swapchain: vk::SwapchainKHR,
        surface: vk::SurfaceKHR,
        fault: Option<FenceFault>,
    ) {
        let images = match fault {
            None => Images::Always,
            Some(FenceFault::Never) => Images::Never,
            Some(FenceFault::Late(delay)) => Images::From(Instant::now() + delay),
        };
        self.live().insert(swapchain, Live { surface, images });
    }

    /// Waits until the script makes images available, and returns the rest of the timeout. If that takes longer than
    /// the timeout, returns the result of the acquisition, after a second at most.
    pub(crate) fn wait(
        &self,
        swapchain: vk::SwapchainKHR,
        timeout_ns: u64,
    ) -> Result<u64, vk::Result> {
        let images = self.live().get(&swapchain).map(|live| live.images);
        let timeout = Duration::from_nanos(timeout_ns);
        let rest = match images {
            None | Some(Images::Always) => return Ok(timeout_ns),
            Some(Images::From(time)) => time.saturating_duration_since(Instant::now()),
            Some(Images::Never) => Duration::MAX,
        };
        if rest <= timeout {
            std::thread::sleep(rest);
            return Ok(timeout_ns - u64::try_from(rest.as_nanos()).unwrap_or(timeout_ns));
        }
        if timeout.is_zero() {
            return Err(vk::Result::NOT_READY);
        }
        std::thread::sleep(timeout.min(Duration::from_secs(1)));
        Err(vk::Result::TIMEOUT)
    }

    /// Acquires the next image in the script's order, or another if it is not available.
    pub(crate) fn acquire_in_order(
        &self,
        driver: &Driver,
        work: &WorkLock,
        info: &vk::AcquireNextImageInfoKHR<'_>,
        index: &mut u32,
        real: &impl Fn(&vk::AcquireNextImageInfoKHR<'_>, &mut u32) -> vk::Result,
    ) -> vk::Result {
        let mut swapchains = self.ruled.lock().unwrap_or_else(PoisonError::into_inner);
        let stock = swapchains.entry(info.swapchain).or_default();
        let order = driver.calls().image_order();
        let wanted = order[stock.handed_out % order.len()];
        let mut result = vk::Result::SUCCESS;
        while !stock.images.contains(&wanted) {
            result = stock.fetch(driver, info, real);
            if result != vk::Result::SUCCESS && result != vk::Result::SUBOPTIMAL_KHR {
                break;
            }
        }
        let position = stock.images.iter().position(|image| *image == wanted);
        if result.as_raw() < 0 || stock.images.is_empty() {
            return result;
        }
        *index = stock.images.remove(position.unwrap_or(0));
        stock.handed_out += 1;
        let suboptimal = result == vk::Result::SUBOPTIMAL_KHR;
        match signal(driver, work, info) {
            vk::Result::SUCCESS if suboptimal => vk::Result::SUBOPTIMAL_KHR,
            other => other,
        }
    }

    /// Removes a swapchain.
    ///
    /// # Safety
    /// The swapchain must not be in use.
    pub(crate) unsafe fn destroy(&self, driver: &Driver, swapchain: vk::SwapchainKHR) {
        self.live().remove(&swapchain);
        let mut swapchains = self.ruled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stock) = swapchains.remove(&swapchain) {
            // SAFETY: every acquisition has waited for the fence.
            unsafe { driver.next.core.destroy_fence(stock.fence, None) };
        }
    }
}

impl Stock {
    /// Acquires one more image, and waits until it may be used.
    fn fetch(
        &mut self,
        driver: &Driver,
        info: &vk::AcquireNextImageInfoKHR<'_>,
        real: &impl Fn(&vk::AcquireNextImageInfoKHR<'_>, &mut u32) -> vk::Result,
    ) -> vk::Result {
        let core = &driver.next.core;
        if self.fence == vk::Fence::null() {
            // SAFETY: a valid structure.
            match unsafe { core.create_fence(&vk::FenceCreateInfo::default(), None) } {
                Ok(fence) => self.fence = fence,
                Err(error) => return error,
            }
        }
        let timeout = if self.images.is_empty() {
            info.timeout
        } else {
            TRY_NS.min(info.timeout)
        };
        let own = (*info)
            .semaphore(vk::Semaphore::null())
            .fence(self.fence)
            .timeout(timeout);
        let mut image = 0;
        let result = real(&own, &mut image);
        if result != vk::Result::SUCCESS && result != vk::Result::SUBOPTIMAL_KHR {
            return result;
        }
        self.images.push(image);
        let fences = [self.fence];
        // SAFETY: the fence was passed to the acquisition.
        let waited = unsafe { core.wait_for_fences(&fences, true, u64::MAX) };
        // SAFETY: the fence has signalled.
        match waited.and_then(|()| unsafe { core.reset_fences(&fences) }) {
            Ok(()) => result,
            Err(error) => error,
        }
    }
}

/// Signals the app's semaphore and fence, as the acquisition would.
fn signal(driver: &Driver, work: &WorkLock, info: &vk::AcquireNextImageInfoKHR<'_>) -> vk::Result {
    let semaphores: Vec<_> = [info.semaphore]
        .into_iter()
        .filter(|one| *one != vk::Semaphore::null())
        .collect();
    let submit = vk::SubmitInfo::default().signal_semaphores(&semaphores);
    let _guards_the_real_queue = work.lock();
    // SAFETY: the app's own handles, on the real queue, which is locked.
    let result = unsafe {
        driver
            .next
            .core
            .queue_submit(driver.queue, &[submit], info.fence)
    };
    result.err().unwrap_or(vk::Result::SUCCESS)
}
