//! Presenting, and the proof that a present is done.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use quadrille_sync::TimelinePoint;

use crate::device::Device;
use crate::error::FrameError;
use crate::lock;
use crate::swapchain::{Chain, Proof, Swapchain, create_semaphore};
use crate::timeline::nanoseconds;

/// More old swapchains than this are waited for: drivers have a limit, some below 10.
const MOST_OLD: usize = 5;
/// How long presents are waited for at the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a submission signals for a present, and what proves the present done.
pub(crate) struct PresentSignal {
    pub semaphore: vk::Semaphore,
    /// None without `VK_EXT_swapchain_maintenance1`.
    fence: Option<vk::Fence>,
}

/// What came of a present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presented {
    /// The image is queued for the display.
    Shown,
    /// It is queued, and the swapchain does not fit the window well any more; it is replaced
    /// before the next acquisition.
    Suboptimal,
    /// The swapchain does not fit the window any more; it is replaced before the next acquisition.
    OutOfDate,
    /// The surface is lost; it is made anew before the next acquisition.
    SurfaceLost,
}

impl Swapchain {
    /// What a submission signals for a present to wait for.
    pub(crate) fn present_signal(&mut self) -> Result<PresentSignal, vk::Result> {
        self.recycle();
        let fence = self.present_fence()?;
        let semaphore = match self.free_semaphores.pop() {
            Some(semaphore) => semaphore,
            None => {
                create_semaphore(&self.device).inspect_err(|_| self.free_fences.extend(fence))?
            }
        };
        Ok(PresentSignal { semaphore, fence })
    }

    /// Takes back what was not submitted.
    pub(crate) fn take_back(&mut self, signal: PresentSignal) {
        self.free_semaphores.push(signal.semaphore);
        self.free_fences.extend(signal.fence);
    }

    /// Notes the submission that waits for the acquisition.
    pub(crate) fn note_waited(&mut self, point: TimelinePoint) {
        let Some(acquired) = &mut self.acquired else {
            return;
        };
        if let Some(semaphore) = acquired.wait.take() {
            self.waited.push_back((semaphore, point));
        }
        if let Some(chain) = &mut self.chain {
            chain
                .history
                .reacquired(acquired.index, Proof::Point(point));
        }
    }

    /// Presents the acquired image once the semaphore is signalled.
    pub(crate) fn present(
        &mut self,
        queue: usize,
        PresentSignal { semaphore, fence }: PresentSignal,
    ) -> Result<Presented, FrameError> {
        let (Some(chain), Some(acquired)) = (&self.chain, &self.acquired) else {
            let problem = format!("{} has no acquired image to present", self.image().name());
            return Err(FrameError::Mismatch { problem });
        };
        let (raw, index) = (chain.raw, acquired.index);
        let mut result = self.queue_present(queue, raw, index, semaphore, fence);
        // Out of memory means that nothing happened, so it can be tried again.
        for _ in 0..2 {
            if is_out_of_memory(result) {
                result = self.queue_present(queue, raw, index, semaphore, fence);
            }
        }
        self.present_queue = queue;
        if is_out_of_memory(result) {
            // The semaphore stays signalled; the image stays acquired, for the next frame.
            self.spoiled.push(semaphore);
            self.free_fences.extend(fence);
            return result
                .map(|_| Presented::Shown)
                .map_err(FrameError::vulkan("vkQueuePresentKHR"));
        }
        // In every other case the wait was queued and the image was given back.
        self.acquired = None;
        self.image()
            .set_acquired(vk::Image::null(), vk::ImageView::null(), self.extent());
        if let Some(chain) = &mut self.chain {
            chain
                .history
                .presented(index, semaphore, fence.map(Proof::Fence));
        }
        match result {
            Ok(suboptimal) if suboptimal || self.outdated => {
                self.outdated = true;
                Ok(Presented::Suboptimal)
            }
            Ok(_) => Ok(Presented::Shown),
            Err(
                vk::Result::ERROR_OUT_OF_DATE_KHR
                | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
            ) => {
                self.outdated = true;
                Ok(Presented::OutOfDate)
            }
            Err(vk::Result::ERROR_SURFACE_LOST_KHR) => {
                self.surface_lost = true;
                Ok(Presented::SurfaceLost)
            }
            Err(result) => Err(FrameError::vulkan("vkQueuePresentKHR")(result)),
        }
    }

