//! The logical device and all objects with its lifetime.

pub(crate) mod addresses;
pub(crate) mod backing;
pub(crate) mod batch;
pub(crate) mod compiler;
pub(crate) mod extensions;
mod failed_call;
pub(crate) mod fault;
pub(crate) mod gate;
pub(crate) mod gpu;
pub(crate) mod ids;
pub(crate) mod import;
pub(crate) mod last_waits;
pub(crate) mod memory;
mod open;
pub(crate) mod pipeline_cache;
pub(crate) mod pipeline_layout;
pub(crate) mod properties;
pub(crate) mod reload;
mod rendering_limits;
pub(crate) mod resolve_mode;
pub(crate) mod retire;
pub(crate) mod stream;
pub(crate) mod table_layout;
pub(crate) mod time_limit;
pub(crate) mod timeline;
pub(crate) mod timelines;

pub use gpu::{Gpu, WeakGpu};
pub use import::ImportedDevice;
pub use reload::Reloaded;
pub use stream::StreamDesc;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ash::{ext, vk};
use quadrille_sync::topology::Topology;
use raw_window_handle::RawDisplayHandle;

use crate::device::addresses::Addresses;
use crate::device::compiler::Compiler;
use crate::device::extensions::Extensions;
use crate::device::ids::Ids;
use crate::device::last_waits::LastWaits;
use crate::device::memory::MemoryPool;
use crate::device::open::{choose, create, open, plan_queues};
use crate::device::pipeline_cache::PipelineCache;
use crate::device::pipeline_layout::LayoutCache;
use crate::device::properties::{describe, limits, max_buffer_bytes};
use crate::device::reload::Reloads;
use crate::device::rendering_limits::RenderingLimits;
use crate::device::retire::Retired;
use crate::device::stream::Streams;
use crate::device::table_layout::most_entries;
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::Timeline;
use crate::device::timelines::Timelines;
use crate::error::SetupError;
use crate::instance::Instance;
use crate::instance::debug::DebugNames;
use crate::instance::extension::Granted;
use crate::instance::features::{Optional, Support};
use crate::instance::settings::Settings;
use crate::instance::sharing::Sharing;
use crate::lock;

/// Time that tear-down waits for the device before it leaks its objects.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Properties of the chosen device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Name of the device.
    pub name: String,
    /// Name and version of the driver, as it reports them.
    pub driver: String,
    /// Supported Vulkan version.
    pub api_version: String,
    /// Whether it runs on the CPU.
    pub software: bool,
    /// Size in bytes of the largest heap of device-local memory (`VkMemoryHeap::size`).
    pub memory_bytes: u64,
    /// The version of the validation layer, if it is active.
    pub validation: Option<String>,
    /// The enabled device extensions.
    pub extensions: Vec<String>,
}

impl DeviceInfo {
    /// Timeout of a frame's waits for the device. A software driver compiles shaders when they first run, which
    /// takes more than ten seconds on a busy machine.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(if self.software { 40 } else { 10 })
    }
}

/// A queue with its timeline. Submits and presents lock it: queues are externally synchronized.
pub(crate) struct DeviceQueue {
    /// `minImageTransferGranularity` of its family: the alignment of copies of image regions.
    pub granularity: [u32; 3],
    /// `timestampValidBits` of its family; 0 if it has no timestamps, or they cannot be reset.
    pub timestamp_bits: u32,
    /// The queue.
    pub raw: Mutex<vk::Queue>,
    /// The main loop's timeline on it.
    pub timeline: Arc<Timeline>,
}

