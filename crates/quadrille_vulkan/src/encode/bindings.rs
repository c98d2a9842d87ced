//! Pipelines, bindings and push constants: kept until a draw or dispatch needs them.

use ash::vk;
use quadrille_sync::{AccessMask, Layout, ResourceId, ResourceIndex};

use super::{Encoder, Failure};
use crate::buffer::{Buffer, BufferUsage};
use crate::commands::{CommandError, CommandList};
use crate::format;
use crate::image::{Image, ImageUsage};
use crate::pipeline::{ComputePipeline, GraphicsPipeline, PipelineLayout};
use crate::shader::{Binding, BindingKind, Shader};
use crate::view::{View, ViewKey};

/// The number of bindings.
const BINDINGS: usize = Shader::MAX_BINDINGS as usize;

/// What is bound, by binding. Only entries whose bit is set count, so that forgetting everything
/// for the next pass costs nothing.
pub(super) struct Bindings<'a> {
    pub compute: Option<&'a ComputePipeline>,
    pub graphics: Option<&'a GraphicsPipeline>,
    buffers: [Option<BoundBuffer<'a>>; BINDINGS],
    images: [Option<BoundImage<'a>>; BINDINGS],
    samplers: [vk::Sampler; BINDINGS],
    has_buffer: u32,
    has_image: u32,
    has_sampler: u32,
    constants: [u8; CommandList::MAX_PUSH_CONSTANTS],
    constant_bytes: u32,
    /// What the command buffer holds, for graphics and for compute.
    held: [Held; 2],
    /// The arrays that a push points to.
    buffer_infos: [vk::DescriptorBufferInfo; BINDINGS],
    image_infos: [vk::DescriptorImageInfo; BINDINGS],
    writes: Vec<vk::WriteDescriptorSet<'static>>,
}

#[derive(Clone, Copy)]
struct BoundBuffer<'a> {
    buffer: &'a Buffer,
    offset: u64,
    size: u64,
}

#[derive(Clone, Copy)]
struct BoundImage<'a> {
    image: &'a Image,
    index: ResourceIndex,
    view: View,
    storage: bool,
}

/// What the command buffer holds of a bind point.
#[derive(Clone, Copy, Default)]
struct Held {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    /// Bit by binding: what was pushed and is still the same.
    pushed: u32,
    constants: bool,
}

impl Default for Bindings<'_> {
    fn default() -> Self {
        Self {
            compute: None,
            graphics: None,
            buffers: [None; BINDINGS],
            images: [None; BINDINGS],
            samplers: [vk::Sampler::null(); BINDINGS],
            has_buffer: 0,
            has_image: 0,
            has_sampler: 0,
            constants: [0; CommandList::MAX_PUSH_CONSTANTS],
            constant_bytes: 0,
            held: [Held::default(); 2],
            buffer_infos: [vk::DescriptorBufferInfo::default(); BINDINGS],
            image_infos: [vk::DescriptorImageInfo::default(); BINDINGS],
            writes: Vec::new(),
        }
    }
}

impl Bindings<'_> {
    /// Forgets what is bound and what the command buffer holds.
    pub(super) fn forget(&mut self) {
        self.compute = None;
        self.graphics = None;
        self.has_buffer = 0;
        self.has_image = 0;
        self.has_sampler = 0;
        self.constant_bytes = 0;
        self.held = [Held::default(); 2];
    }

    /// Remembers a sampler.
    pub(super) fn bind_sampler(
        &mut self,
        binding: u8,
        sampler: vk::Sampler,
    ) -> Result<(), Failure> {
        let at = self.slot(binding)?;
        self.samplers[at] = sampler;
        self.has_sampler |= 1 << at;
        Ok(())
    }

    /// Remembers push constants.
    pub(super) fn push_constants(&mut self, data: &[u8]) -> Result<(), Failure> {
        let limit = CommandList::MAX_PUSH_CONSTANTS;
        if data.len() > limit || !data.len().is_multiple_of(4) {
            let what = format!("push constants of {} bytes", data.len());
            return Err(match data.len() > limit {
                true => CommandError::Limit {
                    what,
                    limit: limit as u64,
                }
                .into(),
                false => CommandError::Alignment { what, multiple: 4 }.into(),
            });
        }
        self.constants[..data.len()].copy_from_slice(data);
        self.constant_bytes = data.len() as u32;
        self.held.iter_mut().for_each(|held| held.constants = false);
        Ok(())
    }

    /// The index of a binding that is about to change.
    fn slot(&mut self, binding: u8) -> Result<usize, CommandError> {
        let at = usize::from(binding);
        if at >= BINDINGS {
            let what = format!("@binding({binding})");
            return Err(CommandError::Limit {
                what,
                limit: BINDINGS as u64 - 1,
            });
        }
        self.held
            .iter_mut()
            .for_each(|held| held.pushed &= !(1 << at));
        Ok(at)
    }
}

