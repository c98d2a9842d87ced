//! A device with all queues of all families, and short helpers for the test programs.

use std::cell::RefCell;
use std::ffi::CStr;

use ash::vk;

use crate::Outcome;

/// Timeout in ns of waits that are expected to end.
pub(crate) const LONG_NS: u64 = 20_000_000_000;

/// Everything that must be destroyed, in the order of creation.
enum Object {
    Pool(vk::CommandPool),
    Buffer(vk::Buffer),
    Image(vk::Image),
    View(vk::ImageView),
    Memory(vk::DeviceMemory),
    Semaphore(vk::Semaphore),
    Fence(vk::Fence),
}

/// The device under test.
pub(crate) struct Gpu {
    pub(crate) entry: ash::Entry,
    pub(crate) instance: ash::Instance,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) device: ash::Device,
    pub(crate) families: Vec<vk::QueueFamilyProperties>,
    /// `queues[family][index]`.
    pub(crate) queues: Vec<Vec<vk::Queue>>,
    objects: RefCell<Vec<Object>>,
}

/// A value of a timeline semaphore, or a binary semaphore with value 0.
pub(crate) type Point = (vk::Semaphore, u64);

impl Gpu {
    pub(crate) fn new() -> Result<Self, vk::Result> {
        Self::with(&[], &[])
    }

    /// Creates a device with these instance and device extensions.
    pub(crate) fn with(
        instance_extensions: &[&CStr],
        device_extensions: &[&CStr],
    ) -> Result<Self, vk::Result> {
        let failed = vk::Result::ERROR_INITIALIZATION_FAILED;
        // SAFETY: the system's Vulkan loader is sound to load.
        let entry = unsafe { ash::Entry::load() }.map_err(|_| failed)?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let names: Vec<_> = instance_extensions
            .iter()
            .map(|name| name.as_ptr())
            .collect();
        let info = vk::InstanceCreateInfo::default()
            .application_info(&app)
            .enabled_extension_names(&names);
        // SAFETY: a valid structure.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        // SAFETY: the instance is valid.
        let devices = unsafe { instance.enumerate_physical_devices() }?;
        let physical = *devices.first().ok_or(failed)?;
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let device = create_device(&instance, physical, &families, device_extensions)?;
        let queues = (0..).zip(&families).map(|(family, properties)| {
            // SAFETY: the device was created with all queues.
            let queue = |index| unsafe { device.get_device_queue(family, index) };
            (0..properties.queue_count).map(queue).collect()
        });
        let queues = queues.collect();
        let objects = RefCell::default();
        Ok(Self {
            entry,
            instance,
            physical,
            device,
            families,
            queues,
            objects,
        })
    }

    fn keep(&self, object: Object) {
        self.objects.borrow_mut().push(object);
    }