/// The device. Every object created from it holds it by `Arc`, so it is destroyed after them in any drop order,
/// and the instance after it.
pub(crate) struct Device {
    /// The device's functions.
    pub raw: ash::Device,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// Its limits.
    pub limits: vk::PhysicalDeviceLimits,
    /// The optional features of Vulkan 1.0 that are enabled.
    pub core: vk::PhysicalDeviceFeatures,
    /// The optional features of later versions that are enabled.
    pub optional: Optional,
    /// `maxBufferSize` (`VkPhysicalDeviceMaintenance4Properties`).
    pub max_buffer_bytes: u64,
    /// Limits of renderings.
    pub rendering_limits: RenderingLimits,
    /// Its properties.
    pub info: DeviceInfo,
    /// Its queues, as plans name them.
    pub topology: Topology,
    /// Its queues' handles, in the same order.
    pub queues: Vec<DeviceQueue>,
    /// The functions of its extensions.
    pub extensions: Extensions,
    /// The enabled extensions and features among those that the program asks for.
    pub granted: Granted,
    /// Whether presents can have fences.
    pub present_fences: bool,
    /// The device addresses of buffers; `None` if the device does not report addresses of faults.
    pub addresses: Option<Addresses>,
    /// Whether timestamps of the device can be calibrated with the CPU's clock.
    pub has_calibrated_timestamps: bool,
    /// Object names and labels.
    pub names: DebugNames,
    /// The allocator.
    pub memory: MemoryPool,
    /// Ids of resources.
    pub ids: Ids,
    /// Objects that were dropped and are not yet destroyed.
    pub dropped: Mutex<Vec<Retired>>,
    /// Pipeline layouts by their contents.
    pub layouts: LayoutCache,
    /// The driver's pipeline cache.
    pub pipeline_cache: PipelineCache,
    /// The threads that compile pipelines.
    pub compiler: Compiler,
    /// The files that shaders come from.
    pub reloads: Reloads,
    /// The first call that reported the device as lost: no further frame is drawn.
    lost: OnceLock<&'static str>,
    /// Whether a call has returned `VK_ERROR_DEVICE_LOST`.
    is_loss_proven: AtomicBool,
    /// Whether another device replaces this one.
    given_up: AtomicBool,
    /// Number of calls of `vkQueueWaitIdle`, for objects without another proof of completion.
    idle_waits: AtomicU64,
    /// Number of samplers, including dropped ones that are not yet destroyed.
    pub samplers: AtomicU32,
    /// Findings of the last waits, at tear-down.
    pub last: LastWaits,
    /// All timelines, those of `queues` first.
    pub timelines: Timelines,
    /// The streams that submit besides the main loop.
    pub streams: Streams,
    /// Whether the main loop's `Frames` exists.
    pub frames_taken: AtomicBool,
    /// Maximum number of frames that the CPU is ahead.
    pub frames_in_flight: u32,
    /// The resolved [`Settings::table_entries`].
    pub most_table_entries: u32,
    /// [`Settings::unchecked_tables`]
    pub unchecked_tables: bool,
    /// Passes without a queue preference may move to other queues.
    pub auto_queues: bool,
    pub culls_passes: bool,
    /// Whether transient resources may share memory.
    pub aliasing: bool,
    /// Sharing of resources whose description says [`Sharing::Auto`].
    pub sharing: Sharing,
    /// The instance; the last field, so that it is dropped last.
    pub instance: Arc<Instance>,
}

/// Fast path of per-frame checks: while false, no device has to be examined.
static ARE_SOME_GIVEN_UP: AtomicBool = AtomicBool::new(false);

impl Device {
    /// Maximum width and height of an attachment.
    pub(crate) fn most_drawn(&self) -> [u32; 2] {
        let limits = &self.limits;
        [limits.max_framebuffer_width, limits.max_framebuffer_height]
            .map(|most| most.min(limits.max_image_dimension2_d))
    }

    /// Creates an instance, chooses a physical device and creates a device.
    pub(crate) fn new(
        settings: &Settings,
        display: Option<RawDisplayHandle>,
    ) -> Result<Arc<Self>, SetupError> {
        Self::on(Arc::new(Instance::new(settings, display)?), settings)
    }

    /// Chooses a physical device of an instance and creates a device.
    pub(crate) fn on(
        instance: Arc<Instance>,
        settings: &Settings,
    ) -> Result<Arc<Self>, SetupError> {
        let (physical, support) = choose(&instance, settings)?;
        let topology = plan_queues(&instance, physical, &support, settings, None)?;
        let raw = create(&instance, physical, &support, &topology)?;
        Self::of((instance, physical), raw, (support, topology), settings)
    }

