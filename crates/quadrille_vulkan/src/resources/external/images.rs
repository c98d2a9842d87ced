//! Images that others share.

use ash::{ext, vk};

use super::allocate::{ExternalBacking, For, Source};
use super::modifiers::{self, Tiling};
use super::shared_memory::description;
use super::{MemoryHandle, SharedMemory, check_features, check_shared, invalid, need};
use crate::device::Device;
use crate::device::backing::Backing;
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::instance::imported::KeepAlive;
use crate::instance::sharing::Sharing;
use crate::resources::format::is_planar;
use crate::resources::image::{GpuImage, ImageDesc, check};

impl Gpu {
    /// Creates an image whose memory can be exported ([`GpuImage::export`]): exclusive. As a
    /// [`MemoryHandle::DmaBuf`] it has the DRM format modifier that the driver prefers among those with its usages
    /// (`VK_EXT_image_drm_format_modifier`).
    ///
    /// # Errors
    /// The description is invalid, the device cannot export such an image, or memory allocation failed.
    pub fn create_exportable_image(
        &self,
        desc: &ImageDesc,
        handle: MemoryHandle,
    ) -> Result<GpuImage, Error> {
        let exportable = vk::ExternalMemoryFeatureFlags::EXPORTABLE;
        check_planes(desc)?;
        need(&self.0, &desc.name, handle.extension())?;
        let desc = exclusive(desc)?;
        let tiling = match handle {
            MemoryHandle::OpaqueFd => Tiling::Optimal,
            MemoryHandle::DmaBuf => {
                need(&self.0, &desc.name, ext::image_drm_format_modifier::NAME)?;
                check::check(&self.0, &desc)?;
                modifiers::check_single(&desc)?;
                Tiling::AnyOf(modifiers::exportable(&self.0, &desc)?)
            }
        };
        self.external_image(&desc, (handle, exportable), Source::New(handle), tiling)
    }

    /// Creates an image in memory that somebody has exported. The description has to be the exporter's.
    ///
    /// # Errors
    /// The memory is of another device or of an image with another description, has too few bytes, or the device cannot
    /// import it. The descriptor is closed.
    pub fn import_image(&self, desc: &ImageDesc, memory: SharedMemory) -> Result<GpuImage, Error> {
        check_planes(desc)?;
        let handle = memory.layout.handle;
        let importable = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        let tiling = match (handle, &memory.layout.modifier) {
            (MemoryHandle::OpaqueFd, _) => Tiling::Optimal,
            (MemoryHandle::DmaBuf, Some(modifier)) => {
                need(&self.0, &desc.name, ext::image_drm_format_modifier::NAME)?;
                modifiers::check_import(&self.0, desc, modifier)?;
                Tiling::Exactly(modifier.clone())
            }
            (MemoryHandle::DmaBuf, None) => {
                return Err(invalid(
                    &desc.name,
                    "its dma-buf has no DRM format modifier; set `MemoryLayout::modifier` to the exporter's",
                ));
            }
        };
        self.external_image(desc, (handle, importable), Source::Shared(memory), tiling)
    }

    /// Wraps an image that another library has made from this device and owns, such as one of OpenXR's swapchains. It is
    /// not destroyed here; `keep` is dropped after the last use, and before the device is destroyed. It must not hold a
    /// [`Gpu`], which would keep the device alive for ever.
    ///
    /// # Safety
    /// `raw` is an exclusive image of this device that fits the description and lives until `keep` is dropped.
    ///
    /// # Errors
    /// The description is invalid, or no view of it can be made.
    pub unsafe fn wrap_image(
        &self,
        desc: &ImageDesc,
        raw: vk::Image,
        keep: KeepAlive,
    ) -> Result<GpuImage, Error> {
        check_planes(desc)?;
        let desc = exclusive(desc)?;
        GpuImage::adopt(&self.0, &desc, |_| Ok((raw, Backing::Program(keep))))
    }

