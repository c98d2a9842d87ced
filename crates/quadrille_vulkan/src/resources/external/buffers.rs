//! Buffers that others share.

use std::ffi::c_void;
use std::ptr::NonNull;

use ash::{ext, vk};

use super::allocate::{ExternalBacking, For, Source};
use super::shared_memory::description;
use super::{MemoryHandle, SharedMemory, check_features, check_shared, invalid, need};
use crate::device::Device;
use crate::device::backing::Backing;
use crate::device::gpu::Gpu;
use crate::device::memory::Memory;
use crate::error::Error;
use crate::instance::imported::KeepAlive;
use crate::instance::sharing::Sharing;
use crate::resources::buffer::{self, BufferDesc, GpuBuffer};

impl Gpu {
    /// Creates a buffer whose memory can be exported ([`GpuBuffer::export`]): exclusive, and in device memory.
    ///
    /// # Errors
    /// The description is invalid, the device cannot export such a buffer, or memory allocation failed.
    pub fn create_exportable_buffer(
        &self,
        desc: &BufferDesc,
        handle: MemoryHandle,
    ) -> Result<GpuBuffer, Error> {
        need(&self.0, &desc.name, handle.extension())?;
        let exportable = vk::ExternalMemoryFeatureFlags::EXPORTABLE;
        self.external_buffer(desc, (handle.raw(), exportable), Source::New(handle))
    }

    /// Creates a buffer in memory that somebody has exported. The description has to be the exporter's.
    ///
    /// # Errors
    /// The memory is of another device or of a buffer with another description, has too few bytes, or the device cannot
    /// import it. The descriptor is closed.
    pub fn import_buffer(
        &self,
        desc: &BufferDesc,
        memory: SharedMemory,
    ) -> Result<GpuBuffer, Error> {
        let handle = memory.layout.handle;
        need(&self.0, &desc.name, handle.extension())?;
        let importable = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        let source = Source::Shared(memory);
        self.external_buffer(desc, (handle.raw(), importable), source)
    }

    /// Creates a buffer in memory of the host (`VK_EXT_external_memory_host`). `keep` is dropped after the device's last
    /// use of the memory. `address` and `bytes` are multiples of `minImportedHostPointerAlignment`, which is at most
    /// 64 KiB; the error says so otherwise.
    ///
    /// # Safety
    /// The memory from `address` on has `bytes` bytes and is valid until `keep` is dropped. The host does not access it
    /// while a submitted frame uses the buffer.
    ///
    /// # Errors
    /// The device lacks the extension, the address or the size is not aligned, or the memory cannot be imported.
    pub unsafe fn import_host_buffer(
        &self,
        desc: &BufferDesc,
        (address, bytes): (NonNull<u8>, u64),
        keep: KeepAlive,
    ) -> Result<GpuBuffer, Error> {
        need(&self.0, &desc.name, ext::external_memory_host::NAME)?;
        let alignment = host_alignment(&self.0);
        if !(address.as_ptr() as u64).is_multiple_of(alignment) || !bytes.is_multiple_of(alignment)
        {
            return Err(invalid(
                &desc.name,
                format!(
                    "its host memory has the address {address:p} and {bytes} bytes; make both a multiple of {alignment} \
                     (`minImportedHostPointerAlignment`)"
                ),
            ));
        }
        let host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let importable = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        let source = Source::Host(address.cast::<c_void>(), bytes, keep);
        self.external_buffer(desc, (host, importable), source)
    }

    /// Wraps a buffer that another library has made from this device and owns. It is not destroyed here; `keep` is
    /// dropped after the last use, and before the device is destroyed. It must not hold a [`Gpu`].
    ///
    /// # Safety
    /// `raw` is an exclusive buffer of this device that fits the description and lives until `keep` is dropped.
    ///
    /// # Errors
    /// The description is invalid.
    pub unsafe fn wrap_buffer(
        &self,
        desc: &BufferDesc,
        raw: vk::Buffer,
        keep: KeepAlive,
    ) -> Result<GpuBuffer, Error> {
        let desc = checked(&self.0, desc)?;
        Ok(GpuBuffer::adopt(
            &self.0,
            &desc,
            raw,
            Backing::Program(keep),
        ))
    }

    fn external_buffer(
        &self,
        desc: &BufferDesc,
        (handle, wanted): (
            vk::ExternalMemoryHandleTypeFlags,
            vk::ExternalMemoryFeatureFlags,
        ),
        source: Source,
    ) -> Result<GpuBuffer, Error> {
        let device = &self.0;
        let desc = checked(device, desc)?;
        let usage = vk::BufferUsageFlags::from_raw(desc.usage.bits());
        let asked = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(usage)
            .handle_type(handle);
        let mut found = vk::ExternalBufferProperties::default();
        // SAFETY: the physical device is of this instance.
        unsafe {
            device
                .instance
                .raw
                .get_physical_device_external_buffer_properties(
                    device.physical,
                    &asked,
                    &mut found,
                );
        };
        let features = found.external_memory_properties.external_memory_features;
        check_features(&desc.name, &format!("{handle:?}"), features, wanted, device)?;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle);
        let info = vk::BufferCreateInfo::default()
            .size(desc.bytes)
            .usage(usage)
            .push_next(&mut external);
        // SAFETY: the description is checked.
        let raw = unsafe { device.raw.create_buffer(&info, None) };
        let raw = raw.map_err(Error::vulkan(device, &desc.name, "vkCreateBuffer"))?;
        let described = description(&[0, desc.bytes, u64::from(usage.as_raw())]);
        match ExternalBacking::bind(
            device,
            &desc.name,
            For::Buffer(raw),
            source,
            (described, None),
        ) {
            Ok(backing) => {
                device.names.name(raw, &desc.name);
                let backing = Backing::External(Box::new(backing));
                Ok(GpuBuffer::adopt(device, &desc, raw, backing))
            }
            Err(error) => {
                // SAFETY: made above, used by nothing.
                unsafe { device.raw.destroy_buffer(raw, None) };
                Err(error)
            }
        }
    }
}

impl GpuBuffer {
    /// Exports its memory as a file descriptor, a new one each time.
    ///
    /// # Errors
    /// Called on one that was not made by [`Gpu::create_exportable_buffer`].
    pub fn export(&self) -> Result<SharedMemory, Error> {
        let object = self.object();
        ExternalBacking::share_backing(&object.backing(), &object.device, self.name())
    }
}

/// Checks a description, and settles its sharing mode.
fn checked(device: &Device, desc: &BufferDesc) -> Result<BufferDesc, Error> {
    check_shared(&desc.name, desc.sharing, desc.transient)?;
    buffer::check(device, desc)?;
    if desc.memory != Memory::Device {
        return Err(invalid(
            &desc.name,
            "memory that others share is not mapped; leave `memory` at Memory::Device, and copy to a buffer in \
             Memory::Readback",
        ));
    }
    Ok(BufferDesc {
        sharing: Sharing::Exclusive,
        ..desc.clone()
    })
}

/// `minImportedHostPointerAlignment`, in bytes.
fn host_alignment(device: &Device) -> u64 {
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
    // SAFETY: the physical device is of this instance and has the extension.
    unsafe {
        device
            .instance
            .raw
            .get_physical_device_properties2(device.physical, &mut properties);
    };
    host.min_imported_host_pointer_alignment.max(1)
}
