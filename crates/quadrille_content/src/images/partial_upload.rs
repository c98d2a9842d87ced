//! An image on its way to the device: part by part, over as many frames as its bytes take.

use std::ops::Range;

use bevy_image::Image as ImageAsset;
use quadrille::ecs::{ImageRegion, TexturePart, texture_parts};
use quadrille::prelude::{GpuImage, ImageDesc, Uploads};
use wgpu_types::TextureDataOrder;

/// The longest side of what comes first of an image with mip levels, in texels, where it has levels as small as
/// that: 85 KiB of 4 bytes a texel.
const FIRST_STEP_SIDE: u32 = 128;

/// How many levels come with each further step. Each step uploads the levels of those before it again, a
/// sixteenth of its bytes, so that no pass has to copy them.
const MIPS_PER_STEP: u32 = 2;

/// Rows of blocks that are uploaded at least: a multiple of what queues copy by
/// (`minImageTransferGranularity`, 16 on devices in use).
const MIN_BLOCK_ROWS: u32 = 16;

/// An image, or the smaller mip levels of one, of which a part has been uploaded.
pub(super) struct PartialUpload {
    pub(super) image: GpuImage,
    pub(super) sampler: u32,
    /// The largest level of the asset that is in the image.
    pub(super) first_mip: u32,
    /// The image of all levels, and the order of the asset's data: what `parts` was made for.
    of: (ImageDesc, TextureDataOrder),
    /// The asset has changed since the image was begun.
    pub(super) is_stale: bool,
    /// Parts that are left, the next one last.
    parts: Vec<TexturePart>,
    /// How many slices of the next part are done.
    slices: u32,
}

/// Upload budget that is left in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct BudgetLeft {
    /// Bytes that are left of the budget.
    pub(super) left: usize,
    /// Nothing was uploaded in this frame yet.
    pub(super) is_first: bool,
}

impl PartialUpload {
    /// Begins with the levels of an asset from `first_mip` on.
    pub(super) fn new(
        (asset, desc): (&ImageAsset, &ImageDesc),
        image: GpuImage,
        sampler: u32,
        first_mip: u32,
    ) -> Self {
        let parts = texture_parts(asset).filter(|part| part.mip >= first_mip);
        let mut parts: Vec<_> = parts.collect();
        parts.reverse();
        Self {
            image,
            sampler,
            first_mip,
            of: (desc.clone(), asset.data_order),
            is_stale: false,
            parts,
            slices: 0,
        }
    }

    /// Whether it still is what the asset describes.
    pub(super) fn matches(&self, asset: &ImageAsset, desc: &ImageDesc) -> bool {
        self.of.0 == *desc && self.of.1 == asset.data_order
    }

    pub(super) fn is_done(&self) -> bool {
        self.parts.is_empty()
    }

    /// Uploads what there is room for, and returns how many bytes that was: none if there is too little room.
    /// A frame that has uploaded nothing yet uploads something, however small its budget.
    pub(super) fn upload(
        &mut self,
        asset: &ImageAsset,
        uploads: &mut Uploads,
        mut budget_left: BudgetLeft,
    ) -> usize {
        let mut sum = 0;
        while let Some(part) = self.parts.last() {
            let level = ImageRegion {
                base_layer: part.layer,
                layer_count: 1,
                ..ImageRegion::mip(&self.image, part.mip - self.first_mip)
            };
            let block = asset.texture_descriptor.format.block_dimensions().1;
            let slices = Slices::new(level.extent, block, part.bytes.len());
            let taken = self.slices..slices.end(self.slices, part.bytes.len(), budget_left);
            if taken.is_empty() {
                break;
            }
            let (offset, extent) = slices.texels(level.extent, taken.clone());
            let region = level.texels(offset, extent);
            let bytes = slices.bytes_of(taken.clone(), &part.bytes);
            let count = bytes.len();
            match &asset.data {
                Some(data) => uploads.write_image_region(&self.image, region, &data[bytes]),
                None => uploads.write_image_region(&self.image, region, &vec![0; count]),
            }
            sum += count;
            budget_left.left = budget_left.left.saturating_sub(count);
            budget_left.is_first = false;
            self.slices = taken.end;
            if taken.end == slices.count {
                self.slices = 0;
                self.parts.pop();
            }
        }
        sum
    }
}

/// How a level is cut: rows of blocks, or slices of depth.
#[derive(Debug, PartialEq, Eq)]
struct Slices {
    count: u32,
    /// Texels of one, in the direction in which the level is cut.
    length: u32,
    /// Bytes of one; the last may have less.
    bytes: usize,
}

impl Slices {
    fn new([_, height, depth]: [u32; 3], block: u32, bytes: usize) -> Self {
        if depth > 1 {
            let (count, length) = (depth, 1);
            return Self {
                count,
                length,
                bytes: bytes / depth as usize,
            };
        }
        let rows = height.div_ceil(block);
        let row = bytes / rows as usize;
        Self {
            count: rows.div_ceil(MIN_BLOCK_ROWS),
            length: MIN_BLOCK_ROWS * block,
            bytes: row * MIN_BLOCK_ROWS as usize,
        }
    }

    /// Where those end for which there is room, from one on, of a level with so many bytes.
    fn end(&self, start: u32, level: usize, budget_left: BudgetLeft) -> u32 {
        // The last slice may have fewer bytes than the others.
        if level - start as usize * self.bytes <= budget_left.left {
            return self.count;
        }
        let fits = (budget_left.left / self.bytes.max(1)) as u32;
        let least = u32::from(budget_left.is_first);
        self.count.min(start + fits.max(least))
    }

    /// Where the bytes of some are, of a level whose bytes are these.
    fn bytes_of(&self, slices: Range<u32>, level: &Range<usize>) -> Range<usize> {
        let place = |slice: u32| level.start + slice as usize * self.bytes;
        place(slices.start)..place(slices.end).min(level.end)
    }

    /// The texels of some: the first one, and how many there are.
    fn texels(&self, [width, height, depth]: [u32; 3], slices: Range<u32>) -> ([u32; 3], [u32; 3]) {
        let [start, end] = [slices.start, slices.end].map(|it| it * self.length);
        if depth > 1 {
            ([0, 0, start], [width, height, end - start])
        } else {
            ([0, start, 0], [width, end.min(height) - start, 1])
        }
    }
}

/// The largest level that comes with the next step of an image, where the levels from `shown` on are on the
/// device already, if any are: 0 if it is the last step.
pub(super) fn next_first_mip(desc: &ImageDesc, shown: Option<u32>) -> u32 {
    let [width, height, depth] = desc.extent;
    if desc.array_layers > 1 || depth > 1 {
        return 0;
    }
    match shown {
        Some(shown) => shown.saturating_sub(MIPS_PER_STEP),
        None => {
            let over = width.max(height).div_ceil(FIRST_STEP_SIDE).max(1);
            let levels = over.next_power_of_two().trailing_zeros();
            levels.min(desc.mip_levels - 1)
        }
    }
}

/// The description of an image with the levels from one on.
pub(super) fn step_desc(desc: &ImageDesc, first_mip: u32) -> ImageDesc {
    let side = |length: u32| length.checked_shr(first_mip).unwrap_or(0).max(1);
    ImageDesc {
        extent: desc.extent.map(side),
        mip_levels: desc.mip_levels.saturating_sub(first_mip).max(1),
        ..desc.clone()
    }
}

#[cfg(test)]
mod tests;