    fn external_image(
        &self,
        desc: &ImageDesc,
        (handle, wanted): (MemoryHandle, vk::ExternalMemoryFeatureFlags),
        source: Source,
        tiling: Tiling,
    ) -> Result<GpuImage, Error> {
        let device = &self.0;
        need(device, &desc.name, handle.extension())?;
        let desc = exclusive(desc)?;
        GpuImage::adopt(device, &desc, |info| {
            for modifier in tiling.modifiers() {
                let found = features(device, &info, handle, modifier);
                check_features(&desc.name, &format!("{handle:?}"), found, wanted, device)?;
            }
            let described = describe(&info);
            let mut external =
                vk::ExternalMemoryImageCreateInfo::default().handle_types(handle.raw());
            let info = info.push_next(&mut external);
            let raw = tiling.create(device, &desc.name, info)?;
            let made = modifiers::of_image(device, raw, &desc, &tiling).and_then(|modifier| {
                let described = (described, modifier);
                ExternalBacking::bind(device, &desc.name, For::Image(raw), source, described)
            });
            match made {
                Ok(backing) => {
                    device.names.name(raw, &desc.name);
                    Ok((raw, Backing::External(Box::new(backing))))
                }
                Err(error) => {
                    // SAFETY: made above, used by nothing.
                    unsafe { device.raw.destroy_image(raw, None) };
                    Err(error)
                }
            }
        })
    }
}

impl GpuImage {
    /// Exports its memory as a file descriptor, a new one each time.
    ///
    /// # Errors
    /// Called on one that was not made by [`Gpu::create_exportable_image`].
    pub fn export(&self) -> Result<SharedMemory, Error> {
        let object = self.object();
        ExternalBacking::share_backing(&object.backing(), &object.device, self.name())
    }
}

/// Hash of the parts of a description that exporter and importer share.
fn describe(info: &vk::ImageCreateInfo<'_>) -> u64 {
    let kinds = [info.image_type.as_raw(), info.format.as_raw()];
    // Vulkan has no negative type or format; a cast keeps the number in any case.
    let kinds = kinds.map(|kind| u64::from(kind.cast_unsigned()));
    let extent = [info.extent.width, info.extent.height, info.extent.depth];
    let counts = [info.mip_levels, info.array_layers, info.samples.as_raw()];
    let flags = [info.usage.as_raw(), info.flags.as_raw()];
    let rest = [extent, counts].concat();
    let rest = rest.iter().chain(&flags).map(|number| u64::from(*number));
    let numbers: Vec<u64> = [1].into_iter().chain(kinds).chain(rest).collect();
    description(&numbers)
}

/// Refuses formats of several planes or with subsampled chroma: their images are sampled by a conversion
/// (`VkSamplerYcbcrConversion`), which Quadrille's samplers have none of.
fn check_planes(desc: &ImageDesc) -> Result<(), Error> {
    let format = desc.format;
    if !is_planar(format) {
        return Ok(());
    }
    Err(invalid(
        &desc.name,
        format!(
            "{format:?} is a Y'CbCr format, whose images are neither exported nor imported; share each plane as an image of \
             its own at its `PlaneLayout::offset`, such as R8_UNORM and R8G8_UNORM for NV12, and convert in the shader"
        ),
    ))
}

fn exclusive(desc: &ImageDesc) -> Result<ImageDesc, Error> {
    check_shared(&desc.name, desc.sharing, desc.transient)?;
    Ok(ImageDesc {
        sharing: Sharing::Exclusive,
        ..desc.clone()
    })
}

/// Exports and imports that the driver offers for the memory of such an image. Empty where the image is beyond a limit
/// of the handle (`VkImageFormatProperties`, VUIDs 02252 and 02255 to 02258 of `VkImageCreateInfo`).
pub(super) fn features(
    device: &Device,
    info: &vk::ImageCreateInfo<'_>,
    handle: MemoryHandle,
    modifier: Option<u64>,
) -> vk::ExternalMemoryFeatureFlags {
    let mut external =
        vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(handle.raw());
    let mut drm = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default()
        .drm_format_modifier(modifier.unwrap_or_default());
    let mut asked = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(info.format)
        .ty(info.image_type)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(info.usage)
        .flags(info.flags)
        .push_next(&mut external);
    if modifier.is_some() {
        asked = asked
            .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
            .push_next(&mut drm);
    }
    let mut of_memory = vk::ExternalImageFormatProperties::default();
    let mut found = vk::ImageFormatProperties2::default().push_next(&mut of_memory);
    // SAFETY: the physical device is of this instance, and knows the structures: the extensions are enabled.
    let known = unsafe {
        device
            .instance
            .raw
            .get_physical_device_image_format_properties2(device.physical, &asked, &mut found)
    };
    let limits = found.image_format_properties;
    let (own, most) = (info.extent, limits.max_extent);
    let fits = own.width <= most.width
        && own.height <= most.height
        && own.depth <= most.depth
        && info.mip_levels <= limits.max_mip_levels
        && info.array_layers <= limits.max_array_layers
        && limits.sample_counts.contains(info.samples);
    if known.is_err() || !fits {
        return vk::ExternalMemoryFeatureFlags::empty();
    }
    of_memory
        .external_memory_properties
        .external_memory_features
}
