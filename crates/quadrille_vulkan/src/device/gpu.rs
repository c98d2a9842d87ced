//! The device as users have it.

use std::ffi::CStr;
use std::fmt::Debug;
use std::sync::{Arc, Weak};

use ash::vk;
use quadrille_sync::Topology;
use raw_window_handle::RawDisplayHandle;

use crate::device::memory::MemoryUse;
use crate::device::{Device, DeviceInfo};
use crate::error::SetupError;
use crate::instance::environment;
use crate::instance::extension::FeatureStructure;
use crate::instance::settings::Settings;
use crate::lock;

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

    /// Creates another device in place of this one, which is lost: of the same instance, chosen again.
    /// What was made from the old one has to be made again.
    ///
    /// # Errors
    /// As for [`Gpu::new`]; [`SetupError::Imported`] if the program made the device.
    pub fn rebuild(&self, settings: &Settings) -> Result<Self, SetupError> {
        if self.0.instance.is_imported() {
            return Err(SetupError::Imported);
        }
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

    /// Returns the properties of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// How much memory buffers and images have. Lists all of them, so it is not for each frame.
    pub fn memory_use(&self) -> MemoryUse {
        self.0.memory.memory_use()
    }

    /// The limits of the device (section "Limits").
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.0.limits
    }

    /// Whether an extension of the device or of the instance is enabled, for Quadrille's use or for the
    /// program's ([`Settings::extensions`]).
    pub fn is_enabled(&self, extension: &CStr) -> bool {
        let of_device = &self.info().extensions;
        self.0.instance.has(extension)
            || of_device
                .iter()
                .any(|it| it.as_bytes() == extension.to_bytes())
    }

    /// Whether the features that [`Settings::extensions`] asks for in a structure are enabled: those
    /// that are true in this one of the same type.
    pub fn has_features<F>(&self, features: &F) -> bool
    where
        F: vk::ExtendsPhysicalDeviceFeatures2 + vk::ExtendsDeviceCreateInfo + Debug,
    {
        let wanted = FeatureStructure::of(features);
        self.0.granted.features.iter().any(|it| it.covers(&wanted))
    }

    /// The functions of the loader.
    pub fn entry(&self) -> &ash::Entry {
        &self.0.instance.entry
    }

    /// The instance. What is made from it goes before the last clone of the [`Gpu`] and what was
    /// made from that.
    pub fn instance(&self) -> &ash::Instance {
        &self.0.instance.raw
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.0.physical
    }

    /// The device: for functions of extensions ([`Settings::extensions`]) and for objects of one's own,
    /// which go before the last clone of the [`Gpu`] and what was made from that. Its queues are used
    /// with [`Gpu::with_queue`] only. `vkDeviceWaitIdle` uses all of them (section "Threading
    /// Behavior"), so it is called only while nothing else submits.
    pub fn device(&self) -> &ash::Device {
        &self.0.raw
    }

    /// Calls with a queue of [`Gpu::topology`], by its index, under its lock: submissions
    /// and presents wait until `call` returns. None if there is no such queue.
    ///
    /// A submission of one's own comes after those made so far, which may not include those of the
    /// frame on its way. It must not touch what passes declare, and must not wait for what is
    /// submitted later.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::{Gpu, Settings, vk};
    /// # let gpu = Gpu::new(&Settings::headless("example"), None)?;
    /// let submit = vk::SubmitInfo::default();
    /// // SAFETY: the queue is ours for the time of the call.
    /// let submitted = gpu.with_queue(0, |queue| unsafe {
    ///     gpu.device().queue_submit(queue, &[submit], vk::Fence::null())
    /// });
    /// assert!(matches!(submitted, Some(Ok(()))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_queue<R>(&self, index: usize, call: impl FnOnce(vk::Queue) -> R) -> Option<R> {
        let queue = lock(&self.0.queues.get(index)?.raw);
        Some(call(*queue))
    }

    /// How many frames the CPU may be ahead of the device.
    pub fn frames_in_flight(&self) -> u32 {
        self.0.frames_in_flight
    }

    /// Whether passes that wish for no queue may move: [`Settings::auto_queues`].
    pub fn has_auto_queues(&self) -> bool {
        self.0.auto_queues
    }

    /// Whether passes are left out whose results no pass reads: [`Settings::cull_passes`].
    pub fn culls_passes(&self) -> bool {
        self.0.culls_passes
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

impl Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Gpu({}, {})", self.info().name, self.topology())
    }
}
