//! Surfaces, acquisition and presentation.
//!
//! Presents are not held. When an app presents, everything that signals the semaphores must have been submitted
//! (VUID-vkQueuePresentKHR-pWaitSemaphores-03268). So it is forwarded first, and the app gets the driver's own result.

use std::time::Duration;

use ash::vk::{self, Handle};

use crate::dispatch::chain::{find, slice};
use crate::intercepts::present_modes;
use crate::intercepts::resources::Shared;
use crate::queues::fifo::Point;
use crate::settings::script::FenceFault;
use crate::state::deadlock::ProgressTimeout;
use crate::state::device::Device;
use crate::state::registry::{device_of, instance_of};

/// `vkGetPhysicalDeviceSurfaceSupportKHR`: true if the virtual family may present and the real one can.
pub(crate) unsafe extern "system" fn surface_support(
    physical_device: vk::PhysicalDevice,
    family: u32,
    surface: vk::SurfaceKHR,
    supported: *mut vk::Bool32,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    // SAFETY: the app passes a valid handle.
    let real = unsafe { instance.real_family(physical_device) }.unwrap_or(0);
    let call = instance
        .calls
        .begin("vkGetPhysicalDeviceSurfaceSupportKHR")
        .detail("family", family);
    let query = instance
        .next
        .surface
        .get_physical_device_surface_support_khr;
    // SAFETY: the app's own arguments, on the real family.
    let result = call.run(|| unsafe { query(physical_device, real, surface, supported) });
    if result == vk::Result::SUCCESS && !instance.may_present(family) {
        // SAFETY: the app passes a valid pointer.
        unsafe { supported.write(vk::FALSE) };
    }
    result
}

macro_rules! presentation_support {
    ($($function:ident $command:literal $table:ident.$query:ident ($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("`", $command, "`: as the virtual family may, and the real one can.")]
        pub(crate) unsafe extern "system" fn $function(
            physical_device: vk::PhysicalDevice,
            family: u32,
            $($arg: $ty),*
        ) -> vk::Bool32 {
            // SAFETY: the app passes a valid handle.
            let instance = unsafe { instance_of(physical_device) };
            instance.calls.begin($command).detail("family", family).done();
            if !instance.may_present(family) {
                return vk::FALSE;
            }
            // SAFETY: the app passes a valid handle.
            let real = unsafe { instance.real_family(physical_device) }.unwrap_or(0);
            // SAFETY: the app's own arguments, on the real family.
            unsafe { (instance.next.$table.$query)(physical_device, real, $($arg),*) }
        }
    )*};
}

presentation_support! {
    xlib_presentation_support "vkGetPhysicalDeviceXlibPresentationSupportKHR"
        xlib_surface.get_physical_device_xlib_presentation_support_khr
        (display: *mut vk::Display, visual: vk::VisualID);
    xcb_presentation_support "vkGetPhysicalDeviceXcbPresentationSupportKHR"
        xcb_surface.get_physical_device_xcb_presentation_support_khr
        (connection: *mut vk::xcb_connection_t, visual: vk::xcb_visualid_t);
    wayland_presentation_support "vkGetPhysicalDeviceWaylandPresentationSupportKHR"
        wayland_surface.get_physical_device_wayland_presentation_support_khr
        (display: *mut vk::wl_display);
}

/// `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`: the script may replace the extent.
pub(crate) unsafe extern "system" fn surface_capabilities(
    physical_device: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    capabilities: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let extent = instance.calls.next_extent();
    let call = instance
        .calls
        .begin("vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    let query = instance
        .next
        .surface
        .get_physical_device_surface_capabilities_khr;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { query(physical_device, surface, capabilities) });
    if let (Some(extent), vk::Result::SUCCESS) = (extent, result) {
        // SAFETY: the driver has written the structure.
        set_extent(unsafe { &mut *capabilities }, extent);
    }
    result
}

/// `vkGetPhysicalDeviceSurfaceCapabilities2KHR`: the script may replace the extent, except in queries of compatible
/// present modes, which are not counted.
pub(crate) unsafe extern "system" fn surface_capabilities2(
    physical_device: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    capabilities: *mut vk::SurfaceCapabilities2KHR<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    // SAFETY: the app passes a valid structure.
    let surface = unsafe { &*info }.surface;
    // SAFETY: as above.
    let chain = unsafe { &*capabilities }.p_next;
    // SAFETY: its chain is valid too.
    let asked = unsafe { find::<vk::SurfacePresentModeCompatibilityEXT<'_>>(chain) };
    let extent = match asked {
        Some(_) => None,
        None => instance.calls.next_extent(),
    };
    let call = instance
        .calls
        .begin("vkGetPhysicalDeviceSurfaceCapabilities2KHR");
    let query = instance
        .next
        .surface_capabilities2
        .get_physical_device_surface_capabilities2_khr;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { query(physical_device, info, capabilities) });
    if result != vk::Result::SUCCESS {
        return result;
    }
    if let Some(extent) = extent {
        // SAFETY: the driver has written the structure.
        set_extent(
            &mut unsafe { &mut *capabilities }.surface_capabilities,
            extent,
        );
    }
    // SAFETY: the app passes valid handles, and a chain which no other thread uses during the call.
    unsafe { instance.answer_modes(physical_device, surface, chain) }
}

