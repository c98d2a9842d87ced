//! Attachments, viewport and scissor.

use ash::vk;
use quadrille_sync::{AccessMask, Capabilities, Layout, ResourceId};

use super::bindings::{check_view, view};
use super::{Encoder, Failure};
use crate::commands::CommandError;
use crate::format;
use crate::image::{Image, ImageUsage};
use crate::region::mip_extent;
use crate::rendering::{ColorData, DepthData, Formats, Load, MAX_COLORS, RenderingData};
use crate::view::{View, ViewKey};

/// Rendering that has begun.
pub(super) struct OpenRendering {
    pub formats: Formats,
}

/// What attachments have in common, gathered one by one.
#[derive(Default)]
struct Common {
    formats: Formats,
    extent: Option<[u32; 2]>,
    samples: Option<u32>,
}

impl Common {
    /// Takes in an attachment.
    fn add(&mut self, image: &Image, view: View) -> Result<(), CommandError> {
        let [width, height, _] = mip_extent(image.extent(), view.base_mip.into());
        let [known_width, known_height] = self.extent.unwrap_or([width, height]);
        self.extent = Some([width.min(known_width), height.min(known_height)]);
        let samples = image.desc().samples;
        if self.samples.is_some_and(|known| known != samples) {
            let problem = format!("{} has {samples} samples, others do not", image.name());
            return Err(CommandError::Attachments { problem });
        }
        self.samples = Some(samples);
        self.formats.samples = samples;
        Ok(())
    }
}

impl Encoder<'_> {
    /// `vkCmdBeginRendering`.
    pub(super) fn begin_rendering(&mut self, data: &RenderingData) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        self.need_rendering(false)?;
        if data.color_count > MAX_COLORS {
            let what = format!("{} colour attachments", data.color_count);
            return Err(CommandError::Limit {
                what,
                limit: MAX_COLORS as u64,
            }
            .into());
        }
        let mut common = Common::default();
        let mut colors = [vk::RenderingAttachmentInfo::default(); MAX_COLORS];
        for (at, color) in data.colors.iter().flatten().enumerate() {
            colors[at] = self.color(color, &mut common)?;
            common.formats.colors[at] = self.resources.image(color.image)?.1.format();
        }
        let depth = match &data.depth {
            Some(depth) => Some(self.depth(depth, &mut common)?),
            None => None,
        };
        let Some(area) = area(data.area, common.extent) else {
            let problem = "there is none, or the area is empty".to_owned();
            return Err(CommandError::Attachments { problem }.into());
        };
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&colors[..data.color_count]);
        if let Some((aspects, depth, stencil)) = &depth {
            if aspects.contains(vk::ImageAspectFlags::DEPTH) {
                info = info.depth_attachment(depth);
            }
            if aspects.contains(vk::ImageAspectFlags::STENCIL) {
                info = info.stencil_attachment(stencil);
            }
        }
        // SAFETY: the attachments have the usages, agree in samples, and hold the area.
        unsafe { self.device.raw.cmd_begin_rendering(self.buffer, &info) };
        self.rendering = Some(OpenRendering {
            formats: common.formats,
        });
        let vk::Rect2D { offset, extent } = area;
        self.set_viewport([
            offset.x as f32,
            offset.y as f32,
            extent.width as f32,
            extent.height as f32,
        ]);
        self.set_scissor(area);
        Ok(())
    }

    /// `vkCmdEndRendering`.
    pub(super) fn end_rendering(&mut self) -> Result<(), Failure> {
        self.need_rendering(true)?;
        // SAFETY: rendering has begun in this buffer.
        unsafe { self.device.raw.cmd_end_rendering(self.buffer) };
        self.rendering = None;
        Ok(())
    }

    /// Sets the viewport.
    pub(super) fn viewport(&mut self, area: [f32; 4]) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let [_, _, width, height] = area;
        let [most, _] = self.device.limits.max_viewport_dimensions;
        let fits = |length: f32| length > 0.0 && length <= most as f32;
        if !fits(width) || !fits(height) || !area.iter().all(|value| value.is_finite()) {
            let what = format!("the viewport {area:?}");
            return Err(CommandError::Limit {
                what,
                limit: most.into(),
            }
            .into());
        }
        self.set_viewport(area);
        Ok(())
    }

    /// Sets the scissor.
    pub(super) fn scissor(&mut self, area: [u32; 4]) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let [x, y, width, height] = area.map(|value| value.min(i32::MAX as u32 / 2));
        self.set_scissor(vk::Rect2D {
            offset: vk::Offset2D {
                x: x as i32,
                y: y as i32,
            },
            extent: vk::Extent2D { width, height },
        });
        Ok(())
    }

    /// The height is negative, which turns Vulkan's y-down clip space into WGSL's y-up one.
    fn set_viewport(&self, [x, y, width, height]: [f32; 4]) {
        let viewport = vk::Viewport {
            x,
            y: y + height,
            width,
            height: -height,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: its numbers are within the limits: the area's, or checked.
        unsafe {
            self.device
                .raw
                .cmd_set_viewport(self.buffer, 0, &[viewport])
        };
    }

    fn set_scissor(&self, area: vk::Rect2D) {
        // SAFETY: offsets are not negative, and offset and extent do not overflow.
        unsafe { self.device.raw.cmd_set_scissor(self.buffer, 0, &[area]) };
    }

    fn color(
        &self,
        color: &ColorData,
        common: &mut Common,
    ) -> Result<vk::RenderingAttachmentInfo<'static>, Failure> {
        let access = AccessMask::COLOR_ATTACHMENT_READ | AccessMask::COLOR_ATTACHMENT_WRITE;
        let usual = Layout::ColorAttachmentOptimal;
        let (image, raw, layout) = self.attachment(
            color.image,
            color.view,
            (ImageUsage::COLOR_ATTACHMENT, "COLOR_ATTACHMENT"),
            (access, usual),
        )?;
        common.add(image, color.view)?;
        let mut info = vk::RenderingAttachmentInfo::default()
            .image_view(raw)
            .image_layout(layout)
            .load_op(color.load.op())
            .store_op(color.store.op());
        if let Load::Clear(value) = color.load {
            info = info.clear_value(vk::ClearValue {
                color: clear_color(image.format(), value),
            });
        }
        if let Some((resolve, view)) = color.resolve {
            let (target, raw, layout) = self.attachment(
                resolve,
                view,
                (ImageUsage::COLOR_ATTACHMENT, "COLOR_ATTACHMENT"),
                (access, usual),
            )?;
            let fits = target.desc().samples == 1
                && target.format() == image.format()
                && view.extent(target) == color.view.extent(image);
            if !fits {
                let problem = format!("{} cannot resolve to {}", image.name(), target.name());
                return Err(CommandError::Attachments { problem }.into());
            }
            let mode = match format::is_integer(image.format()) {
                true => vk::ResolveModeFlags::SAMPLE_ZERO,
                false => vk::ResolveModeFlags::AVERAGE,
            };
            info = info
                .resolve_image_view(raw)
                .resolve_image_layout(layout)
                .resolve_mode(mode);
        }
        Ok(info)
    }

    /// The aspects of the image, and the attachments for depth and for stencil.
    fn depth(&self, depth: &DepthData, common: &mut Common) -> Result<DepthInfos, Failure> {
        let access =
            AccessMask::DEPTH_STENCIL_ATTACHMENT_READ | AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE;
        let usual = match depth.read_only {
            true => Layout::DepthStencilReadOnlyOptimal,
            false => Layout::DepthStencilAttachmentOptimal,
        };
        let usage = (
            ImageUsage::DEPTH_STENCIL_ATTACHMENT,
            "DEPTH_STENCIL_ATTACHMENT",
        );
        let (image, raw, layout) =
            self.attachment(depth.image, depth.view, usage, (access, usual))?;
        common.add(image, depth.view)?;
        common.formats.depth = image.format();
        // What is only read is neither replaced nor written back.
        let store = match depth.read_only {
            true => vk::AttachmentStoreOp::NONE,
            false => depth.store.op(),
        };
        let attachment = |load| {
            vk::RenderingAttachmentInfo::default()
                .image_view(raw)
                .image_layout(layout)
                .load_op(if depth.read_only {
                    vk::AttachmentLoadOp::LOAD
                } else {
                    load
                })
                .store_op(store)
        };
        let clear = |depth, stencil| vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue { depth, stencil },
        };
        let mut for_depth = attachment(depth.load.op());
        if let Load::Clear(value) = depth.load {
            for_depth = for_depth.clear_value(clear(value.clamp(0.0, 1.0), 0));
        }
        let mut for_stencil = attachment(depth.stencil.op());
        if let Load::Clear(value) = depth.stencil {
            for_stencil = for_stencil.clear_value(clear(0.0, value));
        }
        Ok((format::aspects(image.format()), for_depth, for_stencil))
    }

    /// An attachment's image, view and layout.
    fn attachment(
        &self,
        id: ResourceId,
        part: View,
        (usage, word): (ImageUsage, &'static str),
        (access, usual): (AccessMask, Layout),
    ) -> Result<(&Image, vk::ImageView, vk::ImageLayout), Failure> {
        let (index, image) = self.resources.image(id)?;
        check_view(image, part)?;
        if !image.desc().usage.contains(usage) {
            let name = image.name().to_owned();
            return Err(CommandError::Usage { name, usage: word }.into());
        }
        // An image with one level and layer is its own only part.
        let desc = image.desc();
        let is_whole = desc.mip_levels == 1 && desc.array_layers == 1;
        let key = ViewKey {
            view: if is_whole { View::WHOLE } else { part },
            aspects: format::aspects(image.format()),
            kind: match is_whole {
                true => image.default_view_kind(),
                false => vk::ImageViewType::TYPE_2D_ARRAY,
            },
        };
        Ok((image, view(image, key)?, self.layout(index, access, usual)))
    }
}

