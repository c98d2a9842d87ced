//! One `VkSwapchainKHR`, and the choice of its parameters.

use ash::vk;
use quadrille_sync::states::TimelinePoint;

use crate::device::Device;
use crate::error::SurfaceError;
use crate::present::present_history::History;
use crate::present::surface::SurfaceSupport;
use crate::present::swapchain::SurfaceFormat;
use crate::present::swapchain::display::Unseen;
use crate::present::swapchain::modes::Modes;
use crate::resources::image::ImageUsage;

/// Proof of a present's completion.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Proof {
    /// The present's fence.
    Fence(vk::Fence),
    /// A submission that waited for the image's next acquisition.
    Point(TimelinePoint),
}

/// A swapchain with its images. Its owner destroys it.
pub(crate) struct Chain {
    pub raw: vk::SwapchainKHR,
    pub images: Vec<vk::Image>,
    pub views: Vec<vk::ImageView>,
    pub extent: [u32; 2],
    pub alpha: CompositeAlpha,
    pub modes: Modes,
    pub history: History<vk::Semaphore, Proof>,
    pub unseen: Unseen,
}

/// Composite alpha modes of a window: how the window system blends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompositeAlpha {
    /// The current mode, one bit.
    pub mode: vk::CompositeAlphaFlagsKHR,
    /// All modes that the surface supports.
    pub supported: vk::CompositeAlphaFlagsKHR,
}

/// Parameters of a new chain.
pub(super) struct Request<'a> {
    pub surface: vk::SurfaceKHR,
    pub format: SurfaceFormat,
    pub usage: ImageUsage,
    pub extent: [u32; 2],
    pub alpha: vk::CompositeAlphaFlagsKHR,
    pub modes: &'a Modes,
    pub image_count: u32,
}

impl Chain {
    /// Creates a chain and retires `old`.
    pub(super) fn new(
        device: &Device,
        request: &Request<'_>,
        support: &SurfaceSupport,
        old: vk::SwapchainKHR,
    ) -> Result<Self, SurfaceError> {
        let Some(functions) = &device.extensions.swapchain else {
            return Err(SurfaceError::Unsupported {
                missing: "VK_KHR_swapchain".to_owned(),
            });
        };
        let [width, height] = request.extent;
        let alpha = choose_alpha(
            support.capabilities.supported_composite_alpha,
            request.alpha,
        );
        let mut mode_info = vk::SwapchainPresentModesCreateInfoEXT::default()
            .present_modes(request.modes.compatible());
        let mut info = vk::SwapchainCreateInfoKHR::default()
            .surface(request.surface)
            .min_image_count(choose_image_count(
                &support.capabilities,
                request.image_count,
            ))
            .image_format(request.format.format)
            .image_color_space(request.format.color_space)
            .image_extent(vk::Extent2D { width, height })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::from_raw(request.usage.bits()))
            .pre_transform(support.capabilities.current_transform)
            .composite_alpha(alpha.mode)
            .present_mode(request.modes.current())
            .clipped(true)
            .old_swapchain(old);
        if !request.modes.compatible().is_empty() {
            info = info.push_next(&mut mode_info);
        }
        // SAFETY: every value was offered by the surface; `old` is of the same surface and was
        // not retired before.
        let raw = unsafe { functions.create_swapchain(&info, None) }
            .map_err(SurfaceError::vulkan(device, "vkCreateSwapchainKHR"))?;
        let mut chain = Self {
            raw,
            images: Vec::new(),
            views: Vec::new(),
            extent: request.extent,
            alpha,
            modes: request.modes.clone(),
            history: History::new(),
            unseen: Unseen::default(),
        };
        match chain.open(device, functions, request.format.format) {
            Ok(()) => Ok(chain),
            Err(result) => {
                chain.destroy(device);
                Err(SurfaceError::vulkan(device, "vkCreateImageView")(result))
            }
        }
    }

    /// Gets the images and creates their views.
    fn open(
        &mut self,
        device: &Device,
        functions: &ash::khr::swapchain::Device,
        format: vk::Format,
    ) -> Result<(), vk::Result> {
        // SAFETY: the chain was just created.
        let images = unsafe { functions.get_swapchain_images(self.raw) };
        self.images = device.note("vkGetSwapchainImagesKHR", images)?;
        for &image in &self.images {
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    base_mip_level: 0,
                    level_count: 1,
                    base_array_layer: 0,
                    layer_count: 1,
                });
            // SAFETY: the image is of the chain and has one level and one layer.
            self.views
                .push(unsafe { device.raw.create_image_view(&info, None) }?);
            device.names.name(image, "swapchain image");
        }
        Ok(())
    }

    /// Destroys the chain. Device and presentation engine must no longer use its images.
    pub(crate) fn destroy(&mut self, device: &Device) {
        for view in self.views.drain(..) {
            // SAFETY: created from this device, and unused.
            unsafe { device.raw.destroy_image_view(view, None) };
        }
        if let Some(functions) = &device.extensions.swapchain {
            // SAFETY: created from this device; its images are no longer used.
            unsafe { functions.destroy_swapchain(self.raw, None) };
        }
        self.raw = vk::SwapchainKHR::null();
    }
}

