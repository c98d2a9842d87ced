//! Buffers, images, pipelines and descriptor sets, created in advance.

use quadrille::vulkan::shader::GpuShader;
use quadrille::vulkan::vk;

use crate::device::Device;
use crate::error::{BenchError, failed};
use crate::tracker::COLOR;
use crate::workload::{PassWork, Workload};
use crate::{BUFFER_SHADER, IMAGE_SHADER};

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const SAMPLED: vk::DescriptorType = vk::DescriptorType::SAMPLED_IMAGE;
const STORAGE_IMAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_IMAGE;

/// A pipeline with its layouts.
pub(crate) struct Pipeline {
    pub(crate) raw: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
}

/// Resources of a frame.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) buffers: Vec<vk::Buffer>,
    pub(crate) images: Vec<vk::Image>,
    /// Pipelines of buffer passes and of image passes.
    pub(crate) pipelines: Vec<Pipeline>,
    /// Descriptor sets by pass.
    pub(crate) sets: Vec<vk::DescriptorSet>,
    views: Vec<vk::ImageView>,
    memory: Vec<vk::DeviceMemory>,
    pool: vk::DescriptorPool,
}

impl Resources {
    /// Creates all resources; images are sampled in `sampled_layout`.
    pub(crate) fn make(
        &mut self,
        device: &Device,
        workload: &Workload,
        sampled_layout: vk::ImageLayout,
    ) -> Result<(), BenchError> {
        self.make_buffers(device, workload.buffers)?;
        self.make_images(device, workload.images)?;
        let kinds = [STORAGE, STORAGE, STORAGE];
        let pipeline = make_pipeline(device, "buffer.wgsl", BUFFER_SHADER, kinds)?;
        self.pipelines.push(pipeline);
        let kinds = [STORAGE, SAMPLED, STORAGE_IMAGE];
        let pipeline = make_pipeline(device, "image.wgsl", IMAGE_SHADER, kinds)?;
        self.pipelines.push(pipeline);
        self.make_sets(device, workload)?;
        for (&set, pass) in self.sets.iter().zip(&workload.passes) {
            self.write_set(device, set, *pass, sampled_layout);
        }
        Ok(())
    }

    fn make_buffers(&mut self, device: &Device, count: usize) -> Result<(), BenchError> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default()
            .size(Workload::BUFFER_BYTES)
            .usage(usage);
        for _ in 0..count {
            // SAFETY: the create info has no pointers.
            let buffer = unsafe { device.raw.create_buffer(&info, None) };
            self.buffers.push(buffer.map_err(failed("vkCreateBuffer"))?);
        }
        // SAFETY: the buffer was just created; all have the same requirements.
        let needs = unsafe { device.raw.get_buffer_memory_requirements(self.buffers[0]) };
        let memory = self.allocate(device, needs, count)?;
        for (at, &buffer) in (0..).zip(&self.buffers) {
            // SAFETY: the memory has room for all, each at a multiple of the alignment.
            unsafe {
                device
                    .raw
                    .bind_buffer_memory(buffer, memory, at * stride(needs))
            }
            .map_err(failed("vkBindBufferMemory"))?;
        }
        Ok(())
    }

    fn make_images(&mut self, device: &Device, count: usize) -> Result<(), BenchError> {
        let side = Workload::IMAGE_SIDE;
        let usage = vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D {
                width: side,
                height: side,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        for _ in 0..count {
            // SAFETY: every device supports the format with these usages.
            let image = unsafe { device.raw.create_image(&info, None) };
            self.images.push(image.map_err(failed("vkCreateImage"))?);
        }
        // SAFETY: the image was just created; all have the same requirements.
        let needs = unsafe { device.raw.get_image_memory_requirements(self.images[0]) };
        let memory = self.allocate(device, needs, count)?;
        for (at, &image) in (0..).zip(&self.images) {
            // SAFETY: the memory has room for all, each at a multiple of the alignment.
            unsafe {
                device
                    .raw
                    .bind_image_memory(image, memory, at * stride(needs))
            }
            .map_err(failed("vkBindImageMemory"))?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(vk::Format::R32_UINT)
                .subresource_range(COLOR);
            // SAFETY: the image has memory bound.
            let view = unsafe { device.raw.create_image_view(&info, None) };
            self.views.push(view.map_err(failed("vkCreateImageView"))?);
        }
        Ok(())
    }

    /// Allocates memory for `count` resources with these requirements.
    fn allocate(
        &mut self,
        device: &Device,
        needs: vk::MemoryRequirements,
        count: usize,
    ) -> Result<vk::DeviceMemory, BenchError> {
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let kind = memory_type(device, needs.memory_type_bits, local);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(stride(needs) * count as u64)
            .memory_type_index(kind);
        // SAFETY: the memory type is one of the device's.
        let memory = unsafe { device.raw.allocate_memory(&info, None) }
            .map_err(failed("vkAllocateMemory"))?;
        self.memory.push(memory);
        Ok(memory)
    }

    fn make_sets(&mut self, device: &Device, workload: &Workload) -> Result<(), BenchError> {
        let count = workload.passes.len() as u32;
        let size = |kind, count| {
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(count)
        };
        let sizes = [
            size(STORAGE, 3 * count),
            size(SAMPLED, count),
            size(STORAGE_IMAGE, count),
        ];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(count)
            .pool_sizes(&sizes);
        // SAFETY: the sizes are not zero, because a workload has at least one pass.
        self.pool = unsafe { device.raw.create_descriptor_pool(&info, None) }
            .map_err(failed("vkCreateDescriptorPool"))?;
        let layouts: Vec<_> = workload
            .passes
            .iter()
            .map(|pass| self.pipelines[pipeline_of(*pass)].set_layout)
            .collect();
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pool)
            .set_layouts(&layouts);
        // SAFETY: the pool has capacity for these sets.
        self.sets = unsafe { device.raw.allocate_descriptor_sets(&info) }
            .map_err(failed("vkAllocateDescriptorSets"))?;
        Ok(())
    }

    fn write_set(
        &self,
        device: &Device,
        set: vk::DescriptorSet,
        pass: PassWork,
        sampled_layout: vk::ImageLayout,
    ) {
        let buffer = |at: usize| {
            [vk::DescriptorBufferInfo::default()
                .buffer(self.buffers[at])
                .range(vk::WHOLE_SIZE)]
        };
        let image = |at: usize, layout| {
            [vk::DescriptorImageInfo::default()
                .image_view(self.views[at])
                .image_layout(layout)]
        };
        let write = |binding, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(kind)
        };
        match pass {
            PassWork::Buffer {
                writes,
                reads: [a, b],
            } => {
                let infos = [buffer(a), buffer(b), buffer(writes)];
                let writes = [0, 1, 2].map(|at| write(at as u32, STORAGE).buffer_info(&infos[at]));
                // SAFETY: the set has this layout and is not in use.
                unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
            }
            PassWork::Image {
                buffer: read,
                writes,
                reads,
            } => {
                let read = buffer(read);
                let sampled = image(reads, sampled_layout);
                let stored = image(writes, vk::ImageLayout::GENERAL);
                let writes = [
                    write(0, STORAGE).buffer_info(&read),
                    write(1, SAMPLED).image_info(&sampled),
                    write(2, STORAGE_IMAGE).image_info(&stored),
                ];
                // SAFETY: as above.
                unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
            }
        }
    }

    /// Destroys all resources. The device must be idle.
    pub(crate) fn destroy(&mut self, device: &Device) {
        // SAFETY: not in use, here and below. Freeing the pool frees its sets.
        unsafe { device.raw.destroy_descriptor_pool(self.pool, None) };
        for pipeline in self.pipelines.drain(..) {
            // SAFETY: as above.
            unsafe { device.raw.destroy_pipeline(pipeline.raw, None) };
            // SAFETY: as above.
            unsafe { device.raw.destroy_pipeline_layout(pipeline.layout, None) };
            // SAFETY: as above.
            unsafe {
                device
                    .raw
                    .destroy_descriptor_set_layout(pipeline.set_layout, None)
            };
        }
        for view in self.views.drain(..) {
            // SAFETY: as above.
            unsafe { device.raw.destroy_image_view(view, None) };
        }
        for image in self.images.drain(..) {
            // SAFETY: as above.
            unsafe { device.raw.destroy_image(image, None) };
        }
        for buffer in self.buffers.drain(..) {
            // SAFETY: as above.
            unsafe { device.raw.destroy_buffer(buffer, None) };
        }
        for memory in self.memory.drain(..) {
            // SAFETY: the resources bound to it are destroyed.
            unsafe { device.raw.free_memory(memory, None) };
        }
    }
}

