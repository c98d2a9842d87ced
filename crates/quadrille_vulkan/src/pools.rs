//! Command pools: one per chunk of a frame, family and frame in flight, each with one primary
//! command buffer, so that threads record without locks and a pool is reset as a whole.

use ash::vk;

use crate::device::Device;

/// A pool and its command buffer.
#[derive(Clone, Copy)]
struct Pool {
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
}

/// The pools of one family for one frame in flight.
struct Family {
    family: u32,
    pools: Vec<Pool>,
    used: usize,
}

/// The pools of one frame in flight. Its owner destroys them once the device is done with them.
#[derive(Default)]
pub(crate) struct Pools(Vec<Family>);

impl Pools {
    /// A command buffer of a family that nobody else uses in this frame.
    pub(crate) fn take(
        &mut self,
        device: &Device,
        family: u32,
    ) -> Result<vk::CommandBuffer, vk::Result> {
        let at = self
            .0
            .iter()
            .position(|known| known.family == family)
            .unwrap_or_else(|| {
                self.0.push(Family {
                    family,
                    pools: Vec::new(),
                    used: 0,
                });
                self.0.len() - 1
            });
        let pools = &mut self.0[at];
        if pools.used == pools.pools.len() {
            pools.pools.push(create(device, family)?);
        }
        pools.used += 1;
        Ok(pools.pools[pools.used - 1].buffer)
    }

    /// Makes all command buffers usable again. The device is done with them.
    pub(crate) fn reset(&mut self, device: &Device) -> Result<(), vk::Result> {
        for family in &mut self.0 {
            for pool in &family.pools[..family.used] {
                let flags = vk::CommandPoolResetFlags::empty();
                // SAFETY: the frame that used the pool has completed on all queues.
                unsafe { device.raw.reset_command_pool(pool.pool, flags) }?;
            }
            family.used = 0;
        }
        Ok(())
    }

    /// Destroys the pools. The device is done with them.
    pub(crate) fn destroy(&mut self, device: &Device) {
        for pool in self.0.drain(..).flat_map(|family| family.pools) {
            // SAFETY: made from this device, and no queue uses its command buffer any more.
            unsafe { device.raw.destroy_command_pool(pool.pool, None) };
        }
    }
}

fn create(device: &Device, family: u32) -> Result<Pool, vk::Result> {
    let info = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::TRANSIENT)
        .queue_family_index(family);
    // SAFETY: the family is one that the device was created with.
    let pool = unsafe { device.raw.create_command_pool(&info, None) };
    let pool = device.note("vkCreateCommandPool", pool)?;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(1);
    // SAFETY: the pool was just made.
    match unsafe { device.raw.allocate_command_buffers(&info) } {
        Ok(buffers) => Ok(Pool {
            pool,
            buffer: buffers[0],
        }),
        Err(error) => {
            // SAFETY: made above, used by nothing.
            unsafe { device.raw.destroy_command_pool(pool, None) };
            Err(error)
        }
    }
}
