//! A compositor in the manner of OpenXR's runtimes: it owns the images of a swapchain, hands them out in turn, and reads
//! what was drawn to them. It works by Vulkan's own calls, on a thread of its own.
//!
//! In turn `n` the program waits until the compositor has read the image ([`CompositorFrame::ready`]), draws, and signals
//! [`CompositorFrame::drawn`]; the compositor waits for that, copies one texel to the host, and signals that it has read the image.
//! Each side has a timeline, since the program may be ahead by as many turns as there are images. Images change hands in
//! `COLOR_ATTACHMENT_OPTIMAL`, as OpenXR's do (`XR_KHR_vulkan_enable2`, "Swapchain Image Layout").

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::resources::{GpuImage, ImageDesc, TimelineSemaphore};
use quadrille::vulkan::{Format, ash, vk};

use crate::error::{BenchError, failed};

/// Images of the swapchain.
const IMAGES: u64 = 3;
/// How long the thread waits before it looks whether it is to end.
const SLICE: Duration = Duration::from_millis(50);
/// Longer than a copy takes on any device, in nanoseconds.
const COPY_TIMEOUT: u64 = 60_000_000_000;
/// Bytes of a texel.
const TEXEL: u64 = 4;

/// Results of the thread that the program has not taken yet.
#[derive(Default)]
struct Results {
    texels: Vec<[u8; 4]>,
    /// Error that has ended the thread.
    error: Option<CompositorError>,
}

type Composed = Arc<Mutex<Results>>;

/// The compositor.
pub struct Compositor {
    images: Vec<GpuImage>,
    timelines: Timelines,
    composed: Composed,
    alive: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Timelines {
    drawn: TimelineSemaphore,
    read: TimelineSemaphore,
}

/// An image that the program draws to, with values of timelines.
pub struct CompositorFrame<'a> {
    /// The image.
    pub image: &'a GpuImage,
    /// Value of [`Compositor::read`] with which the compositor needs the image no more; 0 for a new one.
    pub ready: u64,
    /// Value of [`Compositor::drawn`] to signal when it is drawn to.
    pub drawn: u64,
}

impl Compositor {
    /// Starts a compositor with images of this extent in texels.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn start(gpu: &Gpu, extent: [u32; 2]) -> Result<Self, CompositorError> {
        let format = Format::R8G8B8A8_UNORM;
        let desc = ImageDesc::color_target("compositor's image", extent, format);
        let owned: Vec<Arc<OwnedImage>> = (0..IMAGES)
            .map(|_| OwnedImage::new(gpu, &desc).map(Arc::new))
            .collect::<Result<_, BenchError>>()?;
        let wrap = |owned: &Arc<OwnedImage>| {
            // SAFETY: the image is of this description, and its owner lives in what is kept.
            unsafe { gpu.wrap_image(&desc, owned.raw, Box::new(Arc::clone(owned))) }
        };
        let images = owned.iter().map(wrap).collect::<Result<_, _>>()?;
        let timelines = Timelines {
            drawn: gpu.timeline_semaphore("drawn", 0)?,
            read: gpu.timeline_semaphore("read", 0)?,
        };
        let composed = Composed::default();
        let alive = Arc::new(AtomicBool::new(true));
        let copies = Copies::new(gpu)?;
        let thread = std::thread::spawn({
            let (timelines, alive) = (timelines.clone(), Arc::clone(&alive));
            let composed = Arc::clone(&composed);
            move || {
                let worked = work(copies, &owned, (&timelines, &alive), extent, &composed);
                lock(&composed).error = worked.err();
            }
        });
        Ok(Self {
            images,
            timelines,
            composed,
            alive,
            thread: Some(thread),
        })
    }

    /// The turn with this number, from 0.
    pub fn frame(&self, number: u64) -> CompositorFrame<'_> {
        CompositorFrame {
            image: &self.images[(number % IMAGES) as usize],
            ready: (number + 1).saturating_sub(IMAGES),
            drawn: number + 1,
        }
    }

    /// The timeline that the program signals: turn `n` is `n + 1`.
    pub fn drawn(&self) -> &TimelineSemaphore {
        &self.timelines.drawn
    }

    /// The timeline that the compositor signals: turn `n` is `n + 1`.
    pub fn read(&self) -> &TimelineSemaphore {
        &self.timelines.read
    }

    /// The texel in the middle of each image that was composed since the last call.
    ///
    /// # Errors
    /// A Vulkan call of the thread has failed; it composes no more. The error is returned once.
    pub fn composed(&self) -> Result<Vec<[u8; 4]>, CompositorError> {
        let mut results = lock(&self.composed);
        match results.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut results.texels)),
        }
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        self.alive.store(false, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic there has printed its message.
            drop(thread.join());
        }
    }
}

/// Locks the results; a panic on the other thread cannot leave them half-changed.
fn lock(composed: &Mutex<Results>) -> MutexGuard<'_, Results> {
    composed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Error of a compositor.
