//! Creation of Vulkan images from descriptions.

use std::sync::Arc;

use ash::vk;
use quadrille_sync::resource::Sharing as Mode;

use super::{ImageDesc, ImageUsage};
use crate::device::Device;
use crate::device::backing::{Backing, Block};
use crate::device::memory::Memory;
use crate::error::Error;
use crate::resources::view::ViewKey;

/// See [`Gpu::can_sample`](crate::device::Gpu::can_sample).
pub(crate) fn can_sample(device: &Device, format: vk::Format) -> bool {
    let properties = crate::resources::format::properties(device, format);
    let sampled = vk::FormatFeatureFlags::SAMPLED_IMAGE;
    properties.optimal_tiling_features.contains(sampled)
}

/// See [`Gpu::can_draw_to`](crate::device::Gpu::can_draw_to).
pub(crate) fn can_draw_to(device: &Device, format: vk::Format) -> bool {
    let properties = crate::resources::format::properties(device, format);
    let color = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
    !crate::resources::format::is_integer(format)
        && properties.optimal_tiling_features.contains(color)
}

/// See [`Gpu::can_blend`](crate::device::Gpu::can_blend).
pub(crate) fn can_blend(device: &Device, format: vk::Format) -> bool {
    let properties = crate::resources::format::properties(device, format);
    let blend = vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND;
    !crate::resources::format::is_integer(format)
        && properties.optimal_tiling_features.contains(blend)
}

/// See [`Gpu::can_scale`](crate::device::Gpu::can_scale).
pub(crate) fn can_scale(device: &Device, format: vk::Format) -> bool {
    use vk::FormatFeatureFlags as Feature;
    let needed = Feature::BLIT_SRC | Feature::BLIT_DST | Feature::SAMPLED_IMAGE_FILTER_LINEAR;
    let properties = crate::resources::format::properties(device, format);
    crate::resources::format::aspects(format) == vk::ImageAspectFlags::COLOR
        && properties.optimal_tiling_features.contains(needed)
}

pub(super) fn flags(desc: &ImageDesc) -> vk::ImageCreateFlags {
    if desc.cube {
        vk::ImageCreateFlags::CUBE_COMPATIBLE
    } else {
        vk::ImageCreateFlags::empty()
    }
}

/// Returns the usage of the Vulkan image: that of its description, and copies if a change of the sharing mode may
/// have to move its contents.
pub(super) fn usage(device: &Device, desc: &ImageDesc) -> vk::ImageUsageFlags {
    use vk::FormatFeatureFlags as Feature;
    let wanted = vk::ImageUsageFlags::from_raw(desc.usage.bits());
    if !desc.sharing.may_change(&device.topology) || desc.transient {
        return wanted;
    }
    let properties = crate::resources::format::properties(device, desc.format);
    let needed = Feature::TRANSFER_SRC | Feature::TRANSFER_DST;
    if properties.optimal_tiling_features.contains(needed) {
        wanted | COPIES
    } else {
        wanted
    }
}

/// Usages for copies in both directions.
pub(super) const COPIES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// Creates an image from a checked description, without memory.
pub(super) fn create(device: &Device, desc: &ImageDesc, mode: Mode) -> Result<vk::Image, Error> {
    let families = device.families();
    let mut info = info(device, desc);
    if mode == Mode::Concurrent && families.len() > 1 {
        info = info
            .sharing_mode(vk::SharingMode::CONCURRENT)
            .queue_family_indices(&families);
    }
    // SAFETY: the description is checked against limits and format support.
    let raw = unsafe { device.raw.create_image(&info, None) };
    raw.map_err(Error::vulkan(device, &desc.name, "vkCreateImage"))
}

