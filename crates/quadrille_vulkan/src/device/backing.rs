//! The memory that backs a buffer or an image: an allocation of its own, or a place in a block.

use std::sync::{Arc, Mutex, Weak};

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use quadrille_sync::BlockId;

use crate::device::Device;
use crate::device::memory::{Memory, MemoryPool};
use crate::error::Error;
use crate::lock;

/// A transient resource, as far as the block that it lies in is concerned.
pub(crate) trait Resident: Send + Sync {
    /// Leaves this block, if it is bound to it: it is unbound then, without contents.
    fn vacate(self: Arc<Self>, block: &Arc<Block>);
}

/// Memory that transient resources share.
pub(crate) struct Block {
    /// Its id in the states.
    pub id: BlockId,
    /// Its size.
    pub bytes: u64,
    /// The alignment of its first byte, in bytes.
    pub alignment: u64,
    memory: Allocation,
    /// The resources that were bound to it, and may still be.
    residents: Mutex<Vec<Weak<dyn Resident>>>,
}

impl Block {
    /// Allocates a block for resources of these memory types. Its ends are aligned, so that nothing
    /// inside shares a page with what is outside.
    pub(crate) fn new(
        pool: &MemoryPool,
        id: BlockId,
        requirements: vk::MemoryRequirements,
    ) -> Result<Self, Error> {
        let name = format!("transient block {}", id.0);
        let memory = pool.allocate(&name, requirements, Memory::Device, false)?;
        Ok(Self {
            id,
            bytes: requirements.size,
            alignment: requirements.alignment,
            memory,
            residents: Mutex::default(),
        })
    }

    /// Notes a resource that is bound to the block.
    pub(crate) fn note(&self, resident: Weak<dyn Resident>) {
        let mut residents = lock(&self.residents);
        residents.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&resident));
        residents.push(resident);
    }

    /// Evicts every resource bound to the block, until frames use them again. Otherwise resources
    /// that no frame uses any more would keep the block.
    pub(crate) fn vacate(self: &Arc<Self>) {
        // Resources that leave must not find the list locked.
        let residents = std::mem::take(&mut *lock(&self.residents));
        for resident in residents.iter().filter_map(Weak::upgrade) {
            resident.vacate(self);
        }
    }
}

/// The memory that backs a resource.
#[derive(Default)]
pub(crate) enum Backing {
    /// Unbound: there is no Vulkan object to bind yet, or a swapchain binds it.
    #[default]
    Unbound,
    /// An allocation of its own.
    Own(Allocation),
    /// A place in a block, at an offset.
    Shared(Arc<Block>, u64),
}

impl Backing {
    /// Whether no memory is bound.
    pub(crate) fn is_unbound(&self) -> bool {
        matches!(self, Self::Unbound)
    }

    /// Whether the bytes are here: in this block at this offset, or in memory of their own.
    pub(crate) fn is_at(&self, place: Option<(&Arc<Block>, u64)>) -> bool {
        match (self, place) {
            (Self::Own(_), None) => true,
            (Self::Shared(block, offset), Some((other, at))) => {
                Arc::ptr_eq(block, other) && *offset == at
            }
            _ => false,
        }
    }

    /// The offset in this block, if the bytes are there.
    pub(crate) fn offset_in(&self, block: &Arc<Block>) -> Option<u64> {
        match self {
            Self::Shared(own, offset) if Arc::ptr_eq(own, block) => Some(*offset),
            _ => None,
        }
    }

    /// An allocation for these requirements, or the given place.
    pub(crate) fn find(
        device: &Device,
        name: &str,
        requirements: vk::MemoryRequirements,
        (memory, linear): (Memory, bool),
        place: Option<(&Arc<Block>, u64)>,
    ) -> Result<Self, Error> {
        match place {
            Some((block, offset)) => Ok(Self::Shared(Arc::clone(block), offset)),
            None => {
                let pool = &device.memory;
                let own = pool.allocate(name, requirements, memory, linear)?;
                Ok(Self::Own(own))
            }
        }
    }

    /// The memory object and the offset to bind.
    pub(crate) fn binding(&self) -> (vk::DeviceMemory, u64) {
        let (memory, offset) = match self {
            Self::Unbound => return (vk::DeviceMemory::null(), 0),
            Self::Own(memory) => (memory, 0),
            Self::Shared(block, offset) => (&block.memory, *offset),
        };
        // SAFETY: the allocation is alive; its handle is used for binding only.
        let object = unsafe { memory.memory() };
        (object, memory.offset() + offset)
    }

    /// The allocation of its own.
    pub(crate) fn own(&self) -> Option<&Allocation> {
        match self {
            Self::Own(memory) => Some(memory),
            _ => None,
        }
    }

    /// Gives the memory back, once nothing is bound to it any more; a block, if this was the last
    /// that was in it.
    pub(crate) fn free(self, device: &Device) {
        match self {
            Self::Unbound => {}
            Self::Own(memory) => device.memory.free(memory),
            Self::Shared(block, _) => {
                if let Some(block) = Arc::into_inner(block) {
                    device.memory.free(block.memory);
                }
            }
        }
    }
}
