//! Device memory: one allocator behind a lock, and host access to mapped memory.

use std::ptr::NonNull;
use std::sync::Mutex;

use ash::vk;
use gpu_allocator::AllocationSizes;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};

use crate::error::{Error, SetupError};
use crate::lock;

/// Block size of host-visible memory, in bytes; buffers are suballocated.
const HOST_BLOCK: u64 = 32 << 20;

/// Block size of device memory, in bytes, by the size of its largest heap. Drivers fill new memory with zeros, which
/// stalls a frame: on an H100 for 5.4 ms at 256 MiB, 1.1 ms at 64 MiB, 0.5 ms at 16 MiB. But a device may support only
/// 4096 allocations (`maxMemoryAllocationCount`); half of them have to suffice for heaps up to 512 GiB.
fn device_block(heap: u64) -> u64 {
    const UNIT: u64 = 4 << 20;
    let least = (heap / 2048).next_multiple_of(UNIT);
    least.clamp(4 * UNIT, 64 * UNIT)
}

/// Kind of a buffer's memory, by location and CPU access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Device-local memory, the fastest for the device. The CPU cannot access it.
    #[default]
    Device,
    /// Host-visible memory for sequential CPU writes and device reads.
    Upload,
    /// Host-cached memory for device writes and CPU reads.
    Readback,
}

impl Memory {
    fn location(self) -> MemoryLocation {
        match self {
            Self::Device => MemoryLocation::GpuOnly,
            Self::Upload => MemoryLocation::CpuToGpu,
            Self::Readback => MemoryLocation::GpuToCpu,
        }
    }
}

/// Device memory of a device's buffers and images, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// Bytes bound to buffers and images, including dropped ones that frames in flight still use.
    pub used: u64,
    /// Bytes of the allocated blocks.
    pub allocated: u64,
}

/// The memory of a device.
pub(crate) struct MemoryPool {
    /// Empty once the device is being destroyed.
    allocator: Mutex<Option<Allocator>>,
    /// The memory types, by index.
    types: Vec<vk::MemoryPropertyFlags>,
    /// `nonCoherentAtomSize`.
    atom: u64,
    /// `maxMemoryAllocationSize`, in bytes.
    most: u64,
}

impl MemoryPool {
    /// Creates the allocator of a new device, with support for buffer device addresses if the device has them.
    pub(crate) fn new(
        instance: &ash::Instance,
        device: &ash::Device,
        physical: vk::PhysicalDevice,
        has_addresses: bool,
    ) -> Result<Self, SetupError> {
        // SAFETY: `physical` was enumerated from this instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan11);
        // SAFETY: as above; the instance is of version 1.3.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let atom = properties.properties.limits.non_coherent_atom_size;
        let heaps = memory.memory_heaps_as_slice().iter();
        let local = heaps.filter(|it| it.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        let heap = local.map(|heap| heap.size).max();
        let description = AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings: Default::default(),
            buffer_device_address: has_addresses,
            allocation_sizes: AllocationSizes::new(device_block(heap.unwrap_or(0)), HOST_BLOCK),
        };
        let allocator = Allocator::new(&description).map_err(|error| SetupError::Allocator {
            reason: error.to_string(),
        })?;
        let types = memory.memory_types_as_slice().iter();
        Ok(Self {
            allocator: Mutex::new(Some(allocator)),
            types: types.map(|known| known.property_flags).collect(),
            atom,
            most: vulkan11.max_memory_allocation_size,
        })
    }