    /// Wraps a device handle. On error the handle is destroyed, unless the program created it.
    pub(crate) fn of(
        (instance, physical): (Arc<Instance>, vk::PhysicalDevice),
        raw: ash::Device,
        (support, topology): (Support, Topology),
        settings: &Settings,
    ) -> Result<Arc<Self>, SetupError> {
        // SAFETY: `physical` was enumerated from this instance.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        let (queues, memory, only_waited) = open(&instance, physical, &raw, &topology, &support)
            .inspect_err(|_| {
                if !instance.is_imported() {
                    // SAFETY: no object created from the device exists, and no other code has the handle.
                    unsafe { raw.destroy_device(None) };
                }
            })?;
        let has_names = instance.has(ext::debug_utils::NAME);
        let debug = has_names.then(|| ext::debug_utils::Device::new(&instance.raw, &raw));
        let info = describe(&instance, physical, &properties, &support);
        tracing::info!(
            device = %info.name, driver = %info.driver, api = %info.api_version,
            queues = %topology, validation = info.validation.as_deref().unwrap_or("off"),
            "Vulkan device"
        );
        let timelines = queues.iter().map(|queue| Arc::clone(&queue.timeline));
        let timelines = timelines.collect();
        Ok(Arc::new(Self {
            extensions: Extensions::new(&instance, &raw, &support),
            present_fences: support.present_fences,
            addresses: support.device_fault.then(Addresses::default),
            has_calibrated_timestamps: support.has(ext::calibrated_timestamps::NAME),
            granted: support.granted,
            names: DebugNames(debug),
            ids: Ids::default(),
            dropped: Mutex::default(),
            layouts: LayoutCache::default(),
            pipeline_cache: PipelineCache::open(
                &raw,
                &properties,
                settings.pipeline_cache.as_deref(),
            ),
            compiler: Compiler::default(),
            reloads: Reloads::default(),
            lost: OnceLock::new(),
            is_loss_proven: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            idle_waits: AtomicU64::new(0),
            samplers: AtomicU32::new(0),
            last: LastWaits::default(),
            timelines: Timelines::new(timelines, only_waited),
            streams: Streams::new(queues.len()),
            frames_taken: AtomicBool::new(false),
            frames_in_flight: settings.frames_in_flight.max(1),
            most_table_entries: most_entries(settings.table_entries, info.software),
            unchecked_tables: settings.unchecked_tables,
            auto_queues: settings.auto_queues,
            culls_passes: settings.cull_passes,
            aliasing: settings.aliasing.unwrap_or(info.validation.is_none()),
            sharing: settings.sharing,
            limits: limits(properties.limits, &support.core),
            core: support.core,
            optional: support.optional,
            max_buffer_bytes: max_buffer_bytes(&instance, physical),
            rendering_limits: RenderingLimits::of(&instance, physical),
            raw,
            physical,
            info,
            topology,
            queues,
            memory,
            instance,
        }))
    }

    /// Waits for completion of all submissions of the main loop so far, by a host wait on each of its timelines.
    /// A lost device is waited for as well: the waits return at once if the loss is real.
    pub(crate) fn wait_submitted(&self, timeout: Duration) -> Result<(), vk::Result> {
        let mut limit = TimeLimit::new(timeout);
        for queue in &self.queues {
            let submitted = queue.timeline.submitted();
            match queue.timeline.wait_for_proof(self, submitted, &mut limit) {
                Err(result) if !self.is_lost_for_certain() => return Err(result),
                _ => {}
            }
        }
        Ok(())
    }

    /// [`wait_submitted`](Self::wait_submitted) for tear-down: after a timeout a second call does not wait again.
    pub(crate) fn wait_last(&self, timeout: Duration) -> Result<(), vk::Result> {
        let waited = self.wait_submitted(self.last.timeout(timeout));
        self.last.note(waited.is_ok());
        waited
    }

    /// Whether a call has returned `VK_ERROR_DEVICE_LOST`. Only then does submitted work count as complete, so that
    /// its objects may be destroyed (section "Lost Device"). An impossible timeline value also makes the device
    /// [lost](Self::is_lost), but its work may still run.
    pub(crate) fn is_lost_for_certain(&self) -> bool {
        self.is_loss_proven.load(Ordering::Acquire)
    }

