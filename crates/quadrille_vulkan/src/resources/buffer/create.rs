//! Creation of Vulkan buffers from descriptions.

use std::sync::Arc;

use ash::vk;
use quadrille_sync::resource::Sharing as Mode;

use super::{BufferDesc, BufferUsage};
use crate::device::Device;
use crate::device::backing::{Backing, Block};
use crate::error::Error;

/// Compares a description with the device's limits.
pub(crate) fn check(device: &Device, desc: &BufferDesc) -> Result<(), Error> {
    let (bytes, most) = (desc.bytes, device.max_buffer_bytes);
    let problem = if bytes == 0 {
        "its size is 0 bytes; it has to be at least 1".to_owned()
    } else if bytes > most {
        format!("its size of {bytes} bytes is above the device's limit of {most}")
    } else if desc.usage.is_empty() {
        "it has no usage; name at least one".to_owned()
    } else if desc.usage.contains(BufferUsage::CONDITION)
        && device.extensions.conditional_rendering.is_none()
    {
        format!(
            "its usage CONDITION takes the extension VK_EXT_conditional_rendering, which the device `{}` \
             lacks",
            device.info.name
        )
    } else {
        return Ok(());
    };
    Err(Error::Invalid {
        name: desc.name.clone(),
        problem,
    })
}

/// Creates a Vulkan buffer from a checked description, without memory.
fn create(device: &Device, desc: &BufferDesc, mode: Mode) -> Result<vk::Buffer, Error> {
    let families = device.families();
    let mut usage = vk::BufferUsageFlags::from_raw(desc.usage.bits());
    if desc.sharing.may_change(&device.topology) {
        // A change of the sharing mode copies the contents to another buffer.
        usage |= vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    }
    let mut info = vk::BufferCreateInfo::default()
        .size(desc.bytes)
        .usage(usage | device.usage_for_addresses());
    if mode == Mode::Concurrent && families.len() > 1 {
        info = info
            .sharing_mode(vk::SharingMode::CONCURRENT)
            .queue_family_indices(&families);
    }
    // SAFETY: the description is checked; the families are those of the device.
    let raw = unsafe { device.raw.create_buffer(&info, None) };
    raw.map_err(Error::vulkan(device, &desc.name, "vkCreateBuffer"))
}

/// Returns memory requirements that suffice for every sharing mode that the buffer may get.
pub(super) fn requirements(
    device: &Device,
    desc: &BufferDesc,
) -> Result<vk::MemoryRequirements, Error> {
    desc.sharing
        .requirements(&device.topology, |mode| requirements_of(device, desc, mode))
}

fn requirements_of(
    device: &Device,
    desc: &BufferDesc,
    mode: Mode,
) -> Result<vk::MemoryRequirements, Error> {
    let raw = create(device, desc, mode)?;
    // SAFETY: `raw` was just created from this device.
    let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
    // SAFETY: created above, and unused.
    unsafe { device.raw.destroy_buffer(raw, None) };
    Ok(requirements)
}

/// Creates a Vulkan buffer, in memory of its own or at `placement`.
pub(super) fn create_in(
    device: &Device,
    desc: &BufferDesc,
    mode: Mode,
    placement: Option<(&Arc<Block>, u64)>,
) -> Result<(vk::Buffer, Backing), Error> {
    let raw = create(device, desc, mode)?;
    match find_backing(device, raw, desc, placement) {
        Ok(backing) => {
            device.names.name(raw, &desc.name);
            device.note_address(raw, desc.bytes, &desc.name);
            Ok((raw, backing))
        }
        Err(error) => {
            // SAFETY: created above, and unused.
            unsafe { device.raw.destroy_buffer(raw, None) };
            Err(error)
        }
    }
}

fn find_backing(
    device: &Device,
    raw: vk::Buffer,
    desc: &BufferDesc,
    placement: Option<(&Arc<Block>, u64)>,
) -> Result<Backing, Error> {
    // SAFETY: `raw` was just created from this device.
    let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
    let kind = (desc.memory, true);
    let backing = Backing::find(device, &desc.name, requirements, kind, placement)?;
    let (object, offset) = backing.binding();
    // SAFETY: the memory was allocated, or the place chosen, for these requirements; it is bound only once.
    match unsafe { device.raw.bind_buffer_memory(raw, object, offset) } {
        Ok(()) => Ok(backing),
        Err(result) => {
            backing.free(device);
            Err(Error::vulkan(device, &desc.name, "vkBindBufferMemory")(
                result,
            ))
        }
    }
}