    /// Allocates memory for a resource. `linear` is true for buffers.
    pub(crate) fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        memory: Memory,
        linear: bool,
    ) -> Result<Allocation, Error> {
        let incoherent = incoherent_type(&self.types, requirements.memory_type_bits, memory);
        let (requirements, location) = match incoherent {
            None => (requirements, memory.location()),
            Some(index) => (
                in_whole_atoms(requirements, index, self.atom),
                MemoryLocation::Unknown,
            ),
        };
        let description = AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let out_of_memory = |reason: String| Error::OutOfMemory {
            name: name.to_owned(),
            bytes: requirements.size,
            reason,
        };
        if requirements.size > self.most {
            let most = self.most;
            return Err(out_of_memory(format!(
                "the device allocates at most {most} bytes at once"
            )));
        }
        match lock(&self.allocator).as_mut() {
            Some(allocator) => allocator
                .allocate(&description)
                .map_err(|error| out_of_memory(error.to_string())),
            None => Err(out_of_memory("the device is being destroyed".to_owned())),
        }
    }

    /// The first of the allowed memory types that has these properties, or else the first one that is allowed.
    pub(crate) fn find_type(&self, allowed: u32, wanted: vk::MemoryPropertyFlags) -> u32 {
        let is_allowed = |index: &u32| allowed & (1 << index) != 0;
        let all = 0..self.types.len() as u32;
        let has = |index: &u32| self.types[*index as usize].contains(wanted);
        let best = all.clone().filter(is_allowed).find(has);
        best.or_else(|| all.clone().find(is_allowed))
            .unwrap_or(u32::MAX)
    }

    /// Whether a memory type has these properties.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn has(&self, index: u32, wanted: vk::MemoryPropertyFlags) -> bool {
        let known = self.types.get(index as usize);
        known.is_some_and(|known| known.contains(wanted))
    }

    /// Frees the memory of a destroyed resource.
    pub(crate) fn free(&self, allocation: Allocation) {
        if let Some(allocator) = lock(&self.allocator).as_mut()
            && let Err(error) = allocator.free(allocation)
        {
            tracing::error!("memory cannot be freed: {error}");
        }
    }

    /// Returns the memory use of resources.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let allocator = lock(&self.allocator);
        let report = allocator.as_ref().map(Allocator::generate_report);
        report.map_or_else(MemoryUse::default, |report| MemoryUse {
            used: report.total_allocated_bytes,
            allocated: report.total_capacity_bytes,
        })
    }

    /// Leaks all memory, since a stuck device may still use it.
    pub(crate) fn leak(&self) {
        std::mem::forget(lock(&self.allocator).take());
    }

    /// Frees all memory, before the device is destroyed.
    pub(crate) fn close(&self) {
        *lock(&self.allocator) = None;
    }
}

/// Returns the memory type for mapped memory if it should be a non-coherent one: for readback, cached memory is
/// preferred to coherent memory, but the allocator chooses only coherent types.
/// `None` leaves the choice to the allocator. (Vulkan guarantees a coherent type for each buffer; drivers that
/// violate this are supported too.)
fn incoherent_type(types: &[vk::MemoryPropertyFlags], allowed: u32, memory: Memory) -> Option<u32> {
    let (visible, coherent, cached) = (
        vk::MemoryPropertyFlags::HOST_VISIBLE,
        vk::MemoryPropertyFlags::HOST_COHERENT,
        vk::MemoryPropertyFlags::HOST_CACHED,
    );
    let first = |wanted| {
        let mut all = (0..).zip(types);
        all.find(|&(index, known)| allowed & (1 << index) != 0 && known.contains(wanted))
            .map(|(index, _)| index)
    };
    let wanted = match memory {
        Memory::Device => return None,
        Memory::Upload => [visible | coherent, visible | cached, visible],
        Memory::Readback => [visible | coherent | cached, visible | cached, visible],
    };
    let index: u32 = wanted.into_iter().find_map(first)?;
    (!types[index as usize].contains(coherent)).then_some(index)
}

/// Aligns requirements to `nonCoherentAtomSize`, so that flushing the memory affects no other resource, and restricts
/// them to one memory type.
fn in_whole_atoms(
    requirements: vk::MemoryRequirements,
    memory_type: u32,
    atom: u64,
) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: requirements.size.next_multiple_of(atom.max(1)),
        alignment: requirements.alignment.max(atom),
        memory_type_bits: 1 << memory_type,
    }
}

