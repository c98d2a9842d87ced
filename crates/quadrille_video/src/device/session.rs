//! Video sessions: the session with its memory, parameter sets, and the images of the decoded picture buffer.

use std::ptr;

use super::memory::{Image, Objects};
use super::sets::Sets;
use super::support::{Profile, Support, usage};
use crate::api::{ash, vk};
use crate::error::VideoError;

/// Functions of a device for video.
#[derive(Clone)]
pub(crate) struct Functions {
    pub device: ash::Device,
    pub queue: ash::khr::video_queue::DeviceFn,
    pub decode: ash::khr::video_decode_queue::DeviceFn,
}

impl Functions {
    pub(crate) fn load(instance: &ash::Instance, device: &ash::Device) -> Self {
        let queue = ash::khr::video_queue::Device::new(instance, device);
        let decode = ash::khr::video_decode_queue::Device::new(instance, device);
        Self {
            device: device.clone(),
            queue: queue.fp().clone(),
            decode: decode.fp().clone(),
        }
    }
}

/// Requirements of a stream on its session.
pub(crate) struct SessionDesc<'a> {
    /// Queue family that decodes.
    pub family: u32,
    pub profile: &'a Profile,
    pub support: &'a Support,
    pub memory: &'a vk::PhysicalDeviceMemoryProperties,
    /// Coded size in pixels.
    pub coded: [u32; 2],
    /// Slots of the decoded picture buffer.
    pub slots: u32,
}

/// Decoder of one stream on the device. Destroyed by [`Session::destroy`] only.
pub(crate) struct Session {
    pub functions: Functions,
    pub raw: vk::VideoSessionKHR,
    pub parameters: vk::VideoSessionParametersKHR,
    /// Image with a layer for each slot.
    pub slots: Image,
    /// Image of decoded pictures, where they cannot be reference pictures at the same time.
    pub output: Option<Image>,
    /// Coded size of pictures in pixels.
    pub picture: [u32; 2],
    /// Size of images in pixels: the coded size, aligned to the granularity of the device.
    pub coded: [u32; 2],
    /// Bytes of a value in planes.
    pub bytes_per_value: u64,
    objects: Objects,
}

impl Session {
    /// Creates a session for a stream.
    ///
    /// # Errors
    /// A limit of the device is too small, or a call failed.
    pub(crate) fn new(functions: &Functions, desc: &SessionDesc<'_>) -> Result<Self, VideoError> {
        let support = desc.support;
        let mut coded = desc.coded;
        for (size, granularity) in coded.iter_mut().zip(support.granularity) {
            // Planes of chroma have half of it.
            *size = size.next_multiple_of(granularity).next_multiple_of(2);
        }
        let mut objects = Objects::new(&functions.device, desc.memory);
        let created = Self::create(functions, desc, coded, &mut objects);
        match created {
            Ok((raw, slots, output)) => Ok(Self {
                functions: functions.clone(),
                raw,
                parameters: vk::VideoSessionParametersKHR::null(),
                slots,
                output,
                picture: desc.coded,
                coded,
                bytes_per_value: desc.profile.bytes_per_value(),
                objects,
            }),
            Err(error) => {
                objects.destroy();
                Err(error)
            }
        }
    }

    fn create(
        functions: &Functions,
        desc: &SessionDesc<'_>,
        coded: [u32; 2],
        objects: &mut Objects,
    ) -> Result<(vk::VideoSessionKHR, Image, Option<Image>), VideoError> {
        let support = desc.support;
        let [of_slots, of_output] = usage(support.coincide);
        let slots = objects.image(desc.profile, coded, desc.slots, of_slots)?;
        let output = match support.coincide {
            true => None,
            false => Some(objects.image(desc.profile, coded, 1, of_output)?),
        };
        let format = desc.profile.format();
        let raw = desc.profile.with(|profile| {
            let info = vk::VideoSessionCreateInfoKHR::default()
                .queue_family_index(desc.family)
                .video_profile(profile)
                .picture_format(format)
                .reference_picture_format(format)
                .max_coded_extent(vk::Extent2D {
                    width: coded[0],
                    height: coded[1],
                })
                .max_dpb_slots(desc.slots)
                .max_active_reference_pictures((desc.slots - 1).min(support.slots[1]))
                .std_header_version(&support.header);
            let mut raw = vk::VideoSessionKHR::null();
            // SAFETY: the profile and all limits were queried of this device.
            let result = unsafe {
                (functions.queue.create_video_session_khr)(
                    functions.device.handle(),
                    &info,
                    ptr::null(),
                    &mut raw,
                )
            };
            result
                .result_with_success(raw)
                .map_err(failed("vkCreateVideoSessionKHR"))
        })?;
        if let Err(error) = bind_memory(functions, raw, objects) {
            destroy_session(functions, raw);
            return Err(error);
        }
        Ok((raw, slots, output))
    }

