//! Resolve targets of multisampled attachments.

use ash::vk;
use quadrille_sync::flags::{AccessMask, Layout};
use quadrille_sync::resource::ResourceIndex;

use super::{Encoder, Failure};
use crate::commands::rendering::{DepthData, ResolveData};
use crate::error::CommandError;
use crate::record::calls::AttachmentCall;
use crate::resources::format;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::view::View;

/// Resolve target of depth and stencil.
pub(super) struct DepthTarget {
    index: ResourceIndex,
    view: vk::ImageView,
    depth: vk::ResolveModeFlags,
    stencil: vk::ResolveModeFlags,
}

/// Checks that an image can resolve to another.
pub(super) fn check_resolve(
    (image, view): (&GpuImage, View),
    (target, to): (&GpuImage, View),
) -> Result<(), CommandError> {
    let fits = image.desc().samples > 1
        && target.desc().samples == 1
        && target.format() == image.format()
        && to.extent(target) == view.extent(image);
    if fits {
        return Ok(());
    }
    let words = |image: &GpuImage, view: View| {
        let [width, height, _] = view.extent(image);
        let (name, samples) = (image.name(), image.desc().samples);
        let format = image.format();
        let samples = match samples {
            1 => "1 sample".to_owned(),
            _ => format!("{samples} samples"),
        };
        format!("`{name}` ({samples}, {format:?}, {width}x{height})")
    };
    let problem = format!(
        "{} cannot resolve to {}: the source must be multisampled and the target not, with the same format and size",
        words(image, view),
        words(target, to)
    );
    Err(CommandError::Attachments { problem })
}

impl<'a> Encoder<'a> {
    /// Returns the resolve target of depth and stencil, if they have one.
    pub(super) fn depth_target(
        &mut self,
        depth: &DepthData,
        image: &'a GpuImage,
    ) -> Result<Option<DepthTarget>, Failure> {
        let Some(ResolveData {
            image: id,
            view: part,
            depth: of_depth,
            stencil,
        }) = depth.resolve
        else {
            return Ok(None);
        };
        if depth.read_only {
            let name = image.name();
            let problem =
                format!("`{name}` is read-only, and only written attachments can resolve");
            return Err(CommandError::Attachments { problem }.into());
        }
        let usage = (
            ImageUsage::DEPTH_STENCIL_ATTACHMENT,
            "DEPTH_STENCIL_ATTACHMENT",
        );
        let (index, target, view) = self.attachment(id, part, usage)?;
        check_resolve((image, depth.view), (target, part))?;
        let aspects = format::aspects(image.format());
        let modes = [of_depth, stencil];
        let problem = (self.device).resolve_problem(image.name(), aspects, modes);
        if let Some(problem) = problem {
            return Err(CommandError::Attachments { problem }.into());
        }
        let [depth, stencil] =
            modes.map(|mode| mode.map_or(vk::ResolveModeFlags::NONE, |mode| mode.to_vk()));
        Ok(Some(DepthTarget {
            index,
            view,
            depth,
            stencil,
        }))
    }

    /// Adds the resolve target to the attachment of an aspect.
    pub(super) fn add_depth_target(
        &mut self,
        call: &mut AttachmentCall,
        aspect: vk::ImageAspectFlags,
        target: &DepthTarget,
    ) {
        let mode = if aspect == vk::ImageAspectFlags::DEPTH {
            target.depth
        } else {
            target.stencil
        };
        if mode == vk::ResolveModeFlags::NONE {
            return;
        }
        // Depth resolves write as color attachments do ("Multisample Resolve Operations").
        let access = AccessMask::COLOR_ATTACHMENT_WRITE;
        let usual = Layout::DepthStencilAttachmentOptimal;
        call.resolve = target.view;
        call.resolve_layout = self.layout(target.index, aspect, access, usual);
        call.resolve_mode = mode;
    }
}
