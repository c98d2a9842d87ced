//! Command pools: one per recording task, queue family and frame in flight. Pools are externally synchronized (section
//! "Command Pools"), so tasks record without locks. A pool is reset as a whole.

use ash::vk;

use crate::device::Device;

/// A task's pool for one family, and its command buffers, of which the first `used` are taken.
struct Pool {
    task: usize,
    family: u32,
    pool: vk::CommandPool,
    buffers: Vec<vk::CommandBuffer>,
    used: usize,
}

/// The pools of one frame in flight. Its owner destroys them once the device is done with them.
#[derive(Default)]
pub(crate) struct Pools(Vec<Pool>);

impl Pools {
    /// Returns a command buffer of a family that is unused in this frame, for a task. Callers take all
    /// buffers of one task before those of the next.
    pub(crate) fn take(
        &mut self,
        device: &Device,
        task: usize,
        family: u32,
    ) -> Result<vk::CommandBuffer, vk::Result> {
        // Searches from the back, since successive calls mostly want the latest pool.
        let is_known = |pool: &Pool| pool.task == task && pool.family == family;
        let known = self.0.iter().rposition(is_known);
        let at = match known {
            Some(at) => at,
            None => {
                self.0.push(Pool::new(device, task, family)?);
                self.0.len() - 1
            }
        };
        self.0[at].take(device)
    }

    /// Resets all pools. The device must have completed their command buffers.
    pub(crate) fn reset(&mut self, device: &Device) -> Result<(), vk::Result> {
        for pool in self.0.iter_mut().filter(|pool| pool.used > 0) {
            let flags = vk::CommandPoolResetFlags::empty();
            // SAFETY: the frame that used the pool has completed on all queues.
            unsafe { device.raw.reset_command_pool(pool.pool, flags) }?;
            pool.used = 0;
        }
        Ok(())
    }

    /// Destroys the pools. The device must have completed their command buffers.
    pub(crate) fn destroy(&mut self, device: &Device) {
        for pool in self.0.drain(..) {
            // SAFETY: made from this device, and no queue uses its command buffers any more.
            unsafe { device.raw.destroy_command_pool(pool.pool, None) };
        }
    }
}

impl Pool {
    fn new(device: &Device, task: usize, family: u32) -> Result<Self, vk::Result> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        // SAFETY: the family is one that the device was created with.
        let pool = unsafe { device.raw.create_command_pool(&info, None) };
        let pool = device.note("vkCreateCommandPool", pool)?;
        Ok(Self {
            task,
            family,
            pool,
            buffers: Vec::new(),
            used: 0,
        })
    }

    /// Returns the next command buffer. If all are used, doubles their number.
    fn take(&mut self, device: &Device) -> Result<vk::CommandBuffer, vk::Result> {
        if self.used == self.buffers.len() {
            let count = self.buffers.len().max(1);
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .level(vk::CommandBufferLevel::PRIMARY)
                .command_buffer_count(count as u32);
            // SAFETY: the pool is alive, and no other thread uses it now.
            let buffers = unsafe { device.raw.allocate_command_buffers(&info) }?;
            self.buffers.extend(buffers);
        }
        self.used += 1;
        Ok(self.buffers[self.used - 1])
    }
}
