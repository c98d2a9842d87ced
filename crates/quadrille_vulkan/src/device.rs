//! The logical device and everything that lives as long as it does.

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
pub(crate) mod last_waits;
pub(crate) mod memory;
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

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ash::{ext, vk};
use quadrille_sync::{BarrierStyle, Capabilities, Topology};
use raw_window_handle::RawDisplayHandle;

use crate::device::addresses::Addresses;
use crate::device::compiler::Compiler;
use crate::device::extensions::Extensions;
use crate::device::ids::Ids;
use crate::device::last_waits::LastWaits;
use crate::device::memory::MemoryPool;
use crate::device::pipeline_cache::PipelineCache;
use crate::device::pipeline_layout::LayoutCache;
use crate::device::properties::{describe, limits, max_buffer_bytes, text};
use crate::device::reload::Reloads;
use crate::device::rendering_limits::RenderingLimits;
use crate::device::retire::Retired;
use crate::device::stream::Streams;
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::Timeline;
use crate::device::timelines::Timelines;
use crate::error::SetupError;
use crate::instance::debug::DebugNames;
use crate::instance::device_choice::{self, Candidate};
use crate::instance::extension::Granted;
use crate::instance::features::{self, Optional, Support};
use crate::instance::queues::{self, Family};
use crate::instance::settings::Settings;
use crate::instance::sharing::Sharing;
use crate::instance::{Instance, vulkan};
use crate::lock;

/// How long tear-down waits for the device before it gives its objects up.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// What is known about the device that was chosen.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its name.
    pub name: String,
    /// The driver's name and version in its own words.
    pub driver: String,
    /// The Vulkan version it offers.
    pub api_version: String,
    /// Whether it runs on the CPU.
    pub software: bool,
    /// Bytes of its largest heap of device-local memory (`VkMemoryHeap::size`).
    pub memory_bytes: u64,
    /// The version of the validation layer, if it is active.
    pub validation: Option<String>,
    /// The enabled device extensions.
    pub extensions: Vec<String>,
}

/// A queue with its timeline. Submitting and presenting lock it, since Vulkan wants each queue
/// used by one thread at a time.
pub(crate) struct DeviceQueue {
    /// `minImageTransferGranularity` of its family: what copies of parts of images align to.
    pub granularity: [u32; 3],
    /// `timestampValidBits` of its family; 0 if it has no timestamps, or they cannot be reset.
    pub timestamp_bits: u32,
    /// The queue.
    pub raw: Mutex<vk::Queue>,
    /// The main loop's timeline on it.
    pub timeline: Arc<Timeline>,
}

/// The device. Everything made from it holds it by `Arc`, so it is destroyed last, whatever the
/// order in which things are dropped; the instance goes after it.
pub(crate) struct Device {
    /// The device's functions.
    pub raw: ash::Device,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// Its limits.
    pub limits: vk::PhysicalDeviceLimits,
    /// What of Vulkan 1.0 is optional and enabled.
    pub core: vk::PhysicalDeviceFeatures,
    /// What of later versions is optional and enabled.
    pub optional: Optional,
    /// `maxBufferSize`, which is not among them.
    pub max_buffer_bytes: u64,
    /// Likewise of renderings.
    pub rendering_limits: RenderingLimits,
    /// What is known about it.
    pub info: DeviceInfo,
    /// Its queues, as plans name them.
    pub topology: Topology,
    /// Its queues' handles, in the same order.
    pub queues: Vec<DeviceQueue>,
    /// The functions of its extensions.
    pub extensions: Extensions,
    /// What of the program's own wishes is enabled.
    pub granted: Granted,
    /// Whether presents can have fences.
    pub present_fences: bool,
    /// Which object has which addresses, where the device reports the address of a fault.
    pub addresses: Option<Addresses>,
    /// Whether the device's clock can be compared with the CPU's.
    pub has_calibrated_timestamps: bool,
    /// Object names and labels.
    pub names: DebugNames,
    /// The allocator.
    pub memory: MemoryPool,
    /// Ids of resources.
    pub ids: Ids,
    /// What was dropped and not yet destroyed.
    pub dropped: Mutex<Vec<Retired>>,
    /// Pipeline layouts by their contents.
    pub layouts: LayoutCache,
    /// The driver's pipeline cache.
    pub pipeline_cache: PipelineCache,
    /// The threads that compile pipelines.
    pub compiler: Compiler,
    /// The files that shaders come from.
    pub reloads: Reloads,
    /// The call that was the first to say that the device is lost: nothing is to be waited for any
    /// more.
    lost: OnceLock<&'static str>,
    /// Another device has taken its place.
    given_up: AtomicBool,
    /// How often a queue was waited for to become idle, for want of a better way.
    idle_waits: AtomicU64,
    /// How many samplers there are, with those that are dropped and not yet destroyed.
    pub samplers: AtomicU32,
    /// What tear-down has found out.
    pub last: LastWaits,
    /// All timelines, those of `queues` first.
    pub timelines: Timelines,
    /// The streams that submit besides the main loop.
    pub streams: Streams,
    /// Whether the main loop's `Frames` exists.
    pub frames_taken: AtomicBool,
    /// How many frames the CPU may be ahead.
    pub frames_in_flight: u32,
    /// Passes that wish for no queue may move.
    pub auto_queues: bool,
    /// Whether transient resources may share memory.
    pub aliasing: bool,
    /// How resources are shared whose description says nothing else.
    pub sharing: Sharing,
    /// The instance; the last field, so that it goes last.
    pub instance: Arc<Instance>,
}

