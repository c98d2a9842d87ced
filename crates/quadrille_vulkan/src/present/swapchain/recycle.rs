//! Pool of the binary semaphores and present fences of a window.

use std::collections::VecDeque;
use std::sync::Arc;

use ash::vk;
use quadrille_sync::states::TimelinePoint;

use super::{Chain, Proof, Swapchain};
use crate::device::Device;

/// Semaphores and fences that are not part of a present.
#[derive(Default)]
pub(crate) struct Pool {
    /// Unused semaphores.
    semaphores: Vec<vk::Semaphore>,
    /// Unused, unsignalled fences.
    fences: Vec<vk::Fence>,
    /// Semaphores of acquisitions, with the submission that waits for each.
    waited: VecDeque<(vk::Semaphore, TimelinePoint)>,
    /// Semaphores that a submission signals and none will wait for.
    spoiled: Vec<(vk::Semaphore, TimelinePoint)>,
    /// Semaphores that are signalled at an unknown time; kept until the window closes.
    signalled: Vec<vk::Semaphore>,
    /// Fences of complete presents that the driver has not signalled yet.
    late: Vec<vk::Fence>,
}

/// Maximum number of unsignalled fences of complete presents. Above it the driver is assumed not to signal present
/// fences, and presents continue without them.
const MAX_LATE_FENCES: usize = 4;

impl Pool {
    /// Takes an unsignalled semaphore. Fails on a lost device, whose recycled semaphores may have had a pending
    /// operation at the loss.
    pub(crate) fn semaphore(&mut self, device: &Device) -> Result<vk::Semaphore, vk::Result> {
        if device.is_lost() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        if let Some(semaphore) = self.semaphores.pop() {
            return Ok(semaphore);
        }
        // SAFETY: the create info is the default one.
        let semaphore = unsafe {
            device
                .raw
                .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
        };
        device.note("vkCreateSemaphore", semaphore)
    }

    /// Takes an unsignalled fence. Fails on a lost device, likewise.
    pub(crate) fn fence(&mut self, device: &Device) -> Result<vk::Fence, vk::Result> {
        if device.is_lost() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        if let Some(fence) = self.fences.pop() {
            return Ok(fence);
        }
        // SAFETY: the create info is the default one.
        let fence = unsafe {
            device
                .raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
        };
        device.note("vkCreateFence", fence)
    }

    /// Takes back a semaphore that is neither signalled nor going to be.
    pub(crate) fn give_back(&mut self, semaphore: vk::Semaphore) {
        self.semaphores.push(semaphore);
    }

    /// Takes back a semaphore that a submission waits for.
    pub(crate) fn give_back_after(&mut self, semaphore: vk::Semaphore, point: TimelinePoint) {
        self.waited.push_back((semaphore, point));
    }

    /// Takes back a semaphore that a submission signals and none waits for.
    pub(crate) fn spoil(&mut self, semaphore: vk::Semaphore, point: TimelinePoint) {
        self.spoiled.push((semaphore, point));
    }

    /// Takes back a semaphore that is signalled at an unknown time.
    pub(crate) fn keep_signalled(&mut self, semaphore: vk::Semaphore) {
        self.signalled.push(semaphore);
    }

    /// Takes back an unsubmitted fence, if there is one.
    pub(crate) fn give_back_fence(&mut self, fence: Option<vk::Fence>) {
        self.fences.extend(fence);
    }

    /// Takes back the fence of a complete present.
    pub(crate) fn recycle_fence(&mut self, device: &Device, fence: vk::Fence) {
        if !is_done(device, &Proof::Fence(fence)) {
            self.late.push(fence);
            return;
        }
        if device.is_lost() {
            // SAFETY: all work of a lost device counts as complete. A fence that was in use can only be destroyed.
            unsafe { device.raw.destroy_fence(fence, None) };
            return;
        }
        // SAFETY: the present of the fence is complete, and the fence is signalled.
        match unsafe { device.raw.reset_fences(&[fence]) } {
            Ok(()) => self.fences.push(fence),
            // SAFETY: as above; a fence that cannot be reset is not used again.
            Err(_) => unsafe { device.raw.destroy_fence(fence, None) },
        }
    }

    /// Number of unused semaphores.
    pub(crate) fn spare_semaphore_count(&self) -> usize {
        self.semaphores.len()
    }

    /// Number of semaphores in use.
    pub(crate) fn busy_semaphore_count(&self) -> usize {
        self.waited.len() + self.spoiled.len() + self.signalled.len()
    }

    /// Whether the driver seems not to signal present fences.
    fn has_too_many_late(&self) -> bool {
        self.late.len() > MAX_LATE_FENCES
    }

