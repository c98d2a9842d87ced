//! Poison: overwrites undefined contents with garbage.
//!
//! | Undefined | Becomes |
//! |---|---|
//! | fresh memory | mapped, or filled on the device, with 0xCD at allocation |
//! | a barrier from `UNDEFINED` | the range is cleared to garbage before the barrier |
//! | an acquire from `UNDEFINED` | likewise |
//! | `loadOp` `DONT_CARE` of dynamic rendering | a clear to garbage |
//!
//! Not covered: render pass objects, `storeOp` `DONT_CARE`, compressed and multi-planar formats,
//! sparse and transient images, barriers inside events, imported memory.
//!
//! Images get the usage `TRANSFER_DST` if format and tiling, or the surface, support it.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ash::vk;

use crate::dispatch::chain::chain;
use crate::state::barriers::ImageBarrier;
use crate::state::driver::Driver;
use crate::state::instance::Instance;
use crate::state::work::WorkLock;

mod garbage;
mod memory;

use garbage::Garbage;
use memory::Filler;

/// An image that the layer can clear.
#[derive(Clone, Copy, Debug)]
struct Image {
    format: vk::Format,
    is_3d: bool,
}

/// State of poison on a device: clearable images, and their views.
pub(crate) struct Poison {
    physical_device: vk::PhysicalDevice,
    memory: vk::PhysicalDeviceMemoryProperties,
    filler: Filler,
    images: RwLock<HashMap<vk::Image, Image>>,
    views: RwLock<HashMap<vk::ImageView, vk::Format>>,
    swapchains: RwLock<HashMap<vk::SwapchainKHR, Swapchain>>,
}

/// A swapchain with clearable images.
#[derive(Debug)]
struct Swapchain {
    format: vk::Format,
    images: Vec<vk::Image>,
}

impl Poison {
    /// # Safety
    /// `physical_device` must belong to `instance`.
    pub(crate) unsafe fn new(instance: &Instance, physical_device: vk::PhysicalDevice) -> Self {
        Self {
            physical_device,
            // SAFETY: by the caller's contract.
            memory: unsafe {
                instance
                    .next
                    .core
                    .get_physical_device_memory_properties(physical_device)
            },
            filler: Filler::default(),
            images: RwLock::default(),
            views: RwLock::default(),
            swapchains: RwLock::default(),
        }
    }

    /// Adds the usage for clearing if the image supports it. Returns whether it does.
    ///
    /// # Safety
    /// The chain of `info` must be valid.
    pub(crate) unsafe fn prepare(
        &self,
        driver: &Driver,
        info: &mut vk::ImageCreateInfo<'_>,
    ) -> bool {
        let unfit = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::PROTECTED;
        let transient = info
            .usage
            .contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
        // External memory depends on exactly this usage; a separate stencil usage would need TRANSFER_DST as well.
        let fixed = [
            vk::StructureType::EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
            vk::StructureType::IMAGE_STENCIL_USAGE_CREATE_INFO,
        ];
        // SAFETY: the chain of a valid structure.
        let has_fixed = unsafe { chain(info.p_next) }.any(|base| fixed.contains(&base.s_type));
        if info.flags.intersects(unfit)
            || transient
            || has_fixed
            || Garbage::of(info.format).is_none()
        {
            return false;
        }
        let core = &driver.instance.next.core;
        // SAFETY: the physical device belongs to the device.
        let properties = unsafe {
            core.get_physical_device_format_properties(self.physical_device, info.format)
        };
        let features = match info.tiling {
            vk::ImageTiling::LINEAR => properties.linear_tiling_features,
            vk::ImageTiling::OPTIMAL => properties.optimal_tiling_features,
            _ => return false,
        };
        let able = features.contains(vk::FormatFeatureFlags::TRANSFER_DST);
        if able {
            info.usage |= vk::ImageUsageFlags::TRANSFER_DST;
        }
        able
    }

    /// Adds the usage for clearing if the surface supports it. Returns whether it does.
    ///
    /// # Safety
    /// The surface must be valid.
    pub(crate) unsafe fn prepare_swapchain(
        &self,
        driver: &Driver,
        info: &mut vk::SwapchainCreateInfoKHR<'_>,
    ) -> bool {
        let query = driver
            .instance
            .next
            .surface
            .get_physical_device_surface_capabilities_khr;
        let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
        // SAFETY: by the caller's contract; the physical device belongs to the device.
        let result = unsafe { query(self.physical_device, info.surface, &mut capabilities) };
        let able = result == vk::Result::SUCCESS
            && capabilities
                .supported_usage_flags
                .contains(vk::ImageUsageFlags::TRANSFER_DST)
            && Garbage::of(info.image_format).is_some();
        if able {
            info.image_usage |= vk::ImageUsageFlags::TRANSFER_DST;
        }
        able
    }

    /// Adds a clearable image.
    pub(crate) fn add_image(&self, image: vk::Image, format: vk::Format, ty: vk::ImageType) {
        let known = Image {
            format,
            is_3d: ty == vk::ImageType::TYPE_3D,
        };
        self.images
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(image, known);
    }

