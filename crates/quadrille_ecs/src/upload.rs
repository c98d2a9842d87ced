//! Data from the CPU for buffers and images.

use std::ops::Range;

use bevy_ecs::prelude::*;
use quadrille_sync::{Access, Capabilities, PassKind, Preference, QueueRequest, TimelinePoint};
use quadrille_vulkan::{Buffer, BufferDesc, CommandList, Error, Gpu, Handle, Image, ImageRegion};

use crate::internal::{InternalPass, InternalUse};

/// Writes data to buffers and images at the beginning of the next frame, before all passes that
/// touch them; on a transfer queue where the device has one.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Buffer, Uploads};
/// fn fill(mut uploads: ResMut<Uploads>, buffer: Single<&Numbers>) {
///     uploads.write_buffer(&buffer.0, 0, &[1, 2, 3, 4]);
/// }
/// # #[derive(Component)] struct Numbers(Buffer);
/// ```
#[derive(Resource, Default)]
pub struct Uploads {
    pending: Vec<Pending>,
    data: Vec<u8>,
    staging: Vec<Staging>,
}

struct Pending {
    to: Handle,
    to_offset: u64,
    /// The part of an image.
    region: Option<ImageRegion>,
    data_offset: usize,
    bytes: usize,
}

impl Pending {
    /// The bytes of a buffer that are written.
    fn range(&self) -> Range<u64> {
        self.to_offset..self.to_offset + self.bytes as u64
    }
}

/// What is left of a range without another: a part before it and a part behind it, if any.
fn left_of(range: Range<u64>, without: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let before = range.start..range.end.min(without.start);
    let behind = range.start.max(without.end)..range.end;
    [before, behind].into_iter().filter(|part| !part.is_empty())
}

/// A staging buffer, and what has to be reached before it is free.
struct Staging {
    buffer: Buffer,
    busy_until: Vec<TimelinePoint>,
}

impl Uploads {
    /// Writes bytes to a buffer made with [`BufferUsage::TRANSFER_DST`], from `offset` bytes on.
    /// Of bytes that are written twice before the frame, the later ones count.
    pub fn write_buffer(&mut self, buffer: &Buffer, offset: u64, bytes: &[u8]) {
        self.push(Handle::Buffer(buffer.clone()), offset, None, bytes);
    }

    /// Writes all texels of the first mip level of an image, row by row without padding.
    pub fn write_image(&mut self, image: &Image, texels: &[u8]) {
        self.write_image_region(image, ImageRegion::whole(image), texels);
    }

    /// Writes the texels of a part of an image, layer by layer, row by row, without padding. The
    /// parts that are written in one frame must not overlap.
    pub fn write_image_region(&mut self, image: &Image, region: ImageRegion, texels: &[u8]) {
        self.push(Handle::Image(image.clone()), 0, Some(region), texels);
    }

    /// How many bytes will be uploaded with the next frame so far.
    pub fn pending_bytes(&self) -> usize {
        self.data.len()
    }

    fn push(&mut self, to: Handle, to_offset: u64, region: Option<ImageRegion>, bytes: &[u8]) {
        match region {
            None => self.cut(&to, to_offset..to_offset + bytes.len() as u64),
            // A part of an image that is written again is written once.
            region => self
                .pending
                .retain(|old| old.to.id() != to.id() || old.region != region),
        }
        // Copies between buffers and images want offsets that are multiples of the texel size.
        let data_offset = self.data.len().next_multiple_of(16);
        self.data.resize(data_offset, 0);
        self.data.extend_from_slice(bytes);
        self.pending.push(Pending {
            to,
            to_offset,
            region,
            data_offset,
            bytes: bytes.len(),
        });
    }