/// Reports the extent as fixed by the window system; (2^32-1)^2 leaves it to the app.
fn set_extent(capabilities: &mut vk::SurfaceCapabilitiesKHR, extent: vk::Extent2D) {
    capabilities.current_extent = extent;
    if extent.width != u32::MAX {
        capabilities.min_image_extent = extent;
        capabilities.max_image_extent = extent;
    }
}

/// `vkCreateSwapchainKHR`.
pub(crate) unsafe extern "system" fn create_swapchain(
    device: vk::Device,
    create_info: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SwapchainKHR,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let mut info = unsafe { *create_info }.exclusive();
    let poison = device.poison.as_ref();
    // SAFETY: the app passes a valid surface.
    let poison =
        poison.filter(|poison| unsafe { poison.prepare_swapchain(&device.driver, &mut info) });
    let call = device
        .calls()
        .begin("vkCreateSwapchainKHR")
        .detail("width", info.image_extent.width)
        .detail("height", info.image_extent.height)
        .detail("images", info.min_image_count);
    let create = device.driver.next.swapchain.create_swapchain_khr;
    let result = device.run(call, || {
        if device.swapchains.count(info.surface) >= device.calls().most_swapchains() {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        // SAFETY: the app's own arguments, exclusive.
        let create = || unsafe { create(device.handle(), &info, allocator, out) };
        // SAFETY: the app passes a valid chain, which no other thread uses during the call.
        unsafe {
            present_modes::create_without(device.driver.instance.settings.any_mode, &info, create)
        }
    });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written the handle.
        let swapchain = unsafe { *out };
        if let Some(poison) = poison {
            poison.add_swapchain(swapchain, info.image_format);
        }
        let fault = device.calls().next_images();
        device.swapchains.add(swapchain, info.surface, fault);
    }
    result
}

/// `vkGetSwapchainImagesKHR`.
pub(crate) unsafe extern "system" fn swapchain_images(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    images: *mut vk::Image,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    let get = device.driver.next.swapchain.get_swapchain_images_khr;
    let call = device.calls().begin("vkGetSwapchainImagesKHR");
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { get(device.handle(), swapchain, count, images) });
    if let (Some(poison), vk::Result::SUCCESS) = (&device.poison, result) {
        // SAFETY: the app passes a valid pointer.
        let count = unsafe { *count };
        // SAFETY: the driver has written this many handles, or the pointer is null.
        poison.add_swapchain_images(swapchain, unsafe { slice(images, count) });
    }
    result
}

/// `vkDestroySwapchainKHR`.
pub(crate) unsafe extern "system" fn destroy_swapchain(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroySwapchainKHR").done();
    if let Some(poison) = &device.poison {
        poison.remove_swapchain(swapchain);
    }
    device.shown.forget(swapchain);
    // SAFETY: the app no longer uses the swapchain.
    unsafe { device.swapchains.destroy(&device.driver, swapchain) };
    let destroy = device.driver.next.swapchain.destroy_swapchain_khr;
    // SAFETY: the app's own arguments.
    unsafe { destroy(device.handle(), swapchain, allocator) };
}

/// `vkAcquireNextImageKHR`.
pub(crate) unsafe extern "system" fn acquire_next_image(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout_ns: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    let info = vk::AcquireNextImageInfoKHR::default()
        .swapchain(swapchain)
        .timeout(timeout_ns)
        .semaphore(semaphore)
        .fence(fence);
    // SAFETY: the app passes a valid pointer.
    device.acquire(&info, unsafe { &mut *index })
}

