//! Dynamic rendering: attachments, checks and render area.

use ash::vk;
use quadrille_sync::flags::{AccessMask, Layout};
use quadrille_sync::frame::Use;
use quadrille_sync::resource::{ResourceId, ResourceIndex};
use quadrille_sync::topology::Capabilities;

use super::bindings::view;
use super::local_read::Inputs;
use super::resolve::check_resolve;
use super::{Encoder, Failure, StateCall, declared_uses};
use crate::commands::rendering::{ColorData, DepthData, Load, RenderingData};
use crate::error::CommandError;
use crate::pipeline::{Formats, MAX_COLORS};
use crate::record::calls::{AttachmentCall, Call, RenderingCall};
use crate::resources::compatible::check_view;
use crate::resources::format;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::region::mip_extent;
use crate::resources::view::{View, ViewKey};

/// Rendering that has begun.
pub(super) struct OpenRendering {
    pub formats: Formats,
    /// Whether depth is read-only, and whether stencil is.
    pub read_only: [bool; 2],
    pub area: vk::Rect2D,
    /// There is a depth attachment that is not read-only.
    pub writes_depth: bool,
    /// The attachments that its draws may read.
    pub inputs: Inputs,
}

/// Common properties of the attachments added so far.
#[derive(Default)]
struct Common {
    formats: Formats,
    extent: Option<[u32; 2]>,
    samples: Option<u32>,
}

