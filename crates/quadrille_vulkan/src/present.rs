//! Presents, and proof of their completion.

pub(crate) mod present_history;
pub(crate) mod surface;
pub(crate) mod swapchain;

pub use surface::Surface;
pub use swapchain::{
    Acquired, CompositeAlpha, PresentCompletion, SkipReason, SurfaceFormat, Swapchain,
    SwapchainSettings,
};

use ash::vk;
use quadrille_sync::states::TimelinePoint;

use crate::error::FrameError;
use crate::lock;
use crate::present::swapchain::{Proof, TIMEOUT, wait_for_fences};

/// Semaphore that a submission signals for a present, and the fence that signals completion of the present.
pub(crate) struct PresentSignal {
    pub semaphore: vk::Semaphore,
    /// `None` without `VK_EXT_swapchain_maintenance1`.
    fence: Option<vk::Fence>,
}

/// Outcome of a present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presented {
    /// The image is queued for presentation.
    Shown,
    /// Queued, but the swapchain no longer matches the surface exactly (`VK_SUBOPTIMAL_KHR`); it is recreated before
    /// the next acquisition.
    Suboptimal,
    /// Not presented: the swapchain is incompatible with the surface (`VK_ERROR_OUT_OF_DATE_KHR`); it is recreated
    /// before the next acquisition.
    OutOfDate,
    /// The surface is lost; it is recreated before the next acquisition.
    SurfaceLost,
}

impl Swapchain {
    /// Returns the objects that a submission signals for a present to wait for.
    pub(crate) fn present_signal(&mut self) -> Result<PresentSignal, vk::Result> {
        self.recycle();
        let fence = if self.fences {
            Some(self.pool.fence(&self.device)?)
        } else {
            None
        };
        match self.pool.semaphore(&self.device) {
            Ok(semaphore) => Ok(PresentSignal { semaphore, fence }),
            Err(result) => {
                self.pool.give_back_fence(fence);
                Err(result)
            }
        }
    }

    /// Returns the objects of a present that was not submitted to the pool.
    pub(crate) fn take_back(&mut self, PresentSignal { semaphore, fence }: PresentSignal) {
        self.pool.give_back(semaphore);
        self.pool.give_back_fence(fence);
    }

    /// Takes back objects that may or may not have been submitted; they are destroyed when the window closes.
    pub(crate) fn give_up(&mut self, PresentSignal { semaphore, fence }: PresentSignal) {
        self.pool.keep_signalled(semaphore);
        self.pool.give_back_fence(fence);
        let acquired = self.acquired.as_mut();
        if let Some(semaphore) = acquired.and_then(|acquired| acquired.wait.take()) {
            self.pool.keep_signalled(semaphore);
        }
    }

    /// Presents the acquired image, waiting for the semaphore that the submission of `point` signals, on the queue of
    /// that submission.
    pub(crate) fn present(
        &mut self,
        queue: usize,
        point: TimelinePoint,
        PresentSignal { semaphore, fence }: PresentSignal,
    ) -> Result<Presented, FrameError> {
        let (Some(chain), Some(acquired)) = (&self.chain, &self.acquired) else {
            let problem = format!("{} has no acquired image to present", self.image().name());
            return Err(FrameError::Mismatch { problem });
        };
        let (raw, index) = (chain.raw, acquired.index);
        let id = self.present_id();
        let mut result = self.queue_present(queue, raw, (index, id), semaphore, fence);
        // After an out-of-memory error nothing was queued, so retry.
        for _ in 0..2 {
            if is_out_of_memory(result) {
                result = self.queue_present(queue, raw, (index, id), semaphore, fence);
            }
        }
        self.present_queue = queue;
        if is_out_of_memory(result) {
            // The semaphore stays signalled; the image stays acquired, for the next frame.
            self.pool.spoil(semaphore, point);
            self.pool.give_back_fence(fence);
            return result
                .map(|_| Presented::Shown)
                .map_err(FrameError::vulkan(&self.device, "vkQueuePresentKHR"));
        }
        // In every other case the wait was queued and the image was released.
        self.acquired = None;
        self.image()
            .set_acquired(vk::Image::null(), vk::ImageView::null(), self.extent());
        if let Some(chain) = &mut self.chain {
            chain
                .history
                .presented(index, semaphore, fence.map(Proof::Fence));
            chain.modes.mark_applied();
            if let Some(id) = id {
                chain.unseen.presented(id, result.is_ok());
            }
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
            Err(result) => Err(FrameError::vulkan(&self.device, "vkQueuePresentKHR")(
                result,
            )),
        }
    }

