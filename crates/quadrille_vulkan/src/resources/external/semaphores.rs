//! Semaphores that others share by opaque file descriptors.

use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};

use ash::{khr, vk};

use super::{invalid, need};
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::timeline_semaphore::TimelineSemaphore;

/// The only handle that timelines have. It refers to the payload of the semaphore, so both sides use one semaphore
/// (table "Handle Types Supported by VkImportSemaphoreFdInfoKHR").
pub(super) const OPAQUE_FD: vk::ExternalSemaphoreHandleTypeFlags =
    vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

impl Gpu {
    /// Makes a timeline semaphore that can be exported ([`TimelineSemaphore::export`]).
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or exports no timelines; the driver's.
    pub fn create_exportable_timeline_semaphore(
        &self,
        name: &str,
        value: u64,
    ) -> Result<TimelineSemaphore, Error> {
        self.check_timeline(name, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        self.create_timeline_semaphore(name, value, OPAQUE_FD)
    }

    /// Makes a timeline semaphore of an opaque file descriptor that somebody has exported, such as another process or
    /// CUDA on the same device. Both sides signal and wait for the same values.
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or imports no timelines; the driver's. The descriptor is closed.
    pub fn import_timeline_semaphore_fd(
        &self,
        name: &str,
        fd: OwnedFd,
    ) -> Result<TimelineSemaphore, Error> {
        self.check_timeline(name, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
        let plain = vk::ExternalSemaphoreHandleTypeFlags::empty();
        let made = self.create_timeline_semaphore(name, 0, plain)?;
        self.import_opaque(&made, fd)?;
        Ok(made)
    }

    /// Lets a semaphore that was just made refer to the payload of a descriptor, for as long as it lives.
    pub(super) fn import_opaque(&self, made: &TimelineSemaphore, fd: OwnedFd) -> Result<(), Error> {
        let device = &self.0;
        let functions = khr::external_semaphore_fd::Device::new(&device.instance.raw, &device.raw);
        // Without `TEMPORARY`, the import is permanent.
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(made.raw())
            .handle_type(OPAQUE_FD)
            .fd(fd.as_raw_fd());
        // SAFETY: the caller has just made the semaphore, and nothing uses it.
        let imported = unsafe { functions.import_semaphore_fd(&info) };
        imported.map_err(made.error("vkImportSemaphoreFdKHR"))?;
        // A successful import has taken the descriptor (`VkImportSemaphoreFdInfoKHR`).
        let _ = fd.into_raw_fd();
        Ok(())
    }

    /// Checks that the device shares timelines by opaque descriptors.
    fn check_timeline(
        &self,
        name: &str,
        wanted: vk::ExternalSemaphoreFeatureFlags,
    ) -> Result<(), Error> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let asked = vk::PhysicalDeviceExternalSemaphoreInfo::default()
            .handle_type(OPAQUE_FD)
            .push_next(&mut kind);
        if self.shares_semaphores(name, &asked)?.contains(wanted) {
            return Ok(());
        }
        let device = &self.0.info.name;
        let problem = format!(
            "the device `{device}` does not share timeline semaphores by opaque descriptors; relay their values on the host"
        );
        Err(invalid(name, problem))
    }

    /// Queries how the device shares semaphores of this kind with other owners.
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd`.
    pub(super) fn shares_semaphores(
        &self,
        name: &str,
        asked: &vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
    ) -> Result<vk::ExternalSemaphoreFeatureFlags, Error> {
        let device = &self.0;
        need(device, name, khr::external_semaphore_fd::NAME)?;
        let mut found = vk::ExternalSemaphoreProperties::default();
        let instance = &device.instance.raw;
        // SAFETY: the physical device is of this instance.
        unsafe {
            instance.get_physical_device_external_semaphore_properties(
                device.physical,
                asked,
                &mut found,
            );
        };
        Ok(found.external_semaphore_features)
    }
}

impl TimelineSemaphore {
    /// Exports it as an opaque file descriptor, a new one each time.
    ///
    /// # Errors
    /// Called on one that was not made by [`Gpu::create_exportable_timeline_semaphore`]; the driver's.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        if self.binary().is_some() {
            return Err(self.invalid(
                "it is a binary semaphore; export it with the methods of `BinarySemaphore`",
            ));
        }
        self.export_opaque("Gpu::create_exportable_timeline_semaphore")
    }

    /// Exports it as an opaque file descriptor, if it was made by this constructor.
    pub(super) fn export_opaque(&self, made_by: &str) -> Result<OwnedFd, Error> {
        let device = self.device();
        if !self.is_exportable() {
            let problem = format!("it is not exportable; make it with `{made_by}`");
            return Err(invalid(self.name(), problem));
        }
        let functions = khr::external_semaphore_fd::Device::new(&device.instance.raw, &device.raw);
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(self.raw())
            .handle_type(OPAQUE_FD);
        // SAFETY: the semaphore is alive, and was made to be exported so.
        let fd = unsafe { functions.get_semaphore_fd(&info) };
        let fd = fd.map_err(self.error("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the call has made the descriptor, and nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}
