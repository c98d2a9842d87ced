//! The binary semaphores and present fences of a window, and when they are free again.

use std::collections::VecDeque;
use std::sync::Arc;

use ash::vk;
use quadrille_sync::TimelinePoint;

use super::{Chain, Proof, Swapchain};
use crate::device::Device;

/// Semaphores and fences that no present has.
#[derive(Default)]
pub(crate) struct Pool {
    /// Semaphores without a use.
    semaphores: Vec<vk::Semaphore>,
    /// Fences without a use, not signalled.
    fences: Vec<vk::Fence>,
    /// Semaphores of acquisitions, with the submission that waits for each.
    waited: VecDeque<(vk::Semaphore, TimelinePoint)>,
    /// Semaphores that a submission signals and none will wait for.
    spoiled: Vec<(vk::Semaphore, TimelinePoint)>,
    /// Semaphores that are signalled at an unknown time; they stay until the window closes.
    signalled: Vec<vk::Semaphore>,
    /// Fences of presents that are done, which the driver has not signalled yet.
    late: Vec<vk::Fence>,
}

/// More fences than this that do not signal although their presents are done: the driver does not
/// keep its promise, and presents go on without fences.
const MAX_LATE_FENCES: usize = 4;

impl Pool {
    /// A semaphore that is not signalled. There is none of a lost device: it counts as done with
    /// all of them, also with those that still had an operation pending when it was lost.
    pub(crate) fn semaphore(&mut self, device: &Device) -> Result<vk::Semaphore, vk::Result> {
        if device.is_lost() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        if let Some(semaphore) = self.semaphores.pop() {
            return Ok(semaphore);
        }
        // SAFETY: the description is the default one.
        let semaphore = unsafe {
            device
                .raw
                .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
        };
        device.note("vkCreateSemaphore", semaphore)
    }

    /// A fence that is not signalled; likewise.
    pub(crate) fn fence(&mut self, device: &Device) -> Result<vk::Fence, vk::Result> {
        if device.is_lost() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        if let Some(fence) = self.fences.pop() {
            return Ok(fence);
        }
        // SAFETY: the description is the default one.
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

    /// Takes back a fence that was not submitted, if there is one.
    pub(crate) fn give_back_fence(&mut self, fence: Option<vk::Fence>) {
        self.fences.extend(fence);
    }

    /// Takes back the fence of a present that is done.
    pub(crate) fn recycle_fence(&mut self, device: &Device, fence: vk::Fence) {
        if !is_done(device, &Proof::Fence(fence)) {
            self.late.push(fence);
            return;
        }
        if device.is_lost() {
            // SAFETY: all work of a lost device is done. A fence that it had can only be destroyed.
            unsafe { device.raw.destroy_fence(fence, None) };
            return;
        }
        // SAFETY: the present that had the fence is done, and so is the fence.
        match unsafe { device.raw.reset_fences(&[fence]) } {
            Ok(()) => self.fences.push(fence),
            // SAFETY: as above; a fence that cannot be reset is not used again.
            Err(_) => unsafe { device.raw.destroy_fence(fence, None) },
        }
    }

    /// How many semaphores are without a use.
    pub(crate) fn spare_semaphore_count(&self) -> usize {
        self.semaphores.len()
    }

    /// How many semaphores are not free yet.
    pub(crate) fn busy_semaphore_count(&self) -> usize {
        self.waited.len() + self.spoiled.len() + self.signalled.len()
    }

    /// Whether the driver forgets fences.
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
                // A signalled semaphore cannot be signalled again, only destroyed.
                // SAFETY: the submission that signals it is complete, and none waits for it.
                unsafe { device.raw.destroy_semaphore(*semaphore, None) };
            }
            !done
        });
        for fence in std::mem::take(&mut self.late) {
            self.recycle_fence(device, fence);
        }
    }

    /// Destroys semaphores without a use, this many at most.
    fn shrink(&mut self, device: &Device, spare: usize) {
        for _ in 0..spare {
            let Some(semaphore) = self.semaphores.pop() else {
                return;
            };
            // SAFETY: it is neither signalled nor waited for.
            unsafe { device.raw.destroy_semaphore(semaphore, None) };
        }
    }

    /// Destroys everything; the device and the presentation engine are done with it. Returns
    /// whether a fence had to be left behind.
    pub(crate) fn destroy(&mut self, device: &Device) -> bool {
        self.recycle(device);
        let waited = self.waited.drain(..).chain(self.spoiled.drain(..));
        let semaphores = waited.map(|(semaphore, _)| semaphore);
        let idle = self.semaphores.drain(..).chain(self.signalled.drain(..));
        for semaphore in semaphores.chain(idle) {
            // SAFETY: all submissions and presents that used it are done.
            unsafe { device.raw.destroy_semaphore(semaphore, None) };
        }
        let late = if device.is_lost_for_certain() {
            std::mem::take(&mut self.late)
        } else {
            Vec::new()
        };
        for fence in self.fences.drain(..).chain(late) {
            // SAFETY: all presents that used it are done.
            unsafe { device.raw.destroy_fence(fence, None) };
        }
        !self.late.is_empty()
    }
}

impl Swapchain {
    /// Takes back what is proven done: semaphores, fences, and old chains.
    pub(crate) fn recycle(&mut self) {
        let device = Arc::clone(&self.device);
        if device.is_lost() {
            // Nothing of it is used again. What it said last need not be true, so all goes at the
            // end, which waits for what was submitted.
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
            // With fences each chain proves itself. Without, and where fences are forgotten, the
            // first present of the chain in use shows that nothing older is shown any more.
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

    /// Destroys semaphores that are too many, such as those of old chains.
    pub(super) fn shrink_pool(&mut self) {
        let spare = self
            .semaphore_count()
            .saturating_sub(self.most_semaphores());
        self.pool.shrink(&self.device, spare);
    }
}

/// Takes back what the chain's presents have done with.
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
            // The timeline of a stream that has ended is gone, and all its work is done.
            let timeline = device.timelines.get(usize::from(point.queue.0));
            timeline.is_none_or(|timeline| {
                let point = (&*timeline, point.value);
                or_lost(device, device.timelines.has_reached(device, point))
            })
        }
    }
}

/// A lost device has done all that it ever will. Any other failure says nothing: a caller that tries again
/// will hear.
fn or_lost(device: &Device, is_done: Result<bool, vk::Result>) -> bool {
    is_done.unwrap_or_else(|error| {
        error == vk::Result::ERROR_DEVICE_LOST && device.is_lost_for_certain()
    })
}
