//! Frame with hand-written synchronization.

use quadrille::vulkan::vk;

use crate::device::Device;
use crate::error::{BenchError, failed};
use crate::resources::{Resources, memory_type, pipeline_of};
use crate::times::{FrameTimes, Stopwatch};
use crate::tracker::{COLOR, Call, Tracker};
use crate::workload::{Contents, Workload};

/// Variant of hand-written synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// No barriers: the lower bound of recording costs. Passes race.
    NoBarriers,
    /// Precomputed barriers: the lower bound of a reused plan.
    Known,
    /// Last accesses are tracked while recording, with one barrier call per pass.
    Tracker,
}

impl Line {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::NoBarriers, Self::Known, Self::Tracker];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoBarriers => "ash, no barriers",
            Self::Known => "ash, barriers known beforehand",
            Self::Tracker => "ash, hand-written tracker",
        }
    }
}

/// The benchmark frame, recorded by bare Vulkan calls.
pub struct HandWritten {
    line: Line,
    workload: Workload,
    tracker: Tracker,
    /// Barriers before a pass; reused allocation.
    call: Call,
    /// Barriers of a steady-state frame, by pass.
    known: Vec<Call>,
    /// Number of recorded frames.
    frames: u64,
    resources: Resources,
    device: Device,
}

/// First frame of the steady state, from which all frames have the same barriers.
const STEADY: u64 = 1;

impl HandWritten {
    /// Creates all objects on the device with this name, and uploads the initial contents.
    ///
    /// # Errors
    /// A Vulkan call fails, or no such device exists.
    pub fn new(line: Line, workload: &Workload, device_name: &str) -> Result<Self, BenchError> {
        let mut hand_written = Self {
            line,
            workload: workload.clone(),
            tracker: Tracker::new(workload),
            call: Call::default(),
            known: Vec::new(),
            frames: 0,
            resources: Resources::default(),
            device: Device::new(device_name)?,
        };
        let sampled_layout = match line {
            // Without barriers there are no layout transitions.
            Line::NoBarriers => vk::ImageLayout::GENERAL,
            Line::Known | Line::Tracker => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        };
        let Self {
            resources, device, ..
        } = &mut hand_written;
        resources.make(device, workload, sampled_layout)?;
        hand_written.fill()?;
        Ok(hand_written)
    }

    /// Returns the variant.
    pub fn line(&self) -> Line {
        self.line
    }