    /// Leaves out what is pending for a part of a buffer that is written again: copies of one
    /// pass have no order among themselves.
    fn cut(&mut self, to: &Handle, again: Range<u64>) {
        let is_cut = |old: &mut Pending| {
            old.to.id() == to.id() && old.range().start < again.end && again.start < old.range().end
        };
        let cut: Vec<Pending> = self.pending.extract_if(.., is_cut).collect();
        for old in cut {
            for rest in left_of(old.range(), &again) {
                let skipped = (rest.start - old.to_offset) as usize;
                self.pending.push(Pending {
                    to: old.to.clone(),
                    to_offset: rest.start,
                    region: None,
                    data_offset: old.data_offset + skipped,
                    bytes: (rest.end - rest.start) as usize,
                });
            }
        }
    }

    /// The pass that copies what is pending, if anything is.
    pub(crate) fn pass(
        &mut self,
        gpu: &Gpu,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<Option<InternalPass>, Error> {
        if self.pending.is_empty() {
            return Ok(None);
        }
        self.pending.retain(|pending| {
            let is_ours = pending.to.is_of(gpu);
            if !is_ours {
                tracing::warn!("{} is not filled: its device is gone", pending.to.name());
            }
            is_ours
        });
        let staging = self.staging(gpu, reached)?;
        staging.write(0, &self.data)?;
        let mut list = CommandList::default();
        let mut uses: Vec<InternalUse> = Vec::new();
        for pending in &self.pending {
            let offset = pending.data_offset as u64;
            match &pending.to {
                Handle::Buffer(buffer) => {
                    let bytes = pending.bytes as u64;
                    list.copy_buffer(&staging, offset, buffer, pending.to_offset, bytes);
                }
                Handle::Image(image) => {
                    let region = pending.region.unwrap_or(ImageRegion::whole(image));
                    list.copy_buffer_to_image(&staging, offset, image, region);
                }
            }
            let is_new = |used: &InternalUse| used.handle.id() != pending.to.id();
            if uses.iter().all(is_new) {
                let write = InternalUse::of(pending.to.clone(), Access::TransferWrite);
                uses.push(match &pending.to {
                    Handle::Image(image) if self.is_overwritten(image) => write.discarding(),
                    _ => write,
                });
            }
        }
        let queue = QueueRequest {
            required: Capabilities::TRANSFER,
            preference: Preference::Async,
            fixed: None,
        };
        let (name, kind) = ("upload".into(), PassKind::Device);
        let undeclared = vec![Handle::Buffer(staging)];
        Ok(Some(InternalPass {
            name,
            kind,
            queue,
            prologue: true,
            uses,
            undeclared,
            list,
        }))
    }

    /// Whether what is pending for an image leaves nothing of its old contents.
    fn is_overwritten(&self, image: &Image) -> bool {
        let is_written = |mip| {
            let whole = Some(ImageRegion::mip(image, mip));
            let mut of_image = self.pending.iter().filter(|p| p.to.id() == image.id());
            of_image.any(|pending| pending.region == whole)
        };
        (0..image.desc().mip_levels).all(is_written)
    }

    /// The frame with the pending copies was submitted; its staging buffer is free once these
    /// points are reached.
    pub(crate) fn submitted(&mut self, points: &[TimelinePoint]) {
        if self.pending.is_empty() {
            return;
        }
        self.pending.clear();
        self.data.clear();
        if let Some(used) = self.staging.last_mut() {
            used.busy_until = points.to_vec();
        }
    }

    /// A free staging buffer that is large enough; it becomes the last of the list.
    fn staging(
        &mut self,
        gpu: &Gpu,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<Buffer, Error> {
        let bytes = self.data.len() as u64;
        let fits = |staging: &Staging| {
            staging.buffer.bytes() >= bytes && staging.busy_until.iter().all(|&p| reached(p))
        };
        let free = self.staging.iter().position(fits);
        let staging = match free {
            Some(index) => self.staging.remove(index),
            None => {
                // Too small ones that are free are not needed any more.
                self.staging
                    .retain(|staging| !staging.busy_until.iter().all(|&p| reached(p)));
                let bytes = bytes.next_power_of_two().max(64 << 10);
                let desc = BufferDesc::upload("staging", bytes);
                Staging {
                    buffer: gpu.create_buffer(&desc)?,
                    busy_until: Vec::new(),
                }
            }
        };
        let buffer = staging.buffer.clone();
        self.staging.push(staging);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests;
