//! Binary semaphores that others share, by opaque file descriptors or by handle.

use std::os::fd::OwnedFd;

use ash::vk;

use super::invalid;
use super::semaphores::OPAQUE_FD;
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::instance::imported::KeepAlive;
use crate::resources::binary_state::{Binary, BinaryState, PendingSignal};
use crate::resources::timeline_semaphore::TimelineSemaphore;

/// A binary semaphore that somebody else uses too: another process, another device or another library. Clones are the
/// same semaphore. A drop destroys it after the frames that use it.
///
/// As a *sync file* it has one signal and one wait, one of them by a frame. A frame waits for a semaphore that is made of a
/// sync file ([`Gpu::import_sync_fd`]), or signals one that is then exported as one ([`Gpu::exportable_semaphore`],
/// [`BinarySemaphore::export`]).
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
///
/// By an *opaque descriptor* ([`Gpu::create_exportable_binary_semaphore`], [`Gpu::import_binary_semaphore_fd`]) or by its
/// handle ([`Gpu::import_binary_semaphore`]) both sides have the semaphore for good, and use it in turns. Vulkan wants
/// each wait submitted after its signal, and each signal executed after the wait for the one before
/// (`VUID-vkQueueSubmit2-semaphore-03873` and `-03868`). What the other side has done, only the two sides can tell each
/// other, over a socket for example; so the program calls [`arrived`](Self::arrived) when the other side has submitted a
/// signal, and [`taken`](Self::taken) when it has waited. A frame that would break a rule is not submitted:
/// [`FrameError::BinarySemaphore`](crate::FrameError::BinarySemaphore). So a side that ends before it signals holds up no
/// frame. A frame that waits for a signal which was submitted and is never executed ends with
/// [`FrameError::Timeout`](crate::FrameError::Timeout). A [`PeerTimeline`](crate::resources::PeerTimeline) needs no such
/// calls.
///
/// ```no_run
/// # use std::io::{Read, Write};
/// # use std::os::fd::OwnedFd;
/// # use std::os::unix::net::UnixStream;
/// # use quadrille_vulkan::device::Gpu;
/// # use quadrille_vulkan::resources::PendingSignal;
/// # fn example(gpu: &Gpu, fd: OwnedFd, socket: &mut UnixStream) -> Result<(), Box<dyn std::error::Error>> {
/// let drawn = gpu.create_exportable_binary_semaphore("drawn")?;
/// let shown = gpu.import_binary_semaphore_fd("shown", fd)?;
/// // After each frame that waits for `shown`, from the second one on, and signals `drawn`:
/// if drawn.pending() == PendingSignal::Ours {
///     socket.write_all(&[1])?;
///     // The answer comes when the other side has submitted a frame that waits for `drawn` and signals `shown`.
///     socket.read_exact(&mut [0])?;
///     drawn.taken()?;
///     shown.arrived()?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BinarySemaphore(TimelineSemaphore);

impl Gpu {
    /// Makes a binary semaphore that can be exported by opaque descriptors ([`BinarySemaphore::export_opaque`]).
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or exports no binary semaphores so; the driver's.
    pub fn create_exportable_binary_semaphore(&self, name: &str) -> Result<BinarySemaphore, Error> {
        self.check_opaque(name, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        let made = self.create_binary_semaphore(name, Binary::Shared, OPAQUE_FD)?;
        Ok(BinarySemaphore(made))
    }

    /// Makes a binary semaphore of an opaque descriptor that another process or API has exported, on the same device and
    /// driver. Both sides have the same semaphore from then on.
    ///
    /// # Errors
    /// The device lacks `VK_KHR_external_semaphore_fd` or imports no binary semaphores so; the driver's. The descriptor is
    /// closed.
    pub fn import_binary_semaphore_fd(
        &self,
        name: &str,
        fd: OwnedFd,
    ) -> Result<BinarySemaphore, Error> {
        self.check_opaque(name, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
        let plain = vk::ExternalSemaphoreHandleTypeFlags::empty();
        let made = self.create_binary_semaphore(name, Binary::Shared, plain)?;
        self.import_opaque(&made, fd)?;
        Ok(BinarySemaphore(made))
    }

    /// Takes a binary semaphore that the program or one of its libraries has created from this device, unsignalled and
    /// without pending operations. Quadrille does not destroy it, and drops `keep` when no submission uses it any more.
    ///
    /// # Safety
    /// The handle must be a binary semaphore of this device, and must be valid until `keep` is dropped.
    pub unsafe fn import_binary_semaphore(
        &self,
        name: &str,
        raw: vk::Semaphore,
        keep: KeepAlive,
    ) -> BinarySemaphore {
        BinarySemaphore(self.wrap(name, (raw, false), Some(Binary::Shared), Some(keep)))
    }

    /// Checks that the device shares binary semaphores by opaque descriptors.
    fn check_opaque(
        &self,
        name: &str,
        wanted: vk::ExternalSemaphoreFeatureFlags,
    ) -> Result<(), Error> {
        let asked = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(OPAQUE_FD);
        if self.shares_semaphores(name, &asked)?.contains(wanted) {
            return Ok(());
        }
        let device = &self.0.info.name;
        let problem = format!(
            "the device `{device}` does not share binary semaphores by opaque descriptors; share a sync file \
             (`Gpu::exportable_semaphore`), or let both sides take turns by a `PeerTimeline`"
        );
        Err(invalid(name, problem))
    }
}

impl BinarySemaphore {
    pub(super) fn new(made: TimelineSemaphore) -> Self {
        Self(made)
    }

    /// The timeline of one step by which a frame uses it: a pass waits for the value 1, or signals it. It has no value
    /// that the host waits for or signals.
    pub fn step(&self) -> &TimelineSemaphore {
        &self.0
    }

    /// The signal that nobody has waited for, as this side knows it.
    pub fn pending(&self) -> PendingSignal {
        let binary = self.0.binary();
        binary.map_or(PendingSignal::None, BinaryState::pending)
    }

    /// Notes that the other side has submitted a signal, with all that it depends on: the next frame may wait. If a frame
    /// has signalled before, the other side has waited for that.
    ///
    /// # Errors
    /// A signal has arrived already that no frame has waited for, or the semaphore is of a sync file.
    pub fn arrived(&self) -> Result<(), Error> {
        self.note(BinaryState::arrived)
    }

    /// Notes that the other side has waited for the signal of a frame: the next one may signal. That wait is complete, or
    /// the next frame waits for something that the other side signals after it.
    ///
    /// # Errors
    /// No signal of a frame is pending, or the semaphore is of a sync file.
    pub fn taken(&self) -> Result<(), Error> {
        self.note(BinaryState::taken)
    }

    /// Exports it as an opaque file descriptor, a new one each time, before or after frames that use it.
    ///
    /// # Errors
    /// Called on one that was not made by [`Gpu::create_exportable_binary_semaphore`]; the driver's.
    pub fn export_opaque(&self) -> Result<OwnedFd, Error> {
        self.0
            .export_opaque("Gpu::create_exportable_binary_semaphore")
    }

    /// Changes its state.
    pub(super) fn note(
        &self,
        change: impl FnOnce(&BinaryState) -> Result<(), &'static str>,
    ) -> Result<(), Error> {
        let changed = self.0.binary().map_or(Ok(()), change);
        changed.map_err(|problem| Error::OutOfTurn {
            name: self.0.name().to_string(),
            problem,
        })
    }
}
