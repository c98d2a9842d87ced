//! Validation of image descriptions against a device.

use ash::vk;

use super::{ImageDesc, ImageUsage};
use crate::device::Device;
use crate::error::Error;
use crate::resources::format::is_planar;

/// Compares a description with the device's limits and formats (section "Images", the valid usage
/// of `VkImageCreateInfo`).
pub(crate) fn check(device: &Device, desc: &ImageDesc) -> Result<(), Error> {
    let problem = extent_problem(device, desc)
        .or_else(|| count_problem(device, desc))
        .or_else(|| use_problem(device, desc))
        .or_else(|| support_problem(device, desc));
    match problem {
        None => Ok(()),
        Some(problem) => Err(Error::Invalid {
            name: desc.name.clone(),
            problem,
        }),
    }
}

/// Describes why its size is invalid.
fn extent_problem(device: &Device, desc: &ImageDesc) -> Option<String> {
    let [width, height, depth] = desc.extent;
    let limits = &device.limits;
    let limit = match depth {
        0 | 1 if desc.one_dimensional => limits.max_image_dimension1_d,
        0 | 1 if desc.cube => limits.max_image_dimension_cube,
        0 | 1 => limits.max_image_dimension2_d,
        _ => limits.max_image_dimension3_d,
    };
    let longest = width.max(height).max(depth);
    if width == 0 || height == 0 || depth == 0 {
        let extent = format!("{width}x{height}x{depth}");
        return Some(format!("its extent is {extent}; none may be 0"));
    }
    if longest > limit {
        return Some(format!(
            "its extent of {longest} is above the device's limit of {limit}"
        ));
    }
    let most_mips = longest.ilog2() + 1;
    let given = desc.mip_levels;
    (given == 0 || given > most_mips)
        .then(|| format!("it has {given} mip levels; its extent allows 1 to {most_mips}"))
}

/// Describes why its layers or samples are invalid.
fn count_problem(device: &Device, desc: &ImageDesc) -> Option<String> {
    let [width, height, depth] = desc.extent;
    let (layers, most) = (desc.array_layers, device.limits.max_image_array_layers);
    if layers == 0 || layers > most {
        return Some(format!(
            "it has {layers} array layers; the device allows 1 to {most}"
        ));
    }
    if depth > 1 && (layers > 1 || desc.cube) {
        return Some("an image with depth has one layer and is no cube".to_owned());
    }
    if desc.cube && (!layers.is_multiple_of(6) || width != height) {
        return Some("a cube has square faces and six layers, or a multiple of six".to_owned());
    }
    if desc.cube && layers > 6 && device.core.image_cube_array == vk::FALSE {
        return Some("the device has no images of several cubes".to_owned());
    }
    let samples = desc.samples;
    if desc.one_dimensional && (height > 1 || depth > 1 || samples > 1 || desc.cube) {
        return Some("a 1D image has height, depth and samples of 1, and is no cube".to_owned());
    }
    if !samples.is_power_of_two() || samples > 64 {
        return Some(format!("{samples} samples is no power of two up to 64"));
    }
    if samples > 1 && (desc.mip_levels > 1 || depth > 1 || desc.cube) {
        return Some(format!(
            "an image of {samples} samples has one mip level, no depth and is no cube"
        ));
    }
    None
}

/// Describes why its usage is invalid.
fn use_problem(device: &Device, desc: &ImageDesc) -> Option<String> {
    let (format, usage) = (desc.format, desc.usage);
    if format == vk::Format::UNDEFINED {
        return Some("its format is UNDEFINED; name one".to_owned());
    }
    if is_planar(format) {
        return Some(format!("{format:?} has several planes; use an image each"));
    }
    if usage.is_empty() {
        return Some("it has no usage; name at least one".to_owned());
    }
    if desc.samples > 1 && usage.contains(ImageUsage::STORAGE) {
        return Some("storage images have one sample".to_owned());
    }
    let drawn = ImageUsage::COLOR_ATTACHMENT | ImageUsage::DEPTH_STENCIL_ATTACHMENT;
    let [width, height, _] = desc.extent;
    let most = device.most_drawn();
    let is_too_large = width > most[0] || height > most[1];
    (usage.intersects(drawn) && is_too_large).then(|| {
        let [most_width, most_height] = most;
        format!("what is drawn to has at most {most_width}x{most_height} pixels on this device")
    })
}

/// Suggests a fix if a format does not support a usage.
fn suggestion(format: vk::Format, usage: ImageUsage) -> &'static str {
    let has_color = crate::resources::format::aspects(format).contains(vk::ImageAspectFlags::COLOR);
    if has_color && usage.contains(ImageUsage::DEPTH_STENCIL_ATTACHMENT) {
        "depth takes a format of its own, such as D32_SFLOAT"
    } else if !has_color && usage.contains(ImageUsage::COLOR_ATTACHMENT) {
        "a format of depth cannot be a color target; describe it with `ImageDesc::depth`"
    } else {
        "choose another format, or fewer usages"
    }
}

/// Queries whether the driver supports such images.
fn support_problem(device: &Device, desc: &ImageDesc) -> Option<String> {
    let (format, usage) = (desc.format, desc.usage);
    // SAFETY: the physical device belongs to the instance; the format is a value of `VkFormat`, for which drivers
    // report whether they support it.
    let properties = unsafe {
        device
            .instance
            .raw
            .get_physical_device_image_format_properties(
                device.physical,
                format,
                desc.kind(),
                vk::ImageTiling::OPTIMAL,
                super::create::usage(device, desc),
                super::create::flags(desc),
            )
    };
    let Ok(properties) = properties else {
        return Some(format!(
            "the device has no images of {format:?} for {usage:?}; {}",
            suggestion(format, usage)
        ));
    };
    let samples = vk::SampleCountFlags::from_raw(desc.samples);
    if !properties.sample_counts.contains(samples) {
        let given = desc.samples;
        return Some(format!(
            "{format:?} cannot have {given} samples on this device"
        ));
    }
    let [width, height, depth] = desc.extent;
    let most = properties.max_extent;
    let fits = width <= most.width
        && height <= most.height
        && depth <= most.depth
        && desc.mip_levels <= properties.max_mip_levels
        && desc.array_layers <= properties.max_array_layers;
    (!fits).then(|| {
        let (mips, layers) = (properties.max_mip_levels, properties.max_array_layers);
        let (width, height, depth) = (most.width, most.height, most.depth);
        format!(
            "images of {format:?} for {usage:?} have at most {width}x{height}x{depth} texels, \
             {mips} mip levels and {layers} layers on this device"
        )
    })
}
