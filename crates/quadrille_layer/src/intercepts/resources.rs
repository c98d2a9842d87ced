//! Buffers, images and memory: removes sharing lists, and tracks objects for poison.
//!
//! With one real family, `CONCURRENT` has no effect, and the listed families do not exist.

use ash::vk;

use crate::state::device::Device;
use crate::state::registry::device_of;

/// A create info with a sharing mode and a list of families.
pub(crate) trait Shared: Copy {
    /// Returns the structure with exclusive sharing.
    fn exclusive(self) -> Self;
}

macro_rules! shared {
    ($($info:ident: $mode:ident)*) => {$(
        impl Shared for vk::$info<'_> {
            fn exclusive(mut self) -> Self {
                self.$mode = vk::SharingMode::EXCLUSIVE;
                self.queue_family_index_count = 0;
                self.p_queue_family_indices = std::ptr::null();
                self
            }
        }
    )*};
}
shared!(
    BufferCreateInfo: sharing_mode
    ImageCreateInfo: sharing_mode
    SwapchainCreateInfoKHR: image_sharing_mode
);

impl Device {
    /// Returns the create info of an image for the driver, and whether poison can clear the image.
    ///
    /// # Safety
    /// The chain of `original` must be valid.
    unsafe fn image_info<'a>(
        &self,
        original: &vk::ImageCreateInfo<'a>,
    ) -> (vk::ImageCreateInfo<'a>, bool) {
        let mut info = original.exclusive();
        let Some(poison) = &self.poison else {
            return (info, false);
        };
        // SAFETY: by the caller's contract.
        let clearable = unsafe { poison.prepare(&self.driver, &mut info) };
        (info, clearable)
    }
}

/// `vkCreateBuffer`.
pub(crate) unsafe extern "system" fn create_buffer(
    device: vk::Device,
    create_info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { *create_info }.exclusive();
    let call = device.calls().begin("vkCreateBuffer");
    let create = device.driver.next.core.fp_v1_0().create_buffer;
    // SAFETY: the app's own arguments, exclusive.
    call.run(|| unsafe { create(device.handle(), &info, allocator, out) })
}

/// `vkCreateImage`.
pub(crate) unsafe extern "system" fn create_image(
    device: vk::Device,
    create_info: *const vk::ImageCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Image,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let original = unsafe { &*create_info };
    // SAFETY: its chain is valid too.
    let (info, clearable) = unsafe { device.image_info(original) };
    let call = device.calls().begin("vkCreateImage");
    let create = device.driver.next.core.fp_v1_0().create_image;
    // SAFETY: the app's own arguments, exclusive.
    let result = call.run(|| unsafe { create(device.handle(), &info, allocator, out) });
    if let (Some(poison), vk::Result::SUCCESS, true) = (&device.poison, result, clearable) {
        // SAFETY: the driver has written the handle.
        poison.add_image(unsafe { *out }, info.format, info.image_type);
    }
    result
}

/// `vkDestroyImage`.
pub(crate) unsafe extern "system" fn destroy_image(
    device: vk::Device,
    image: vk::Image,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroyImage").done();
    if let Some(poison) = &device.poison {
        poison.remove_image(image);
    }
    // SAFETY: the app's own arguments.
    unsafe { (device.driver.next.core.fp_v1_0().destroy_image)(device.handle(), image, allocator) };
}

/// `vkCreateImageView`.
pub(crate) unsafe extern "system" fn create_image_view(
    device: vk::Device,
    create_info: *const vk::ImageViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::ImageView,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    let call = device.calls().begin("vkCreateImageView");
    let create = device.driver.next.core.fp_v1_0().create_image_view;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { create(device.handle(), create_info, allocator, out) });
    if let (Some(poison), vk::Result::SUCCESS) = (&device.poison, result) {
        // SAFETY: the app passes a valid structure.
        let format = unsafe { &*create_info }.format;
        // SAFETY: the driver has written the handle.
        poison.add_view(unsafe { *out }, format);
    }
    result
}

/// `vkDestroyImageView`.
pub(crate) unsafe extern "system" fn destroy_image_view(
    device: vk::Device,
    view: vk::ImageView,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroyImageView").done();
    if let Some(poison) = &device.poison {
        poison.remove_view(view);
    }
    // SAFETY: the app's own arguments.
    unsafe {
        (device.driver.next.core.fp_v1_0().destroy_image_view)(device.handle(), view, allocator)
    };
}

/// `vkAllocateMemory`.
pub(crate) unsafe extern "system" fn allocate_memory(
    device: vk::Device,
    allocate_info: *const vk::MemoryAllocateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*allocate_info };
    let call = device
        .calls()
        .begin("vkAllocateMemory")
        .detail("bytes", info.allocation_size);
    let allocate = device.driver.next.core.fp_v1_0().allocate_memory;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { allocate(device.handle(), info, allocator, out) });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written the handle.
        let memory = unsafe { *out };
        // SAFETY: just allocated, and not returned to the app yet.
        unsafe { device.fill(info, memory) };
    }
    result
}
