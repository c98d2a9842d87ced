//! Device with one queue and one command buffer, by bare Vulkan calls.

use quadrille::vulkan::ash::{Device as Raw, Entry, Instance};
use quadrille::vulkan::vk;

use crate::error::{BenchError, failed};

/// Fence timeout of a frame in nanoseconds: 20 s.
const FENCE_TIMEOUT_NS: u64 = 20_000_000_000;

/// Device that records and submits one command buffer at a time.
pub(crate) struct Device {
    pub(crate) raw: Raw,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) command_buffer: vk::CommandBuffer,
    queue: vk::Queue,
    pool: vk::CommandPool,
    fence: vk::Fence,
    instance: Instance,
    /// Loaded Vulkan library; must outlive the function pointers.
    _entry: Entry,
}

impl Device {
    /// Creates the device with this name.
    pub(crate) fn new(name: &str) -> Result<Self, BenchError> {
        // SAFETY: the loader is the system's own.
        let entry = unsafe { Entry::load() }?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: the pointers of the create info are valid for the call.
        let instance =
            unsafe { entry.create_instance(&info, None) }.map_err(failed("vkCreateInstance"))?;
        let opened = open(&instance, name);
        match opened {
            Ok((raw, memory, queue, family)) => {
                Self::finish(entry, instance, raw, memory, queue, family)
            }
            Err(error) => {
                // SAFETY: it has no child objects.
                unsafe { instance.destroy_instance(None) };
                Err(error)
            }
        }
    }

    fn finish(
        entry: Entry,
        instance: Instance,
        raw: Raw,
        memory: vk::PhysicalDeviceMemoryProperties,
        queue: vk::Queue,
        family: u32,
    ) -> Result<Self, BenchError> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        // SAFETY: the family is one that the device was created with.
        let pool = unsafe { raw.create_command_pool(&info, None) }
            .map_err(failed("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool was just created.
        let buffers = unsafe { raw.allocate_command_buffers(&info) }
            .map_err(failed("vkAllocateCommandBuffers"))?;
        let info = vk::FenceCreateInfo::default();
        // SAFETY: the create info has no pointers.
        let fence = unsafe { raw.create_fence(&info, None) }.map_err(failed("vkCreateFence"))?;
        Ok(Self {
            raw,
            memory,
            command_buffer: buffers[0],
            queue,
            pool,
            fence,
            instance,
            _entry: entry,
        })
    }

    /// Resets the pool and begins the command buffer. The previous submission must have completed.
    pub(crate) fn begin(&self) -> Result<(), BenchError> {
        let flags = vk::CommandPoolResetFlags::empty();
        // SAFETY: the last submission has been waited for.
        unsafe { self.raw.reset_command_pool(self.pool, flags) }
            .map_err(failed("vkResetCommandPool"))?;
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(once);
        // SAFETY: the command buffer was reset with its pool.
        unsafe { self.raw.begin_command_buffer(self.command_buffer, &info) }
            .map_err(failed("vkBeginCommandBuffer"))
    }

    /// Ends the command buffer.
    pub(crate) fn end(&self) -> Result<(), BenchError> {
        // SAFETY: the command buffer is in the recording state, outside of rendering.
        unsafe { self.raw.end_command_buffer(self.command_buffer) }
            .map_err(failed("vkEndCommandBuffer"))
    }

    /// Submits the command buffer.
    pub(crate) fn submit(&self) -> Result<(), BenchError> {
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(self.command_buffer)];
        let info = vk::SubmitInfo2::default().command_buffer_infos(&buffers);
        // SAFETY: the command buffer is executable, and the fence is unsignalled and not in use.
        unsafe { self.raw.queue_submit2(self.queue, &[info], self.fence) }
            .map_err(failed("vkQueueSubmit2"))
    }

    /// Waits for the submission.
    pub(crate) fn wait(&self) -> Result<(), BenchError> {
        let fences = [self.fence];
        // SAFETY: the last submission signals the fence.
        unsafe { self.raw.wait_for_fences(&fences, true, FENCE_TIMEOUT_NS) }
            .map_err(failed("vkWaitForFences"))?;
        // SAFETY: the fence is signalled, so no submission uses it.
        unsafe { self.raw.reset_fences(&fences) }.map_err(failed("vkResetFences"))
    }

    /// Records, submits and waits.
    pub(crate) fn run(&self, record: impl FnOnce(&Self)) -> Result<(), BenchError> {
        self.begin()?;
        record(self);
        self.end()?;
        self.submit()?;
        self.wait()
    }

    /// Records one `vkCmdPipelineBarrier2`.
    pub(crate) fn barriers(
        &self,
        memory: &[vk::MemoryBarrier2<'_>],
        buffers: &[vk::BufferMemoryBarrier2<'_>],
        images: &[vk::ImageMemoryBarrier2<'_>],
    ) {
        let info = vk::DependencyInfo::default()
            .memory_barriers(memory)
            .buffer_memory_barriers(buffers)
            .image_memory_barriers(images);
        // SAFETY: the command buffer is in the recording state; the owner of the resources waits for the device
        // before it destroys them.
        unsafe { self.raw.cmd_pipeline_barrier2(self.command_buffer, &info) };
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all submissions have completed.
        unsafe { self.raw.destroy_fence(self.fence, None) };
        // SAFETY: as above; the command buffer goes with it.
        unsafe { self.raw.destroy_command_pool(self.pool, None) };
        // SAFETY: the owner has destroyed all child objects.
        unsafe { self.raw.destroy_device(None) };
        // SAFETY: the device was the last child object.
        unsafe { self.instance.destroy_instance(None) };
    }
}

type Opened = (Raw, vk::PhysicalDeviceMemoryProperties, vk::Queue, u32);

fn open(instance: &Instance, name: &str) -> Result<Opened, BenchError> {
    let (physical, family) = find(instance, name)?;
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&priorities)];
    let mut features = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .push_next(&mut features);
    // SAFETY: Vulkan 1.3 devices have the feature; the family was just enumerated.
    let raw = unsafe { instance.create_device(physical, &info, None) }
        .map_err(failed("vkCreateDevice"))?;
    // SAFETY: the device was created with this queue.
    let queue = unsafe { raw.get_device_queue(family, 0) };
    // SAFETY: enumerated from this instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    Ok((raw, memory, queue, family))
}

/// Finds the device with this name, and its first queue family for graphics and compute.
fn find(instance: &Instance, name: &str) -> Result<(vk::PhysicalDevice, u32), BenchError> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }
        .map_err(failed("vkEnumeratePhysicalDevices"))?;
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    for physical in devices {
        // SAFETY: enumerated from this instance.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(wanted));
        let is_named = properties
            .device_name_as_c_str()
            .is_ok_and(|known| known.to_string_lossy() == name);
        if let (true, Some(family)) = (is_named, family) {
            return Ok((physical, family as u32));
        }
    }
    Err(BenchError::Device {
        name: name.to_owned(),
    })
}
