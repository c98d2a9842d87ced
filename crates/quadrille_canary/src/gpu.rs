//! The least of a device that an error can be committed on.

use anyhow::{Context, Result};
use ash::{Device, Entry, Instance, ext, vk};

use crate::messages::Messages;

/// A queue and where it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Queue {
    /// Its handle.
    pub(crate) handle: vk::Queue,
    /// Its family's index.
    pub(crate) family: u32,
}

/// A buffer with memory of its own.
pub(crate) struct Buffer {
    /// Its handle.
    pub(crate) handle: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// A device with one or two queues, and what the layer says about it.
pub(crate) struct Gpu {
    /// For direct calls.
    pub(crate) device: Device,
    queues: Vec<Queue>,
    physical: vk::PhysicalDevice,
    instance: Instance,
    debug: ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    messages: Box<Messages>,
    loader_version: u32,
    // Last: the library stays loaded until all above is gone.
    _entry: Entry,
}

impl Gpu {
    /// Opens the first device, with two queues if it has them, of two families if it has those.
    ///
    /// # Errors
    /// When there is no loader, no device, or no `VK_EXT_debug_utils` (which the layer brings).
    pub(crate) fn open() -> Result<Self> {
        // SAFETY: the library found under the loader's name is the Vulkan loader.
        let entry = unsafe { Entry::load() }.context("no Vulkan loader")?;
        // SAFETY: the entry's function pointers are loaded.
        let loader_version =
            unsafe { entry.try_enumerate_instance_version() }?.unwrap_or(vk::API_VERSION_1_0);
        let messages = Box::<Messages>::default();
        let instance = create_instance(&entry)?;
        let debug = ext::debug_utils::Instance::new(&entry, &instance);
        // SAFETY: the extension is enabled on this instance, and `messages` outlives the messenger.
        let messenger = unsafe { debug.create_debug_utils_messenger(&messages.messenger(), None) }?;
        // SAFETY: the instance is alive.
        let physical = *unsafe { instance.enumerate_physical_devices() }?
            .first()
            .context("no Vulkan device")?;
        let families = choose_families(&instance, physical);
        let device = create_device(&instance, physical, &families)?;
        let queues = families
            .iter()
            .flat_map(|&(family, count)| (0..count).map(move |index| (family, index)))
            .map(|(family, index)| {
                // SAFETY: the device was created with this queue.
                let handle = unsafe { device.get_device_queue(family, index) };
                Queue { handle, family }
            })
            .collect();
        Ok(Self {
            device,
            queues,
            physical,
            instance,
            debug,
            messenger,
            messages,
            loader_version,
            _entry: entry,
        })
    }

    /// Returns the messages of the layer.
    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The queues: two of two families, else two of one, else one.
    pub(crate) fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// Loader, driver and device, with versions.
    pub(crate) fn description(&self) -> String {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the physical device is the instance's; both structures are chained as specified.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical, &mut properties)
        };
        let version = properties.properties.api_version;
        let device = text(properties.properties.device_name_as_c_str());
        format!(
            "loader {}; driver {} {}; device {device}, Vulkan {}; queue families of the queues: {:?}",
            number(self.loader_version),
            text(driver.driver_name_as_c_str()),
            text(driver.driver_info_as_c_str()),
            number(version),
            self.queues
                .iter()
                .map(|queue| queue.family)
                .collect::<Vec<_>>(),
        )
    }

