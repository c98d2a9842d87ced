//! From a description to an image with memory.

use std::sync::Arc;

use ash::vk;
use quadrille_sync::Sharing as Mode;

use super::ImageDesc;
use crate::device::Device;
use crate::error::Error;
use crate::home::{Block, Home};
use crate::memory::Memory;
use crate::view::ViewKey;

/// Compares a description with the device's limits and formats.
pub(super) fn check(device: &Device, desc: &ImageDesc) -> Result<(), Error> {
    let invalid = |problem: String| {
        Err(Error::Invalid {
            name: desc.name.clone(),
            problem,
        })
    };
    let [width, height, depth] = desc.extent;
    let limits = &device.limits;
    let limit = match depth {
        0 | 1 => limits.max_image_dimension2_d,
        _ => limits.max_image_dimension3_d,
    };
    let longest = width.max(height).max(depth);
    if width == 0 || height == 0 || depth == 0 {
        return invalid(format!(
            "its extent is {width}x{height}x{depth}; none may be 0"
        ));
    }
    if longest > limit {
        return invalid(format!(
            "its extent of {longest} is above the device's limit of {limit}"
        ));
    }
    let most_mips = longest.ilog2() + 1;
    if desc.mip_levels == 0 || desc.mip_levels > most_mips {
        let given = desc.mip_levels;
        return invalid(format!(
            "it has {given} mip levels; its extent allows 1 to {most_mips}"
        ));
    }
    if desc.array_layers == 0 || desc.array_layers > limits.max_image_array_layers {
        let (given, most) = (desc.array_layers, limits.max_image_array_layers);
        return invalid(format!(
            "it has {given} array layers; the device allows 1 to {most}"
        ));
    }
    if desc.cube && (!desc.array_layers.is_multiple_of(6) || width != height) {
        return invalid("a cube has square faces and six layers, or a multiple of six".to_owned());
    }
    if !desc.samples.is_power_of_two() || desc.samples > 64 {
        return invalid(format!(
            "{} samples is no power of two up to 64",
            desc.samples
        ));
    }
    if desc.usage.is_empty() {
        return invalid("it has no usage; name at least one".to_owned());
    }
    check_support(device, desc)
}

/// Asks the driver whether it has such images.
fn check_support(device: &Device, desc: &ImageDesc) -> Result<(), Error> {
    // SAFETY: the physical device belongs to the instance; the values are valid enums.
    let properties = unsafe {
        device
            .instance
            .raw
            .get_physical_device_image_format_properties(
                device.physical,
                desc.format,
                desc.kind(),
                vk::ImageTiling::OPTIMAL,
                vk::ImageUsageFlags::from_raw(desc.usage.bits()),
                flags(desc),
            )
    };
    let unsupported = |problem: String| Error::Invalid {
        name: desc.name.clone(),
        problem,
    };
    let properties = properties.map_err(|_| {
        let (format, usage) = (desc.format, desc.usage);
        unsupported(format!(
            "the device has no images of {format:?} for {usage:?}"
        ))
    })?;
    let samples = vk::SampleCountFlags::from_raw(desc.samples);
    if !properties.sample_counts.contains(samples) {
        let (format, given) = (desc.format, desc.samples);
        return Err(unsupported(format!(
            "{format:?} cannot have {given} samples on this device"
        )));
    }
    Ok(())
}

/// See [`Gpu::can_sample`](crate::Gpu::can_sample).
pub(crate) fn can_sample(device: &Device, format: vk::Format) -> bool {
    // SAFETY: the physical device belongs to the instance; the format is a valid enum.
    let properties = unsafe {
        device
            .instance
            .raw
            .get_physical_device_format_properties(device.physical, format)
    };
    let sampled = vk::FormatFeatureFlags::SAMPLED_IMAGE;
    properties.optimal_tiling_features.contains(sampled)
}