impl Common {
    /// Adds an attachment: reduces the extent, and checks the sample count.
    fn add(&mut self, image: &GpuImage, view: View) -> Result<(), CommandError> {
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

impl<'a> Encoder<'a> {
    /// Begins a rendering; `earlier` are the previous renderings of the pass.
    pub(super) fn begin_rendering(
        &mut self,
        data: &RenderingData,
        earlier: &[RenderingData],
    ) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        self.need_rendering(false)?;
        self.check_attached_once(data, earlier)?;
        self.check_views(data)?;
        if data.color_count > MAX_COLORS {
            let what = format!("{} color attachments", data.color_count);
            return Err(CommandError::Limit {
                what,
                limit: MAX_COLORS as u64,
            }
            .into());
        }
        let mut common = Common::default();
        common.formats.view_mask = data.view_mask;
        let mut inputs = Inputs::default();
        let mut colors = [AttachmentCall::default(); MAX_COLORS];
        for (at, color) in data.colors.iter().flatten().enumerate() {
            colors[at] = self.color(color, &mut common)?;
            common.formats.colors[at] = self.resources.image(color.image)?.1.format();
            inputs.add(Some(at), (color.image, color.view), colors[at].layout);
        }
        let (depth, stencil) = match &data.depth {
            Some(depth) => self.depth(depth, &mut common)?,
            None => (None, None),
        };
        if let (Some(depth), Some(call)) = (&data.depth, depth.or(stencil)) {
            inputs.add(None, (depth.image, depth.view), call.layout);
        }
        let Some(area) = area(data.area, common.extent) else {
            let problem = "there is no attachment, or the render area is empty".to_owned();
            return Err(CommandError::Attachments { problem }.into());
        };
        let rendering = RenderingCall {
            colors,
            color_count: data.color_count,
            depth,
            stencil,
            area,
            view_mask: data.view_mask,
        };
        let is_read_only = |call: Option<AttachmentCall>| {
            call.is_some_and(|call| call.store == vk::AttachmentStoreOp::NONE)
        };
        let read_only = [is_read_only(depth), is_read_only(stencil)];
        self.calls.add_rendering(&rendering);
        self.render(&rendering);
        self.rendering = Some(OpenRendering {
            formats: common.formats,
            read_only,
            area,
            writes_depth: depth.is_some() && !read_only[0],
            inputs,
        });
        self.bindings.forget_attachments();
        self.begin_area(area);
        Ok(())
    }

    /// Sets viewport and scissor to the whole render area.
    fn begin_area(&mut self, area: vk::Rect2D) {
        let vk::Rect2D { offset, extent } = area;
        let viewport = [
            offset.x as f32,
            offset.y as f32,
            extent.width as f32,
            extent.height as f32,
        ];
        self.emit(Call::State(StateCall::Viewport(viewport)));
        self.emit(Call::State(StateCall::Scissor(area)));
    }

    /// Checks that no part of an image is attached twice: the attachments of a rendering must not overlap,
    /// and there is no barrier between the renderings of a pass.
    fn check_attached_once(
        &self,
        data: &RenderingData,
        earlier: &[RenderingData],
    ) -> Result<(), CommandError> {
        let name = |image| match self.resources.image(image) {
            Ok((_, image)) => image.name().to_owned(),
            Err(_) => String::new(),
        };
        let mut attached = data.attached();
        while let Some(one) = attached.next() {
            if attached.clone().any(|other| one.overlaps(other)) {
                let problem = format!("{} is attached twice", name(one.image));
                return Err(CommandError::Attachments { problem });
            }
            let mut before = earlier.iter().flat_map(RenderingData::attached);
            if before.any(|other| one.overlaps(other)) {
                let name = name(one.image);
                return Err(CommandError::AttachedAgain { name });
            }
        }
        Ok(())
    }

    /// Checks that the device supports the view mask, and that attachments have a layer for each view.
    fn check_views(&self, data: &RenderingData) -> Result<(), CommandError> {
        self.device.check_views(data.view_mask)?;
        let (mask, views) = (data.view_mask, data.views());
        for attached in data.attached().filter(|_| mask != 0) {
            let (image, view) = (self.resources.image(attached.image)?.1, attached.view);
            let layers = image.desc().array_layers;
            let mut room = layers.saturating_sub(view.base_layer.into());
            if view.layer_count != 0 {
                room = room.min(view.layer_count.into());
            }
            if room < views {
                let (name, first) = (image.name(), view.base_layer);
                let problem = format!(
                    "the view mask {mask:#b} takes {views} layers of each, and `{name}` has {room} \
                     from layer {first} on"
                );
                return Err(CommandError::Attachments { problem });
            }
        }
        Ok(())
    }

    /// Ends the rendering.
    pub(super) fn end_rendering(&mut self) -> Result<(), Failure> {
        self.need_rendering(true)?;
        self.queries.check_ended(true)?;
        self.emit(Call::EndRendering);
        self.rendering = None;
        Ok(())
    }

    /// `vkCmdBeginRendering`.
    pub(super) fn render(&self, rendering: &RenderingCall) {
        let colors = rendering.colors.map(AttachmentCall::to_vk);
        let depth = rendering.depth.map(AttachmentCall::to_vk);
        let stencil = rendering.stencil.map(AttachmentCall::to_vk);
        let mut info = vk::RenderingInfo::default()
            .render_area(rendering.area)
            .layer_count(1)
            .view_mask(rendering.view_mask)
            .color_attachments(&colors[..rendering.color_count]);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: the attachments have the usages, agree in samples, and hold the area.
        unsafe { self.device.raw.cmd_begin_rendering(self.buffer, &info) };
    }

    fn color(&mut self, color: &ColorData, common: &mut Common) -> Result<AttachmentCall, Failure> {
        let (image, raw, layout) = self.color_target(color.image, color.view)?;
        common.add(image, color.view)?;
        let mut attachment = AttachmentCall {
            view: raw,
            layout,
            load: color.load.op(),
            store: color.store.op(),
            ..AttachmentCall::default()
        };
        if let Load::Clear(bits) = color.load {
            attachment.clear = vk::ClearValue {
                color: clear_color(image.format(), bits.map(f32::from_bits)),
            };
        }
        if let Some((resolve, view)) = color.resolve {
            let (target, raw, layout) = self.color_target(resolve, view)?;
            check_resolve((image, color.view), (target, view))?;
            let mode = if format::is_integer(image.format()) {
                vk::ResolveModeFlags::SAMPLE_ZERO
            } else {
                vk::ResolveModeFlags::AVERAGE
            };
            attachment.resolve = raw;
            attachment.resolve_layout = layout;
            attachment.resolve_mode = mode;
        }
        Ok(attachment)
    }

    /// Image, view and layout of a color attachment or resolve target.
    fn color_target(
        &mut self,
        id: ResourceId,
        part: View,
    ) -> Result<(&'a GpuImage, vk::ImageView, vk::ImageLayout), Failure> {
        let usage = (ImageUsage::COLOR_ATTACHMENT, "COLOR_ATTACHMENT");
        let (index, image, view) = self.attachment(id, part, usage)?;
        let aspect = vk::ImageAspectFlags::COLOR;
        let access = AccessMask::COLOR_ATTACHMENT_READ | AccessMask::COLOR_ATTACHMENT_WRITE;
        let layout = self.layout(index, aspect, access, Layout::ColorAttachmentOptimal);
        Ok((image, view, layout))
    }

    /// The attachments for depth and for stencil, as far as the image has them.
    fn depth(&mut self, depth: &DepthData, common: &mut Common) -> Result<DepthCalls, Failure> {
        let usage = (
            ImageUsage::DEPTH_STENCIL_ATTACHMENT,
            "DEPTH_STENCIL_ATTACHMENT",
        );
        let (index, image, view) = self.attachment(depth.image, depth.view, usage)?;
        common.add(image, depth.view)?;
        common.formats.depth = image.format();
        let far = match depth.load {
            Load::Clear(bits) => f32::from_bits(bits).clamp(0.0, 1.0),
            _ => 0.0,
        };
        let value = match depth.stencil {
            Load::Clear(value) => value,
            _ => 0,
        };
        let target = self.depth_target(depth, image)?;
        let aspects = format::aspects(image.format());
        let mut attachment = |aspect, load, depth_stencil| {
            let call = |layout, is_read_only| AttachmentCall {
                view,
                layout,
                // A read-only attachment is neither cleared nor written.
                load: if is_read_only {
                    vk::AttachmentLoadOp::LOAD
                } else {
                    load
                },
                store: if is_read_only {
                    vk::AttachmentStoreOp::NONE
                } else {
                    depth.store.op()
                },
                clear: vk::ClearValue { depth_stencil },
                ..AttachmentCall::default()
            };
            aspects.contains(aspect).then(|| {
                let (layout, is_read_only) = self.depth_layout(index, aspect, depth.read_only);
                let mut call = call(layout, is_read_only);
                if let Some(target) = target.as_ref().filter(|_| !is_read_only) {
                    self.add_depth_target(&mut call, aspect, target);
                }
                call
            })
        };
        let clear = |depth, stencil| vk::ClearDepthStencilValue { depth, stencil };
        Ok((
            attachment(vk::ImageAspectFlags::DEPTH, depth.load.op(), clear(far, 0)),
            attachment(
                vk::ImageAspectFlags::STENCIL,
                depth.stencil.op(),
                clear(0.0, value),
            ),
        ))
    }

    /// The layout of one aspect of a depth attachment, and whether the aspect is read-only: by `read_only`,
    /// or because the pass declares no write of it. Depth may be written while stencil is read-only.
    fn depth_layout(
        &mut self,
        index: ResourceIndex,
        aspect: vk::ImageAspectFlags,
        read_only: bool,
    ) -> (vk::ImageLayout, bool) {
        let writes = AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE;
        let access = AccessMask::DEPTH_STENCIL_ATTACHMENT_READ | writes;
        let mut declared = declared_uses(self.uses, index, aspect, access);
        let first = declared.next();
        let all = Capabilities::all();
        let writes = |of: &Use| of.access.scope(all).access.intersects(writes);
        let is_written = first.is_none() || first.into_iter().chain(declared).any(writes);
        let is_read_only = read_only || !is_written;
        let usual = if is_read_only {
            Layout::DepthStencilReadOnlyOptimal
        } else {
            Layout::DepthStencilAttachmentOptimal
        };
        let layout = self.kept_layout((index, aspect), access, first, usual);
        (layout, is_read_only)
    }

    /// An attachment's index, image and view.
    pub(super) fn attachment(
        &mut self,
        id: ResourceId,
        part: View,
        (usage, word): (ImageUsage, &'static str),
    ) -> Result<(ResourceIndex, &'a GpuImage, vk::ImageView), Failure> {
        let resources = self.resources;
        let (index, image) = resources.image(id)?;
        self.note_use(index)?;
        check_view(image, part)?;
        if !image.desc().usage.contains(usage) {
            let name = image.name().to_owned();
            return Err(CommandError::Usage { name, usage: word }.into());
        }
        Ok((index, image, view(image, ViewKey::attached(image, part))?))
    }
}

/// See [`Encoder::depth`].
type DepthCalls = (Option<AttachmentCall>, Option<AttachmentCall>);

/// The render area, clipped to the extent of the attachments; `None` if it is empty.
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

/// An area, clipped to the render area; `None` if it is empty.
pub(super) fn cut(rendered: vk::Rect2D, area: [u16; 4]) -> Option<[u16; 4]> {
    let [left, top, width, height] = area.map(u32::from);
    let within = |start: u32, length: u32, first: i32, rendered: u32| {
        let first = first as u32;
        let start_within = start.max(first);
        let end = (start + length).min(first + rendered);
        (end > start_within).then(|| (start_within as u16, (end - start_within) as u16))
    };
    let (left, width) = within(left, width, rendered.offset.x, rendered.extent.width)?;
    let (top, height) = within(top, height, rendered.offset.y, rendered.extent.height)?;
    Some([left, top, width, height])
}

/// Converts a clear color to the numeric type of a format.
pub(super) fn clear_color(format: vk::Format, color: [f32; 4]) -> vk::ClearColorValue {
    match format::is_integer(format) {
        // A negative value has the same bits as a signed and as an unsigned integer.
        true => vk::ClearColorValue {
            int32: color.map(to_integer),
        },
        false => vk::ClearColorValue { float32: color },
    }
}

/// Rounds towards zero, to bits that are valid in signed and unsigned formats.
fn to_integer(value: f32) -> i32 {
    if value > i32::MAX as f32 {
        (value as u32).cast_signed()
    } else {
        value as i32
    }
}
