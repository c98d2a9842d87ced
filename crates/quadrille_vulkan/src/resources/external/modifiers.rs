//! DRM format modifiers of images in dma-bufs (`VK_EXT_image_drm_format_modifier`).

use ash::{ext, vk};

use super::images::features;
use super::{DrmModifier, MemoryHandle, PlaneLayout, invalid};
use crate::device::Device;
use crate::error::Error;
use crate::resources::image::{ImageDesc, create_info};

/// Arrangement of an image's texels in memory.
pub(super) enum Tiling {
    /// The driver's own.
    Optimal,
    /// The best of these modifiers, which the driver chooses.
    AnyOf(Vec<u64>),
    /// This one.
    Exactly(DrmModifier),
}

impl Tiling {
    /// The modifiers to ask the driver about; none for the driver's own tiling.
    pub(super) fn modifiers(&self) -> Vec<Option<u64>> {
        match self {
            Self::Optimal => vec![None],
            Self::AnyOf(all) => all.iter().copied().map(Some).collect(),
            Self::Exactly(one) => vec![Some(one.modifier)],
        }
    }

    /// Makes an image without memory.
    pub(super) fn create(
        &self,
        device: &Device,
        name: &str,
        info: vk::ImageCreateInfo<'_>,
    ) -> Result<vk::Image, Error> {
        let modified = vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
        let layouts: Vec<vk::SubresourceLayout> = match self {
            Self::Exactly(modifier) => {
                let planes = modifier.planes.iter();
                let layout = |plane: &PlaneLayout| {
                    vk::SubresourceLayout::default()
                        .offset(plane.offset)
                        .row_pitch(plane.row_pitch)
                };
                planes.map(layout).collect()
            }
            _ => Vec::new(),
        };
        let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default();
        let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default();
        let info = match self {
            Self::Optimal => info,
            Self::AnyOf(modifiers) => {
                list = list.drm_format_modifiers(modifiers);
                info.tiling(modified).push_next(&mut list)
            }
            Self::Exactly(modifier) => {
                explicit = explicit
                    .drm_format_modifier(modifier.modifier)
                    .plane_layouts(&layouts);
                info.tiling(modified).push_next(&mut explicit)
            }
        };
        // SAFETY: the description is checked against limits and format support.
        let raw = unsafe { device.raw.create_image(&info, None) };
        raw.map_err(Error::vulkan(device, name, "vkCreateImage"))
    }
}

/// The modifiers of a format whose images have these usages and can be exported.
pub(super) fn exportable(device: &Device, desc: &ImageDesc) -> Result<Vec<u64>, Error> {
    let info = create_info(device, desc);
    let exportable = vk::ExternalMemoryFeatureFlags::EXPORTABLE;
    let all = properties(device, desc.format);
    let found: Vec<u64> = all
        .iter()
        .map(|it| it.drm_format_modifier)
        .filter(|modifier| {
            let found = features(device, &info, MemoryHandle::DmaBuf, Some(*modifier));
            found.contains(exportable)
        })
        .collect();
    if found.is_empty() {
        let (format, usage, device) = (desc.format, desc.usage, &device.info.name);
        return Err(invalid(
            &desc.name,
            format!(
                "the device `{device}` has no DRM format modifier that exports {format:?} for {usage:?}; choose another \
                 format, or fewer usages"
            ),
        ));
    }
    Ok(found)
}

/// Checks that an image has one subresource: a dma-buf tells the layout of one.
pub(super) fn check_single(desc: &ImageDesc) -> Result<(), Error> {
    let counts = [desc.extent[2], desc.mip_levels, desc.array_layers];
    if counts == [1; 3] {
        return Ok(());
    }
    let [depth, mips, layers] = counts;
    Err(invalid(
        &desc.name,
        format!(
            "a dma-buf holds one layer of one mip level, and it has {layers} layers, {mips} mip levels and the depth \
             {depth}; share one image for each"
        ),
    ))
}

