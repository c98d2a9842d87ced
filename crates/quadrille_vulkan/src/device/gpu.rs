//! [`Gpu`]: the public handle of the device.

use std::ffi::CStr;
use std::fmt::Debug;
use std::sync::{Arc, Weak};

use ash::vk;
use quadrille_sync::topology::Topology;
use raw_window_handle::RawDisplayHandle;

use crate::device::memory::MemoryUse;
use crate::device::retire::Retired;
use crate::device::{Device, DeviceInfo};
use crate::error::SetupError;
use crate::instance::environment;
use crate::instance::extension::FeatureStructure;
use crate::instance::settings::Settings;
use crate::lock;

/// A Vulkan device with its queues. Clones are the same device.
///
/// Every object created from a device keeps it alive, so objects may be dropped in any order.
///
/// ```no_run
/// use quadrille_vulkan::device::Gpu;
/// use quadrille_vulkan::instance::Settings;
/// use quadrille_vulkan::resources::BufferDesc;
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// println!("{} with the queues {}", gpu.info().name, gpu.topology());
/// let cells = gpu.create_buffer(&BufferDesc::storage("cells", 1024))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gpu(pub(crate) Arc<Device>);

impl Gpu {
    /// Chooses a physical device and creates a device. With `display` the instance extensions of that window system
    /// are enabled, without it those of every available one.
    ///
    /// # Errors
    /// The loader, a driver, or a required feature is missing; the message names it and the packages to install.
    pub fn new(settings: &Settings, display: Option<RawDisplayHandle>) -> Result<Self, SetupError> {
        Device::new(&environment::overrule(settings)?, display).map(Self)
    }

    /// Creates a device that replaces this lost one, with the same instance and a new choice of physical device.
    /// All objects of the old device have to be created again.
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

    /// Marks this device, and so its resources, as replaced by another
    /// ([`Handle::is_given_up`](crate::resources::Handle::is_given_up)).
    pub fn give_up(&self) {
        self.0.give_up();
    }

    /// Returns a weak reference, to check later whether the device still exists. It does as long as any object
    /// created from it.
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

    /// Returns the memory use of buffers and images. Iterates over all allocations, so do not call it each frame.
    pub fn memory_use(&self) -> MemoryUse {
        self.0.memory.memory_use()
    }

    /// The limits of the device (section "Limits").
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.0.limits
    }

    /// Returns the enabled features of Vulkan 1.0 (section "Features").
    pub fn features(&self) -> &vk::PhysicalDeviceFeatures {
        &self.0.core
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

    /// Whether all features that are true in this structure are enabled, among those requested by
    /// [`Settings::extensions`].
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

    /// The instance. Destroy objects that you create from it before the last clone of the [`Gpu`] and the last
    /// object of the [`Gpu`] are dropped.
    pub fn instance(&self) -> &ash::Instance {
        &self.0.instance.raw
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.0.physical
    }

    /// The device, for functions of extensions ([`Settings::extensions`]) and for your own objects. Destroy those
    /// before the last clone of the [`Gpu`] and the last object of the [`Gpu`] are dropped. Use queues only with
    /// [`Gpu::with_queue`]. `vkDeviceWaitIdle` accesses all queues (section "Threading Behavior"), so call it only
    /// while nothing else submits.
    pub fn device(&self) -> &ash::Device {
        &self.0.raw
    }

    /// Locks the queue with this index in [`Gpu::topology`] and calls `call` with it: other submits and presents
    /// block until `call` returns. `None` if there is no such queue.
    ///
    /// A submission of your own follows the earlier ones of the queue. The frame that is being recorded may not be
    /// among them. It must not access resources that passes declare, and must not wait for a later submission.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::device::Gpu;
    /// # use quadrille_vulkan::instance::Settings;
    /// # use quadrille_vulkan::vk;
    /// # let gpu = Gpu::new(&Settings::headless("example"), None)?;
    /// let submit = vk::SubmitInfo::default();
    /// // SAFETY: the queue is locked for the time of the call.
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

    /// Destroys objects of your own that [`CommandList::raw`](crate::commands::CommandList::raw) uses: calls `destroy`
    /// once no submission so far can use them, at the latest when the device is destroyed. `destroy` must not own a
    /// [`Gpu`] or an object of it, which would keep the device alive.
    pub fn destroy_later(&self, destroy: impl FnOnce(&ash::Device) + Send + Sync + 'static) {
        lock(&self.0.dropped).push(Retired::Program(Box::new(destroy)));
    }

    /// Maximum number of frames that the CPU is ahead of the device.
    pub fn frames_in_flight(&self) -> u32 {
        self.0.frames_in_flight
    }

    /// Whether passes without a queue preference may move to other queues: [`Settings::auto_queues`].
    pub fn has_auto_queues(&self) -> bool {
        self.0.auto_queues
    }

    /// Whether passes are left out whose results no pass reads: [`Settings::cull_passes`].
    pub fn culls_passes(&self) -> bool {
        self.0.culls_passes
    }

    /// Whether there are several queue families, and the sharing mode of resources may change:
    /// [`Settings::sharing`].
    pub fn has_auto_sharing(&self) -> bool {
        self.0.sharing.may_change(&self.0.topology)
    }

    /// Number of calls of `vkQueueWaitIdle`: made when a window whose presents have no fences closes, or
    /// has too many retired swapchains.
    pub fn idle_waits(&self) -> u64 {
        self.0.idle_waits()
    }

    /// Whether a call has reported the device as lost.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }
}

/// Weak reference to a device: see [`Gpu::downgrade`].
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