/// See [`Encoder::depth`].
type DepthInfos = (
    vk::ImageAspectFlags,
    vk::RenderingAttachmentInfo<'static>,
    vk::RenderingAttachmentInfo<'static>,
);

/// The wanted area within what the attachments have; `None` if that is empty.
fn area(wanted: Option<[u32; 4]>, extent: Option<[u32; 2]>) -> Option<vk::Rect2D> {
    let [width, height] = extent?;
    let [x, y, wanted_width, wanted_height] = wanted.unwrap_or([0, 0, width, height]);
    let width = wanted_width.min(width.saturating_sub(x));
    let height = wanted_height.min(height.saturating_sub(y));
    (width > 0 && height > 0).then_some(vk::Rect2D {
        offset: vk::Offset2D {
            x: x as i32,
            y: y as i32,
        },
        extent: vk::Extent2D { width, height },
    })
}

/// A colour as the format takes it: integer formats get whole numbers.
pub(super) fn clear_color(format: vk::Format, color: [f32; 4]) -> vk::ClearColorValue {
    match format::is_integer(format) {
        // A negative value has the same bits as a signed and as an unsigned integer.
        true => vk::ClearColorValue {
            int32: color.map(to_integer),
        },
        false => vk::ClearColorValue { float32: color },
    }
}

/// The whole number whose bits suit signed and unsigned formats.
fn to_integer(value: f32) -> i32 {
    if value > i32::MAX as f32 {
        (value as u32).cast_signed()
    } else {
        value as i32
    }
}