    fn queue_present(
        &self,
        queue: usize,
        chain: vk::SwapchainKHR,
        (index, id): (u32, Option<u64>),
        semaphore: vk::Semaphore,
        fence: Option<vk::Fence>,
    ) -> Result<bool, vk::Result> {
        let Some(functions) = &self.device.extensions.swapchain else {
            return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        };
        let (chains, indices, semaphores) = ([chain], [index], [semaphore]);
        let fences = [fence.unwrap_or_default()];
        let ids = [id.unwrap_or_default()];
        let mut id_info = vk::PresentIdKHR::default().present_ids(&ids);
        let mut fence_info = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
        let mut info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&chains)
            .image_indices(&indices);
        if fence.is_some() {
            info = info.push_next(&mut fence_info);
        }
        let mode = self.chain.as_ref().and_then(|chain| chain.modes.news());
        let modes = [mode.unwrap_or_default()];
        let mut mode_info = vk::SwapchainPresentModeInfoEXT::default().present_modes(&modes);
        if mode.is_some() {
            info = info.push_next(&mut mode_info);
        }
        if id.is_some() {
            info = info.push_next(&mut id_info);
        }
        let queue = lock(&self.device.queues[queue].raw);
        // SAFETY: the queue is locked; a submitted batch signals the semaphore; the image is
        // acquired and, by the plan, in the layout for presenting; the fence is not in use.
        self.device.note("vkQueuePresentKHR", unsafe {
            functions.queue_present(*queue, &info)
        })
    }

    /// Takes back the signalled semaphore of an acquisition whose image is not used.
    pub(crate) fn give_up_signalled(&mut self, semaphore: vk::Semaphore) {
        if self.drain(semaphore) {
            self.pool.give_back(semaphore)
        } else {
            self.pool.keep_signalled(semaphore)
        }
    }

    /// Waits for an acquisition that no submission waits for, so that its semaphore can be
    /// destroyed; `false` if it takes too long.
    pub(crate) fn drain_acquired(&mut self) -> bool {
        let acquired = self.acquired.as_mut();
        let Some(semaphore) = acquired.and_then(|acquired| acquired.wait.take()) else {
            return true;
        };
        let drained = self.drain(semaphore);
        if drained {
            self.pool.give_back(semaphore)
        } else {
            self.pool.keep_signalled(semaphore)
        }
        drained
    }

    /// Submits a wait for the semaphore and waits for that; `false` if it takes too long.
    fn drain(&self, semaphore: vk::Semaphore) -> bool {
        let device = &*self.device;
        if device.is_lost_for_certain() {
            return true;
        }
        // SAFETY: the create info is the default one.
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
        let submitted = device.note("vkQueueSubmit2", unsafe {
            device.raw.queue_submit2(*queue, &submits, fence)
        });
        drop(queue);
        let done = submitted.is_ok() && wait_for_fences(device, &[fence], TIMEOUT);
        if done || submitted.is_err() {
            // SAFETY: the submission is complete, or failed.
            unsafe { device.raw.destroy_fence(fence, None) };
        }
        done || device.is_lost_for_certain()
    }
}

fn is_out_of_memory(result: Result<bool, vk::Result>) -> bool {
    matches!(
        result,
        Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    )
}
