//! Copies, blits, fills and clears.

use ash::vk;
use quadrille_sync::flags::{AccessMask, Layout};
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;

use super::rendering::clear_color;
use super::{Encoder, Failure, aligned, bytes_of, declared_layout};
use crate::commands::{CommandList, Copying};
use crate::error::CommandError;
use crate::resources::buffer::{BufferUsage, GpuBuffer};
use crate::resources::compatible::{check_blit, check_copy, check_view, outside};
use crate::resources::format;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::region::ImageRegion;
use crate::resources::view::View;

/// The most bytes of `vkCmdUpdateBuffer`.
const MAX_INLINE: u64 = 65536;

/// Whether a copy reads or writes a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Src,
    Dst,
}

impl Encoder<'_> {
    pub(super) fn copy(&mut self, list: &CommandList, copying: Copying) -> Result<(), Failure> {
        match copying {
            Copying::Buffer { src, dst, copy } => {
                self.copy_buffer(src, dst, list.side().buffer_copies[copy as usize])
            }
            Copying::BufferToImage { src, dst, copy } => {
                let copy = &list.side().buffer_image_copies[copy as usize];
                self.copy_texels((src, Side::Src), (dst, Side::Dst), copy)
            }
            Copying::ImageToBuffer { src, dst, copy } => {
                let copy = &list.side().buffer_image_copies[copy as usize];
                self.copy_texels((dst, Side::Dst), (src, Side::Src), copy)
            }
            Copying::Image { src, dst, copy } => {
                self.copy_image(src, dst, &list.side().image_copies[copy as usize])
            }
            Copying::Blit {
                src,
                dst,
                copy,
                linear,
            } => self.blit_image(src, dst, &list.side().image_copies[copy as usize], linear),
            Copying::Fill { dst, value, range } => {
                let [_, offset, bytes] = list.side().buffer_copies[range as usize];
                self.fill_buffer(dst, offset, bytes, value)
            }
            Copying::Update {
                dst,
                offset,
                start,
                bytes,
            } => self.update_buffer(dst, offset, bytes_of(list, start, bytes)),
            Copying::Clear { image, view, color } => self.clear_view(image, view, color),
        }
    }

    /// `vkCmdCopyBuffer`.
    pub(super) fn copy_buffer(
        &mut self,
        src: ResourceId,
        dst: ResourceId,
        [src_offset, dst_offset, size]: [u64; 3],
    ) -> Result<(), Failure> {
        self.ready_copy(ANY_QUEUE)?;
        let src = self.copied_buffer(src, Side::Src, src_offset, size)?;
        let dst = self.copied_buffer(dst, Side::Dst, dst_offset, size)?;
        let overlap = src_offset < dst_offset + size && dst_offset < src_offset + size;
        if src == dst && overlap {
            return Err(CommandError::Overlap {
                name: src.name().to_owned(),
                offsets: [src_offset, dst_offset],
                bytes: size,
            }
            .into());
        }
        if size == 0 {
            return Ok(());
        }
        let regions = [vk::BufferCopy {
            src_offset,
            dst_offset,
            size,
        }];
        // SAFETY: both ranges lie in their buffers and do not overlap.
        unsafe {
            self.device
                .raw
                .cmd_copy_buffer(self.buffer, src.raw(), dst.raw(), &regions);
        }
        Ok(())
    }

    /// `vkCmdCopyBufferToImage`, or `vkCmdCopyImageToBuffer` if the image is the source.
    fn copy_texels(
        &mut self,
        (buffer, buffer_side): (ResourceId, Side),
        (image, image_side): (ResourceId, Side),
        (offset, region): &(u64, ImageRegion),
    ) -> Result<(), Failure> {
        self.ready_copy(ANY_QUEUE)?;
        let (image, layout) = self.copied_image(image, image_side, region)?;
        let buffer = self.copied_texels(buffer, buffer_side, *offset, image, region)?;
        let regions = [buffer_image_copy(*offset, region, image.format())];
        let (device, commands) = (&self.device.raw, self.buffer);
        let (buffer, image) = (buffer.raw(), image.raw());
        match image_side {
            // SAFETY: the texels lie in the buffer, the region in the image.
            Side::Dst => unsafe {
                device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &regions);
            },
            // SAFETY: as above.
            Side::Src => unsafe {
                device.cmd_copy_image_to_buffer(commands, image, layout, buffer, &regions);
            },
        }
        Ok(())
    }

    /// `vkCmdCopyImage`.
    pub(super) fn copy_image(
        &mut self,
        src: ResourceId,
        dst: ResourceId,
        (src_region, dst_region): &(ImageRegion, ImageRegion),
    ) -> Result<(), Failure> {
        self.ready_copy(ANY_QUEUE)?;
        let (src, src_layout) = self.copied_image(src, Side::Src, src_region)?;
        let (dst, dst_layout) = self.copied_image(dst, Side::Dst, dst_region)?;
        check_copy((src, src_region), (dst, dst_region))?;
        let regions = [vk::ImageCopy {
            src_subresource: src_region.layers(format::aspects(src.format())),
            src_offset: src_region.offset(),
            dst_subresource: dst_region.layers(format::aspects(dst.format())),
            dst_offset: dst_region.offset(),
            extent: src_region.extent(),
        }];
        // SAFETY: both regions lie in their images and have the same extent, of texels of one size.
        unsafe {
            self.device.raw.cmd_copy_image(
                self.buffer,
                src.raw(),
                src_layout,
                dst.raw(),
                dst_layout,
                &regions,
            );
        }
        Ok(())
    }

    /// `vkCmdBlitImage`.
    pub(super) fn blit_image(
        &mut self,
        src: ResourceId,
        dst: ResourceId,
        (src_region, dst_region): &(ImageRegion, ImageRegion),
        linear: bool,
    ) -> Result<(), Failure> {
        self.ready_copy(Capabilities::GRAPHICS)?;
        let (src, src_layout) = self.copied_image(src, Side::Src, src_region)?;
        let (dst, dst_layout) = self.copied_image(dst, Side::Dst, dst_region)?;
        check_blit(self.device, (src, src_region), (dst, dst_region), linear)?;
        let regions = [vk::ImageBlit {
            src_subresource: src_region.layers(format::aspects(src.format())),
            src_offsets: [src_region.offset(), src_region.end()],
            dst_subresource: dst_region.layers(format::aspects(dst.format())),
            dst_offsets: [dst_region.offset(), dst_region.end()],
        }];
        let filter = if linear {
            vk::Filter::LINEAR
        } else {
            vk::Filter::NEAREST
        };
        // SAFETY: both regions lie in their images, whose formats are compatible.
        unsafe {
            self.device.raw.cmd_blit_image(
                self.buffer,
                src.raw(),
                src_layout,
                dst.raw(),
                dst_layout,
                &regions,
                filter,
            );
        }
        Ok(())
    }

    /// `vkCmdFillBuffer`.
    pub(super) fn fill_buffer(
        &mut self,
        dst: ResourceId,
        offset: u64,
        bytes: u64,
        value: u32,
    ) -> Result<(), Failure> {
        self.ready_copy(ANY_QUEUE)?;
        aligned("the offset of a fill", offset, 4)?;
        aligned("the length of a fill", bytes, 4)?;
        let buffer = self.copied_buffer(dst, Side::Dst, offset, bytes)?;
        let rest = (buffer.bytes() - offset) & !3;
        let bytes = if bytes == 0 { rest } else { bytes };
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is aligned and lies in the buffer.
        unsafe {
            self.device
                .raw
                .cmd_fill_buffer(self.buffer, buffer.raw(), offset, bytes, value);
        }
        Ok(())
    }

    /// `vkCmdUpdateBuffer`.
    pub(super) fn update_buffer(
        &mut self,
        dst: ResourceId,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.ready_copy(ANY_QUEUE)?;
        let bytes = data.len() as u64;
        aligned("the offset of an update", offset, 4)?;
        aligned("the length of an update", bytes, 4)?;
        if bytes > MAX_INLINE {
            let what = format!("an update of {bytes} bytes");
            return Err(CommandError::Limit {
                what,
                limit: MAX_INLINE,
            }
            .into());
        }
        let buffer = self.copied_buffer(dst, Side::Dst, offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is aligned and lies in the buffer; the data is short enough.
        unsafe {
            self.device
                .raw
                .cmd_update_buffer(self.buffer, buffer.raw(), offset, data)
        };
        Ok(())
    }

    /// `vkCmdClearColorImage`.
    pub(super) fn clear_view(
        &mut self,
        id: ResourceId,
        view: View,
        color: [u32; 4],
    ) -> Result<(), Failure> {
        self.ready_copy(Capabilities::GRAPHICS | Capabilities::COMPUTE)?;
        let (index, image) = self.resources.image(id)?;
        self.check_declared(index)?;
        let is_plain = format::block(image.format()).is_none_or(|block| block.size == [1, 1]);
        if format::aspects(image.format()) != vk::ImageAspectFlags::COLOR || !is_plain {
            return Err(not_copied(image, "image of plain colors").into());
        }
        need_usage(image, Side::Dst)?;
        check_view(image, view)?;
        let layout = self.layout(
            index,
            vk::ImageAspectFlags::COLOR,
            AccessMask::TRANSFER_WRITE,
            Layout::TransferDstOptimal,
        );
        let ranges = [view.range(vk::ImageAspectFlags::COLOR)];
        let color = clear_color(image.format(), color.map(f32::from_bits));
        // SAFETY: the image has color only, and the range lies in it.
        unsafe {
            self.device.raw.cmd_clear_color_image(
                self.buffer,
                image.raw(),
                layout,
                &color,
                &ranges,
            );
        }
        Ok(())
    }

    fn ready_copy(&self, queues: Capabilities) -> Result<(), CommandError> {
        self.need(queues)?;
        self.need_rendering(false)
    }

    /// Returns a buffer of a copy, after checks of its usage and of the range.
    fn copied_buffer(
        &self,
        id: ResourceId,
        side: Side,
        offset: u64,
        bytes: u64,
    ) -> Result<&GpuBuffer, CommandError> {
        let buffer = self.resources.buffer(id)?;
        self.check_declared(self.resources.index(id)?)?;
        let name = || buffer.name().to_owned();
        let (usage, word) = match side {
            Side::Src => (BufferUsage::TRANSFER_SRC, "TRANSFER_SRC"),
            Side::Dst => (BufferUsage::TRANSFER_DST, "TRANSFER_DST"),
        };
        if !buffer.desc().usage.contains(usage) {
            return Err(CommandError::Usage {
                name: name(),
                usage: word,
            });
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= buffer.bytes() => Ok(buffer),
            _ => {
                let what = format!("the range of {bytes} bytes from {offset}");
                let name = name();
                let room = format!("{} bytes", buffer.bytes());
                Err(CommandError::Outside { what, name, room })
            }
        }
    }

    /// Returns the buffer of a copy between buffer and image, after a check that it holds all texels.
    fn copied_texels(
        &self,
        id: ResourceId,
        side: Side,
        offset: u64,
        image: &GpuImage,
        region: &ImageRegion,
    ) -> Result<&GpuBuffer, CommandError> {
        let Some(length) = region.bytes(image.format()) else {
            return Err(not_copied(
                image,
                "image whose texels have a size in buffers",
            ));
        };
        if image.desc().samples > 1 {
            return Err(not_copied(image, "image of one sample; resolve it first"));
        }
        if side == Side::Src && format::aspects(image.format()) != vk::ImageAspectFlags::COLOR {
            self.need(Capabilities::GRAPHICS)?;
        }
        let bytes = format::block(image.format()).map(|block| u64::from(block.bytes));
        let copies_only = self
            .need(Capabilities::GRAPHICS | Capabilities::COMPUTE)
            .is_err();
        let multiple = match bytes.unwrap_or(1) {
            bytes if !copies_only => bytes,
            // On queues without graphics and compute, offsets must also be multiples of 4.
            bytes if bytes % 4 == 0 => bytes,
            bytes if bytes % 2 == 0 => bytes * 2,
            bytes => bytes * 4,
        };
        aligned("the offset of the texels", offset, multiple)?;
        self.copied_buffer(id, side, offset, length)
    }

    /// Returns an image of a copy and its layout, after a check of the region.
    fn copied_image(
        &self,
        id: ResourceId,
        side: Side,
        region: &ImageRegion,
    ) -> Result<(&GpuImage, vk::ImageLayout), CommandError> {
        let (index, image) = self.resources.image(id)?;
        self.check_declared(index)?;
        need_usage(image, side)?;
        if !region.is_within(image) {
            return Err(outside(image, format!("{region:?}")));
        }
        if !region.is_aligned(image, self.granularity) {
            let [width, height] = format::block(image.format()).map_or([1, 1], |block| block.size);
            let [x, y, z] = self.granularity;
            let (x, y) = (x * width, y * height);
            let name = image.name();
            let what = format!("{region:?} of {name} on a queue of granularity {x}x{y}x{z}");
            return Err(CommandError::Alignment {
                what,
                multiple: x.into(),
            });
        }
        let (access, usual) = match side {
            Side::Src => (AccessMask::TRANSFER_READ, Layout::TransferSrcOptimal),
            Side::Dst => (AccessMask::TRANSFER_WRITE, Layout::TransferDstOptimal),
        };
        // A copy of both depth and stencil names one layout for both.
        let aspects = format::sampled_aspects(image.format());
        let layout = declared_layout(self.uses, (index, aspects), access, usual);
        Ok((image, layout))
    }
}

fn not_copied(image: &GpuImage, wanted: &'static str) -> CommandError {
    CommandError::WrongResource {
        name: image.name().to_owned(),
        wanted,
    }
}

/// Copies run on every queue.
const ANY_QUEUE: Capabilities = Capabilities::GRAPHICS
    .union(Capabilities::COMPUTE)
    .union(Capabilities::TRANSFER);

fn need_usage(image: &GpuImage, side: Side) -> Result<(), CommandError> {
    let (usage, word) = match side {
        Side::Src => (ImageUsage::TRANSFER_SRC, "TRANSFER_SRC"),
        Side::Dst => (ImageUsage::TRANSFER_DST, "TRANSFER_DST"),
    };
    if image.desc().usage.contains(usage) {
        Ok(())
    } else {
        Err(CommandError::Usage {
            name: image.name().to_owned(),
            usage: word,
        })
    }
}

fn buffer_image_copy(
    buffer_offset: u64,
    region: &ImageRegion,
    format: vk::Format,
) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: region.layers(format::sampled_aspects(format)),
        image_offset: region.offset(),
        image_extent: region.extent(),
    }
}
