//! The device as users have it.

use std::sync::{Arc, Weak};

use ash::vk;
use quadrille_sync::Topology;
use raw_window_handle::RawDisplayHandle;

use crate::device::{Device, DeviceInfo};
use crate::error::SetupError;
use crate::instance::environment;
use crate::instance::settings::Settings;

/// A device, ready to make resources and run frames. Clones are the same device.
///
/// Whatever is made from a device keeps it alive, so things may be dropped in any order.
///
/// ```no_run
/// use quadrille_vulkan::{BufferDesc, Gpu, Settings};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// println!("{} with the queues {}", gpu.info().name, gpu.topology());
/// let cells = gpu.create_buffer(&BufferDesc::storage("cells", 1024))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gpu(pub(crate) Arc<Device>);

impl Gpu {
    /// Chooses and sets up a device. `display` names the window system, whose instance extensions
    /// are then enabled; without it those of all are that the system has.
    ///
    /// # Errors
    /// What is missing, by name, and where the loader or a driver is, the packages to install.
    pub fn new(settings: &Settings, display: Option<RawDisplayHandle>) -> Result<Self, SetupError> {
        Device::new(&environment::overrule(settings)?, display).map(Self)
    }

    /// Makes another device in place of this one, which is lost: of the same instance, chosen anew.
    /// What was made from the old one has to be made again.
    ///
    /// # Errors
    /// As for [`Gpu::new`].
    pub fn rebuild(&self, settings: &Settings) -> Result<Self, SetupError> {
        let settings = environment::overrule(settings)?;
        Device::on(Arc::clone(&self.0.instance), &settings).map(Self)
    }

    /// Marks what was made from this device: another takes its place
    /// ([`Handle::is_given_up`](crate::Handle::is_given_up)).
    pub fn give_up(&self) {
        self.0.give_up();
    }

    /// Tells later whether the device still exists: it does as long as anything made from it.
    pub fn downgrade(&self) -> WeakGpu {
        WeakGpu(Arc::downgrade(&self.0))
    }

    /// The queues that frames are planned for.
    pub fn topology(&self) -> &Topology {
        &self.0.topology
    }

    /// What is known about the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// The limits of the device (section "Limits").
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.0.limits
    }

    /// How many frames the CPU may be ahead of the device.
    pub fn frames_in_flight(&self) -> u32 {
        self.0.frames_in_flight
    }

    /// Whether passes that wish for no queue may move: [`Settings::auto_queues`].
    pub fn has_auto_queues(&self) -> bool {
        self.0.auto_queues
    }

    /// Whether there are several queue families, and resources may change how these share them:
    /// [`Settings::sharing`].
    pub fn has_auto_sharing(&self) -> bool {
        self.0.sharing.may_change(&self.0.topology)
    }

    /// How often a queue was waited for to become idle, for want of a better way: when a window
    /// whose presents have no fences closes, or has too many old swapchains.
    pub fn idle_waits(&self) -> u64 {
        self.0.idle_waits()
    }

    /// Whether a call has said that the device is lost.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }
}

/// A device that may be gone: see [`Gpu::downgrade`].
#[derive(Clone)]
pub struct WeakGpu(Weak<Device>);

impl WeakGpu {
    /// Whether the device exists.
    pub fn exists(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gpu {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Gpu({}, {})", self.info().name, self.topology())
    }
}