/// The create info of an exclusive image of a checked description.
pub(crate) fn info(device: &Device, desc: &ImageDesc) -> vk::ImageCreateInfo<'static> {
    let [width, height, depth] = desc.extent;
    vk::ImageCreateInfo::default()
        .flags(flags(desc))
        .image_type(desc.kind())
        .format(desc.format)
        .extent(vk::Extent3D {
            width,
            height,
            depth,
        })
        .mip_levels(desc.mip_levels)
        .array_layers(desc.array_layers)
        .samples(vk::SampleCountFlags::from_raw(desc.samples))
        .usage(usage(device, desc))
}

/// Returns memory requirements that suffice for every sharing mode that the image may get.
pub(super) fn requirements(
    device: &Device,
    desc: &ImageDesc,
) -> Result<vk::MemoryRequirements, Error> {
    desc.sharing
        .requirements(&device.topology, |mode| requirements_of(device, desc, mode))
}

fn requirements_of(
    device: &Device,
    desc: &ImageDesc,
    mode: Mode,
) -> Result<vk::MemoryRequirements, Error> {
    let raw = create(device, desc, mode)?;
    // SAFETY: `raw` was just created from this device.
    let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
    destroy(device, raw);
    Ok(requirements)
}

/// Creates an image and the view of the whole image, in memory of its own or at `placement`.
pub(super) fn create_in(
    device: &Device,
    desc: &ImageDesc,
    mode: Mode,
    placement: Option<(&Arc<Block>, u64)>,
    whole: ViewKey,
) -> Result<(vk::Image, Backing, vk::ImageView), Error> {
    let raw = create(device, desc, mode)?;
    let backing = match find_backing(device, raw, desc, placement) {
        Ok(backing) => backing,
        Err(error) => {
            destroy(device, raw);
            return Err(error);
        }
    };
    device.names.name(raw, &desc.name);
    match create_view(device, raw, desc, whole) {
        Ok(view) => Ok((raw, backing, view)),
        Err(error) => {
            destroy(device, raw);
            backing.free(device);
            Err(error)
        }
    }
}

/// Usages that allow views; an image needs at least one.
const VIEWED: ImageUsage = ImageUsage::SAMPLED
    .union(ImageUsage::STORAGE)
    .union(ImageUsage::COLOR_ATTACHMENT)
    .union(ImageUsage::DEPTH_STENCIL_ATTACHMENT);

/// Creates a view.
pub(super) fn create_view(
    device: &Device,
    raw: vk::Image,
    desc: &ImageDesc,
    key: ViewKey,
) -> Result<vk::ImageView, Error> {
    // Images that are only copied have no views (`VkImageViewCreateInfo`, VUID 04441).
    if !desc.usage.intersects(VIEWED) {
        return Ok(vk::ImageView::null());
    }
    let info = vk::ImageViewCreateInfo::default()
        .image(raw)
        .view_type(key.kind)
        .format(desc.format)
        .subresource_range(key.range());
    // SAFETY: callers have checked the range against the image.
    let view = unsafe { device.raw.create_image_view(&info, None) }.map_err(Error::vulkan(
        device,
        &desc.name,
        "vkCreateImageView",
    ))?;
    device.names.name(view, &desc.name);
    Ok(view)
}

/// Destroys an unused image.
fn destroy(device: &Device, raw: vk::Image) {
    // SAFETY: created by the caller, and unused.
    unsafe { device.raw.destroy_image(raw, None) };
}

fn find_backing(
    device: &Device,
    raw: vk::Image,
    desc: &ImageDesc,
    placement: Option<(&Arc<Block>, u64)>,
) -> Result<Backing, Error> {
    // SAFETY: `raw` was just created from this device.
    let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
    let kind = (Memory::Device, false);
    let backing = Backing::find(device, &desc.name, requirements, kind, placement)?;
    let (object, offset) = backing.binding();
    // SAFETY: the memory was allocated, or the place chosen, for these requirements; it is bound only once.
    match unsafe { device.raw.bind_image_memory(raw, object, offset) } {
        Ok(()) => Ok(backing),
        Err(result) => {
            backing.free(device);
            Err(Error::vulkan(device, &desc.name, "vkBindImageMemory")(
                result,
            ))
        }
    }
}