    pub(crate) fn timeline(&self) -> Result<vk::Semaphore, vk::Result> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: a valid structure.
        let semaphore = unsafe { self.device.create_semaphore(&info, None) }?;
        self.keep(Object::Semaphore(semaphore));
        Ok(semaphore)
    }

    pub(crate) fn binary(&self) -> Result<vk::Semaphore, vk::Result> {
        let info = vk::SemaphoreCreateInfo::default();
        // SAFETY: a valid structure.
        let semaphore = unsafe { self.device.create_semaphore(&info, None) }?;
        self.keep(Object::Semaphore(semaphore));
        Ok(semaphore)
    }

    pub(crate) fn fence(&self) -> Result<vk::Fence, vk::Result> {
        // SAFETY: a valid structure.
        let fence = unsafe {
            self.device
                .create_fence(&vk::FenceCreateInfo::default(), None)
        }?;
        self.keep(Object::Fence(fence));
        Ok(fence)
    }

    /// Creates a buffer in host-visible memory; concurrent if several families are given.
    pub(crate) fn buffer(
        &self,
        bytes: u64,
        families: &[u32],
    ) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let mut info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        if families.len() > 1 {
            info = info
                .sharing_mode(vk::SharingMode::CONCURRENT)
                .queue_family_indices(families);
        }
        // SAFETY: a valid structure.
        let buffer = unsafe { self.device.create_buffer(&info, None) }?;
        self.keep(Object::Buffer(buffer));
        // SAFETY: the buffer is valid.
        let needs = unsafe { self.device.get_buffer_memory_requirements(buffer) };
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = self.memory(needs, flags)?;
        // SAFETY: fresh memory that meets the requirements.
        unsafe { self.device.bind_buffer_memory(buffer, memory, 0) }?;
        Ok((buffer, memory))
    }

    pub(crate) fn memory(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, vk::Result> {
        // SAFETY: the physical device is valid.
        let known = unsafe {
            self.instance
                .get_physical_device_memory_properties(self.physical)
        };
        let index = (0..known.memory_type_count).find(|index| {
            let allowed = needs.memory_type_bits & (1 << index) != 0;
            allowed
                && known.memory_types[*index as usize]
                    .property_flags
                    .contains(flags)
        });
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?);
        // SAFETY: a valid structure.
        let memory = unsafe { self.device.allocate_memory(&info, None) }?;
        self.keep(Object::Memory(memory));
        Ok(memory)
    }

    /// Creates a 16x16 image without the usage `TRANSFER_DST`.
    pub(crate) fn image(
        &self,
        format: vk::Format,
        usage: vk::ImageUsageFlags,
    ) -> Result<(vk::Image, vk::ImageView), vk::Result> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width: 16,
                height: 16,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: a valid structure.
        let image = unsafe { self.device.create_image(&info, None) }?;
        self.keep(Object::Image(image));
        // SAFETY: the image is valid.
        let needs = unsafe { self.device.get_image_memory_requirements(image) };
        let memory = self.memory(needs, vk::MemoryPropertyFlags::empty())?;
        // SAFETY: fresh memory that meets the requirements.
        unsafe { self.device.bind_image_memory(image, memory, 0) }?;
        if !usage.intersects(vk::ImageUsageFlags::COLOR_ATTACHMENT) {
            return Ok((image, vk::ImageView::null()));
        }
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(COLOR);
        // SAFETY: a valid structure.
        let view = unsafe { self.device.create_image_view(&info, None) }?;
        self.keep(Object::View(view));
        Ok((image, view))
    }

    /// Records a command buffer for a family.
    pub(crate) fn record(
        &self,
        family: u32,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: a valid structure.
        let pool = unsafe { self.device.create_command_pool(&info, None) }?;
        self.keep(Object::Pool(pool));
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: a valid structure.
        let commands = unsafe { self.device.allocate_command_buffers(&info) }?[0];
        // SAFETY: fresh from the pool.
        unsafe {
            self.device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
        }?;
        record(commands);
        // SAFETY: recording.
        unsafe { self.device.end_command_buffer(commands) }?;
        Ok(commands)
    }

    /// Records a fill of a buffer.
    pub(crate) fn fill(
        &self,
        family: u32,
        buffer: vk::Buffer,
        word: u32,
    ) -> Result<vk::CommandBuffer, vk::Result> {
        self.record(family, |commands| {
            // SAFETY: recording; the buffer is valid.
            unsafe {
                self.device
                    .cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, word)
            };
        })
    }

    /// Records a copy of a 16x16 image, in `TRANSFER_SRC_OPTIMAL`, to a buffer.
    pub(crate) fn copy_out(
        &self,
        commands: vk::CommandBuffer,
        image: vk::Image,
        buffer: vk::Buffer,
    ) {
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: COLOR.aspect_mask,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(vk::Extent3D {
                width: 16,
                height: 16,
                depth: 1,
            });
        // SAFETY: recording; the buffer is large enough.
        unsafe {
            self.device
                .cmd_copy_image_to_buffer(commands, image, layout, buffer, &[region]);
        };
    }

    /// Submits with `vkQueueSubmit2`.
    pub(crate) fn submit(
        &self,
        queue: vk::Queue,
        waits: &[Point],
        commands: &[vk::CommandBuffer],
        signals: &[Point],
        fence: vk::Fence,
    ) -> Result<(), vk::Result> {
        let semaphore = |point: &Point| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(point.0)
                .value(point.1)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        };
        let waits: Vec<_> = waits.iter().map(semaphore).collect();
        let signals: Vec<_> = signals.iter().map(semaphore).collect();
        let info =
            |one: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*one);
        let commands: Vec<_> = commands.iter().map(info).collect();
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&commands)
            .signal_semaphore_infos(&signals);
        // SAFETY: the structures are valid.
        unsafe { self.device.queue_submit2(queue, &[submit], fence) }
    }

    /// Waits on the host for a timeline value.
    pub(crate) fn wait(&self, (semaphore, value): Point, ns: u64) -> Result<(), vk::Result> {
        let semaphores = [semaphore];
        let values = [value];
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: a valid structure.
        unsafe { self.device.wait_semaphores(&info, ns) }
    }

    /// Returns the value of a timeline.
    pub(crate) fn value(&self, semaphore: vk::Semaphore) -> Result<u64, vk::Result> {
        // SAFETY: a timeline semaphore.
        unsafe { self.device.get_semaphore_counter_value(semaphore) }
    }

    /// Waits until the device is idle.
    pub(crate) fn idle(&self) -> Result<(), vk::Result> {
        // SAFETY: no other thread uses the queues.
        unsafe { self.device.device_wait_idle() }
    }

    /// Reads words of host-visible memory.
    pub(crate) fn read(
        &self,
        memory: vk::DeviceMemory,
        count: usize,
    ) -> Result<Vec<u32>, vk::Result> {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: host visible, not mapped.
        let first = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }?;
        // SAFETY: the memory has at least `count` words.
        let words = unsafe { std::slice::from_raw_parts(first.cast::<u32>(), count) }.to_vec();
        // SAFETY: mapped above.
        unsafe { self.device.unmap_memory(memory) };
        Ok(words)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        for object in self.objects.take().into_iter().rev() {
            let device = &self.device;
            match object {
                // SAFETY: created by this device, and every program waits before it ends.
                Object::Pool(pool) => unsafe { device.destroy_command_pool(pool, None) },
                // SAFETY: as above.
                Object::Buffer(buffer) => unsafe { device.destroy_buffer(buffer, None) },
                // SAFETY: as above.
                Object::Image(image) => unsafe { device.destroy_image(image, None) },
                // SAFETY: as above.
                Object::View(view) => unsafe { device.destroy_image_view(view, None) },
                // SAFETY: as above.
                Object::Memory(memory) => unsafe { device.free_memory(memory, None) },
                // SAFETY: as above.
                Object::Semaphore(semaphore) => unsafe {
                    device.destroy_semaphore(semaphore, None)
                },
                // SAFETY: as above.
                Object::Fence(fence) => unsafe { device.destroy_fence(fence, None) },
            }
        }
        // SAFETY: all its objects were destroyed.
        unsafe { self.device.destroy_device(None) };
        // SAFETY: its device was destroyed.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// The whole of a color image with one mip level and layer.