    fn queue_present(
        &self,
        queue: usize,
        chain: vk::SwapchainKHR,
        index: u32,
        semaphore: vk::Semaphore,
        fence: Option<vk::Fence>,
    ) -> Result<bool, vk::Result> {
        let Some(functions) = &self.device.swapchain else {
            return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        };
        let (chains, indices, semaphores) = ([chain], [index], [semaphore]);
        let fences = [fence.unwrap_or_default()];
        let mut fence_info = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
        let mut info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&chains)
            .image_indices(&indices);
        if fence.is_some() {
            info = info.push_next(&mut fence_info);
        }
        let queue = lock(&self.device.queues[queue].raw);
        // SAFETY: the queue is locked; a submitted batch signals the semaphore; the image is
        // acquired and, by the plan, in the layout for presenting; the fence is not in use.
        self.device
            .note(unsafe { functions.queue_present(*queue, &info) })
    }

    fn present_fence(&mut self) -> Result<Option<vk::Fence>, vk::Result> {
        if !self.device.present_fences {
            return Ok(None);
        }
        if let Some(fence) = self.free_fences.pop() {
            return Ok(Some(fence));
        }
        // SAFETY: the description is the default one.
        unsafe {
            self.device
                .raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
        }
        .map(Some)
    }

    /// Takes back what is proven done: semaphores, fences, and old chains.
    pub(crate) fn recycle(&mut self) {
        let device = Arc::clone(&self.device);
        let is_done = |proof: &Proof| is_done(&device, proof);
        while let Some((semaphore, point)) = self.waited.pop_front() {
            if is_done(&Proof::Point(point)) {
                self.free_semaphores.push(semaphore);
            } else {
                self.waited.push_front((semaphore, point));
                break;
            }
        }
        let mut first_is_done = false;
        if let Some(chain) = &mut self.chain {
            for done in chain.history.recycle(is_done) {
                self.free_semaphores.push(done.semaphore);
                first_is_done |= done.first;
                recycle_fence(&device, done.proof, &mut self.free_fences);
            }
        }
        for mut old in std::mem::take(&mut self.old) {
            // With fences each chain proves itself; without, the first present of the chain in
            // use shows that nothing older is shown any more.
            let proven = match self.device.present_fences {
                true => old.history.proofs().all(is_done),
                false => first_is_done,
            };
            match proven {
                true => self.destroy_chain(&mut old),
                false => self.old.push(old),
            }
        }
    }

    /// Takes the chain out of use: it is destroyed at once if it never presented.
    pub(crate) fn put_aside(&mut self) {
        let Some(mut chain) = self.chain.take() else {
            return;
        };
        if !chain.history.has_presented() {
            self.destroy_chain(&mut chain);
            return;
        }
        self.old.push(chain);
        if self.old.len() > MOST_OLD {
            // What is not given back in time stays, and is tried again at the next replacement.
            self.destroy_old();
        }
    }

    /// Waits for the old chains and destroys them; `false` if they are not given back in time.
    pub(crate) fn destroy_old(&mut self) -> bool {
        if !self.wait_presented() {
            tracing::warn!(
                "{}: old swapchains are not given back in time",
                self.image().name()
            );
            return false;
        }
        for mut chain in std::mem::take(&mut self.old) {
            self.destroy_chain(&mut chain);
        }
        true
    }

    /// Waits for all chains and destroys them; `false` if they are not given back in time.
    pub(crate) fn destroy_chains(&mut self) -> bool {
        if !self.drain_acquired() {
            return false;
        }
        self.acquired = None;
        self.image()
            .set_acquired(vk::Image::null(), vk::ImageView::null(), self.extent());
        self.old.extend(self.chain.take());
        self.destroy_old()
    }

    /// Waits until all that was submitted is done and presented; `false` if it takes too long.
    fn wait_presented(&self) -> bool {
        let device = &*self.device;
        if device.wait_submitted(PATIENCE).is_err() {
            return false;
        }
        if device.is_lost() {
            return true;
        }
        if !device.present_fences {
            // Without fences, waiting for the queue is all that Vulkan offers.
            let queue = lock(&device.queues[self.present_queue].raw);
            // SAFETY: the queue is locked.
            let idle = device.note(unsafe { device.raw.queue_wait_idle(*queue) });
            return idle.is_ok() || device.is_lost();
        }
        let chains = self.old.iter().chain(&self.chain);
        let fence = |proof: &Proof| match proof {
            Proof::Fence(fence) => Some(*fence),
            Proof::Point(_) => None,
        };
        let fences: Vec<_> = chains
            .flat_map(|chain| chain.history.proofs().filter_map(fence))
            .collect();
        fences.is_empty() || wait_for_fences(device, &fences)
    }

    fn destroy_chain(&mut self, chain: &mut Chain) {
        for (semaphore, proof) in chain.history.drain() {
            self.free_semaphores.push(semaphore);
            if let Some(proof) = proof {
                recycle_fence(&self.device, proof, &mut self.free_fences);
            }
        }
        chain.destroy(&self.device);
    }

    /// Waits for an acquisition that nobody submitted a wait for, so that its semaphore can be
    /// destroyed; `false` if it takes too long.
    fn drain_acquired(&mut self) -> bool {
        let acquired = self.acquired.as_mut();
        let Some(semaphore) = acquired.and_then(|acquired| acquired.wait.take()) else {
            return true;
        };
        self.free_semaphores.push(semaphore);
        let device = &*self.device;
        if device.is_lost() {
            return true;
        }
        // SAFETY: the description is the default one.
        let fence = unsafe {
            device
                .raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
        };
        let Ok(fence) = fence else { return false };
        let waits = [vk::SemaphoreSubmitInfo::default()
            .semaphore(semaphore)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let submits = [vk::SubmitInfo2::default().wait_semaphore_infos(&waits)];
        let queue = lock(&device.queues[self.present_queue].raw);
        // SAFETY: the queue is locked; the acquisition signals the semaphore.
        let submitted = device.note(unsafe { device.raw.queue_submit2(*queue, &submits, fence) });
        drop(queue);
        let done = submitted.is_ok() && wait_for_fences(device, &[fence]);
        if done || submitted.is_err() {
            // SAFETY: the submission is complete, or was not made.
            unsafe { device.raw.destroy_fence(fence, None) };
        }
        done || device.is_lost()
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if !self.destroy_chains() {
            // Destroying what is still in use is undefined; leaking it is not.
            tracing::error!("{} is still in use; it is leaked", self.image().name());
            self.leak();
            return;
        }
        let waited = std::mem::take(&mut self.waited)
            .into_iter()
            .map(|(semaphore, _)| semaphore);
        let semaphores = self
            .free_semaphores
            .drain(..)
            .chain(self.spoiled.drain(..))
            .chain(waited);
        for semaphore in semaphores {
            // SAFETY: all submissions and presents that used it are done.
            unsafe { self.device.raw.destroy_semaphore(semaphore, None) };
        }
        for fence in self.free_fences.drain(..) {
            // SAFETY: all presents that used it are done.
            unsafe { self.device.raw.destroy_fence(fence, None) };
        }
    }
}

