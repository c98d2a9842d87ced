//! Virtual families of command pools and their command buffers.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ash::vk;

/// Virtual families of command pools and command buffers.
#[derive(Debug, Default)]
pub(crate) struct Pools(RwLock<Families>);

#[derive(Debug, Default)]
struct Families {
    pools: HashMap<vk::CommandPool, u32>,
    buffers: HashMap<vk::CommandBuffer, (vk::CommandPool, u32)>,
}

impl Pools {
    /// Returns the virtual family of a command buffer.
    pub(crate) fn family(&self, buffer: vk::CommandBuffer) -> u32 {
        let families = self.0.read().unwrap_or_else(PoisonError::into_inner);
        families
            .buffers
            .get(&buffer)
            .map_or(vk::QUEUE_FAMILY_IGNORED, |(_, family)| *family)
    }

    /// Adds a pool of a virtual family.
    pub(crate) fn add(&self, pool: vk::CommandPool, family: u32) {
        self.write(|families| families.pools.extend([(pool, family)]));
    }

    /// Adds command buffers of a pool.
    pub(crate) fn add_buffers(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) {
        self.write(|families| {
            let family = families
                .pools
                .get(&pool)
                .copied()
                .unwrap_or(vk::QUEUE_FAMILY_IGNORED);
            families
                .buffers
                .extend(buffers.iter().map(|buffer| (*buffer, (pool, family))));
        });
    }

    /// Removes a destroyed pool with its command buffers.
    pub(crate) fn remove(&self, pool: vk::CommandPool) {
        self.write(|families| {
            families.pools.remove(&pool);
            families.buffers.retain(|_, (owner, _)| *owner != pool);
        });
    }

    fn write(&self, change: impl FnOnce(&mut Families)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}
