//! Partial uploads: images that are streamed over several frames.

use std::ops::Range;

use bevy_image::Image as ImageAsset;
use quadrille::ecs::{TexturePart, texture_parts};
use quadrille::prelude::{GpuImage, ImageDesc, Uploads};
use quadrille::vulkan::resources::ImageRegion;
use wgpu_types::TextureDataOrder;

/// Longest side in texels of the first streaming step of a mipmapped image, if it has such small levels: 85 KiB at
/// 4 bytes per texel.
const FIRST_STEP_SIDE: u32 = 128;

/// Mip levels per further streaming step. Each step uploads the previous levels again (1/16 of its bytes), which
/// avoids copies between images.
const MIPS_PER_STEP: u32 = 2;

/// Least rows of texel blocks per upload: a multiple of `minImageTransferGranularity`, at most 16 on known devices.
const MIN_BLOCK_ROWS: u32 = 16;

/// Image, or image of smaller mip levels, with a partial upload.
pub(super) struct PartialUpload {
    pub(super) image: GpuImage,
    pub(super) sampler: u32,
    /// Mip level of the asset that is level 0 of this image.
    pub(super) first_mip: u32,
    /// Description of the complete image and data order for which `parts` was computed.
    of: (ImageDesc, TextureDataOrder),
    /// Whether the asset has changed since the upload began.
    pub(super) is_stale: bool,
    /// Remaining parts, the next one last.
    parts: Vec<TexturePart>,
    /// Uploaded slices of the next part.
    slices: u32,
}

/// Upload budget that is left in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct BudgetLeft {
    /// Remaining bytes of the budget.
    pub(super) left: usize,
    /// Whether nothing has been uploaded in this frame yet.
    pub(super) is_first: bool,
}

impl PartialUpload {
    /// Begins an upload of the mip levels from `first_mip` on.
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

    /// Whether the asset still has the description and data order of this upload.
    pub(super) fn matches(&self, asset: &ImageAsset, desc: &ImageDesc) -> bool {
        self.of.0 == *desc && self.of.1 == asset.data_order
    }

    pub(super) fn is_done(&self) -> bool {
        self.parts.is_empty()
    }

    /// Uploads within the budget, and returns the uploaded bytes, which may be 0. The first upload of a frame always
    /// makes progress.
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

/// Subdivision of a mip level: rows of texel blocks, or depth slices.
#[derive(Debug, PartialEq, Eq)]
struct Slices {
    count: u32,
    /// Texels per slice, along the subdivided axis.
    length: u32,
    /// Bytes per slice; the last may have fewer.
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

    /// Returns the end of the slices from `start` on that fit the budget; `level` is the level's size in bytes.
    fn end(&self, start: u32, level: usize, budget_left: BudgetLeft) -> u32 {
        // The last slice may have fewer bytes than the others.
        if level - start as usize * self.bytes <= budget_left.left {
            return self.count;
        }
        let fits = (budget_left.left / self.bytes.max(1)) as u32;
        let least = u32::from(budget_left.is_first);
        self.count.min(start + fits.max(least))
    }

    /// Returns the bytes of slices within the bytes of their level.
    fn bytes_of(&self, slices: Range<u32>, level: &Range<usize>) -> Range<usize> {
        let offset = |slice: u32| level.start + slice as usize * self.bytes;
        offset(slices.start)..offset(slices.end).min(level.end)
    }

    /// Returns offset and extent of slices in texels.
    fn texels(&self, [width, height, depth]: [u32; 3], slices: Range<u32>) -> ([u32; 3], [u32; 3]) {
        let [start, end] = [slices.start, slices.end].map(|it| it * self.length);
        if depth > 1 {
            ([0, 0, start], [width, height, end - start])
        } else {
            ([0, start, 0], [width, end.min(height) - start, 1])
        }
    }
}

/// Returns the first mip level of the next streaming step, given that the levels from `shown` on are resident; 0 is the
/// last step.
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

/// Describes an image of the mip levels from `first_mip` on.
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