/// A fast path for checks in each frame, which need not look at devices.
static ARE_SOME_GIVEN_UP: AtomicBool = AtomicBool::new(false);

impl Device {
    /// Width and height of the largest 2D image that can be drawn to.
    pub(crate) fn most_drawn(&self) -> [u32; 2] {
        let limits = &self.limits;
        [limits.max_framebuffer_width, limits.max_framebuffer_height]
            .map(|most| most.min(limits.max_image_dimension2_d))
    }

    /// Chooses and makes a device.
    pub(crate) fn new(
        settings: &Settings,
        display: Option<RawDisplayHandle>,
    ) -> Result<Arc<Self>, SetupError> {
        Self::on(Arc::new(Instance::new(settings, display)?), settings)
    }

    /// Chooses and makes a device of an instance.
    pub(crate) fn on(
        instance: Arc<Instance>,
        settings: &Settings,
    ) -> Result<Arc<Self>, SetupError> {
        let (physical, support) = choose(&instance, settings)?;
        let topology = plan_queues(&instance, physical, &support, settings)?;
        let raw = create(&instance, physical, &support, &topology)?;
        // SAFETY: `physical` was enumerated from this instance.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        let (queues, memory) =
            open(&instance, physical, &raw, &topology, &support).inspect_err(|_| {
                // SAFETY: nothing made from the device is left, and no other code has it.
                unsafe { raw.destroy_device(None) };
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
            given_up: AtomicBool::new(false),
            idle_waits: AtomicU64::new(0),
            samplers: AtomicU32::new(0),
            last: LastWaits::default(),
            timelines: Timelines::new(timelines),
            streams: Streams::new(queues.len()),
            frames_taken: AtomicBool::new(false),
            frames_in_flight: settings.frames_in_flight.max(1),
            auto_queues: settings.auto_queues,
            aliasing: settings.aliasing,
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

    /// Waits until everything that the main loop has submitted so far is done: a host wait on each
    /// of its timelines. A lost device is done with everything; it is waited for all the same, since
    /// waits return at once where that is true.
    pub(crate) fn wait_submitted(&self, timeout: Duration) -> Result<(), vk::Result> {
        let mut limit = TimeLimit::new(timeout);
        for queue in &self.queues {
            let submitted = queue.timeline.submitted();
            match queue.timeline.wait(self, submitted, &mut limit) {
                Err(result) if !self.is_lost() => return Err(result),
                _ => {}
            }
        }
        Ok(())
    }

    /// The same for tear-down: a device that does not get on is not waited for twice.
    pub(crate) fn wait_last(&self, timeout: Duration) -> Result<(), vk::Result> {
        let waited = self.wait_submitted(self.last.timeout(timeout));
        self.last.note(waited.is_ok());
        waited
    }

    /// Whether a call has said that the device is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.loss().is_some()
    }

    /// The call that was the first to say that the device is lost, if one has.
    pub(crate) fn loss(&self) -> Option<&'static str> {
        self.lost.get().copied()
    }

    /// The same, of a device of which this call says so too.
    pub(crate) fn lost_by(&self, call: &'static str) -> &'static str {
        self.lost.get_or_init(|| call)
    }

    /// Another device takes its place.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        ARE_SOME_GIVEN_UP.store(true, Ordering::Relaxed);
    }

    /// Whether the place of any device was taken.
    #[inline]
    pub(crate) fn are_some_given_up() -> bool {
        ARE_SOME_GIVEN_UP.load(Ordering::Relaxed)
    }

    /// Whether another device has taken its place.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Counts a wait for a queue to become idle.
    pub(crate) fn count_idle_wait(&self) {
        self.idle_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a queue was waited for to become idle.
    pub(crate) fn idle_waits(&self) -> u64 {
        self.idle_waits.load(Ordering::Relaxed)
    }

    /// Passes the result of a call on, and remembers the call if it is the first to say that the
    /// device is lost.
    pub(crate) fn note<T>(
        &self,
        call: &'static str,
        result: Result<T, vk::Result>,
    ) -> Result<T, vk::Result> {
        if matches!(result, Err(vk::Result::ERROR_DEVICE_LOST)) {
            self.lost_by(call);
        }
        result
    }

    /// Lets the threads of the driver come to rest once all work is done.
    ///
    /// Mesa's queue threads (seen in lavapipe 25.0.7, `vk_queue.c`) release the timeline points
    /// that a submission waited for *after* they signal its completion, so a semaphore destroyed
    /// right after a host wait is still touched. Waiting for a queue whose work is done costs
    /// nothing and ends behind that. To be removed once no supported Mesa does it.
    fn let_queues_settle(&self) {
        for queue in self.queues.iter().filter(|_| !self.is_lost()) {
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
            // Destroying what the device still uses is undefined; leaking it is not.
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
        if self.last.is_held() {
            // What is held is a child of the device, which so cannot be destroyed either.
            tracing::error!("the device is leaked with what could not be destroyed of it");
            std::mem::forget(Arc::clone(&self.instance));
            return;
        }
        // SAFETY: everything made from the device holds it, so nothing is left but what was
        // destroyed above.
        unsafe { self.raw.destroy_device(None) };
    }
}

/// The physical device to take, and what it supports.
fn choose(
    instance: &Instance,
    settings: &Settings,
) -> Result<(vk::PhysicalDevice, Support), SetupError> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(vulkan("vkEnumeratePhysicalDevices"))?;
    let mut supports = Vec::with_capacity(devices.len());
    let mut candidates = Vec::with_capacity(devices.len());
    for &physical in &devices {
        let support = features::probe(instance, physical, settings)?;
        // SAFETY: `physical` was just enumerated.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        candidates.push(Candidate {
            name: text(properties.device_name_as_c_str().unwrap_or_default()),
            kind: properties.device_type,
            missing: support.missing.clone(),
            lacking: support.granted.lacking.clone(),
        });
        supports.push(support);
    }
    let wanted = settings.device.as_deref().filter(|name| !name.is_empty());
    let chosen = device_choice::choose(&candidates, wanted)?;
    Ok((devices[chosen], supports.swap_remove(chosen)))
}

