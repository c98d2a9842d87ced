//! Reads of attachments within their rendering (`VK_KHR_dynamic_rendering_local_read`).
//!
//! A plan has barriers only between passes. Within a rendering the encoder inserts by-region barriers: before a
//! draw that reads an attachment written since the last barrier, or writes one that was read.

use ash::vk;
use quadrille_sync::resource::ResourceId;

use super::bindings::view;
use super::{Encoder, Failure};
use crate::error::CommandError;
use crate::pipeline::{AttachmentUse, MAX_COLORS};
use crate::record::calls::Call;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::texels::Texels;
use crate::resources::view::{View, ViewKey};
use crate::shader::{Binding, InputAttachment, ShaderImage};

/// The stages in which draws read and write attachments.
const STAGES: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(
    vk::PipelineStageFlags2::FRAGMENT_SHADER.as_raw()
        | vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT.as_raw(),
);

/// Write accesses of draws to attachments.
const WRITES: vk::AccessFlags2 = vk::AccessFlags2::from_raw(
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE.as_raw()
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
);

/// Read accesses of draws to attachments.
const READS: vk::AccessFlags2 = vk::AccessFlags2::from_raw(
    vk::AccessFlags2::INPUT_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags2::COLOR_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw(),
);

/// An attachment that draws of its rendering may read.
#[derive(Clone, Copy)]
struct Input {
    image: ResourceId,
    part: View,
}

/// Attachments that draws of a rendering may read.
#[derive(Default)]
pub(super) struct Inputs {
    colors: [Option<Input>; MAX_COLORS],
    depth: Option<Input>,
    /// The attachments that can be read.
    readable: u16,
    /// The attachments written and those read since the last barrier.
    since: AttachmentUse,
}

impl Inputs {
    /// Adds a color attachment, or the depth-stencil attachment.
    pub(super) fn add(
        &mut self,
        color: Option<usize>,
        (image, part): (ResourceId, View),
        layout: vk::ImageLayout,
    ) {
        if layout != vk::ImageLayout::RENDERING_LOCAL_READ_KHR {
            return;
        }
        let input = Some(Input { image, part });
        let bit = match color {
            Some(at) => {
                self.colors[at] = input;
                AttachmentUse::color(at as u32)
            }
            None => {
                self.depth = input;
                AttachmentUse::DEPTH
            }
        };
        self.readable |= bit;
        // Its load or clear is a write.
        self.since.writes |= bit;
    }

    /// Records the reads and writes of a draw. Returns whether it needs a barrier before it.
    fn needs_barrier(&mut self, by: AttachmentUse) -> bool {
        let since = self.since;
        let needs_barrier =
            (by.reads & since.writes | by.writes & since.reads) & self.readable != 0;
        if needs_barrier {
            self.since = by;
        } else {
            self.since.reads |= by.reads;
            self.since.writes |= by.writes;
        }
        needs_barrier
    }
}

impl Encoder<'_> {
    /// Orders a draw, or a clear of attachments, after earlier accesses to the attachments, if
    /// either of them is a read.
    #[inline]
    pub(super) fn order_draw(&mut self, by: AttachmentUse) {
        let Some(rendering) = self.rendering.as_mut() else {
            return;
        };
        let is_multiview = rendering.formats.view_mask != 0;
        if rendering.inputs.readable != 0 && rendering.inputs.needs_barrier(by) {
            self.emit(Call::LocalRead { is_multiview });
        }
    }

    /// The barrier between draws (`vkCmdPipelineBarrier2`, within a render pass instance).
    pub(super) fn local_read(&self, is_multiview: bool) {
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(STAGES)
            .src_access_mask(WRITES)
            .dst_stage_mask(STAGES)
            .dst_access_mask(READS | WRITES);
        let mut flags = vk::DependencyFlags::BY_REGION;
        if is_multiview {
            flags |= vk::DependencyFlags::VIEW_LOCAL;
        }
        let barriers = [barrier];
        let info = vk::DependencyInfo::default()
            .dependency_flags(flags)
            .memory_barriers(&barriers);
        // SAFETY: a rendering has begun with attachments in layout `RENDERING_LOCAL_READ`, so the feature
        // is enabled; all stages are framebuffer-space stages.
        unsafe { self.device.raw.cmd_pipeline_barrier2(self.buffer, &info) };
    }

    /// Returns the descriptor of an attachment for a push.
    pub(super) fn describe_attachment(
        &self,
        pipeline: &str,
        binding: &Binding,
        seen: InputAttachment,
    ) -> Result<vk::DescriptorImageInfo, Failure> {
        let inputs = self.rendering.as_ref().map(|it| &it.inputs);
        let input = inputs.and_then(|inputs| match seen.index {
            Some(index) => *inputs.colors.get(index as usize)?,
            None => inputs.depth,
        });
        let wrong = |problem: String| CommandError::InputAttachment {
            pipeline: pipeline.to_owned(),
            binding: binding.binding,
            variable: binding.name.clone(),
            problem,
        };
        let Some(Input { image, part }) = input else {
            let (attachment, parameter) = match seen.index {
                Some(index) => (format!("color attachment {index}"), "ColorLocalRead"),
                None => ("the depth attachment".to_owned(), "DepthLocalRead"),
            };
            return Err(wrong(format!(
                "{attachment} of the rendering, which the pass does not declare as `{parameter}<..>`"
            ))
            .into());
        };
        let (_, image) = self.resources.image(image)?;
        let name = image.name();
        let wanted = ShaderImage {
            view: vk::ImageViewType::TYPE_2D,
            texels: seen.texels,
            format: None,
            multisampled: seen.multisampled,
        };
        if let Some(problem) = Texels::of(image).problem(&wanted) {
            return Err(wrong(format!("`{name}`: {problem}")).into());
        }
        if !image.desc().usage.contains(ImageUsage::INPUT_ATTACHMENT) {
            let (name, usage) = (name.to_owned(), "INPUT_ATTACHMENT");
            return Err(CommandError::Usage { name, usage }.into());
        }
        Ok(vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: view(image, input_key(image, part))?,
            image_layout: vk::ImageLayout::RENDERING_LOCAL_READ_KHR,
        })
    }
}

/// The view of an attachment that a shader reads. It has one aspect, as descriptors require.
fn input_key(image: &GpuImage, part: View) -> ViewKey {
    ViewKey {
        aspects: Texels::of(image).aspects(),
        ..ViewKey::attached(image, part)
    }
}
