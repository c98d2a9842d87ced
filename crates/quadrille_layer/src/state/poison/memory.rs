//! Filling fresh memory.

use std::sync::{Mutex, PoisonError};

use ash::vk::{self, Handle};

use crate::dispatch::chain::chain;
use crate::state::driver::Driver;
use crate::state::work::WorkLock;

/// Fill byte of fresh memory: as a float -4.3e8, as an integer a large value.
const BYTE: u8 = 0xCD;
const WORD: u32 = 0xCDCD_CDCD;

/// Command pool for filling memory that the host cannot map, created at its first use.
#[derive(Default)]
pub(super) struct Filler(Mutex<Option<vk::CommandPool>>);

impl Filler {
    /// Fills memory with garbage, unless it is imported.
    ///
    /// # Safety
    /// `memory` must have just been allocated with `info`, from a type with `flags`, and no other thread may use it
    /// yet.
    pub(super) unsafe fn fill(
        &self,
        driver: &Driver,
        work: &WorkLock,
        info: &vk::MemoryAllocateInfo<'_>,
        flags: vk::MemoryPropertyFlags,
        memory: vk::DeviceMemory,
    ) {
        // SAFETY: the chain of a valid structure.
        let imported = unsafe { chain(info.p_next) }.any(|base| is_import(base.s_type));
        let unfit = vk::MemoryPropertyFlags::LAZILY_ALLOCATED | vk::MemoryPropertyFlags::PROTECTED;
        if imported || flags.intersects(unfit) {
            return;
        }
        let result = if flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
            // SAFETY: host visible, and not mapped yet.
            unsafe { fill_mapped(driver, memory, info.allocation_size) }
        } else {
            // SAFETY: by the caller's contract.
            unsafe { self.fill_with_buffer(driver, work, info, memory) }
        };
        if let Err(error) = result {
            driver
                .calls()
                .note("poison", &format!("fresh memory stays as it is: {error:?}"));
        }
    }

    /// Destroys the command pool.
    ///
    /// # Safety
    /// The device must be idle.
    pub(super) unsafe fn destroy(&self, driver: &Driver) {
        let pool = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(pool) = pool {
            // SAFETY: by the caller's contract.
            unsafe { driver.next.core.destroy_command_pool(pool, None) };
        }
    }

    /// Binds a temporary buffer to the memory, and fills it on the real queue.
    ///
    /// # Safety
    /// As for [`Filler::fill`].
    unsafe fn fill_with_buffer(
        &self,
        driver: &Driver,
        work: &WorkLock,
        info: &vk::MemoryAllocateInfo<'_>,
        memory: vk::DeviceMemory,
    ) -> Result<(), vk::Result> {
        let core = &driver.next.core;
        // SAFETY: the chain of a valid structure.
        let dedicated = unsafe { chain(info.p_next) }
            .any(|base| base.s_type == vk::StructureType::MEMORY_DEDICATED_ALLOCATE_INFO);
        if dedicated {
            // Dedicated memory can only be bound to its own resource.
            return Ok(());
        }
        let buffer_info = vk::BufferCreateInfo::default()
            .size(info.allocation_size)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: a valid structure.
        let buffer = unsafe { core.create_buffer(&buffer_info, None) }?;
        // SAFETY: the buffer was just created.
        let needs = unsafe { core.get_buffer_memory_requirements(buffer) };
        let fits = needs.size <= info.allocation_size
            && needs.memory_type_bits & (1 << info.memory_type_index) != 0;
        let result = if fits {
            // SAFETY: the requirements are met, and the buffer is not bound yet.
            unsafe { core.bind_buffer_memory(buffer, memory, 0) }
                // SAFETY: the buffer is bound, and only used here.
                .and_then(|()| unsafe { self.fill_buffer(driver, work, buffer) })
        } else {
            Ok(())
        };
        // SAFETY: the fill has completed.
        unsafe { core.destroy_buffer(buffer, None) };
        result
    }

    /// Records and submits a fill, and waits for it.
    ///
    /// # Safety
    /// `buffer` must be bound and have the usage `TRANSFER_DST`, and no other thread may use it.
    unsafe fn fill_buffer(
        &self,
        driver: &Driver,
        work: &WorkLock,
        buffer: vk::Buffer,
    ) -> Result<(), vk::Result> {
        let core = &driver.next.core;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = match *slot {
            Some(pool) => pool,
            None => {
                let info = vk::CommandPoolCreateInfo::default().queue_family_index(driver.family);
                // SAFETY: a valid structure; the real queue is of this family.
                *slot.insert(unsafe { core.create_command_pool(&info, None) }?)
            }
        };
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool is guarded by the lock.
        let commands = unsafe { core.allocate_command_buffers(&info) }?;
        for one in &commands {
            // SAFETY: a dispatchable object that the loader has not initialized.
            unsafe { driver.adopt(one.as_raw() as *mut std::ffi::c_void) }.result()?;
            let begin = vk::CommandBufferBeginInfo::default();
            // SAFETY: fresh from the pool.
            unsafe { core.begin_command_buffer(*one, &begin) }?;
            // SAFETY: recording; the buffer is valid by the caller's contract.
            unsafe { core.cmd_fill_buffer(*one, buffer, 0, vk::WHOLE_SIZE, WORD) };
            // SAFETY: recording.
            unsafe { core.end_command_buffer(*one) }?;
        }
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        {
            let _guards_the_real_queue = work.lock();
            // SAFETY: the queue is guarded by the lock, and the command buffer is complete.
            unsafe { core.queue_submit(driver.queue, &[submit], vk::Fence::null()) }?;
            // SAFETY: the queue is guarded by the lock.
            unsafe { core.queue_wait_idle(driver.queue) }?;
        }
        // SAFETY: the work has completed.
        unsafe { core.free_command_buffers(pool, &commands) };
        Ok(())
    }
}

/// # Safety
/// `memory` must have `size` bytes and be host-visible and not mapped, and no other thread may use it yet.
unsafe fn fill_mapped(
    driver: &Driver,
    memory: vk::DeviceMemory,
    size: vk::DeviceSize,
) -> Result<(), vk::Result> {
    let core = &driver.next.core;
    let flags = vk::MemoryMapFlags::empty();
    // SAFETY: by the caller's contract.
    let bytes = unsafe { core.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }?;
    let count = usize::try_from(size).unwrap_or(0);
    // SAFETY: the whole allocation is mapped.
    unsafe { bytes.cast::<u8>().write_bytes(BYTE, count) };
    let range = vk::MappedMemoryRange::default()
        .memory(memory)
        .size(vk::WHOLE_SIZE);
    // SAFETY: the whole allocation is mapped. Flushing coherent memory is allowed.
    let flushed = unsafe { core.flush_mapped_memory_ranges(&[range]) };
    // SAFETY: mapped above.
    unsafe { core.unmap_memory(memory) };
    flushed
}

/// Whether a structure of this type makes an allocation an import.
fn is_import(s_type: vk::StructureType) -> bool {
    [
        vk::StructureType::IMPORT_MEMORY_FD_INFO_KHR,
        vk::StructureType::IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        vk::StructureType::IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR,
        vk::StructureType::IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID,
        vk::StructureType::IMPORT_MEMORY_ZIRCON_HANDLE_INFO_FUCHSIA,
        vk::StructureType::IMPORT_METAL_TEXTURE_INFO_EXT,
    ]
    .contains(&s_type)
}