/// Waits for fences, `false` if it takes too long.
fn wait_for_fences(device: &Device, fences: &[vk::Fence]) -> bool {
    let timeout = nanoseconds(PATIENCE);
    // SAFETY: the fences are of this device and alive.
    let waited = device.note(unsafe { device.raw.wait_for_fences(fences, true, timeout) });
    waited.is_ok() || device.is_lost()
}

fn is_out_of_memory(result: Result<bool, vk::Result>) -> bool {
    matches!(
        result,
        Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    )
}

fn is_done(device: &Device, proof: &Proof) -> bool {
    match *proof {
        Proof::Fence(fence) => {
            // SAFETY: the fence is of this device and alive.
            let status = unsafe { device.raw.get_fence_status(fence) };
            // A lost device has presented all that it ever will.
            status.unwrap_or(true)
        }
        Proof::Point(point) => {
            let queue = &device.queues[usize::from(point.queue.0)];
            queue
                .timeline
                .reached(&device.raw)
                .map_or(true, |value| value >= point.value)
        }
    }
}

/// Makes the fence of a present that is done usable again.
fn recycle_fence(device: &Device, proof: Proof, free: &mut Vec<vk::Fence>) {
    let Proof::Fence(fence) = proof else { return };
    // SAFETY: the present that had the fence is done.
    match unsafe { device.raw.reset_fences(&[fence]) } {
        Ok(()) => free.push(fence),
        // SAFETY: as above; a fence that cannot be reset is not used again.
        Err(_) => unsafe { device.raw.destroy_fence(fence, None) },
    }
}