fn flags(desc: &ImageDesc) -> vk::ImageCreateFlags {
    match desc.cube {
        true => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        false => vk::ImageCreateFlags::empty(),
    }
}

/// Makes an image of a checked description, without memory.
pub(super) fn create(device: &Device, desc: &ImageDesc, mode: Mode) -> Result<vk::Image, Error> {
    let families = device.families();
    let [width, height, depth] = desc.extent;
    let mut info = vk::ImageCreateInfo::default()
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
        .usage(vk::ImageUsageFlags::from_raw(desc.usage.bits()));
    if mode == Mode::Concurrent && families.len() > 1 {
        info = info
            .sharing_mode(vk::SharingMode::CONCURRENT)
            .queue_family_indices(&families);
    }
    // SAFETY: the description is checked against limits and format support.
    let raw = unsafe { device.raw.create_image(&info, None) };
    raw.map_err(Error::vulkan(&desc.name, "vkCreateImage"))
}

/// The memory that images of a description need, in each sharing mode that they may come to have.
pub(super) fn requirements(
    device: &Device,
    desc: &ImageDesc,
) -> Result<vk::MemoryRequirements, Error> {
    desc.sharing
        .requirements(|mode| requirements_of(device, desc, mode))
}

fn requirements_of(
    device: &Device,
    desc: &ImageDesc,
    mode: Mode,
) -> Result<vk::MemoryRequirements, Error> {
    let raw = create(device, desc, mode)?;
    // SAFETY: `raw` was just made from this device.
    let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
    destroy(device, raw);
    Ok(requirements)
}

/// Makes an image and the view of all of it, in memory of its own or in this place.
pub(super) fn create_in(
    device: &Device,
    desc: &ImageDesc,
    mode: Mode,
    place: Option<(&Arc<Block>, u64)>,
    whole: ViewKey,
) -> Result<(vk::Image, Home, vk::ImageView), Error> {
    let raw = create(device, desc, mode)?;
    let home = match find_home(device, raw, desc, place) {
        Ok(home) => home,
        Err(error) => {
            destroy(device, raw);
            return Err(error);
        }
    };
    device.names.name(raw, &desc.name);
    match create_view(device, raw, desc, whole) {
        Ok(view) => Ok((raw, home, view)),
        Err(error) => {
            destroy(device, raw);
            home.free(device);
            Err(error)
        }
    }
}

/// Makes a view.
pub(super) fn create_view(
    device: &Device,
    raw: vk::Image,
    desc: &ImageDesc,
    key: ViewKey,
) -> Result<vk::ImageView, Error> {
    let info = vk::ImageViewCreateInfo::default()
        .image(raw)
        .view_type(key.kind)
        .format(desc.format)
        .subresource_range(key.range());
    // SAFETY: callers have checked the range against the image.
    let view = unsafe { device.raw.create_image_view(&info, None) }
        .map_err(Error::vulkan(&desc.name, "vkCreateImageView"))?;
    device.names.name(view, &desc.name);
    Ok(view)
}

/// Destroys an image that nothing has used yet.
fn destroy(device: &Device, raw: vk::Image) {
    // SAFETY: made by the caller, used by nothing.
    unsafe { device.raw.destroy_image(raw, None) };
}

fn find_home(
    device: &Device,
    raw: vk::Image,
    desc: &ImageDesc,
    place: Option<(&Arc<Block>, u64)>,
) -> Result<Home, Error> {
    // SAFETY: `raw` was just made from this device.
    let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
    let kind = (Memory::Device, false);
    let home = Home::find(device, &desc.name, requirements, kind, place)?;
    let (object, offset) = home.binding();
    // SAFETY: the memory was allocated, or the place chosen, for these requirements; it is bound
    // once.
    match unsafe { device.raw.bind_image_memory(raw, object, offset) } {
        Ok(()) => Ok(home),
        Err(result) => {
            home.free(device);
            Err(Error::vulkan(&desc.name, "vkBindImageMemory")(result))
        }
    }
}
