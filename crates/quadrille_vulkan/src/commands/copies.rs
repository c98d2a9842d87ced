//! Copies, fills and clears.

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role};
use super::{Command, CommandList};
use crate::resources::buffer::GpuBuffer;
use crate::resources::handle::Handle;
use crate::resources::image::GpuImage;
use crate::resources::region::ImageRegion;
use crate::resources::view::View;

/// Copies, fills and clears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copying {
    Buffer {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    BufferToImage {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    ImageToBuffer {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    Image {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    Blit {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
        linear: bool,
    },
    Fill {
        dst: ResourceId,
        value: u32,
        range: u32,
    },
    Update {
        dst: ResourceId,
        offset: u64,
        start: u32,
        bytes: u32,
    },
    Clear {
        image: ResourceId,
        view: View,
        /// Bits of four `f32`, so that -0 and 0 differ in comparisons.
        color: [u32; 4],
    },
}

impl CommandList {
    fn add_copy(&mut self, copy: Copying) {
        let copies = &mut self.side_mut().copies;
        copies.push(copy);
        let copy = copies.len() as u32 - 1;
        self.add(Command::Copy { copy });
    }

    /// Copies bytes between buffers.
    pub fn copy_buffer(
        &mut self,
        src: &GpuBuffer,
        src_offset: u64,
        dst: &GpuBuffer,
        dst_offset: u64,
        bytes: u64,
    ) {
        let copy = self.side.buffer_copies.len() as u32;
        self.side_mut()
            .buffer_copies
            .push([src_offset, dst_offset, bytes]);
        self.add_copy(Copying::Buffer {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies tightly packed texels from a buffer to a part of an image.
    pub fn copy_buffer_to_image(
        &mut self,
        src: &GpuBuffer,
        src_offset: u64,
        dst: &GpuImage,
        region: ImageRegion,
    ) {
        let copy = self.side.buffer_image_copies.len() as u32;
        self.side_mut()
            .buffer_image_copies
            .push((src_offset, region));
        self.add_copy(Copying::BufferToImage {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a buffer, tightly packed.
    pub fn copy_image_to_buffer(
        &mut self,
        src: &GpuImage,
        region: ImageRegion,
        dst: &GpuBuffer,
        dst_offset: u64,
    ) {
        let copy = self.side.buffer_image_copies.len() as u32;
        self.side_mut()
            .buffer_image_copies
            .push((dst_offset, region));
        self.add_copy(Copying::ImageToBuffer {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a part of another of equal extent.
    pub fn copy_image(
        &mut self,
        src: &GpuImage,
        src_region: ImageRegion,
        dst: &GpuImage,
        dst_region: ImageRegion,
    ) {
        let copy = self.side.image_copies.len() as u32;
        self.side_mut().image_copies.push((src_region, dst_region));
        self.add_copy(Copying::Image {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a part of another, with scaling and format conversion.
    pub fn blit_image(
        &mut self,
        src: &GpuImage,
        src_region: ImageRegion,
        dst: &GpuImage,
        dst_region: ImageRegion,
        filter: vk::Filter,
    ) {
        let copy = self.side.image_copies.len() as u32;
        self.side_mut().image_copies.push((src_region, dst_region));
        let linear = filter == vk::Filter::LINEAR;
        self.add_copy(Copying::Blit {
            src: src.id(),
            dst: dst.id(),
            copy,
            linear,
        });
    }

    /// Fills a range of a buffer with a repeated value. Offset and length must be multiples of 4; a
    /// length of 0 means up to the end.
    pub fn fill_buffer(&mut self, dst: &GpuBuffer, offset: u64, bytes: u64, value: u32) {
        let range = self.side.buffer_copies.len() as u32;
        self.side_mut().buffer_copies.push([0, offset, bytes]);
        self.add_copy(Copying::Fill {
            dst: dst.id(),
            value,
            range,
        });
    }

    /// Writes at most 65,536 bytes, stored in the command buffer, to a buffer. Offset and
    /// length must be multiples of 4.
    pub fn update_buffer(&mut self, dst: &GpuBuffer, offset: u64, data: &[u8]) {
        let start = self.side.bytes.len() as u32;
        self.side_mut().bytes.extend_from_slice(data);
        let (dst, bytes) = (dst.id(), data.len() as u32);
        self.add_copy(Copying::Update {
            dst,
            offset,
            start,
            bytes,
        });
    }

    /// Clears a whole color image. For integer formats the color is rounded towards zero.
    pub fn clear_image(&mut self, image: &GpuImage, color: [f32; 4]) {
        self.clear_view(image, View::WHOLE, color);
    }

    /// Clears a view of a color image.
    pub fn clear_view(&mut self, image: &GpuImage, view: View, color: [f32; 4]) {
        self.add_copy(Copying::Clear {
            image: image.id(),
            view,
            color: color.map(f32::to_bits),
        });
    }
}

impl Reader<'_> {
    pub(super) fn copy(&mut self, copying: Copying) {
        let side = self.list.side();
        let (read, write) = (Access::CopyRead, Access::CopyWrite);
        match copying {
            Copying::Buffer { src, dst, copy } => {
                let [from, to, bytes] = side.buffer_copies[copy as usize];
                self.transfer(src, Part::Bytes(from, bytes), read);
                self.transfer(dst, Part::Bytes(to, bytes), write);
            }
            Copying::BufferToImage { src, dst, copy } => {
                let (offset, region) = side.buffer_image_copies[copy as usize];
                self.transfer(src, self.texels(dst, offset, &region), read);
                self.transfer(dst, Part::Texels(region), write);
            }
            Copying::ImageToBuffer { src, dst, copy } => {
                let (offset, region) = side.buffer_image_copies[copy as usize];
                self.transfer(src, Part::Texels(region), read);
                self.transfer(dst, self.texels(src, offset, &region), write);
            }
            Copying::Image { src, dst, copy } => {
                let (from, to) = side.image_copies[copy as usize];
                self.transfer(src, Part::Region(from), read);
                self.transfer(dst, Part::Region(to), write);
            }
            Copying::Blit { src, dst, copy, .. } => {
                let (from, to) = side.image_copies[copy as usize];
                self.transfer(src, Part::Region(from), Access::BlitRead);
                self.transfer(dst, Part::Region(to), Access::BlitWrite);
            }
            Copying::Fill { dst, range, .. } => {
                let [_, offset, bytes] = side.buffer_copies[range as usize];
                self.transfer(dst, Part::bytes(offset, bytes), Access::Clear);
            }
            Copying::Update {
                dst, offset, bytes, ..
            } => self.transfer(dst, Part::Bytes(offset, bytes.into()), Access::Clear),
            Copying::Clear { image, view, .. } => {
                self.transfer(image, Part::View(view), Access::Clear);
            }
        }
    }

    fn transfer(&mut self, resource: ResourceId, part: Part, access: Access) {
        let role = if access.is_write() {
            "the target of a copy, fill or clear"
        } else {
            "the source of a copy"
        };
        self.check(resource, part, access, Role::Words(role));
    }

    /// The bytes of a buffer that a copy from or to a region of an image accesses.
    fn texels(&self, image: ResourceId, offset: u64, region: &ImageRegion) -> Part {
        let found = self.handles.iter().find(|handle| handle.id() == image);
        let bytes = match found {
            Some(Handle::Image(image)) => region.bytes(image.format()),
            _ => None,
        };
        bytes.map_or(Part::bytes(offset, 0), |bytes| Part::Bytes(offset, bytes))
    }
}