#[derive(Debug, thiserror::Error)]
pub enum CompositorError {
    /// One of the compositor's own calls failed.
    #[error(transparent)]
    Own(#[from] BenchError),
    /// An image cannot be wrapped, or a timeline fails.
    #[error(transparent)]
    Wrap(#[from] quadrille::vulkan::Error),
}

impl CompositorError {
    /// Whether the device is lost: the program starts another compositor on the next one.
    pub fn is_device_lost(&self) -> bool {
        match self {
            Self::Own(BenchError::Vulkan { result, .. }) => {
                *result == vk::Result::ERROR_DEVICE_LOST
            }
            Self::Own(_) => false,
            Self::Wrap(error) => matches!(error, quadrille::vulkan::Error::DeviceLost { .. }),
        }
    }
}

/// Composes turns until the program ends.
fn work(
    mut copies: Copies,
    images: &[Arc<OwnedImage>],
    (timelines, alive): (&Timelines, &AtomicBool),
    extent: [u32; 2],
    composed: &Mutex<Results>,
) -> Result<(), CompositorError> {
    let mut number = 0;
    while alive.load(Ordering::Acquire) {
        if !timelines.drawn.wait(number + 1, SLICE)? {
            continue;
        }
        let image = &images[(number % IMAGES) as usize];
        let texel = copies.middle(image.raw, extent)?;
        lock(composed).texels.push(texel);
        timelines.read.signal(number + 1)?;
        number += 1;
    }
    Ok(())
}

/// An image with its memory. It holds no [`Gpu`], which would keep the device alive that is to drop it.
struct OwnedImage {
    device: ash::Device,
    raw: vk::Image,
    memory: vk::DeviceMemory,
}

impl OwnedImage {
    fn new(gpu: &Gpu, desc: &ImageDesc) -> Result<Self, BenchError> {
        let [width, height, depth] = desc.extent;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(vk::Extent3D {
                width,
                height,
                depth,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::from_raw(desc.usage.bits()));
        let device = gpu.device().clone();
        // SAFETY: the create info is complete, and the format can be drawn to on every device.
        let raw = unsafe { device.create_image(&info, None) };
        let raw = raw.map_err(failed("vkCreateImage"))?;
        // SAFETY: the image was just made.
        let needs = unsafe { device.get_image_memory_requirements(raw) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let mut owned = Self {
            device,
            raw,
            memory: vk::DeviceMemory::null(),
        };
        owned.memory = allocate(gpu, needs, local)?;
        // SAFETY: the memory was allocated for the image.
        unsafe { owned.device.bind_image_memory(raw, owned.memory, 0) }
            .map_err(failed("vkBindImageMemory"))?;
        Ok(owned)
    }
}

impl Drop for OwnedImage {
    fn drop(&mut self) {
        // SAFETY: the renderer and the thread, which used it, have dropped it.
        unsafe { self.device.destroy_image(self.raw, None) };
        // SAFETY: the image is gone.
        unsafe { self.device.free_memory(self.memory, None) };
    }
}

/// Copies of texels to the host.
struct Copies {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    texel: *const [u8; 4],
    /// Whether a copy was submitted and its end is unknown.
    is_in_use: bool,
    gpu: Gpu,
}

// SAFETY: the pointer is to mapped memory that this value owns.
unsafe impl Send for Copies {}

impl Copies {
    fn new(gpu: &Gpu) -> Result<Self, BenchError> {
        let device = gpu.device();
        let mut copies = Self {
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            texel: std::ptr::null(),
            is_in_use: false,
            gpu: gpu.clone(),
        };
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(gpu.topology().queues[0].family.0);
        let buffer = vk::BufferCreateInfo::default()
            .size(TEXEL)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the create info is complete; `drop` destroys it, as all that follows.
        let made = unsafe { device.create_command_pool(&pool, None) };
        copies.pool = made.map_err(failed("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(copies.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let made = unsafe { device.allocate_command_buffers(&info) };
        copies.commands = made.map_err(failed("vkAllocateCommandBuffers"))?[0];
        // SAFETY: the create info is complete.
        let made = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) };
        copies.fence = made.map_err(failed("vkCreateFence"))?;
        // SAFETY: likewise.
        let made = unsafe { device.create_buffer(&buffer, None) };
        copies.buffer = made.map_err(failed("vkCreateBuffer"))?;
        // SAFETY: the buffer is alive.
        let needs = unsafe { device.get_buffer_memory_requirements(copies.buffer) };
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        copies.memory = allocate(gpu, needs, host)?;
        // SAFETY: the memory was allocated for the buffer.
        let bound = unsafe { device.bind_buffer_memory(copies.buffer, copies.memory, 0) };
        bound.map_err(failed("vkBindBufferMemory"))?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is visible to the host and has these bytes.
        let mapped = unsafe { device.map_memory(copies.memory, 0, TEXEL, flags) };
        copies.texel = mapped.map_err(failed("vkMapMemory"))?.cast();
        Ok(copies)
    }

    /// The texel in the middle of an image, which is in `COLOR_ATTACHMENT_OPTIMAL` before and after.
    fn middle(
        &mut self,
        image: vk::Image,
        [width, height]: [u32; 2],
    ) -> Result<[u8; 4], BenchError> {
        let device = self.gpu.device();
        self.record(image, [width / 2, height / 2].map(|half| half as i32))?;
        let commands = [self.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: the queue is locked for the time of the call; the fence is not signalled, and nothing uses it.
        let submitted = self.gpu.with_queue(0, |queue| unsafe {
            device.queue_submit(queue, &submit, self.fence)
        });
        // Each device has a first queue.
        let submitted = submitted.unwrap_or(Err(vk::Result::ERROR_INITIALIZATION_FAILED));
        submitted.map_err(failed("vkQueueSubmit"))?;
        self.is_in_use = true;
        // SAFETY: the fence is of this device.
        let waited = unsafe { device.wait_for_fences(&[self.fence], true, COPY_TIMEOUT) };
        // A lost device uses nothing any more ("Lost Device").
        let is_over = matches!(waited, Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST));
        self.is_in_use = !is_over;
        waited.map_err(failed("vkWaitForFences"))?;
        // SAFETY: nothing uses it any more.
        let reset = unsafe { device.reset_fences(&[self.fence]) };
        reset.map_err(failed("vkResetFences"))?;
        // SAFETY: the memory is mapped, and the copy to it is over.
        Ok(unsafe { self.texel.read_volatile() })
    }

    fn record(&self, image: vk::Image, [x, y]: [i32; 2]) -> Result<(), BenchError> {
        let device = self.gpu.device();
        let layers = vk::ImageSubresourceLayers::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .layer_count(1);
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_offset(vk::Offset3D { x, y, z: 0 })
            .image_extent(vk::Extent3D {
                width: 1,
                height: 1,
                depth: 1,
            });
        let (drawn, read) = (
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        );
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let begin = vk::CommandBufferBeginInfo::default().flags(once);
        // SAFETY: the command buffer is not in use: its fence was waited for.
        let begun = unsafe { device.begin_command_buffer(self.commands, &begin) };
        begun.map_err(failed("vkBeginCommandBuffer"))?;
        // SAFETY: the command buffer is recorded, and the image is in this layout, as agreed.
        unsafe { transition(device, self.commands, image, [drawn, read]) };
        let (commands, to) = (self.commands, self.buffer);
        // SAFETY: image and buffer are alive, and the region lies in them.
        unsafe { device.cmd_copy_image_to_buffer(commands, image, read, to, &[region]) };
        // SAFETY: the image is in this layout since the first transition.
        unsafe { transition(device, self.commands, image, [read, drawn]) };
        let host = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().memory_barriers(&host);
        // SAFETY: the command buffer is recorded.
        unsafe { device.cmd_pipeline_barrier2(self.commands, &info) };
        // SAFETY: likewise.
        let ended = unsafe { device.end_command_buffer(self.commands) };
        ended.map_err(failed("vkEndCommandBuffer"))
    }
}

/// Changes the layout of an image, after all work and before all work.
///
/// # Safety
/// The command buffer is recorded, and the image is in the layout `from` then.
unsafe fn transition(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    [from, to]: [vk::ImageLayout; 2],
) {
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let access = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let whole = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let barrier = vk::ImageMemoryBarrier2::default()
        .src_stage_mask(all)
        .src_access_mask(access)
        .dst_stage_mask(all)
        .dst_access_mask(access)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(whole);
    let barriers = [barrier];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: as the caller promises.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

impl Drop for Copies {
    fn drop(&mut self) {
        if self.is_in_use {
            // Left alive: destroying what the device may still use is undefined.
            return;
        }
        let device = self.gpu.device();
        // SAFETY: the last copy was waited for; all of it was made by this value.
        unsafe { device.destroy_fence(self.fence, None) };
        // SAFETY: likewise.
        unsafe { device.destroy_command_pool(self.pool, None) };
        // SAFETY: likewise.
        unsafe { device.destroy_buffer(self.buffer, None) };
        // SAFETY: likewise; nothing is bound to it any more.
        unsafe { device.free_memory(self.memory, None) };
    }
}

/// Allocates memory of a type with these properties.
fn allocate(
    gpu: &Gpu,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
) -> Result<vk::DeviceMemory, BenchError> {
    let physical = gpu.physical_device();
    // SAFETY: the physical device is of this instance.
    let memory = unsafe {
        gpu.instance()
            .get_physical_device_memory_properties(physical)
    };
    let types = memory.memory_types_as_slice();
    let fits = |at: &usize| {
        needs.memory_type_bits & (1 << at) != 0 && types[*at].property_flags.contains(wanted)
    };
    // Each device has such a type for each image and buffer ("Device Memory").
    let found = (0..types.len()).find(fits).unwrap_or_default();
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(found as u32);
    // SAFETY: the info is complete.
    unsafe { gpu.device().allocate_memory(&info, None) }.map_err(failed("vkAllocateMemory"))
}