    /// Runs a frame and waits for it.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn frame(&mut self) -> Result<FrameTimes, BenchError> {
        let watch = Stopwatch::start();
        self.device.begin()?;
        self.record();
        self.device.end()?;
        let (pre_submit, pre_submit_cpu) = (watch.wall(), watch.thread());
        self.device.submit()?;
        let submitted = watch.wall();
        self.device.wait()?;
        let frame = watch.wall();
        self.frames += 1;
        Ok(FrameTimes {
            record: pre_submit,
            submit: submitted - pre_submit,
            wait: frame - submitted,
            pre_submit,
            pre_submit_cpu,
            frame,
            frame_process_cpu: watch.process(),
            ..FrameTimes::default()
        })
    }

    fn record(&mut self) {
        // The precomputed barriers are recorded by the tracker in the first steady-state frame.
        let is_known = self.line == Line::Known && self.frames > STEADY;
        let tracks = self.line != Line::NoBarriers && !is_known;
        let learns = self.line == Line::Known && self.frames == STEADY;
        let mut bound = vk::Pipeline::null();
        if self.line != Line::NoBarriers {
            let all_before = self.tracker.begin();
            self.device.barriers(&[all_before], &[], &[]);
        }
        for (at, &pass) in self.workload.passes.iter().enumerate() {
            if tracks {
                let (buffers, images) = (&self.resources.buffers, &self.resources.images);
                self.call.clear();
                self.tracker.before(pass, buffers, images, &mut self.call);
                emit(&self.device, &self.call);
            }
            if learns {
                self.known.push(self.call.clone());
            }
            if is_known {
                emit(&self.device, &self.known[at]);
            }
            let (raw, buffer) = (&self.device.raw, self.device.command_buffer);
            let pipeline = &self.resources.pipelines[pipeline_of(pass)];
            let point = vk::PipelineBindPoint::COMPUTE;
            if bound != pipeline.raw {
                bound = pipeline.raw;
                // SAFETY: the command buffer is in the recording state; the pipeline is alive.
                unsafe { raw.cmd_bind_pipeline(buffer, point, bound) };
            }
            let sets = [self.resources.sets[at]];
            // SAFETY: the set is compatible with the pipeline layout.
            unsafe { raw.cmd_bind_descriptor_sets(buffer, point, pipeline.layout, 0, &sets, &[]) };
            // SAFETY: all bindings of the pipeline are bound.
            unsafe { raw.cmd_dispatch(buffer, 1, 1, 1) };
        }
    }

    /// Uploads the initial contents.
    fn fill(&self) -> Result<(), BenchError> {
        let start = self.workload.start();
        let (buffers, images) = (&self.resources.buffers, &self.resources.images);
        self.device.run(|device| {
            let general = vk::ImageLayout::GENERAL;
            let barriers: Vec<_> = images
                .iter()
                .map(|&image| {
                    vk::ImageMemoryBarrier2::default()
                        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                        .dst_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                        .new_layout(general)
                        .image(image)
                        .subresource_range(COLOR)
                })
                .collect();
            device.barriers(&[], &[], &barriers);
            for (&buffer, value) in buffers.iter().zip(&start.buffers) {
                let bytes = value.to_ne_bytes();
                // SAFETY: the buffer is alive and has four bytes.
                unsafe {
                    device
                        .raw
                        .cmd_update_buffer(device.command_buffer, buffer, 0, &bytes)
                };
            }
            for (&image, &value) in images.iter().zip(&start.images) {
                let color = vk::ClearColorValue { uint32: [value; 4] };
                // SAFETY: the image is alive, in this layout, and no barrier is pending on it.
                unsafe {
                    device.raw.cmd_clear_color_image(
                        device.command_buffer,
                        image,
                        general,
                        &color,
                        &[COLOR],
                    );
                }
            }
            device.barriers(&[everything()], &[], &[]);
        })
    }

    /// Reads back the contents after the frames.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn contents(&mut self) -> Result<Contents, BenchError> {
        let count = self.workload.buffers + self.workload.images;
        let raw = &self.device.raw;
        let info = vk::BufferCreateInfo::default()
            .size(4 * count as u64)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the create info has no pointers.
        let dst = unsafe { raw.create_buffer(&info, None) }.map_err(failed("vkCreateBuffer"))?;
        // SAFETY: the buffer was just created.
        let needs = unsafe { raw.get_buffer_memory_requirements(dst) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type(&self.device, needs.memory_type_bits, wanted));
        // SAFETY: the memory type is one of the device's.
        let memory =
            unsafe { raw.allocate_memory(&info, None) }.map_err(failed("vkAllocateMemory"))?;
        // SAFETY: the memory was allocated for it.
        unsafe { raw.bind_buffer_memory(dst, memory, 0) }.map_err(failed("vkBindBufferMemory"))?;
        self.device.run(|device| self.copy_out(device, dst))?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host-visible and not mapped.
        let mapped = unsafe { raw.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }
            .map_err(failed("vkMapMemory"))?;
        // SAFETY: the completed copies have written `count` words; mappings are aligned.
        let words = unsafe { std::slice::from_raw_parts(mapped.cast::<u32>(), count) }.to_vec();
        // SAFETY: the device is idle.
        unsafe { raw.destroy_buffer(dst, None) };
        // SAFETY: as above; freeing unmaps the memory.
        unsafe { raw.free_memory(memory, None) };
        let (buffers, images) = words.split_at(self.workload.buffers);
        Ok(Contents {
            buffers: buffers.to_vec(),
            images: images.to_vec(),
        })
    }

    /// Records copies of the first word of each resource.
    fn copy_out(&self, device: &Device, dst: vk::Buffer) {
        device.barriers(&[everything()], &[], &[]);
        let (raw, buffer) = (&device.raw, device.command_buffer);
        let mut offset = 0;
        for &src in &self.resources.buffers {
            let region = vk::BufferCopy::default().dst_offset(offset).size(4);
            // SAFETY: both buffers are alive and contain the region.
            unsafe { raw.cmd_copy_buffer(buffer, src, dst, &[region]) };
            offset += 4;
        }
        for (at, &src) in self.resources.images.iter().enumerate() {
            let layout = match self.line {
                Line::NoBarriers => vk::ImageLayout::GENERAL,
                Line::Known | Line::Tracker => self.tracker.layout(at),
            };
            let general = vk::ImageLayout::GENERAL;
            let barrier = vk::ImageMemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
                .old_layout(layout)
                .new_layout(general)
                .image(src)
                .subresource_range(COLOR);
            device.barriers(&[], &[], &[barrier]);
            let layers = vk::ImageSubresourceLayers::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .layer_count(1);
            let region = vk::BufferImageCopy::default()
                .buffer_offset(offset)
                .image_subresource(layers)
                .image_extent(vk::Extent3D {
                    width: 1,
                    height: 1,
                    depth: 1,
                });
            // SAFETY: both are alive, the image has this layout, the buffer contains the region.
            unsafe { raw.cmd_copy_image_to_buffer(buffer, src, general, dst, &[region]) };
            offset += 4;
        }
        device.barriers(&[everything()], &[], &[]);
    }
}

/// Records a barrier call unless it is empty.
fn emit(device: &Device, call: &Call) {
    if !call.is_empty() {
        device.barriers(&[], &call.buffers, &call.images);
    }
}

/// Full memory barrier, including the host.
fn everything() -> vk::MemoryBarrier2<'static> {
    let stages = vk::PipelineStageFlags2::ALL_COMMANDS | vk::PipelineStageFlags2::HOST;
    vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(stages)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
}

impl Drop for HandWritten {
    fn drop(&mut self) {
        self.resources.destroy(&self.device);
    }
}
