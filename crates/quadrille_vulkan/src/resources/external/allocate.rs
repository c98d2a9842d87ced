//! Allocations outside of the allocator: exported, imported, or the program's.

use std::any::Any;
use std::ffi::c_void;
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::ptr::NonNull;

use ash::{ext, khr, vk};

use super::{DrmModifier, MemoryHandle, MemoryLayout, SharedMemory, invalid, need};
use crate::device::Device;
use crate::device::backing::{Backing, ExternalMemory};
use crate::error::Error;
use crate::instance::imported::KeepAlive;

/// Memory of a resource that others use too.
pub(super) struct ExternalBacking {
    memory: vk::DeviceMemory,
    /// Properties for importers; none for memory that cannot be exported.
    layout: Option<MemoryLayout>,
    /// Owner of imported host memory.
    keep: Option<KeepAlive>,
}

/// The resource that memory is for.
#[derive(Clone, Copy)]
pub(super) enum For {
    Buffer(vk::Buffer),
    Image(vk::Image),
}

/// Source of memory.
pub(super) enum Source {
    /// New memory, to be exported.
    New(MemoryHandle),
    /// Memory that somebody has exported.
    Shared(SharedMemory),
    /// Memory of the host: its address and size, and its owner.
    Host(NonNull<c_void>, u64, KeepAlive),
}

impl ExternalBacking {
    /// Allocates or imports memory, and binds the resource to it.
    pub(super) fn bind(
        device: &Device,
        name: &str,
        of: For,
        source: Source,
        (description, modifier): (u64, Option<DrmModifier>),
    ) -> Result<Self, Error> {
        let needs = match of {
            // SAFETY: the caller has just made the buffer from this device.
            For::Buffer(raw) => unsafe { device.raw.get_buffer_memory_requirements(raw) },
            // SAFETY: likewise.
            For::Image(raw) => unsafe { device.raw.get_image_memory_requirements(raw) },
        };
        let mut backing = match source {
            Source::New(handle) => Self::export(device, name, of, needs, (handle, description))?,
            Source::Shared(memory) => Self::import(device, name, of, needs, (memory, description))?,
            Source::Host(pointer, bytes, keep) => {
                Self::import_host(device, name, needs, (pointer, bytes), keep)?
            }
        };
        if let (Some(layout), Some(_)) = (&mut backing.layout, &modifier) {
            layout.modifier = modifier;
        }
        let memory = backing.memory;
        let (call, bound) = match of {
            For::Buffer(raw) => {
                // SAFETY: the memory was allocated for this buffer, which has none yet.
                let bound = unsafe { device.raw.bind_buffer_memory(raw, memory, 0) };
                ("vkBindBufferMemory", bound)
            }
            For::Image(raw) => {
                // SAFETY: likewise.
                let bound = unsafe { device.raw.bind_image_memory(raw, memory, 0) };
                ("vkBindImageMemory", bound)
            }
        };
        match bound {
            Ok(()) => Ok(backing),
            Err(result) => {
                Box::new(backing).free(device);
                Err(Error::vulkan(device, name, call)(result))
            }
        }
    }

