//! Surfaces of windows.

use std::any::Any;
use std::sync::Arc;

use ash::{ext, vk};
use raw_window_handle::{RawDisplayHandle, RawWindowHandle};

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::error::SurfaceError;

/// Upper bound of the number of present modes.
const MAX_MODES: usize = 16;

/// Properties of a surface for creating a swapchain.
pub(crate) struct SurfaceSupport {
    pub capabilities: vk::SurfaceCapabilitiesKHR,
    pub formats: Vec<vk::SurfaceFormatKHR>,
}

/// The window of a surface, to recreate the surface after its loss.
#[derive(Clone, Copy)]
enum Origin {
    Window(RawDisplayHandle, RawWindowHandle),
    Headless,
}

/// A `VkSurfaceKHR` with its window, which it keeps alive.
pub struct Surface {
    pub(crate) device: Arc<Device>,
    pub(crate) raw: vk::SurfaceKHR,
    origin: Origin,
    /// Dropped after the surface is destroyed.
    keep: Box<dyn Any + Send + Sync>,
}

// SAFETY: the handles in `origin` are only passed to the functions that create surfaces, by one
// thread at a time (`&mut self`); the caller of `Surface::new` promised that they stay valid.
unsafe impl Send for Surface {}
// SAFETY: only Vulkan handles are reachable through `&Surface`, and these may be shared between threads.
unsafe impl Sync for Surface {}