    /// A buffer that transfers can write; shared by all given families if they are two.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub(crate) fn create_buffer(&self, sharing: &[u32]) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default()
            .size(BUFFER_BYTES)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST)
            .sharing_mode(if sharing.len() > 1 {
                vk::SharingMode::CONCURRENT
            } else {
                vk::SharingMode::EXCLUSIVE
            })
            .queue_family_indices(sharing);
        // SAFETY: the device is alive; the families are distinct and the device's own.
        let handle = unsafe { self.device.create_buffer(&info, None) }?;
        // SAFETY: the buffer was just made.
        let needs = unsafe { self.device.get_buffer_memory_requirements(handle) };
        let allocation = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        // SAFETY: the memory type is one of those that the buffer's requirements name.
        let memory = unsafe { self.device.allocate_memory(&allocation, None) }?;
        // SAFETY: the memory is large enough, of a fitting type, and bound to nothing else.
        unsafe { self.device.bind_buffer_memory(handle, memory, 0) }?;
        Ok(Buffer { handle, memory })
    }

    /// Records one command buffer from a pool of its own.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub(crate) fn record(
        &self,
        family: u32,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<Recording> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the family is one that the device was created with.
        let pool = unsafe { self.device.create_command_pool(&info, None) }?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool is new and used by this thread only.
        let commands = unsafe { self.device.allocate_command_buffers(&info) }?[0];
        // SAFETY: a new command buffer is in the initial state.
        unsafe {
            self.device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
        }?;
        record(commands);
        // SAFETY: it is in the recording state.
        unsafe { self.device.end_command_buffer(commands) }?;
        Ok(Recording { commands, pool })
    }

    /// Submits, waiting for nothing and signalling nothing.
    ///
    /// # Errors
    /// When the device is out of memory or lost.
    pub(crate) fn submit(&self, queue: Queue, recording: &Recording) -> Result<()> {
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(recording.commands)];
        let submit = vk::SubmitInfo2::default().command_buffer_infos(&commands);
        // SAFETY: the commands are executable and of the queue's family; what they lack is the
        // error that is to be seen, and it harms nobody: the buffer's contents are never read.
        unsafe {
            self.device
                .queue_submit2(queue.handle, &[submit], vk::Fence::null())
        }?;
        Ok(())
    }

    /// A timeline semaphore at 0.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub(crate) fn create_timeline(&self) -> Result<vk::Semaphore> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has the feature `timelineSemaphore`.
        Ok(unsafe { self.device.create_semaphore(&info, None) }?)
    }

    /// Submits after a value of a timeline, and signals a value of another one.
    ///
    /// # Errors
    /// As [`Gpu::submit`].
    pub(crate) fn submit_between(
        &self,
        queue: Queue,
        recording: &Recording,
        (wait, wait_value): (vk::Semaphore, u64),
        (signal, signal_value): (vk::Semaphore, u64),
    ) -> Result<()> {
        let point = |semaphore, value| {
            [vk::SemaphoreSubmitInfo::default()
                .semaphore(semaphore)
                .value(value)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)]
        };
        let (waits, signals) = (point(wait, wait_value), point(signal, signal_value));
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(recording.commands)];
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&commands)
            .signal_semaphore_infos(&signals);
        // SAFETY: the commands are executable and of the queue's family; each timeline is signalled by one queue, in
        // order.
        unsafe {
            self.device
                .queue_submit2(queue.handle, &[submit], vk::Fence::null())
        }?;
        Ok(())
    }

    /// Waits until nothing runs, then frees what an error was committed with.
    ///
    /// # Errors
    /// When the device is lost.
    pub(crate) fn free(
        &self,
        buffer: Buffer,
        recordings: impl IntoIterator<Item = Recording>,
    ) -> Result<()> {
        // SAFETY: no other thread uses the device or its queues.
        unsafe { self.device.device_wait_idle() }?;
        for recording in recordings {
            // SAFETY: nothing runs any more, so the pool and its commands are free.
            unsafe { self.device.destroy_command_pool(recording.pool, None) };
        }
        // SAFETY: nothing runs any more, and the buffer is not used again.
        unsafe { self.device.destroy_buffer(buffer.handle, None) };
        // SAFETY: the one buffer bound to it is gone.
        unsafe { self.device.free_memory(buffer.memory, None) };
        Ok(())
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: every provocation freed its objects; the device is not used again.
        unsafe { self.device.destroy_device(None) };
        // SAFETY: the messenger is this instance's and is not used again.
        unsafe {
            self.debug
                .destroy_debug_utils_messenger(self.messenger, None)
        };
        // SAFETY: all children of the instance are gone.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// Small: contents do not matter here.
const BUFFER_BYTES: vk::DeviceSize = 256;

/// One command buffer with its pool.
pub(crate) struct Recording {
    commands: vk::CommandBuffer,
    pool: vk::CommandPool,
}

fn create_instance(entry: &Entry) -> Result<Instance> {
    let application = vk::ApplicationInfo::default()
        .application_name(c"quadrille_canary")
        .api_version(vk::API_VERSION_1_3);
    let extensions = [ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extensions);
    // SAFETY: the structures are complete and live through the call.
    unsafe { entry.create_instance(&info, None) }
        .context("no Vulkan instance with VK_EXT_debug_utils; is the validation layer there?")
}

/// Families and how many queues to take of each.
fn choose_families(instance: &Instance, physical: vk::PhysicalDevice) -> Vec<(u32, u32)> {
    // SAFETY: the physical device is the instance's.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let transfers = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let able: Vec<(u32, u32)> = (0_u32..)
        .zip(&families)
        .filter(|(_, family)| family.queue_flags.intersects(transfers))
        .map(|(index, family)| (index, family.queue_count))
        .collect();
    match able.as_slice() {
        [first, second, ..] => vec![(first.0, 1), (second.0, 1)],
        [only] => vec![(only.0, only.1.min(2))],
        [] => Vec::new(),
    }
}

fn create_device(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    families: &[(u32, u32)],
) -> Result<Device> {
    let priorities = [1.0; 2];
    let queues: Vec<_> = families
        .iter()
        .map(|&(family, count)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..count as usize])
        })
        .collect();
    let mut features = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    let mut timelines = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .push_next(&mut features)
        .push_next(&mut timelines);
    // SAFETY: families and counts are those that the device reports; Vulkan 1.3 has the features.
    unsafe { instance.create_device(physical, &info, None) }
        .context("no device with synchronization2")
}

fn text(name: Result<&std::ffi::CStr, impl Sized>) -> String {
    name.map_or_else(
        |_| "unknown".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn number(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}