    fn export(
        device: &Device,
        name: &str,
        of: For,
        needs: vk::MemoryRequirements,
        (handle, description): (MemoryHandle, u64),
    ) -> Result<Self, Error> {
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let memory_type = device.memory.find_type(needs.memory_type_bits, local);
        let mut dedicated = of.dedicated();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(handle.raw());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type)
            .push_next(&mut dedicated)
            .push_next(&mut export);
        let memory = allocate(device, name, &info)?;
        let (uuid, driver) = ids(device);
        Ok(Self {
            memory,
            layout: Some(MemoryLayout {
                handle,
                bytes: needs.size,
                memory_type,
                is_dedicated: true,
                device: uuid,
                driver,
                description,
                modifier: None,
            }),
            keep: None,
        })
    }

    fn import(
        device: &Device,
        name: &str,
        of: For,
        needs: vk::MemoryRequirements,
        (memory, description): (SharedMemory, u64),
    ) -> Result<Self, Error> {
        let SharedMemory { fd, layout } = memory;
        let is_opaque = layout.handle == MemoryHandle::OpaqueFd;
        // Dedicated memory has exactly the size of its resource (`VUID-VkMemoryDedicatedAllocateInfo-image-02964` and
        // `-buffer-02965`).
        let is_other = is_opaque && layout.is_dedicated && layout.bytes != needs.size;
        if layout.bytes < needs.size || is_other {
            let (bytes, needed) = (layout.bytes, needs.size);
            return Err(invalid(
                name,
                format!(
                    "the imported memory has {bytes} bytes, and it takes {needed}; import it with the description \
                     that it was exported with"
                ),
            ));
        }
        let memory_type = match layout.handle {
            MemoryHandle::OpaqueFd => {
                check_ids(device, name, &layout)?;
                check_description(name, &layout, description)?;
                layout.memory_type
            }
            MemoryHandle::DmaBuf => {
                let bits = dma_buf_types(device, name, &fd)? & needs.memory_type_bits;
                device
                    .memory
                    .find_type(bits, vk::MemoryPropertyFlags::empty())
            }
        };
        if memory_type == u32::MAX {
            return Err(invalid(
                name,
                "no memory type holds both it and the dma-buf; choose other usages, or copy the contents",
            ));
        }
        if memory_type >= 32 || needs.memory_type_bits & (1 << memory_type) == 0 {
            return Err(invalid(
                name,
                format!(
                    "it cannot lie in memory of type {memory_type}, as the imported memory does; import it with the \
                     description that it was exported with"
                ),
            ));
        }
        let mut dedicated = of.dedicated();
        let mut import = vk::ImportMemoryFdInfoKHR::default()
            .handle_type(layout.handle.raw())
            .fd(fd.as_raw_fd());
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(if is_opaque { layout.bytes } else { needs.size })
            .memory_type_index(memory_type)
            .push_next(&mut import);
        // The rule that exporter and importer agree on it is one of opaque handles.
        if layout.is_dedicated || !is_opaque {
            info = info.push_next(&mut dedicated);
        }
        let memory = allocate(device, name, &info)?;
        // A successful import has taken the descriptor (`VkImportMemoryFdInfoKHR`).
        let _ = fd.into_raw_fd();
        Ok(Self {
            memory,
            layout: None,
            keep: None,
        })
    }

    fn import_host(
        device: &Device,
        name: &str,
        needs: vk::MemoryRequirements,
        (pointer, bytes): (NonNull<c_void>, u64),
        keep: KeepAlive,
    ) -> Result<Self, Error> {
        let host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let functions = ext::external_memory_host::Device::new(&device.instance.raw, &device.raw);
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        let ask = functions.fp().get_memory_host_pointer_properties_ext;
        let own = device.raw.handle();
        // SAFETY: the extension is enabled, and the caller promises that the memory is there.
        let found = unsafe { ask(own, host, pointer.as_ptr(), &mut properties) };
        found.result().map_err(Error::vulkan(
            device,
            name,
            "vkGetMemoryHostPointerPropertiesEXT",
        ))?;
        let bits = properties.memory_type_bits & needs.memory_type_bits;
        if bits == 0 || needs.size > bytes {
            let needed = needs.size;
            return Err(invalid(
                name,
                format!(
                    "{bytes} bytes of host memory at this address cannot hold it; it takes {needed} that the device can map"
                ),
            ));
        }
        let coherent =
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory_type = device.memory.find_type(bits, coherent);
        // The program has no handle to flush or invalidate it by.
        if !device.memory.has(memory_type, coherent) {
            return Err(invalid(
                name,
                format!(
                    "the device `{}` imports this host memory without coherence; copy it to a buffer in Memory::Upload",
                    device.info.name
                ),
            ));
        }
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(host)
            .host_pointer(pointer.as_ptr());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes)
            .memory_type_index(memory_type)
            .push_next(&mut import);
        Ok(Self {
            memory: allocate(device, name, &info)?,
            layout: None,
            keep: Some(keep),
        })
    }

    /// A descriptor of the memory, a new one each time.
    fn share(&self, device: &Device, name: &str) -> Result<SharedMemory, Error> {
        let Some(layout) = &self.layout else {
            return Err(not_exportable(name));
        };
        let functions = khr::external_memory_fd::Device::new(&device.instance.raw, &device.raw);
        let info = vk::MemoryGetFdInfoKHR::default()
            .memory(self.memory)
            .handle_type(layout.handle.raw());
        // SAFETY: the memory is alive, and was allocated for this kind of handle.
        let fd = unsafe { functions.get_memory_fd(&info) };
        let fd = fd.map_err(Error::vulkan(device, name, "vkGetMemoryFdKHR"))?;
        Ok(SharedMemory {
            // SAFETY: the call has made the descriptor, and nobody else owns it.
            fd: unsafe { OwnedFd::from_raw_fd(fd) },
            layout: layout.clone(),
        })
    }

    /// Shares the memory of a resource, if it is external.
    pub(super) fn share_backing(
        backing: &Backing,
        device: &Device,
        name: &str,
    ) -> Result<SharedMemory, Error> {
        let external = match backing {
            Backing::External(memory) => {
                let memory: &dyn Any = &**memory;
                memory.downcast_ref::<Self>()
            }
            _ => None,
        };
        external.map_or_else(
            || Err(not_exportable(name)),
            |external| external.share(device, name),
        )
    }
}