    /// Removes a destroyed image.
    pub(crate) fn remove_image(&self, image: vk::Image) {
        self.images
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&image);
    }

    /// Adds a swapchain with clearable images.
    pub(crate) fn add_swapchain(&self, swapchain: vk::SwapchainKHR, format: vk::Format) {
        let images = Vec::new();
        let mut swapchains = self
            .swapchains
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        swapchains.insert(swapchain, Swapchain { format, images });
    }

    /// Adds the images of a swapchain.
    pub(crate) fn add_swapchain_images(&self, swapchain: vk::SwapchainKHR, images: &[vk::Image]) {
        let mut swapchains = self
            .swapchains
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(known) = swapchains.get_mut(&swapchain) else {
            return;
        };
        known.images = images.to_vec();
        for image in images {
            self.add_image(*image, known.format, vk::ImageType::TYPE_2D);
        }
    }

    /// Removes a destroyed swapchain with its images.
    pub(crate) fn remove_swapchain(&self, swapchain: vk::SwapchainKHR) {
        let mut swapchains = self
            .swapchains
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let known = swapchains.remove(&swapchain);
        for image in known.into_iter().flat_map(|known| known.images) {
            self.remove_image(image);
        }
    }

    /// Adds the format of a view.
    pub(crate) fn add_view(&self, view: vk::ImageView, format: vk::Format) {
        self.views
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(view, format);
    }

    /// Removes a destroyed view.
    pub(crate) fn remove_view(&self, view: vk::ImageView) {
        self.views
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&view);
    }

    /// Returns an attachment that is cleared to garbage if the app does not load it.
    pub(crate) fn load_op<'a>(
        &self,
        attachment: &vk::RenderingAttachmentInfo<'a>,
    ) -> vk::RenderingAttachmentInfo<'a> {
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        let garbage = views
            .get(&attachment.image_view)
            .and_then(|format| Garbage::of(*format));
        match garbage {
            Some(garbage) if attachment.load_op == vk::AttachmentLoadOp::DONT_CARE => (*attachment)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .clear_value(garbage.clear_value()),
            _ => *attachment,
        }
    }

    /// Clears images to garbage if these barriers discard their contents, and adapts the barriers' old layouts. Returns
    /// whether there were any.
    ///
    /// # Safety
    /// `buffer` must be recording, outside of a render pass instance.
    pub(crate) unsafe fn discard<B: ImageBarrier>(
        &self,
        driver: &Driver,
        buffer: vk::CommandBuffer,
        barriers: &mut [B],
    ) -> bool {
        let mut any = false;
        for barrier in barriers {
            let (image, range) = barrier.target();
            let images = self.images.read().unwrap_or_else(PoisonError::into_inner);
            let Some(known) = images.get(&image).copied() else {
                continue;
            };
            let Some(garbage) = Garbage::of(known.format) else {
                continue;
            };
            if *barrier.layouts().0 != vk::ImageLayout::UNDEFINED {
                continue;
            }
            let range = if known.is_3d {
                range.base_array_layer(0).layer_count(1)
            } else {
                range
            };
            // SAFETY: by the caller's contract; the image was created with the usage that clearing needs.
            unsafe { clear(driver, buffer, image, range, garbage) };
            *barrier.layouts().0 = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            barrier.wait_for_all();
            any = true;
        }
        any
    }

    /// Fills fresh memory.
    ///
    /// # Safety
    /// `memory` must have just been allocated with `info`, and no other thread may use it yet.
    pub(crate) unsafe fn fill(
        &self,
        driver: &Driver,
        work: &WorkLock,
        info: &vk::MemoryAllocateInfo<'_>,
        memory: vk::DeviceMemory,
    ) {
        let index = info.memory_type_index as usize;
        let flags = self
            .memory
            .memory_types
            .get(index)
            .map(|one| one.property_flags);
        // SAFETY: by the caller's contract.
        unsafe {
            self.filler
                .fill(driver, work, info, flags.unwrap_or_default(), memory)
        };
    }

    /// Destroys the layer's own objects.
    ///
    /// # Safety
    /// The device must be idle.
    pub(crate) unsafe fn destroy(&self, driver: &Driver) {
        // SAFETY: by the caller's contract.
        unsafe { self.filler.destroy(driver) };
    }
}

/// Records a clear of an image range whose contents are discarded. Leaves the range in `TRANSFER_DST_OPTIMAL`.
///
/// # Safety
/// `buffer` must be recording, outside of a render pass instance; the image must have the usage `TRANSFER_DST`.
unsafe fn clear(
    driver: &Driver,
    buffer: vk::CommandBuffer,
    image: vk::Image,
    range: vk::ImageSubresourceRange,
    garbage: Garbage,
) {
    let core = &driver.next.core;
    let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .old_layout(vk::ImageLayout::UNDEFINED)
        .new_layout(layout)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range);
    // SAFETY: by the caller's contract.
    unsafe {
        core.cmd_pipeline_barrier(
            buffer,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::TRANSFER,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        );
    }
    match garbage {
        // SAFETY: by the caller's contract; the barrier above made the layout.
        Garbage::Color(color) => unsafe {
            core.cmd_clear_color_image(buffer, image, layout, &color, &[range]);
        },
        // SAFETY: by the caller's contract; the barrier above made the layout.
        Garbage::DepthStencil(value) => unsafe {
            core.cmd_clear_depth_stencil_image(buffer, image, layout, &value, &[range]);
        },
    }
}