/// The queues to open.
fn plan_queues(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    support: &Support,
    settings: &Settings,
) -> Result<Topology, SetupError> {
    let families = families(instance, physical);
    let mut topology = queues::choose(&families, &settings.queues);
    if topology.queues.is_empty() {
        let missing = vec!["a queue for graphics, compute or transfer".to_owned()];
        return Err(SetupError::Lacks {
            device: "the device".to_owned(),
            missing,
        });
    }
    // SAFETY: `physical` was enumerated from this instance.
    let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
    topology.maintenance8 = support.maintenance8;
    topology.order = settings.order;
    topology.submit = settings.submit;
    topology.barriers = settings.barriers.unwrap_or(match properties.device_type {
        vk::PhysicalDeviceType::INTEGRATED_GPU => BarrierStyle::Precise,
        _ => BarrierStyle::Merged,
    });
    Ok(topology)
}

/// The queue families, with a guess at which can present: there is no window yet to query.
/// Where the headless surface exists it is queried; else families with graphics are taken, which
/// holds on all known desktops. The real surface is queried when it appears.
fn families(instance: &Instance, physical: vk::PhysicalDevice) -> Vec<Family> {
    // SAFETY: `physical` was enumerated from this instance.
    let properties = unsafe {
        instance
            .raw
            .get_physical_device_queue_family_properties(physical)
    };
    let probed = probe_present(instance, physical, properties.len());
    let family = |(at, family): (usize, &vk::QueueFamilyProperties)| {
        let capabilities = Capabilities::from_bits_truncate(family.queue_flags.as_raw());
        let can_present = match &probed {
            Some(answers) => answers[at],
            None => capabilities.contains(Capabilities::GRAPHICS),
        };
        Family {
            capabilities,
            count: family.queue_count,
            can_present,
        }
    };
    properties.iter().enumerate().map(family).collect()
}