/// A pipeline that is about to run.
struct Running<'p> {
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
    name: &'p str,
    layout: &'p PipelineLayout,
    bindings: &'p [Binding],
}

impl<'a> Encoder<'a> {
    /// Remembers a buffer.
    pub(super) fn bind_buffer(
        &mut self,
        binding: u8,
        buffer: ResourceId,
        offset: u64,
        size: u64,
    ) -> Result<(), Failure> {
        let buffer = self.resources.buffer(buffer)?;
        let rest = buffer.bytes().saturating_sub(offset);
        let length = if size == 0 { rest } else { size };
        if length == 0 || length > rest {
            let what = format!("the binding's range of {length} bytes from {offset}");
            return Err(CommandError::Outside {
                what,
                name: buffer.name().to_owned(),
            }
            .into());
        }
        let at = self.bindings.slot(binding)?;
        self.bindings.buffers[at] = Some(BoundBuffer {
            buffer,
            offset,
            size: length,
        });
        self.bindings.has_buffer |= 1 << at;
        Ok(())
    }

    /// Remembers an image.
    pub(super) fn bind_image(
        &mut self,
        binding: u8,
        storage: bool,
        image: ResourceId,
        view: View,
    ) -> Result<(), Failure> {
        let (index, image) = self.resources.image(image)?;
        check_view(image, view)?;
        let at = self.bindings.slot(binding)?;
        self.bindings.images[at] = Some(BoundImage {
            image,
            index,
            view,
            storage,
        });
        self.bindings.has_image |= 1 << at;
        Ok(())
    }

    /// Makes the command buffer ready for a dispatch.
    pub(super) fn ready_compute(&mut self) -> Result<(), Failure> {
        let pipeline = self
            .bindings
            .compute
            .ok_or(CommandError::NoPipeline { kind: "compute" })?;
        self.ready(&Running {
            point: vk::PipelineBindPoint::COMPUTE,
            pipeline: pipeline.compiled()?,
            name: pipeline.name(),
            layout: pipeline.layout(),
            bindings: pipeline.bindings(),
        })
    }