    /// Whether a call has reported the device as lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.loss().is_some()
    }

    /// The first call that reported the device as lost.
    pub(crate) fn loss(&self) -> Option<&'static str> {
        self.lost.get().copied()
    }

    /// Returns the first call that reported the device as lost: `call` if none did before.
    pub(crate) fn lost_by(&self, call: &'static str) -> &'static str {
        self.lost.get_or_init(|| call)
    }

    /// Marks the device as replaced by another.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        ARE_SOME_GIVEN_UP.store(true, Ordering::Relaxed);
    }

    /// Whether any device was replaced by another.
    #[inline]
    pub(crate) fn are_some_given_up() -> bool {
        ARE_SOME_GIVEN_UP.load(Ordering::Relaxed)
    }

    /// Whether another device replaces this one.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Counts a wait for a queue to become idle.
    pub(crate) fn count_idle_wait(&self) {
        self.idle_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of waits for a queue to become idle.
    pub(crate) fn idle_waits(&self) -> u64 {
        self.idle_waits.load(Ordering::Relaxed)
    }

    /// Returns the result of a call, and stores the call's name if it is the first to report the device as lost.
    pub(crate) fn note<T>(
        &self,
        call: &'static str,
        result: Result<T, vk::Result>,
    ) -> Result<T, vk::Result> {
        if matches!(result, Err(vk::Result::ERROR_DEVICE_LOST)) {
            self.lost_by(call);
            self.is_loss_proven.store(true, Ordering::Release);
        }
        result
    }

    /// Waits for the driver's queue threads after all work is complete.
    ///
    /// Mesa's queue threads (observed in lavapipe 25.0.7, `vk_queue.c`) release the timeline points
    /// that a submission waited for *after* they signal its completion, so they may still access a semaphore that
    /// is destroyed right after a host wait. `vkQueueWaitIdle` returns after that release, and is cheap on an idle
    /// queue. To be removed once no supported Mesa does it.
    fn let_queues_settle(&self) {
        for queue in self.queues.iter().filter(|_| !self.is_lost_for_certain()) {
            let queue = lock(&queue.raw);
            // SAFETY: the queue is locked.
            if let Err(error) = unsafe { self.raw.queue_wait_idle(*queue) } {
                tracing::debug!("vkQueueWaitIdle fails: {error}");
            }
        }
    }

    /// The families of the topology, each once: the owners of a concurrent resource.
    pub(crate) fn families(&self) -> Vec<u32> {
        let mut families: Vec<_> = self
            .topology
            .queues
            .iter()
            .map(|queue| queue.family.0)
            .collect();
        families.sort_unstable();
        families.dedup();
        families
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let waited = self.wait_last(TEARDOWN_TIMEOUT);
        let streams_are_done = self.reap_all(self.last.timeout(TEARDOWN_TIMEOUT));
        let waited = waited.and(streams_are_done.then_some(()).ok_or(vk::Result::TIMEOUT));
        if let Err(error) = waited {
            // Destroying objects in use is undefined behavior; leaking them is not.
            tracing::error!("the device is still busy at tear-down ({error}); it is leaked");
            self.memory.leak();
            std::mem::forget(Arc::clone(&self.instance));
            return;
        }
        self.let_queues_settle();
        self.compiler.close();
        let dropped: Vec<_> = lock(&self.dropped).drain(..).collect();
        for retired in dropped {
            retired.destroy(self);
        }
        self.layouts.destroy(&self.raw);
        self.pipeline_cache.close(&self.raw);
        self.memory.close();
        self.timelines.destroy(&self.raw);
        if self.last.has_leaked() {
            // The leaked objects are children of the device, which therefore cannot be destroyed either.
            tracing::error!("the device is leaked with what could not be destroyed of it");
            std::mem::forget(Arc::clone(&self.instance));
            return;
        }
        if !self.instance.is_imported() {
            // SAFETY: every object created from the device holds it, so the only ones left were destroyed above.
            unsafe { self.raw.destroy_device(None) };
        }
    }
}
