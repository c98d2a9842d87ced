//! Images and buffers of a session, each with memory of its own.

use std::ffi::c_void;
use std::ptr;

use super::session::failed;
use super::support::Profile;
use crate::api::{ash, vk};
use crate::error::VideoError;

/// Image of pictures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image {
    pub raw: vk::Image,
    /// View of all layers.
    pub view: vk::ImageView,
}

/// Host-visible buffer of coded pictures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bitstream {
    pub raw: vk::Buffer,
    /// Its mapped memory.
    at: *mut u8,
    /// Its size in bytes.
    pub bytes: u64,
}

// SAFETY: the pointer is to memory that is mapped as long as the buffer exists.
unsafe impl Send for Bitstream {}
// SAFETY: writes need exclusive access.
unsafe impl Sync for Bitstream {}

impl Bitstream {
    /// Writes bytes. Those beyond the end are left out.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        let room = self.bytes.saturating_sub(offset).min(data.len() as u64);
        if room == 0 {
            return;
        }
        // SAFETY: `room` bytes from `offset` on are within the mapped memory, which no queue reads now: each frame in
        // flight has a buffer of its own.
        let target = unsafe { self.at.add(offset as usize) };
        // SAFETY: as above; Rust's memory and the mapped memory do not overlap.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), target, room as usize) };
    }
}

/// Objects that are destroyed together.
pub(crate) struct Objects {
    device: ash::Device,
    types: vk::PhysicalDeviceMemoryProperties,
    images: Vec<Image>,
    buffers: Vec<vk::Buffer>,
    memory: Vec<vk::DeviceMemory>,
}

impl Objects {
    pub(crate) fn new(device: &ash::Device, types: &vk::PhysicalDeviceMemoryProperties) -> Self {
        Self {
            device: device.clone(),
            types: *types,
            images: Vec::new(),
            buffers: Vec::new(),
            memory: Vec::new(),
        }
    }

    /// Allocates memory with the given properties, preferably on the device.
    pub(crate) fn allocate(
        &mut self,
        needs: vk::MemoryRequirements,
        properties: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, VideoError> {
        let types = self.types.memory_types_as_slice();
        let fits = |wanted: vk::MemoryPropertyFlags| {
            let allowed = |index: usize| needs.memory_type_bits & (1 << index) != 0;
            let mut all = types.iter().enumerate();
            all.position(|(index, known)| allowed(index) && known.property_flags.contains(wanted))
        };
        let local = properties | vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let host = properties.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let index = match host {
            true => fits(properties),
            false => fits(local).or_else(|| fits(properties)),
        };
        let index = index.ok_or_else(|| VideoError::Vulkan {
            call: "vkAllocateMemory",
            result: format!("no memory type has {properties:?}"),
        })?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index as u32);
        // SAFETY: the device lives.
        let memory = unsafe { self.device.allocate_memory(&info, None) };
        let memory = memory.map_err(failed("vkAllocateMemory"))?;
        self.memory.push(memory);
        Ok(memory)
    }

    /// Creates an image for pictures of a coded size.
    pub(crate) fn image(
        &mut self,
        profile: &Profile,
        coded: [u32; 2],
        layers: u32,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image, VideoError> {
        let format = profile.format();
        let raw = profile.with(|profile| {
            let mut list =
                vk::VideoProfileListInfoKHR::default().profiles(std::slice::from_ref(profile));
            let mut info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(format)
                .extent(vk::Extent3D {
                    width: coded[0],
                    height: coded[1],
                    depth: 1,
                })
                .mip_levels(1)
                .array_layers(layers)
                .samples(vk::SampleCountFlags::TYPE_1)
                .tiling(vk::ImageTiling::OPTIMAL)
                .usage(usage);
            info.p_next = ptr::from_mut(&mut list).cast::<c_void>();
            // SAFETY: the device lives, and has this format with this usage.
            unsafe { self.device.create_image(&info, None) }
        });
        let raw = raw.map_err(failed("vkCreateImage"))?;
        let view = vk::ImageView::null();
        self.images.push(Image { raw, view });
        // SAFETY: the image lives.
        let needs = unsafe { self.device.get_image_memory_requirements(raw) };
        let memory = self.allocate(needs, vk::MemoryPropertyFlags::empty())?;
        // SAFETY: the memory is of the required size and type, and of this image only.
        let bound = unsafe { self.device.bind_image_memory(raw, memory, 0) };
        bound.map_err(failed("vkBindImageMemory"))?;
        let info = vk::ImageViewCreateInfo::default()
            .image(raw)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(super::layers(0, layers));
        // SAFETY: the image lives and has these layers.
        let view = unsafe { self.device.create_image_view(&info, None) };
        let view = view.map_err(failed("vkCreateImageView"))?;
        let image = Image { raw, view };
        self.images.pop();
        self.images.push(image);
        Ok(image)
    }

    /// Creates a mapped buffer for coded pictures.
    pub(crate) fn bitstream(
        &mut self,
        profile: &Profile,
        bytes: u64,
    ) -> Result<Bitstream, VideoError> {
        let raw = profile.with(|profile| {
            let mut list =
                vk::VideoProfileListInfoKHR::default().profiles(std::slice::from_ref(profile));
            let mut info = vk::BufferCreateInfo::default()
                .size(bytes)
                .usage(vk::BufferUsageFlags::VIDEO_DECODE_SRC_KHR);
            info.p_next = ptr::from_mut(&mut list).cast::<c_void>();
            // SAFETY: the device lives.
            unsafe { self.device.create_buffer(&info, None) }
        });
        let raw = raw.map_err(failed("vkCreateBuffer"))?;
        self.buffers.push(raw);
        // SAFETY: the buffer lives.
        let needs = unsafe { self.device.get_buffer_memory_requirements(raw) };
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = self.allocate(needs, host)?;
        // SAFETY: the memory is of the required size and type, and of this buffer only.
        let bound = unsafe { self.device.bind_buffer_memory(raw, memory, 0) };
        bound.map_err(failed("vkBindBufferMemory"))?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host-visible and not mapped yet.
        let at = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) };
        Ok(Bitstream {
            raw,
            at: at.map_err(failed("vkMapMemory"))?.cast(),
            bytes,
        })
    }

    /// Takes all objects out.
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self::new(&self.device, &self.types);
        std::mem::replace(self, empty)
    }

    /// Destroys all objects, which no queue may use any more.
    pub(crate) fn destroy(&mut self) {
        for image in self.images.drain(..) {
            // SAFETY: unused, as the caller promises; null is ignored.
            unsafe { self.device.destroy_image_view(image.view, None) };
            // SAFETY: as above.
            unsafe { self.device.destroy_image(image.raw, None) };
        }
        for buffer in self.buffers.drain(..) {
            // SAFETY: as above.
            unsafe { self.device.destroy_buffer(buffer, None) };
        }
        for memory in self.memory.drain(..) {
            // SAFETY: as above; its resources are gone.
            unsafe { self.device.free_memory(memory, None) };
        }
    }
}