/// `vkQueuePresentKHR`.
pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    let call = device
        .calls()
        .begin("vkQueuePresentKHR")
        .detail("queue", device.position(queue))
        .detail("waits", info.wait_semaphore_count)
        // SAFETY: its chain is valid too.
        .detail("modes", unsafe { present_modes::count(info) });
    let injected = call.injected();
    if device.is_lost() {
        return call.finish(vk::Result::ERROR_DEVICE_LOST, false);
    }
    if injected == Some(vk::Result::ERROR_DEVICE_LOST) {
        device.work().lose(&device.driver);
        return call.finish(vk::Result::ERROR_DEVICE_LOST, true);
    }
    // After an out-of-memory error nothing was queued; with all other results the waits execute.
    let nothing_done = [
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    ];
    if let Some(result) = injected.filter(|result| nothing_done.contains(result)) {
        return call.finish(result, true);
    }
    // SAFETY: the app passes a valid structure.
    let present = || unsafe { device.present(info) };
    let failed = injected.is_some_and(|result| result.as_raw() < 0);
    // SAFETY: the app passes a valid structure, within this call.
    let real = unsafe { device.present_with_ids(info, failed, present) };
    let Some(result) = injected.filter(|_| real.as_raw() >= 0) else {
        return call.finish(real, false);
    };
    if !info.p_results.is_null() {
        for swapchain in 0..info.swapchain_count as usize {
            // SAFETY: the app passes one result per swapchain.
            let slot = unsafe { info.p_results.add(swapchain) };
            // SAFETY: as above.
            unsafe { slot.write(result) };
        }
    }
    call.finish(result, true)
}

impl Device {
    fn acquire(&self, info: &vk::AcquireNextImageInfoKHR<'_>, index: &mut u32) -> vk::Result {
        let call = self.calls().begin("vkAcquireNextImageKHR");
        let acquire = self.driver.next.swapchain.acquire_next_image_khr;
        let real = |info: &vk::AcquireNextImageInfoKHR<'_>, index: &mut u32| {
            let (device, fence) = (self.handle(), info.fence);
            // SAFETY: the app's own arguments, or a fence of the layer.
            unsafe {
                acquire(
                    device,
                    info.swapchain,
                    info.timeout,
                    info.semaphore,
                    fence,
                    index,
                )
            }
        };
        let fault = self.calls().next_fence(info.fence);
        self.run(call, || {
            if self.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let fence = info.fence;
            let mut info = *info;
            match self.swapchains.wait(info.swapchain, info.timeout) {
                Ok(left) => info.timeout = left,
                Err(result) => return result,
            }
            if fault == Some(FenceFault::Never) && info.semaphore != vk::Semaphore::null() {
                info.fence = vk::Fence::null();
            }
            let result = if self.calls().image_order().is_empty() {
                real(&info, index)
            } else {
                self.acquire_in_order(&info, index, &real)
            };
            if result.as_raw() < 0 || [vk::Result::TIMEOUT, vk::Result::NOT_READY].contains(&result)
            {
                return result;
            }
            let mut work = self.work();
            if let Some(fault) = fault {
                work.spoil(fence, fault);
            }
            work.fifo.signal(Point {
                semaphore: info.semaphore.as_raw(),
                value: 0,
            });
            result
        })
    }

    /// Forwards everything that signals the semaphores of a present, then presents.
    ///
    /// # Safety
    /// `info` and everything it points to must be valid.
    unsafe fn present(&self, info: &vk::PresentInfoKHR<'_>) -> vk::Result {
        // SAFETY: valid by the caller's contract.
        let waits = unsafe { slice(info.p_wait_semaphores, info.wait_semaphore_count) };
        let points: Vec<Point> = {
            let fifo = &mut self.work().fifo;
            let point = |wait: &vk::Semaphore| Point {
                semaphore: wait.as_raw(),
                value: 0,
            };
            waits
                .iter()
                .map(|wait| fifo.resolve_wait(point(wait)))
                .collect()
        };
        // SAFETY: valid by the caller's contract.
        let fences = unsafe { find::<vk::SwapchainPresentFenceInfoEXT<'_>>(info.p_next) };
        let mut progress = ProgressTimeout::new(self);
        loop {
            let mut work = self.work();
            // After a loss nothing may reach the driver, because the app no longer waits for it.
            if self.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let covered = work.forward_until(&self.driver, |work| {
                points.iter().all(|point| work.fifo.is_covered(*point))
            });
            match covered {
                Err(error) => return error,
                Ok(true) => {
                    if let Some(fences) = fences {
                        // SAFETY: the structure is valid, and so is its array.
                        for fence in unsafe { slice(fences.p_fences, fences.swapchain_count) } {
                            if let Some(fault) = self.calls().next_present_fence(*fence) {
                                work.spoil(*fence, fault);
                            }
                        }
                    }
                    let present = self.driver.next.swapchain.queue_present_khr;
                    // SAFETY: the app's own arguments, on the real queue, which is locked.
                    let present = || unsafe { present(self.driver.queue, info) };
                    let any_mode = self.driver.instance.settings.any_mode;
                    // SAFETY: valid by the caller's contract.
                    return unsafe { present_modes::present_without(any_mode, info, present) };
                }
                Ok(false) if progress.is_over(work.fifo.epoch()) => {
                    return self.report_deadlock("vkQueuePresentKHR", &mut work);
                }
                Ok(false) => {}
            }
            drop(work);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
