//! Binary semaphores that others share as sync files: the fences of cameras, compositors and displays.

use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};

use ash::{khr, vk};

use super::invalid;
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::timeline_semaphore::{Binary, TimelineSemaphore};

/// The handle of sync files.
const SYNC_FD: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;

/// A binary semaphore for one signal and one wait: one of them by a frame, the other one outside of the device.
///
/// A frame waits for a semaphore that is made of a sync file ([`Gpu::import_sync_fd`]), or signals one that is then
/// exported as a sync file ([`Gpu::exportable_semaphore`], [`BinarySemaphore::export`]). Its drop destroys it after the
/// frame. Clones are the same semaphore.
///
/// ```no_run
/// # use std::os::fd::OwnedFd;
/// # use quadrille_vulkan::device::Gpu;
/// # use quadrille_vulkan::resources::BinarySemaphore;
/// # fn example(gpu: &Gpu, camera: OwnedFd) -> Result<(), quadrille_vulkan::Error> {
/// let arrived: BinarySemaphore = gpu.import_sync_fd("picture of the camera", Some(camera))?;
/// let drawn = gpu.exportable_semaphore("picture for the compositor")?;
/// // A frame waits for `arrived`, and signals `drawn`. After its submission:
/// let fence: Option<OwnedFd> = drawn.export()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BinarySemaphore(TimelineSemaphore);

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
        Ok(BinarySemaphore(made))
    }

    /// Makes a semaphore that a frame signals, to be exported as a sync file ([`BinarySemaphore::export`]).
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or exports no sync files; the driver's.
    pub fn exportable_semaphore(&self, name: &str) -> Result<BinarySemaphore, Error> {
        self.check_sync_fd(name, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        let made = self.create_binary_semaphore(name, Binary::Exportable, SYNC_FD)?;
        Ok(BinarySemaphore(made))
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
    /// The timeline of one step by which a frame uses it: a pass waits for the value 1 of an imported semaphore, and
    /// signals the value 1 of an exportable one. It has no value that the host waits for or signals.
    pub fn step(&self) -> &TimelineSemaphore {
        &self.0
    }

    /// Exports it once as a sync file, after the submission of the frame that signals it; `None` if the frame is
    /// complete already. A sync file is pollable: it is readable once the frame is complete.
    ///
    /// # Errors
    /// No submitted frame signals it, it was exported before, or it is imported; the driver's.
    pub fn export(&self) -> Result<Option<OwnedFd>, Error> {
        self.0.take_signal()?;
        let device = self.0.device();
        let functions = khr::external_semaphore_fd::Device::new(&device.instance.raw, &device.raw);
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(self.0.raw())
            .handle_type(SYNC_FD);
        // SAFETY: the semaphore is alive and was made to be exported so; a frame with its signal is submitted, with all
        // that the signal depends on (`VUID-VkSemaphoreGetFdInfoKHR-handleType-03254` and `-03255`).
        let fd = unsafe { functions.get_semaphore_fd(&info) };
        let fd = fd.map_err(self.0.error("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the call has made the descriptor, and nobody else owns it; -1 is a semaphore that is signalled already.
        Ok((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}