/// Returns the first requested format that the surface supports. Formats with another color space are considered only
/// if none matches exactly.
pub(super) fn choose_format(
    available: &[vk::SurfaceFormatKHR],
    wanted: &[SurfaceFormat],
) -> Result<SurfaceFormat, SurfaceError> {
    let known = |format: &&SurfaceFormat| {
        let mut available = available.iter().copied();
        available.any(|known| SurfaceFormat::from(known) == **format)
    };
    let similar = |wanted: &SurfaceFormat| {
        let mut available = available.iter().copied();
        available.find(|known| known.format == wanted.format)
    };
    let exact = wanted.iter().find(known).copied();
    exact
        .or_else(|| wanted.iter().find_map(similar).map(SurfaceFormat::from))
        .ok_or_else(|| SurfaceError::NoFormat {
            wanted: wanted.iter().map(|wanted| wanted.format).collect(),
            available: available.iter().map(|known| known.format).collect(),
        })
}

/// Returns the surface's extent, or the requested one clamped to the limits of surface and device if the surface lets
/// the program choose.
pub(super) fn choose_extent(
    capabilities: &vk::SurfaceCapabilitiesKHR,
    wanted: [u32; 2],
    most: [u32; 2],
) -> [u32; 2] {
    let vk::Extent2D { width, height } = capabilities.current_extent;
    if width != u32::MAX || height != u32::MAX {
        return [width, height];
    }
    let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
    // Not `clamp`, which panics if a driver reports a minimum above the maximum.
    [
        wanted[0].max(min.width).min(max.width).min(most[0]),
        wanted[1].max(min.height).min(max.height).min(most[1]),
    ]
}

/// Clamps the requested number of images to the surface's limits; a maximum of 0 means no limit.
pub(super) fn choose_image_count(capabilities: &vk::SurfaceCapabilitiesKHR, wanted: u32) -> u32 {
    let (min, max) = (capabilities.min_image_count, capabilities.max_image_count);
    let wanted = if wanted == 0 {
        min.saturating_add(1)
    } else {
        wanted.max(min)
    };
    if max == 0 { wanted } else { wanted.min(max) }
}

/// Returns the requested mode if the surface supports it, else opaque, else inherit, as in bevy
/// (`CompositeAlphaMode::Auto`), else the first supported one.
fn choose_alpha(
    supported: vk::CompositeAlphaFlagsKHR,
    wanted: vk::CompositeAlphaFlagsKHR,
) -> CompositeAlpha {
    use vk::CompositeAlphaFlagsKHR as Flags;
    let has = |mode: &Flags| !mode.is_empty() && supported.contains(*mode);
    let mode = [wanted, Flags::OPAQUE, Flags::INHERIT]
        .into_iter()
        .find(has)
        .unwrap_or(match supported.is_empty() {
            true => Flags::OPAQUE,
            // The lowest set bit.
            false => Flags::from_raw(1 << supported.as_raw().trailing_zeros()),
        });
    CompositeAlpha { mode, supported }
}

#[cfg(test)]
mod tests;
