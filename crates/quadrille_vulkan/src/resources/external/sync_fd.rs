//! Binary semaphores that others share as sync files: the fences of cameras, compositors and displays.

use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};

use ash::{khr, vk};

use super::binary::BinarySemaphore;
use super::invalid;
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::binary_state::{Binary, BinaryState};

/// The handle of sync files.
const SYNC_FD: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;

impl Gpu {
    /// Makes a semaphore that a frame waits for, of a sync file; of a signalled one, if there is none. It takes the
    /// descriptor.
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or imports no sync files; the driver's. The descriptor is closed.
    pub fn import_sync_fd(
        &self,
        name: &str,
        fd: Option<OwnedFd>,
    ) -> Result<BinarySemaphore, Error> {
        self.check_sync_fd(name, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
        let plain = vk::ExternalSemaphoreHandleTypeFlags::empty();
        let made = self.create_binary_semaphore(name, Binary::Imported, plain)?;
        let device = &self.0;
        let functions = khr::external_semaphore_fd::Device::new(&device.instance.raw, &device.raw);
        // -1 is a sync file that is signalled already (`VkImportSemaphoreFdInfoKHR::fd`).
        let raw = fd.map_or(-1, OwnedFd::into_raw_fd);
        // The payload of a sync file is only copied, so the import is temporary
        // (`VUID-VkImportSemaphoreFdInfoKHR-handleType-07307`).
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(made.raw())
            .flags(vk::SemaphoreImportFlags::TEMPORARY)
            .handle_type(SYNC_FD)
            .fd(raw);
        // SAFETY: the semaphore was just made, and nothing uses it.
        let imported = unsafe { functions.import_semaphore_fd(&info) };
        imported
            .inspect_err(|_| {
                if raw >= 0 {
                    // SAFETY: an import that fails does not take the descriptor, which was given to this function.
                    drop(unsafe { OwnedFd::from_raw_fd(raw) });
                }
            })
            .map_err(Error::vulkan(device, name, "vkImportSemaphoreFdKHR"))?;
        Ok(BinarySemaphore::new(made))
    }

    /// Makes a semaphore that a frame signals, to be exported as a sync file ([`BinarySemaphore::export`]).
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or exports no sync files; the driver's.
    pub fn exportable_semaphore(&self, name: &str) -> Result<BinarySemaphore, Error> {
        self.check_sync_fd(name, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        let made = self.create_binary_semaphore(name, Binary::Exportable, SYNC_FD)?;
        Ok(BinarySemaphore::new(made))
    }

    /// Checks that the device shares binary semaphores as sync files.
    fn check_sync_fd(
        &self,
        name: &str,
        wanted: vk::ExternalSemaphoreFeatureFlags,
    ) -> Result<(), Error> {
        let asked = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(SYNC_FD);
        if self.shares_semaphores(name, &asked)?.contains(wanted) {
            return Ok(());
        }
        let device = &self.0.info.name;
        let problem = format!(
            "the device `{device}` does not share semaphores as sync files; share a timeline semaphore \
             (`Gpu::create_exportable_timeline_semaphore`)"
        );
        Err(invalid(name, problem))
    }
}

impl BinarySemaphore {
    /// Exports it once as a sync file, after the submission of the frame that signals it; `None` if the frame is
    /// complete already. A sync file is pollable: it is readable once the frame is complete.
    ///
    /// # Errors
    /// No submitted frame signals it, it was exported before, it is imported, or it is shared by an opaque descriptor;
    /// the driver's.
    pub fn export(&self) -> Result<Option<OwnedFd>, Error> {
        self.note(BinaryState::take)?;
        let semaphore = self.step();
        let device = semaphore.device();
        let functions = khr::external_semaphore_fd::Device::new(&device.instance.raw, &device.raw);
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(semaphore.raw())
            .handle_type(SYNC_FD);
        // SAFETY: the semaphore is alive and was made to be exported so; a frame with its signal is submitted, with all
        // that the signal depends on (`VUID-VkSemaphoreGetFdInfoKHR-handleType-03254` and `-03255`).
        let fd = unsafe { functions.get_semaphore_fd(&info) };
        let fd = fd.map_err(semaphore.error("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the call has made the descriptor, and nobody else owns it; -1 is a semaphore that is signalled already.
        Ok((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}