pub(crate) const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    families: &[vk::QueueFamilyProperties],
    extensions: &[&CStr],
) -> Result<ash::Device, vk::Result> {
    let priorities = vec![1.0; 64];
    let requests: Vec<_> = (0..)
        .zip(families)
        .map(|(family, properties)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..properties.queue_count as usize])
        })
        .collect();
    let mut features12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut features13 = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .dynamic_rendering(true)
        .maintenance4(true);
    let features = vk::PhysicalDeviceFeatures::default().sparse_binding(
        families
            .iter()
            .any(|one| one.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING)),
    );
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&requests)
        .enabled_extension_names(&names)
        .enabled_features(&features)
        .push_next(&mut features12)
        .push_next(&mut features13);
    // SAFETY: a valid structure.
    unsafe { instance.create_device(physical, &info, None) }
}

/// Prints the families as both queries return them.
pub(crate) fn families() -> Outcome {
    let gpu = Gpu::new()?;
    let mut properties = vec![vk::QueueFamilyProperties2::default(); gpu.families.len()];
    // SAFETY: the array has the queried length.
    unsafe {
        gpu.instance
            .get_physical_device_queue_family_properties2(gpu.physical, &mut properties);
    }
    for (first, second) in gpu.families.iter().zip(&properties) {
        let second = second.queue_family_properties;
        let same =
            first.queue_flags == second.queue_flags && first.queue_count == second.queue_count;
        let granularity = first.min_image_transfer_granularity;
        println!(
            "family {:?} x{} {}x{}x{} {}",
            first.queue_flags,
            first.queue_count,
            granularity.width,
            granularity.height,
            granularity.depth,
            if same { "agreed" } else { "CONTRADICTED" },
        );
    }
    let mut all: Vec<_> = gpu.queues.iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    println!("handles {}", all.len());
    Ok(())
}
