//! The memory that backs a buffer or an image: a dedicated allocation, a range of a shared block, or memory that
//! others use too.

#[cfg(any(target_os = "linux", target_os = "android"))]
use std::any::Any;
use std::sync::{Arc, Mutex, Weak};

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use quadrille_sync::resource::BlockId;

use crate::device::Device;
use crate::device::memory::{Memory, MemoryPool};
use crate::error::Error;
use crate::instance::imported::KeepAlive;
use crate::lock;

/// A transient resource that is bound to a block.
pub(crate) trait Resident: Send + Sync {
    /// Unbinds the resource if it is bound to this block; its contents are lost.
    fn unbind(self: Arc<Self>, block: &Arc<Block>);
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
    /// Resources that were, and may still be, bound to it.
    residents: Mutex<Vec<Weak<dyn Resident>>>,
}

impl Block {
    /// Allocates a block for resources of these memory types. Both ends are aligned, so that no resource inside
    /// shares a page (`bufferImageGranularity`) with one outside.
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

    /// Registers a resource that is bound to the block.
    pub(crate) fn note(&self, resident: Weak<dyn Resident>) {
        let mut residents = lock(&self.residents);
        residents.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&resident));
        residents.push(resident);
    }

    /// Unbinds every resource from the block. Otherwise resources that frames no longer use would keep the block alive.
    pub(crate) fn unbind(self: &Arc<Self>) {
        // `vacate` of a resource may lock the list.
        let residents = std::mem::take(&mut *lock(&self.residents));
        for resident in residents.iter().filter_map(Weak::upgrade) {
            resident.unbind(self);
        }
    }
}

/// Memory that others use too.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) trait ExternalMemory: Any + Send + Sync {
    /// Frees the memory. No Vulkan object may be bound to it any more.
    fn free(self: Box<Self>, device: &Device);
}

/// The memory that backs a resource.
#[derive(Default)]
pub(crate) enum Backing {
    /// No memory: there is no Vulkan object yet, or it belongs to a swapchain.
    #[default]
    Unbound,
    /// A dedicated allocation.
    Own(Allocation),
    /// A block, and the offset in it.
    Shared(Arc<Block>, u64),
    /// Memory that others use too.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    External(Box<dyn ExternalMemory>),
    /// Vulkan object and memory that the program owns: dropping this says that they are free.
    Program(KeepAlive),
}

impl Backing {
    /// Whether no memory is bound.
    pub(crate) fn is_unbound(&self) -> bool {
        matches!(self, Self::Unbound)
    }

    /// Whether it is this offset of this block; for `None`, whether it is a dedicated allocation.
    pub(crate) fn is_at(&self, placement: Option<(&Arc<Block>, u64)>) -> bool {
        match (self, placement) {
            (Self::Own(_) | Self::Program(_), None) => true,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            (Self::External(_), None) => true,
            (Self::Shared(block, offset), Some((other, at))) => {
                Arc::ptr_eq(block, other) && *offset == at
            }
            _ => false,
        }
    }

    /// The offset in this block, if it is the backing.
    pub(crate) fn offset_in(&self, block: &Arc<Block>) -> Option<u64> {
        match self {
            Self::Shared(own, offset) if Arc::ptr_eq(own, block) => Some(*offset),
            _ => None,
        }
    }

    /// Returns the given place in a block, or allocates for these requirements.
    pub(crate) fn find(
        device: &Device,
        name: &str,
        requirements: vk::MemoryRequirements,
        (memory, linear): (Memory, bool),
        placement: Option<(&Arc<Block>, u64)>,
    ) -> Result<Self, Error> {
        match placement {
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
            Self::Own(memory) => (memory, 0),
            Self::Shared(block, offset) => (&block.memory, *offset),
            // Bound by its maker, if at all.
            _ => return (vk::DeviceMemory::null(), 0),
        };
        // SAFETY: the allocation is alive; its handle is used for binding only.
        let object = unsafe { memory.memory() };
        (object, memory.offset() + offset)
    }

    /// Whether the program owns the Vulkan object.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(self, Self::Program(_))
    }

    /// The dedicated allocation, if it is one.
    pub(crate) fn own(&self) -> Option<&Allocation> {
        match self {
            Self::Own(memory) => Some(memory),
            _ => None,
        }
    }

    /// Frees the memory; a block is freed with its last user. No Vulkan object may be bound to it any more.
    pub(crate) fn free(self, device: &Device) {
        match self {
            Self::Unbound => {}
            Self::Own(memory) => device.memory.free(memory),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Self::External(memory) => memory.free(device),
            Self::Program(keep) => drop(keep),
            Self::Shared(block, _) => {
                if let Some(block) = Arc::into_inner(block) {
                    device.memory.free(block.memory);
                }
            }
        }
    }
}