/// Which families can present to a headless surface; `None` if that is not known or if none can.
fn probe_present(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    count: usize,
) -> Option<Vec<bool>> {
    let surfaces = instance.surfaces()?;
    if !instance.has(ext::headless_surface::NAME) {
        return None;
    }
    let headless = ext::headless_surface::Instance::new(&instance.entry, &instance.raw);
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    // SAFETY: the extension is enabled.
    let surface = unsafe { headless.create_headless_surface(&info, None) }.ok()?;
    let supports = |family: usize| {
        // SAFETY: the family index is below the count that was enumerated; the surface is alive.
        unsafe { surfaces.get_physical_device_surface_support(physical, family as u32, surface) }
            .unwrap_or(false)
    };
    let answers: Vec<bool> = (0..count).map(supports).collect();
    // SAFETY: made above, and no swapchain was made from it.
    unsafe { surfaces.destroy_surface(surface, None) };
    answers.contains(&true).then_some(answers)
}

fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    support: &Support,
    topology: &Topology,
) -> Result<ash::Device, SetupError> {
    let mut counts: Vec<(u32, usize)> = Vec::new();
    for queue in &topology.queues {
        match counts
            .iter_mut()
            .find(|(family, _)| *family == queue.family.0)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((queue.family.0, 1)),
        }
    }
    let priorities = [1.0; Topology::MAX_QUEUES];
    let infos: Vec<_> = counts
        .iter()
        .map(|&(family, count)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..count])
        })
        .collect();
    support.create_device(instance, physical, &infos)
}

/// The queues with their timelines, and the allocator; nothing is left of them after an error.
fn open(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
    topology: &Topology,
    support: &Support,
) -> Result<(Vec<DeviceQueue>, MemoryPool), SetupError> {
    let mut queues: Vec<DeviceQueue> = Vec::with_capacity(topology.queues.len());
    // SAFETY: `physical` was enumerated from this instance.
    let families = unsafe {
        instance
            .raw
            .get_physical_device_queue_family_properties(physical)
    };
    let opened = topology.queues.iter().try_for_each(|queue| {
        let family = &families[queue.family.0 as usize];
        let vk::Extent3D {
            width,
            height,
            depth,
        } = family.min_image_transfer_granularity;
        // SAFETY: the device was created with this many queues of this family.
        let raw = unsafe { device.get_device_queue(queue.family.0, queue.index) };
        let timeline = Timeline::new(device).map_err(vulkan("vkCreateSemaphore"))?;
        queues.push(DeviceQueue {
            granularity: [width, height, depth],
            timestamp_bits: family.timestamp_valid_bits,
            raw: Mutex::new(raw),
            timeline: Arc::new(timeline),
        });
        Ok(())
    });
    let allocator = |()| MemoryPool::new(&instance.raw, device, physical, support.device_fault);
    match opened.and_then(allocator) {
        Ok(memory) => Ok((queues, memory)),
        Err(error) => {
            for queue in queues {
                queue.timeline.destroy(device);
            }
            Err(error)
        }
    }
}