    /// Makes the command buffer ready for a draw.
    pub(super) fn ready_graphics(&mut self) -> Result<&'a GraphicsPipeline, Failure> {
        let pipeline = self
            .bindings
            .graphics
            .ok_or(CommandError::NoPipeline { kind: "graphics" })?;
        let Some(rendering) = &self.rendering else {
            return Err(CommandError::Rendering { inside: true }.into());
        };
        self.ready(&Running {
            point: vk::PipelineBindPoint::GRAPHICS,
            pipeline: pipeline.compiled(&rendering.formats)?,
            name: pipeline.name(),
            layout: pipeline.layout(),
            bindings: pipeline.bindings(),
        })?;
        Ok(pipeline)
    }

    fn ready(&mut self, running: &Running<'_>) -> Result<(), Failure> {
        let at = running.point.as_raw() as usize;
        if self.bindings.held[at].pipeline != running.pipeline {
            // SAFETY: the pipeline is of this bind point.
            unsafe {
                self.device
                    .raw
                    .cmd_bind_pipeline(self.buffer, running.point, running.pipeline);
            }
            self.bindings.held[at].pipeline = running.pipeline;
        }
        // Bindings and constants survive a change of pipeline if the layout is the same.
        if self.bindings.held[at].layout != running.layout.raw {
            self.bindings.held[at].layout = running.layout.raw;
            self.bindings.held[at].pushed = 0;
            self.bindings.held[at].constants = false;
        }
        self.push_descriptors(at, running)?;
        self.set_constants(at, running)
    }

    fn push_descriptors(&mut self, at: usize, running: &Running<'_>) -> Result<(), Failure> {
        self.bindings.writes.clear();
        for binding in running.bindings {
            let bit = 1 << binding.binding;
            if self.bindings.held[at].pushed & bit == 0 {
                self.describe(running.name, binding)?;
                self.bindings.held[at].pushed |= bit;
            }
        }
        if self.bindings.writes.is_empty() {
            return Ok(());
        }
        let push = &self.device.push_descriptor;
        // SAFETY: the writes point to arrays of this encoder; set 0 of the layout takes pushes
        // and has these bindings with these types.
        unsafe {
            push.cmd_push_descriptor_set(
                self.buffer,
                running.point,
                running.layout.raw,
                0,
                &self.bindings.writes,
            );
        }
        Ok(())
    }

    /// Adds the write of one binding.
    fn describe(&mut self, pipeline: &str, binding: &Binding) -> Result<(), Failure> {
        let at = binding.binding as usize;
        let bit = 1 << at;
        let kind = binding.kind;
        let bound = match kind {
            BindingKind::UniformBuffer | BindingKind::StorageBuffer => self.bindings.has_buffer,
            BindingKind::SampledImage(_) | BindingKind::StorageImage(_) => self.bindings.has_image,
            BindingKind::Sampler => self.bindings.has_sampler,
            BindingKind::CombinedImageSampler(_) => {
                self.bindings.has_image & self.bindings.has_sampler
            }
        };
        let unbound = || CommandError::Unbound {
            pipeline: pipeline.to_owned(),
            binding: binding.binding,
            variable: binding.name.clone(),
            kind: kind.word(),
        };
        if bound & bit == 0 {
            return Err(unbound().into());
        }
        let mut write = vk::WriteDescriptorSet::default()
            .dst_binding(binding.binding)
            .descriptor_type(kind.descriptor());
        write.descriptor_count = 1;
        match kind {
            BindingKind::UniformBuffer | BindingKind::StorageBuffer => {
                let bound = self.bindings.buffers[at].ok_or_else(unbound)?;
                self.bindings.buffer_infos[at] = self.describe_buffer(&bound, kind)?;
                write.p_buffer_info = &raw const self.bindings.buffer_infos[at];
            }
            BindingKind::Sampler => {
                self.bindings.image_infos[at] =
                    vk::DescriptorImageInfo::default().sampler(self.bindings.samplers[at]);
                write.p_image_info = &raw const self.bindings.image_infos[at];
            }
            BindingKind::SampledImage(dimension)
            | BindingKind::StorageImage(dimension)
            | BindingKind::CombinedImageSampler(dimension) => {
                let bound = self.bindings.images[at].ok_or_else(unbound)?;
                if bound.storage != matches!(kind, BindingKind::StorageImage(_)) {
                    return Err(unbound().into());
                }
                let mut info = self.describe_image(&bound, dimension)?;
                if matches!(kind, BindingKind::CombinedImageSampler(_)) {
                    info.sampler = self.bindings.samplers[at];
                }
                self.bindings.image_infos[at] = info;
                write.p_image_info = &raw const self.bindings.image_infos[at];
            }
        }
        self.bindings.writes.push(write);
        Ok(())
    }

    fn describe_buffer(
        &self,
        bound: &BoundBuffer<'_>,
        kind: BindingKind,
    ) -> Result<vk::DescriptorBufferInfo, CommandError> {
        let limits = &self.device.limits;
        let uniform = kind == BindingKind::UniformBuffer;
        let (usage, word, multiple, most) = match uniform {
            true => (
                BufferUsage::UNIFORM,
                "UNIFORM",
                limits.min_uniform_buffer_offset_alignment,
                limits.max_uniform_buffer_range,
            ),
            false => (
                BufferUsage::STORAGE,
                "STORAGE",
                limits.min_storage_buffer_offset_alignment,
                limits.max_storage_buffer_range,
            ),
        };
        let name = || bound.buffer.name().to_owned();
        if !bound.buffer.desc().usage.contains(usage) {
            return Err(CommandError::Usage {
                name: name(),
                usage: word,
            });
        }
        if !bound.offset.is_multiple_of(multiple.max(1)) {
            let what = format!("the offset {} of {}", bound.offset, name());
            return Err(CommandError::Alignment { what, multiple });
        }
        if bound.size > u64::from(most) {
            let what = format!("the binding of {} bytes of {}", bound.size, name());
            return Err(CommandError::Limit {
                what,
                limit: most.into(),
            });
        }
        Ok(vk::DescriptorBufferInfo {
            buffer: bound.buffer.raw(),
            offset: bound.offset,
            range: bound.size,
        })
    }

    fn describe_image(
        &self,
        bound: &BoundImage<'_>,
        dimension: vk::ImageViewType,
    ) -> Result<vk::DescriptorImageInfo, Failure> {
        let image = bound.image;
        let (usage, word) = match bound.storage {
            true => (ImageUsage::STORAGE, "STORAGE"),
            false => (ImageUsage::SAMPLED, "SAMPLED"),
        };
        if !image.desc().usage.contains(usage) {
            let name = image.name().to_owned();
            return Err(CommandError::Usage { name, usage: word }.into());
        }
        let key = ViewKey {
            view: bound.view,
            aspects: format::sampled_aspects(image.format()),
            kind: dimension,
        };
        let layout = match bound.storage {
            true => {
                let access = AccessMask::SHADER_STORAGE_READ | AccessMask::SHADER_STORAGE_WRITE;
                self.layout(bound.index, access, Layout::General)
            }
            false => self.layout(
                bound.index,
                AccessMask::SHADER_SAMPLED_READ,
                Layout::ShaderReadOnlyOptimal,
            ),
        };
        Ok(vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: view(image, key)?,
            image_layout: layout,
        })
    }

    fn set_constants(&mut self, at: usize, running: &Running<'_>) -> Result<(), Failure> {
        let wanted = running.layout.push_bytes;
        if wanted == 0 || self.bindings.held[at].constants {
            return Ok(());
        }
        let given = self.bindings.constant_bytes;
        if given < wanted {
            let pipeline = running.name.to_owned();
            return Err(CommandError::PushConstants {
                pipeline,
                wanted,
                given,
            }
            .into());
        }
        // SAFETY: the layout has these stages and this many bytes.
        unsafe {
            self.device.raw.cmd_push_constants(
                self.buffer,
                running.layout.raw,
                running.layout.push_stages,
                0,
                &self.bindings.constants[..wanted as usize],
            );
        }
        self.bindings.held[at].constants = true;
        Ok(())
    }
}

/// Whether a view lies in its image.
pub(super) fn check_view(image: &Image, view: View) -> Result<(), CommandError> {
    let desc = image.desc();
    match view.fits(desc.mip_levels, desc.array_layers) {
        true => Ok(()),
        false => {
            let what = format!("{view:?}");
            Err(CommandError::Outside {
                what,
                name: image.name().to_owned(),
            })
        }
    }
}

/// A view of an image; of a swapchain's image there is one only.
pub(super) fn view(image: &Image, key: ViewKey) -> Result<vk::ImageView, Failure> {
    let view = image.view(key)?;
    view.ok_or_else(|| {
        let name = image.name().to_owned();
        CommandError::PartOfSwapchain { name }.into()
    })
}
