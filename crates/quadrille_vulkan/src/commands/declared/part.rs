//! Parts of a resource that commands access, and accesses of shaders to bound resources.

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::range::{SubRange, SubresourceRange};

use crate::resources::handle::Handle;
use crate::resources::image::GpuImage;
use crate::resources::region::ImageRegion;
use crate::resources::view::View;
use crate::shader::{Binding, BindingKind};

/// A part of a resource.
#[derive(Clone, Copy)]
pub(in crate::commands) enum Part {
    /// All bytes from an offset on.
    From(u64),
    /// Offset and number of bytes.
    Bytes(u64, u64),
    /// Levels and layers of an image, with all aspects.
    View(View),
    /// Levels and layers of an image that shaders sample; depth alone for depth-stencil formats.
    Sampled(View),
    /// Texels of an image, with all aspects.
    Region(ImageRegion),
    /// Texels of an image in a copy from or to a buffer; depth alone for depth-stencil formats.
    Texels(ImageRegion),
}

impl Part {
    /// Bytes of a buffer by offset and size; size 0 means up to the end.
    pub(in crate::commands) fn bytes(offset: u64, size: u64) -> Self {
        match size {
            0 => Self::From(offset),
            size => Self::Bytes(offset, size),
        }
    }

    /// Converts to the range type of declarations.
    pub(super) fn of(self, handle: &Handle) -> SubRange {
        match (handle, self) {
            (Handle::Buffer(_), Self::From(0)) => SubRange::Whole,
            (Handle::Buffer(buffer), Self::From(offset)) => SubRange::Bytes {
                offset,
                size: buffer.bytes().saturating_sub(offset),
            },
            (Handle::Buffer(_), Self::Bytes(offset, size)) => SubRange::Bytes { offset, size },
            (Handle::Image(image), Self::View(view)) => levels(image, view.subresources(image)),
            (Handle::Image(image), Self::Sampled(view)) => {
                levels(image, sampled(view.subresources(image)))
            }
            (Handle::Image(image), Self::Region(region)) => levels(image, layers(image, &region)),
            (Handle::Image(image), Self::Texels(region)) => {
                levels(image, sampled(layers(image, &region)))
            }
            // A buffer in place of an image, or the reverse: encoding the command reports it.
            _ => SubRange::Bytes { offset: 0, size: 0 },
        }
    }
}

/// Returns the range of the whole image if the range covers it.
fn levels(image: &GpuImage, range: SubresourceRange) -> SubRange {
    if range == View::WHOLE.subresources(image) {
        SubRange::Whole
    } else {
        SubRange::Subresources(range)
    }
}

/// Reduces a depth-stencil range to depth, which sampling such an image reads.
fn sampled(range: SubresourceRange) -> SubresourceRange {
    let aspects = if range.aspects.contains(Aspects::DEPTH) {
        Aspects::DEPTH
    } else {
        range.aspects
    };
    SubresourceRange { aspects, ..range }
}

fn layers(image: &GpuImage, region: &ImageRegion) -> SubresourceRange {
    SubresourceRange {
        aspects: image.aspects(),
        base_mip: region.mip,
        mip_count: 1,
        base_layer: region.base_layer,
        layer_count: region.layer_count,
    }
}

/// Returns the accesses of a pipeline's shaders at a binding: one for each stage.
pub(in crate::commands) fn accesses(binding: &Binding) -> impl Iterator<Item = Access> {
    use Access as A;
    let [vertex, fragment, compute] = match (binding.kind, binding.writes) {
        (BindingKind::UniformBuffer, _) => [
            A::UniformReadVertex,
            A::UniformReadFragment,
            A::UniformReadCompute,
        ],
        (BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_), _) => {
            [A::SampledVertex, A::SampledFragment, A::SampledCompute]
        }
        (BindingKind::StorageBuffer | BindingKind::StorageImage(_), false) => [
            A::StorageReadVertex,
            A::StorageReadFragment,
            A::StorageReadCompute,
        ],
        (BindingKind::StorageBuffer | BindingKind::StorageImage(_), true) => [
            A::StorageWriteVertex,
            A::StorageWriteFragment,
            A::StorageWriteCompute,
        ],
        // Samplers have no memory, and input attachments are declared as attachments.
        (BindingKind::Sampler | BindingKind::InputAttachment(_), _) => {
            [A::SampledVertex, A::SampledFragment, A::SampledCompute]
        }
    };
    let stages = binding.stages;
    let by_stage = [
        (vk::ShaderStageFlags::VERTEX, vertex),
        (vk::ShaderStageFlags::FRAGMENT, fragment),
        (vk::ShaderStageFlags::COMPUTE, compute),
    ];
    let by_stage = by_stage.into_iter();
    by_stage.filter_map(move |(stage, access)| stages.contains(stage).then_some(access))
}