impl Surface {
    /// Creates the surface of a window. `keep` keeps the window alive, and is dropped after the
    /// surface is destroyed.
    ///
    /// # Safety
    /// The handles must be valid while `keep` is alive. On systems where windows belong
    /// to a thread, this must be called on that thread.
    ///
    /// # Errors
    /// The instance has no extension for this kind of window, or no queue can present to it.
    pub unsafe fn new(
        gpu: &Gpu,
        display: RawDisplayHandle,
        window: RawWindowHandle,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, SurfaceError> {
        Self::with_origin(gpu, Origin::Window(display, window), keep)
    }

    /// Creates a surface without a window (`VK_EXT_headless_surface`): swapchains work, but are not displayed.
    ///
    /// # Errors
    /// The instance does not have the extension.
    pub fn headless(gpu: &Gpu) -> Result<Self, SurfaceError> {
        Self::with_origin(gpu, Origin::Headless, Box::new(()))
    }

    fn with_origin(
        gpu: &Gpu,
        origin: Origin,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, SurfaceError> {
        let device = Arc::clone(&gpu.0);
        let raw = create(&device, origin)?;
        let surface = Self {
            device,
            raw,
            origin,
            keep,
        };
        if surface.can_present() {
            Ok(surface)
        } else {
            Err(SurfaceError::CannotPresent {
                device: gpu.info().name.clone(),
            })
        }
    }

    /// Recreates the surface after it was lost. Its swapchains must be destroyed.
    pub(crate) fn recreate(&mut self) -> Result<(), SurfaceError> {
        self.destroy();
        self.raw = create(&self.device, self.origin)?;
        Ok(())
    }

    /// Queries the surface's current capabilities and formats.
    pub(crate) fn support(&self) -> Result<SurfaceSupport, SurfaceError> {
        let surfaces = functions(&self.device)?;
        let physical = self.device.physical;
        // SAFETY: the surface is alive, and of the device's instance.
        let capabilities =
            unsafe { surfaces.get_physical_device_surface_capabilities(physical, self.raw) }
                .map_err(SurfaceError::vulkan(
                    &self.device,
                    "vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
                ))?;
        // SAFETY: as above.
        let formats =
            unsafe { surfaces.get_physical_device_surface_formats(physical, self.raw) }.map_err(
                SurfaceError::vulkan(&self.device, "vkGetPhysicalDeviceSurfaceFormatsKHR"),
            )?;
        Ok(SurfaceSupport {
            capabilities,
            formats,
        })
    }

    /// Returns the present modes that the surface supports.
    pub(crate) fn present_modes(&self) -> Result<Vec<vk::PresentModeKHR>, SurfaceError> {
        let surfaces = functions(&self.device)?;
        let physical = self.device.physical;
        // SAFETY: the surface is alive, and of the device's instance.
        unsafe { surfaces.get_physical_device_surface_present_modes(physical, self.raw) }.map_err(
            SurfaceError::vulkan(&self.device, "vkGetPhysicalDeviceSurfacePresentModesKHR"),
        )
    }

    /// Returns the present modes that a swapchain with this mode can change to, including itself; empty if
    /// the device cannot change modes.
    pub(crate) fn compatible_modes(
        &self,
        mode: vk::PresentModeKHR,
    ) -> Result<Vec<vk::PresentModeKHR>, SurfaceError> {
        let functions = self.device.instance.capabilities2.as_ref();
        let Some(functions) = functions.filter(|_| self.device.present_fences) else {
            return Ok(Vec::new());
        };
        let mut of_mode = vk::SurfacePresentModeEXT::default().present_mode(mode);
        let info = vk::PhysicalDeviceSurfaceInfo2KHR::default()
            .surface(self.raw)
            .push_next(&mut of_mode);
        let mut modes = vec![vk::PresentModeKHR::default(); MAX_MODES];
        let mut compatible =
            vk::SurfacePresentModeCompatibilityEXT::default().present_modes(&mut modes);
        let mut capabilities = vk::SurfaceCapabilities2KHR::default().push_next(&mut compatible);
        let physical = self.device.physical;
        // SAFETY: the surface is alive, has this mode, and is of the device's instance, which has
        // the extensions of the structures in the chains.
        unsafe {
            functions.get_physical_device_surface_capabilities2(physical, &info, &mut capabilities)
        }
        .map_err(SurfaceError::vulkan(
            &self.device,
            "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
        ))?;
        let count = compatible.present_mode_count as usize;
        modes.truncate(count);
        Ok(modes)
    }

    /// Whether any presenting queue of the topology can present to this surface.
    fn can_present(&self) -> bool {
        let Ok(surfaces) = functions(&self.device) else {
            return false;
        };
        let mut queues = self
            .device
            .topology
            .queues
            .iter()
            .filter(|queue| queue.can_present);
        queues.any(|queue| {
            let (physical, family) = (self.device.physical, queue.family.0);
            // SAFETY: the family is one of the device's, the surface is alive.
            unsafe { surfaces.get_physical_device_surface_support(physical, family, self.raw) }
                .unwrap_or(false)
        })
    }

    /// Leaks the surface and its window.
    pub(crate) fn leak(&mut self) {
        self.raw = vk::SurfaceKHR::null();
        std::mem::forget(std::mem::replace(&mut self.keep, Box::new(())));
    }

    fn destroy(&mut self) {
        if let Ok(surfaces) = functions(&self.device) {
            // SAFETY: created from this instance, or null; a swapchain owns its surface, so none is left.
            unsafe { surfaces.destroy_surface(self.raw, None) };
        }
        self.raw = vk::SurfaceKHR::null();
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        self.destroy();
    }
}

impl std::fmt::Debug for Surface {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Surface({:?})", self.raw)
    }
}

fn functions(device: &Device) -> Result<&ash::khr::surface::Instance, SurfaceError> {
    let missing = || SurfaceError::Unsupported {
        missing: "VK_KHR_surface".to_owned(),
    };
    device.instance.surface.as_ref().ok_or_else(missing)
}

fn create(device: &Device, origin: Origin) -> Result<vk::SurfaceKHR, SurfaceError> {
    let instance = &device.instance;
    let (display, window) = match origin {
        Origin::Window(display, window) => (display, window),
        Origin::Headless => return create_headless(device),
    };
    let needed = ash_window::enumerate_required_extensions(display)
        .map_err(SurfaceError::vulkan(device, "vkCreateSurfaceKHR"))?;
    for &name in needed {
        // SAFETY: ash-window's list is one of names with static lifetime.
        let name = unsafe { std::ffi::CStr::from_ptr(name) };
        if !instance.has(name) {
            let missing = name.to_string_lossy().into_owned();
            return Err(SurfaceError::Unsupported { missing });
        }
    }
    // SAFETY: the extensions are enabled; the handles are valid by the contract of `Surface::new`.
    unsafe { ash_window::create_surface(&instance.entry, &instance.raw, display, window, None) }
        .map_err(SurfaceError::vulkan(device, "vkCreateSurfaceKHR"))
}

fn create_headless(device: &Device) -> Result<vk::SurfaceKHR, SurfaceError> {
    let instance = &device.instance;
    let name = ext::headless_surface::NAME;
    if !instance.has(name) {
        let missing = name.to_string_lossy().into_owned();
        return Err(SurfaceError::Unsupported { missing });
    }
    let headless = ext::headless_surface::Instance::new(&instance.entry, &instance.raw);
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    // SAFETY: the extension is enabled.
    unsafe { headless.create_headless_surface(&info, None) }
        .map_err(SurfaceError::vulkan(device, "vkCreateHeadlessSurfaceEXT"))
}
