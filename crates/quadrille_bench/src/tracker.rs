//! Hand-written barrier tracker: last access of each resource, and one barrier call per pass.

use quadrille::vulkan::vk;

use crate::workload::{PassWork, Workload};

const STAGE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::COMPUTE_SHADER;
const READ: vk::AccessFlags2 = vk::AccessFlags2::SHADER_STORAGE_READ;
const WRITE: vk::AccessFlags2 = vk::AccessFlags2::SHADER_STORAGE_WRITE;
const SAMPLED: vk::AccessFlags2 = vk::AccessFlags2::SHADER_SAMPLED_READ;

/// Barriers of one `vkCmdPipelineBarrier2`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    pub(crate) images: Vec<vk::ImageMemoryBarrier2<'static>>,
}

impl Call {
    pub(crate) fn clear(&mut self) {
        self.buffers.clear();
        self.images.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.buffers.is_empty() && self.images.is_empty()
    }
}

/// Last accesses of a resource.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// Written, and not yet made visible to reads.
    written: bool,
    /// Read since the last write.
    read: bool,
    layout: vk::ImageLayout,
}

/// Last accesses of all resources.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    buffers: Vec<Last>,
    images: Vec<Last>,
}

impl Tracker {
    /// Creates a tracker with images in layout GENERAL; [`Tracker::begin`] covers earlier accesses.
    pub(crate) fn new(workload: &Workload) -> Self {
        let last = Last {
            written: false,
            read: false,
            layout: vk::ImageLayout::GENERAL,
        };
        Self {
            buffers: vec![last; workload.buffers],
            images: vec![last; workload.images],
        }
    }

    /// Begins a frame. Returns the barrier that makes all earlier writes visible, so that first accesses need none.
    pub(crate) fn begin(&mut self) -> vk::MemoryBarrier2<'static> {
        for last in self.buffers.iter_mut().chain(&mut self.images) {
            last.written = false;
            last.read = false;
        }
        vk::MemoryBarrier2::default()
            .src_stage_mask(STAGE)
            .src_access_mask(WRITE)
            .dst_stage_mask(STAGE)
            .dst_access_mask(READ | WRITE | SAMPLED)
    }

    /// Adds the barriers before a pass.
    pub(crate) fn before(
        &mut self,
        pass: PassWork,
        buffers: &[vk::Buffer],
        images: &[vk::Image],
        call: &mut Call,
    ) {
        match pass {
            PassWork::Buffer { writes, reads } => {
                for read in reads {
                    self.read_buffer(read, buffers[read], call);
                }
                self.write_buffer(writes, buffers[writes], call);
            }
            PassWork::Image {
                buffer,
                writes,
                reads,
            } => {
                self.read_buffer(buffer, buffers[buffer], call);
                self.sample(reads, images[reads], call);
                self.write_image(writes, images[writes], call);
            }
        }
    }

    /// Current layout of an image.
    pub(crate) fn layout(&self, image: usize) -> vk::ImageLayout {
        self.images[image].layout
    }

    fn read_buffer(&mut self, at: usize, buffer: vk::Buffer, call: &mut Call) {
        let last = &mut self.buffers[at];
        if last.written {
            call.buffers.push(buffer_barrier(buffer, WRITE, READ));
        }
        last.written = false;
        last.read = true;
    }

    fn write_buffer(&mut self, at: usize, buffer: vk::Buffer, call: &mut Call) {
        let last = &mut self.buffers[at];
        if last.written || last.read {
            let src = if last.written {
                WRITE
            } else {
                vk::AccessFlags2::NONE
            };
            call.buffers.push(buffer_barrier(buffer, src, WRITE));
        }
        last.written = true;
        last.read = false;
    }

    fn sample(&mut self, at: usize, image: vk::Image, call: &mut Call) {
        let new = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let last = &mut self.images[at];
        if last.layout != new {
            let src = if last.written {
                WRITE
            } else {
                vk::AccessFlags2::NONE
            };
            call.images
                .push(image_barrier(image, src, SAMPLED, last.layout, new));
        }
        *last = Last {
            written: false,
            read: true,
            layout: new,
        };
    }

    fn write_image(&mut self, at: usize, image: vk::Image, call: &mut Call) {
        let new = vk::ImageLayout::GENERAL;
        let last = &mut self.images[at];
        if last.layout != new || last.written || last.read {
            let src = if last.written {
                WRITE
            } else {
                vk::AccessFlags2::NONE
            };
            call.images
                .push(image_barrier(image, src, WRITE, last.layout, new));
        }
        *last = Last {
            written: true,
            read: false,
            layout: new,
        };
    }
}

fn buffer_barrier(
    buffer: vk::Buffer,
    src: vk::AccessFlags2,
    dst: vk::AccessFlags2,
) -> vk::BufferMemoryBarrier2<'static> {
    vk::BufferMemoryBarrier2::default()
        .src_stage_mask(STAGE)
        .src_access_mask(src)
        .dst_stage_mask(STAGE)
        .dst_access_mask(dst)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .buffer(buffer)
        .size(vk::WHOLE_SIZE)
}

fn image_barrier(
    image: vk::Image,
    src: vk::AccessFlags2,
    dst: vk::AccessFlags2,
    old: vk::ImageLayout,
    new: vk::ImageLayout,
) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(STAGE)
        .src_access_mask(src)
        .dst_stage_mask(STAGE)
        .dst_access_mask(dst)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(COLOR)
}

/// Color subresource range of one mip level and layer.
pub(crate) const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

#[cfg(test)]
mod tests;