/// Checks an exporter's modifier (`VUID-VkImageDrmFormatModifierExplicitCreateInfoEXT-drmFormatModifierPlaneCount-02265`).
pub(super) fn check_import(
    device: &Device,
    desc: &ImageDesc,
    imported: &DrmModifier,
) -> Result<(), Error> {
    check_single(desc)?;
    let (modifier, planes) = (imported.modifier, imported.planes.len());
    let mut all = properties(device, desc.format).into_iter();
    let known = all.find(|it| it.drm_format_modifier == modifier);
    let expected = known.map(|it| it.drm_format_modifier_plane_count as usize);
    if expected == Some(planes) {
        return Ok(());
    }
    let (format, own) = (desc.format, &device.info.name);
    let problem = match expected {
        Some(expected) => format!(
            "its dma-buf has {planes} memory planes, and {format:?} with the DRM format modifier {modifier:#x} has \
             {expected}; set `DrmModifier::planes` to the exporter's"
        ),
        None => format!(
            "the device `{own}` lacks the DRM format modifier {modifier:#x} for {format:?}; let the exporter choose \
             another one"
        ),
    };
    Err(invalid(&desc.name, problem))
}

/// The modifiers of a format.
fn properties(device: &Device, format: vk::Format) -> Vec<vk::DrmFormatModifierPropertiesEXT> {
    let ask = |list: &mut vk::DrmFormatModifierPropertiesListEXT<'_>| {
        let mut found = vk::FormatProperties2::default().push_next(list);
        // SAFETY: the physical device is of this instance and has the extension.
        unsafe {
            device.instance.raw.get_physical_device_format_properties2(
                device.physical,
                format,
                &mut found,
            );
        };
    };
    let mut count = vk::DrmFormatModifierPropertiesListEXT::default();
    ask(&mut count);
    let count = count.drm_format_modifier_count as usize;
    let mut all = vec![vk::DrmFormatModifierPropertiesEXT::default(); count];
    let mut list =
        vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut all);
    ask(&mut list);
    all
}

/// The modifier that a new image has, with its planes; none for the driver's own tiling.
pub(super) fn of_image(
    device: &Device,
    raw: vk::Image,
    desc: &ImageDesc,
    tiling: &Tiling,
) -> Result<Option<DrmModifier>, Error> {
    match tiling {
        Tiling::Optimal => return Ok(None),
        Tiling::Exactly(modifier) => return Ok(Some(modifier.clone())),
        Tiling::AnyOf(_) => {}
    }
    let functions = ext::image_drm_format_modifier::Device::new(&device.instance.raw, &device.raw);
    let mut chosen = vk::ImageDrmFormatModifierPropertiesEXT::default();
    // SAFETY: the image was made with a list of modifiers.
    let found = unsafe { functions.get_image_drm_format_modifier_properties(raw, &mut chosen) };
    let call = "vkGetImageDrmFormatModifierPropertiesEXT";
    found.map_err(Error::vulkan(device, &desc.name, call))?;
    let modifier = chosen.drm_format_modifier;
    let mut all = properties(device, desc.format).into_iter();
    let known = all.find(|it| it.drm_format_modifier == modifier);
    let count = known.map_or(1, |it| it.drm_format_modifier_plane_count as usize);
    let plane = |aspect: &vk::ImageAspectFlags| {
        let of = vk::ImageSubresource::default().aspect_mask(*aspect);
        // SAFETY: the image has this memory plane, as its modifier says.
        let layout = unsafe { device.raw.get_image_subresource_layout(raw, of) };
        PlaneLayout {
            offset: layout.offset,
            row_pitch: layout.row_pitch,
        }
    };
    let planes = PLANES.iter().take(count).map(plane).collect();
    Ok(Some(DrmModifier { modifier, planes }))
}

/// Memory planes of an image, in order.
const PLANES: [vk::ImageAspectFlags; 4] = [
    vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_3_EXT,
];