/// Mapped memory, with the data for flushes and invalidations.
pub(crate) struct Mapped {
    pointer: NonNull<u8>,
    bytes: u64,
    /// Target of flushes: memory object, offset and size of the mapping, and `nonCoherentAtomSize`; `None` if the
    /// memory is coherent.
    flush: Option<FlushTarget>,
}

#[derive(Clone, Copy)]
struct FlushTarget {
    memory: vk::DeviceMemory,
    base: u64,
    atom: u64,
}

// SAFETY: the pointer is to mapped device memory that belongs to one buffer and is not bound to a
// thread; access to it goes through the `Mutex` around `Mapped`.
unsafe impl Send for Mapped {}

impl Mapped {
    /// The mapping of an allocation for a buffer of `bytes` bytes, if it has one.
    pub(crate) fn new(allocation: &Allocation, bytes: u64, atom: u64) -> Option<Self> {
        let pointer = allocation.mapped_ptr()?.cast::<u8>();
        let coherent = vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: the handle is used for flushing only, while the allocation is alive.
        let memory = unsafe { allocation.memory() };
        let flush = (!allocation.memory_properties().contains(coherent)).then(|| FlushTarget {
            memory,
            base: allocation.offset(),
            atom,
        });
        Some(Self {
            pointer,
            bytes,
            flush,
        })
    }

    /// Copies `data` to the mapping at `offset`.
    ///
    /// # Safety
    /// `offset` and the length of `data` are together at most [`Mapped::bytes`].
    pub(crate) unsafe fn write(
        &mut self,
        device: &ash::Device,
        offset: u64,
        data: &[u8],
    ) -> Result<(), vk::Result> {
        // SAFETY: by contract `offset` lies in the mapping, or at its end.
        let target = unsafe { self.pointer.add(offset as usize) };
        // SAFETY: source and target have `data.len()` bytes each, by contract; device memory and
        // Rust memory do not overlap; `&mut self` excludes other host access.
        unsafe { target.copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
        match self.range(offset, data.len() as u64) {
            // SAFETY: the range lies in mapped memory and is rounded as required.
            Some(range) => unsafe { device.flush_mapped_memory_ranges(&[range]) },
            None => Ok(()),
        }
    }

    /// Copies from the mapping at `offset` to `data`.
    ///
    /// # Safety
    /// As for [`Mapped::write`].
    pub(crate) unsafe fn read(
        &mut self,
        device: &ash::Device,
        offset: u64,
        data: &mut [u8],
    ) -> Result<(), vk::Result> {
        if let Some(range) = self.range(offset, data.len() as u64) {
            // SAFETY: the range lies in mapped memory and is rounded as required.
            unsafe { device.invalidate_mapped_memory_ranges(&[range]) }?;
        }
        // SAFETY: by contract `offset` lies in the mapping, or at its end.
        let source = unsafe { self.pointer.add(offset as usize) };
        // SAFETY: as in `write`, with source and target swapped.
        unsafe { source.copy_to_nonoverlapping(NonNull::from(&mut *data).cast(), data.len()) };
        Ok(())
    }

    /// Size of the mapping in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn range(&self, offset: u64, length: u64) -> Option<vk::MappedMemoryRange<'static>> {
        let FlushTarget { memory, base, atom } = self.flush?;
        let (offset, size) = atom_range(base + offset, length, atom);
        Some(
            vk::MappedMemoryRange::default()
                .memory(memory)
                .offset(offset)
                .size(size),
        )
    }
}

/// Expands a range to multiples of `nonCoherentAtomSize` (section "Host Access to Device Memory
/// Objects"). Non-coherent mapped memory is aligned to such multiples
/// (`in_whole_atoms`), so the expanded range stays within it.
fn atom_range(offset: u64, length: u64, atom: u64) -> (u64, u64) {
    let atom = atom.max(1);
    let start = offset - offset % atom;
    let end = (offset + length).next_multiple_of(atom);
    (start, end - start)
}

#[cfg(test)]
mod tests;