    /// Gives the session its parameter sets. To be called once.
    ///
    /// # Errors
    /// The call failed.
    pub(crate) fn set_parameters(&mut self, sets: &Sets) -> Result<(), VideoError> {
        let raw = sets.with(|codec| {
            let mut info =
                vk::VideoSessionParametersCreateInfoKHR::default().video_session(self.raw);
            info.p_next = codec;
            let mut raw = vk::VideoSessionParametersKHR::null();
            // SAFETY: the session lives, and so do the sets and all that they point to.
            let result = unsafe {
                (self.functions.queue.create_video_session_parameters_khr)(
                    self.functions.device.handle(),
                    &info,
                    ptr::null(),
                    &mut raw,
                )
            };
            result.result_with_success(raw)
        });
        self.parameters = raw.map_err(failed("vkCreateVideoSessionParametersKHR"))?;
        Ok(())
    }

    /// Destroys the session and all of its objects.
    ///
    /// # Safety
    /// No queue uses them any more.
    pub(crate) unsafe fn destroy(mut self) {
        // SAFETY: the caller promises that they are unused; null is ignored.
        unsafe {
            (self.functions.queue.destroy_video_session_parameters_khr)(
                self.functions.device.handle(),
                self.parameters,
                ptr::null(),
            );
        }
        destroy_session(&self.functions, self.raw);
        self.objects.destroy();
    }
}

/// Destroys a session that no queue uses any more.
fn destroy_session(functions: &Functions, raw: vk::VideoSessionKHR) {
    // SAFETY: private to this module, which calls it for unused sessions only.
    unsafe {
        (functions.queue.destroy_video_session_khr)(functions.device.handle(), raw, ptr::null());
    }
}

/// Allocates and binds the memory of a session.
fn bind_memory(
    functions: &Functions,
    raw: vk::VideoSessionKHR,
    objects: &mut Objects,
) -> Result<(), VideoError> {
    let device = functions.device.handle();
    let query = functions.queue.get_video_session_memory_requirements_khr;
    let mut count = 0;
    // SAFETY: the session lives.
    let result = unsafe { query(device, raw, &mut count, ptr::null_mut()) };
    result
        .result()
        .map_err(failed("vkGetVideoSessionMemoryRequirementsKHR"))?;
    let mut needs = vec![vk::VideoSessionMemoryRequirementsKHR::default(); count as usize];
    // SAFETY: as above; there is room for as many as were counted.
    let result = unsafe { query(device, raw, &mut count, needs.as_mut_ptr()) };
    result
        .result()
        .map_err(failed("vkGetVideoSessionMemoryRequirementsKHR"))?;
    let mut binds = Vec::with_capacity(needs.len());
    for need in &needs {
        let memory =
            objects.allocate(need.memory_requirements, vk::MemoryPropertyFlags::empty())?;
        let bind = vk::BindVideoSessionMemoryInfoKHR::default()
            .memory_bind_index(need.memory_bind_index)
            .memory(memory)
            .memory_size(need.memory_requirements.size);
        binds.push(bind);
    }
    // SAFETY: each index is bound once, to memory of its own of the required size and type.
    let result = unsafe {
        (functions.queue.bind_video_session_memory_khr)(
            device,
            raw,
            binds.len() as u32,
            binds.as_ptr(),
        )
    };
    result
        .result()
        .map_err(failed("vkBindVideoSessionMemoryKHR"))
}

/// Error of a failed call.
pub(super) fn failed(call: &'static str) -> impl Fn(vk::Result) -> VideoError {
    move |result| VideoError::Vulkan {
        call,
        result: result.to_string(),
    }
}