impl ExternalMemory for ExternalBacking {
    fn free(self: Box<Self>, device: &Device) {
        // SAFETY: allocated from this device, and nothing is bound to it any more.
        unsafe { device.raw.free_memory(self.memory, None) };
        drop(self.keep);
    }
}

impl For {
    fn dedicated(self) -> vk::MemoryDedicatedAllocateInfo<'static> {
        let info = vk::MemoryDedicatedAllocateInfo::default();
        match self {
            Self::Buffer(raw) => info.buffer(raw),
            Self::Image(raw) => info.image(raw),
        }
    }
}

/// The error of an export of memory that is not made for it.
fn not_exportable(name: &str) -> Error {
    invalid(
        name,
        "its memory is not exportable; make it with `Gpu::create_exportable_buffer` or `Gpu::create_exportable_image`",
    )
}

fn allocate(
    device: &Device,
    name: &str,
    info: &vk::MemoryAllocateInfo<'_>,
) -> Result<vk::DeviceMemory, Error> {
    // SAFETY: the structure is complete, and the callers have checked sizes and types.
    let memory = unsafe { device.raw.allocate_memory(info, None) };
    let memory = memory.map_err(Error::vulkan(device, name, "vkAllocateMemory"))?;
    device.names.name(memory, name);
    Ok(memory)
}

/// Checks that a resource is described as the one whose dedicated memory was exported
/// (`VUID-VkMemoryDedicatedAllocateInfo-image-01876` and `-buffer-01877`: both have to be identical).
fn check_description(name: &str, layout: &MemoryLayout, own: u64) -> Result<(), Error> {
    if layout.description == own {
        return Ok(());
    }
    Err(invalid(
        name,
        "its description is another one than that of the exported resource; import it with the same size, format, \
         usages, mip levels, layers and samples",
    ))
}

/// The memory types that a dma-buf can be imported to.
fn dma_buf_types(device: &Device, name: &str, fd: &OwnedFd) -> Result<u32, Error> {
    need(device, name, MemoryHandle::DmaBuf.extension())?;
    let functions = khr::external_memory_fd::Device::new(&device.instance.raw, &device.raw);
    let mut properties = vk::MemoryFdPropertiesKHR::default();
    let handle = MemoryHandle::DmaBuf.raw();
    // SAFETY: the descriptor is open.
    let found =
        unsafe { functions.get_memory_fd_properties(handle, fd.as_raw_fd(), &mut properties) };
    found.map_err(Error::vulkan(device, name, "vkGetMemoryFdPropertiesKHR"))?;
    Ok(properties.memory_type_bits)
}

/// `deviceUUID` and `driverUUID`.
pub(super) fn ids(device: &Device) -> ([u8; 16], [u8; 16]) {
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
    // SAFETY: the physical device is of this instance, of Vulkan 1.3.
    unsafe {
        device
            .instance
            .raw
            .get_physical_device_properties2(device.physical, &mut properties);
    };
    (ids.device_uuid, ids.driver_uuid)
}

/// Checks that an opaque descriptor is of this device and driver (`VUID-VkMemoryAllocateInfo-None-00643`).
fn check_ids(device: &Device, name: &str, layout: &MemoryLayout) -> Result<(), Error> {
    let (uuid, driver) = ids(device);
    let what = if layout.device != uuid {
        "device"
    } else if layout.driver != driver {
        "driver"
    } else {
        return Ok(());
    };
    let own = &device.info.name;
    Err(invalid(
        name,
        format!(
            "the imported memory is of another {what} than `{own}`; choose the same one on both sides \
             (`Settings::device`), or share a `MemoryHandle::DmaBuf`"
        ),
    ))
}