    fn recycle(&mut self, device: &Device) {
        while let Some((semaphore, point)) = self.waited.front().copied() {
            if !is_done(device, &Proof::Point(point)) {
                break;
            }
            self.waited.pop_front();
            self.semaphores.push(semaphore);
        }
        self.spoiled.retain(|(semaphore, point)| {
            let done = is_done(device, &Proof::Point(*point));
            if done {
                // A signalled semaphore cannot be signalled again, so it is destroyed.
                // SAFETY: the submission that signals it is complete, and none waits for it.
                unsafe { device.raw.destroy_semaphore(*semaphore, None) };
            }
            !done
        });
        for fence in std::mem::take(&mut self.late) {
            self.recycle_fence(device, fence);
        }
    }

    /// Destroys up to `spare` unused semaphores.
    fn shrink(&mut self, device: &Device, spare: usize) {
        for _ in 0..spare {
            let Some(semaphore) = self.semaphores.pop() else {
                return;
            };
            // SAFETY: it is neither signalled nor waited for.
            unsafe { device.raw.destroy_semaphore(semaphore, None) };
        }
    }

    /// Destroys all objects. Device and presentation engine must no longer use them. Returns
    /// whether a fence had to be leaked.
    pub(crate) fn destroy(&mut self, device: &Device) -> bool {
        self.recycle(device);
        let waited = self.waited.drain(..).chain(self.spoiled.drain(..));
        let semaphores = waited.map(|(semaphore, _)| semaphore);
        let idle = self.semaphores.drain(..).chain(self.signalled.drain(..));
        for semaphore in semaphores.chain(idle) {
            // SAFETY: all submissions and presents that used it are complete.
            unsafe { device.raw.destroy_semaphore(semaphore, None) };
        }
        let late = if device.is_lost_for_certain() {
            std::mem::take(&mut self.late)
        } else {
            Vec::new()
        };
        for fence in self.fences.drain(..).chain(late) {
            // SAFETY: all presents that used it are complete.
            unsafe { device.raw.destroy_fence(fence, None) };
        }
        !self.late.is_empty()
    }
}

impl Swapchain {
    /// Recycles semaphores, fences and old chains whose presents are proven complete.
    pub(crate) fn recycle(&mut self) {
        let device = Arc::clone(&self.device);
        if device.is_lost() {
            // Objects of a lost device are not reused. Its last reports may be wrong, so everything is destroyed at the
            // end, after a wait for the submissions.
            return;
        }
        self.pool.recycle(&device);
        let mut older_are_gone = false;
        if let Some(chain) = &mut self.chain {
            recycle_presents(&device, chain, &mut self.pool);
            let is_done = |proof: &Proof| is_done(&device, proof);
            older_are_gone = !self.old.is_empty() && chain.history.has_replaced_older(is_done);
        }
        for mut old in std::mem::take(&mut self.old) {
            recycle_presents(&device, &mut old, &mut self.pool);
            // With fences each chain is proven by its own presents. Without, or if fences are not signalled, the
            // first present of the current chain proves that no older one is displayed.
            if older_are_gone || (self.fences && old.history.len() == 0) {
                self.destroy_chain(old)
            } else {
                self.old.push(old)
            }
        }
        self.shrink_pool();
        if self.fences && self.pool.has_too_many_late() {
            tracing::warn!(
                "{}: fences of presents do not signal; going on without them",
                self.image().name()
            );
            self.fences = false;
        }
    }

    /// Destroys excess semaphores, such as those of old chains.
    pub(super) fn shrink_pool(&mut self) {
        let spare = self
            .semaphore_count()
            .saturating_sub(self.most_semaphores());
        self.pool.shrink(&self.device, spare);
    }
}

/// Recycles semaphores and fences of the chain's complete presents.
fn recycle_presents(device: &Device, chain: &mut Chain, pool: &mut Pool) {
    chain.history.recycle(
        |proof| is_done(device, proof),
        |done| {
            pool.give_back(done.semaphore);
            if let Some(Proof::Fence(fence)) = done.fence {
                pool.recycle_fence(device, fence);
            }
        },
    );
}

fn is_done(device: &Device, proof: &Proof) -> bool {
    match *proof {
        Proof::Fence(fence) => {
            // SAFETY: the fence is of this device and alive.
            let status = unsafe { device.raw.get_fence_status(fence) };
            or_lost(device, device.note("vkGetFenceStatus", status))
        }
        Proof::Point(point) => {
            // A missing timeline belonged to a stream that has ended, so its work is complete.
            let timeline = device.timelines.get(usize::from(point.queue.0));
            timeline.is_none_or(|timeline| {
                let point = (&*timeline, point.value);
                or_lost(device, device.timelines.has_reached(device, point))
            })
        }
    }
}

/// Treats a lost device as done. Other errors count as not done; a later call reports them.
fn or_lost(device: &Device, is_done: Result<bool, vk::Result>) -> bool {
    is_done.unwrap_or_else(|error| {
        error == vk::Result::ERROR_DEVICE_LOST && device.is_lost_for_certain()
    })
}
