//! [`ImageRegion`]: a region of one mip level of an image, for copies.

use std::ops::Range;

use ash::vk;

use crate::resources::format::{Block, block};
use crate::resources::image::GpuImage;
use crate::resources::view::View;

/// A box of texels of one mip level and some array layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageRegion {
    /// The mip level.
    pub mip: u32,
    /// First array layer.
    pub base_layer: u32,
    /// Number of array layers.
    pub layer_count: u32,
    /// First texel.
    pub offset: [u32; 3],
    /// Number of texels in each direction.
    pub extent: [u32; 3],
}

impl ImageRegion {
    /// Selects the whole first mip level, all layers.
    pub fn whole(image: &GpuImage) -> Self {
        Self::mip(image, 0)
    }

    /// Selects a whole mip level, all layers.
    pub fn mip(image: &GpuImage, mip: u32) -> Self {
        let layer_count = image.desc().array_layers;
        let extent = mip_extent(image.extent(), mip);
        Self {
            mip,
            base_layer: 0,
            layer_count,
            offset: [0; 3],
            extent,
        }
    }

    /// Selects the whole first mip level of a view, with the view's layers.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::commands::CommandList;
    /// # use quadrille_vulkan::resources::{GpuBuffer, GpuImage, ImageRegion, View};
    /// # fn example(list: &mut CommandList, maps: &GpuImage, to: &GpuBuffer) {
    /// let third = ImageRegion::of(maps, View::WHOLE.layer(2));
    /// list.copy_image_to_buffer(maps, third, to, 0);
    /// # }
    /// ```
    pub fn of(image: &GpuImage, view: View) -> Self {
        let range = view.subresources(image);
        Self {
            mip: range.base_mip,
            base_layer: range.base_layer,
            layer_count: range.layer_count,
            offset: [0; 3],
            extent: view.extent(image),
        }
    }

    /// Sets the box of texels: first texel, and number of texels in each direction, as arrays, tuples or `UVec3`s.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::resources::{GpuImage, ImageRegion};
    /// # fn example(atlas: &GpuImage) {
    /// let tile = ImageRegion::whole(atlas).texels([64, 0, 0], [32, 32, 1]);
    /// assert_eq!(tile.extent, [32, 32, 1]);
    /// # }
    /// ```
    pub fn texels(self, first: impl Into<[u32; 3]>, count: impl Into<[u32; 3]>) -> Self {
        Self {
            offset: first.into(),
            extent: count.into(),
            ..self
        }
    }

    /// Whether it has any texel in common with another region of the same image.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.compare(other, |one, other| {
            one.start < other.end && other.start < one.end
        })
    }

    /// Whether it contains all texels of another region of the same image.
    pub fn contains(&self, other: &Self) -> bool {
        self.compare(other, |one, other| {
            one.start <= other.start && other.end <= one.end
        })
    }

    /// Whether both have the same mip level, and `holds` is true for each axis and for the layers.
    fn compare(&self, other: &Self, holds: impl Fn(&Range<u64>, &Range<u64>) -> bool) -> bool {
        let sides = self.sides();
        let mut sides = sides.iter().zip(other.sides());
        self.mip == other.mip && sides.all(|(one, other)| holds(one, &other))
    }

    /// Ranges of texels on each axis, and of layers.
    fn sides(&self) -> [Range<u64>; 4] {
        let side = |start: u32, count: u32| u64::from(start)..u64::from(start) + u64::from(count);
        let [x, y, z] = [0, 1, 2].map(|at| side(self.offset[at], self.extent[at]));
        [x, y, z, side(self.base_layer, self.layer_count)]
    }

    /// Whether it lies within an image.
    pub fn is_within(&self, image: &GpuImage) -> bool {
        let desc = image.desc();
        let limit = mip_extent(image.extent(), self.mip);
        let ends_within = |at: usize| {
            self.offset[at]
                .checked_add(self.extent[at])
                .is_some_and(|end| end <= limit[at])
        };
        let layers = self.base_layer.checked_add(self.layer_count);
        self.mip < desc.mip_levels
            && self.layer_count > 0
            && layers.is_some_and(|end| end <= desc.array_layers)
            && (0..3).all(|at| self.extent[at] > 0 && ends_within(at))
    }

    /// Whether a queue with this granularity can copy it (`minImageTransferGranularity`, section "Queue Family
    /// Properties"; in texel blocks of the image's format). Offsets and extents must be multiples of the granularity,
    /// or the region ends with the level; granularity 0 allows whole levels only.
    ///
    /// The region must be within the image.
    pub(crate) fn is_aligned(&self, image: &GpuImage, [x, y, z]: [u32; 3]) -> bool {
        let [width, height] = block(image.format()).map_or([1, 1], |block| block.size);
        is_aligned(
            self.offset,
            self.extent,
            mip_extent(image.extent(), self.mip),
            [x * width, y * height, z],
        )
    }

    /// Size in bytes of its texels, tightly packed, over all layers, in copies between buffers and images
    /// of this format; `None` for formats without a known texel size.
    pub fn bytes(&self, format: vk::Format) -> Option<u64> {
        let Block { size, bytes } = block(format)?;
        let [width, height, depth] = self.extent;
        let blocks = [width.div_ceil(size[0]), height.div_ceil(size[1]), depth];
        let blocks = blocks.map(u64::from).iter().product::<u64>();
        Some(blocks * u64::from(bytes) * u64::from(self.layer_count))
    }

    /// Converts to `VkImageSubresourceLayers`.
    pub(crate) fn layers(&self, aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers {
            aspect_mask: aspects,
            mip_level: self.mip,
            base_array_layer: self.base_layer,
            layer_count: self.layer_count,
        }
    }

    /// The first texel as `VkOffset3D`.
    pub(crate) fn offset(&self) -> vk::Offset3D {
        let [x, y, z] = self.offset.map(|value| value as i32);
        vk::Offset3D { x, y, z }
    }

    /// The end (exclusive) as `VkOffset3D`.
    pub(crate) fn end(&self) -> vk::Offset3D {
        let end = |at: usize| (self.offset[at] + self.extent[at]) as i32;
        vk::Offset3D {
            x: end(0),
            y: end(1),
            z: end(2),
        }
    }

    /// The extent as `VkExtent3D`.
    pub(crate) fn extent(&self) -> vk::Extent3D {
        let [width, height, depth] = self.extent;
        vk::Extent3D {
            width,
            height,
            depth,
        }
    }
}

/// The extent of a mip level (section "Image Mip Level Sizing").
pub(crate) fn mip_extent(extent: [u32; 3], mip: u32) -> [u32; 3] {
    extent.map(|length| length.checked_shr(mip).unwrap_or(0).max(1))
}

/// See [`ImageRegion::is_aligned`].
fn is_aligned(offset: [u32; 3], extent: [u32; 3], level: [u32; 3], granularity: [u32; 3]) -> bool {
    (0..3).all(|at| {
        let is_whole = offset[at] == 0 && extent[at] == level[at];
        let granule = granularity[at];
        let ends_level = offset[at] + extent[at] == level[at];
        is_whole
            || (granule > 0
                && offset[at].is_multiple_of(granule)
                && (extent[at].is_multiple_of(granule) || ends_level))
    })
}

#[cfg(test)]
mod tests;