/// Returns the pipeline index of a pass.
pub(crate) fn pipeline_of(pass: PassWork) -> usize {
    usize::from(matches!(pass, PassWork::Image { .. }))
}

/// Stride between resources in bytes.
fn stride(needs: vk::MemoryRequirements) -> u64 {
    needs.size.next_multiple_of(needs.alignment)
}

/// Returns an allowed memory type with the wanted properties, or else the first allowed one.
pub(crate) fn memory_type(device: &Device, allowed: u32, wanted: vk::MemoryPropertyFlags) -> u32 {
    let types = device.memory.memory_types_as_slice();
    let is_allowed = |at: &usize| allowed & (1 << at) != 0;
    let has = |at: &usize| types[*at].property_flags.contains(wanted);
    let all = 0..types.len();
    let found = all.clone().filter(is_allowed).find(has);
    found.or_else(|| all.clone().find(is_allowed)).unwrap_or(0) as u32
}

fn make_pipeline(
    device: &Device,
    label: &str,
    source: &str,
    kinds: [vk::DescriptorType; 3],
) -> Result<Pipeline, BenchError> {
    let shader = GpuShader::wgsl(label, source)?;
    let bindings = [0, 1, 2].map(|at| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(at as u32)
            .descriptor_type(kinds[at])
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the create info points to the array above.
    let set_layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) }
        .map_err(failed("vkCreateDescriptorSetLayout"))?;
    let set_layouts = [set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: as above.
    let layout = unsafe { device.raw.create_pipeline_layout(&info, None) }
        .map_err(failed("vkCreatePipelineLayout"))?;
    let info = vk::ShaderModuleCreateInfo::default().code(shader.words());
    // SAFETY: naga has validated the module.
    let module = unsafe { device.raw.create_shader_module(&info, None) }
        .map_err(failed("vkCreateShaderModule"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let infos = [vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout)];
    let cache = vk::PipelineCache::null();
    // SAFETY: the layout has all bindings of the shader.
    let made = unsafe { device.raw.create_compute_pipelines(cache, &infos, None) };
    // SAFETY: pipelines do not depend on their modules after creation.
    unsafe { device.raw.destroy_shader_module(module, None) };
    let raw = made.map_err(|(_, result)| failed("vkCreateComputePipelines")(result))?[0];
    Ok(Pipeline {
        raw,
        layout,
        set_layout,
    })
}
