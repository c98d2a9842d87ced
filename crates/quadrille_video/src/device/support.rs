//! Video decode support of a device: profile, limits and formats.

use std::ffi::{CStr, c_void};
use std::ptr;

use crate::api::{ash, vk};
use crate::coding::Sequence;
use crate::container::Codec;

use vk::native as std_video;

/// Vulkan profile of a stream: 4:2:0, 8 or 10 bits, progressive.
pub(crate) struct Profile {
    codec: CodecProfile,
    bit_depth: u8,
    has_grain: bool,
}

enum CodecProfile {
    H264(vk::VideoDecodeH264ProfileInfoKHR<'static>),
    H265(vk::VideoDecodeH265ProfileInfoKHR<'static>),
    Av1(vk::VideoDecodeAV1ProfileInfoKHR<'static>),
}

impl Profile {
    /// The profile of a sequence; `None` if Vulkan has none.
    pub(crate) fn of(codec: Codec, sequence: &Sequence) -> Option<Self> {
        use std_video::{
            StdVideoAV1Profile_STD_VIDEO_AV1_PROFILE_MAIN as MAIN_AV1,
            StdVideoH264ProfileIdc_STD_VIDEO_H264_PROFILE_IDC_BASELINE as BASELINE,
            StdVideoH264ProfileIdc_STD_VIDEO_H264_PROFILE_IDC_HIGH as HIGH,
            StdVideoH264ProfileIdc_STD_VIDEO_H264_PROFILE_IDC_MAIN as MAIN,
            StdVideoH265ProfileIdc_STD_VIDEO_H265_PROFILE_IDC_MAIN as MAIN_H265,
            StdVideoH265ProfileIdc_STD_VIDEO_H265_PROFILE_IDC_MAIN_10 as MAIN_10,
            StdVideoH265ProfileIdc_STD_VIDEO_H265_PROFILE_IDC_MAIN_STILL_PICTURE as STILL,
        };
        let known: &[u32] = match codec {
            Codec::H264 => &[BASELINE, MAIN, HIGH],
            Codec::H265 => &[MAIN_H265, MAIN_10, STILL],
            Codec::Av1 => &[MAIN_AV1],
        };
        let mut known = known.iter().copied();
        let profile = known.find(|it| *it == u32::from(sequence.profile_idc))?;
        let codec = match codec {
            Codec::H264 => CodecProfile::H264(
                vk::VideoDecodeH264ProfileInfoKHR::default()
                    .std_profile_idc(profile)
                    .picture_layout(vk::VideoDecodeH264PictureLayoutFlagsKHR::PROGRESSIVE),
            ),
            Codec::H265 => CodecProfile::H265(
                vk::VideoDecodeH265ProfileInfoKHR::default().std_profile_idc(profile),
            ),
            Codec::Av1 => CodecProfile::Av1(
                vk::VideoDecodeAV1ProfileInfoKHR::default()
                    .std_profile(profile)
                    .film_grain_support(sequence.has_grain),
            ),
        };
        Some(Self {
            codec,
            bit_depth: sequence.bit_depth,
            has_grain: sequence.has_grain,
        })
    }

    /// Format of decoded pictures: a plane of luma and one of both chroma channels (NV12 or P010).
    pub(crate) fn format(&self) -> vk::Format {
        match self.bit_depth {
            10 => vk::Format::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16,
            _ => vk::Format::G8_B8R8_2PLANE_420_UNORM,
        }
    }

    /// Bytes of a value in planes.
    pub(crate) fn bytes_per_value(&self) -> u64 {
        u64::from(self.bit_depth.div_ceil(8))
    }

    /// Calls a function with the profile as Vulkan takes it.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&vk::VideoProfileInfoKHR<'_>) -> R) -> R {
        let (codec, chain) = match &self.codec {
            CodecProfile::H264(info) => (Codec::H264, ptr::from_ref(info).cast()),
            CodecProfile::H265(info) => (Codec::H265, ptr::from_ref(info).cast()),
            CodecProfile::Av1(info) => (Codec::Av1, ptr::from_ref(info).cast()),
        };
        let depth = match self.bit_depth {
            10 => vk::VideoComponentBitDepthFlagsKHR::TYPE_10,
            _ => vk::VideoComponentBitDepthFlagsKHR::TYPE_8,
        };
        let mut profile = vk::VideoProfileInfoKHR::default()
            .video_codec_operation(operation(codec))
            .chroma_subsampling(vk::VideoChromaSubsamplingFlagsKHR::TYPE_420)
            .luma_bit_depth(depth)
            .chroma_bit_depth(depth);
        profile.p_next = chain;
        call(&profile)
    }
}

/// Operation that decodes a codec.
fn operation(codec: Codec) -> vk::VideoCodecOperationFlagsKHR {
    match codec {
        Codec::H264 => vk::VideoCodecOperationFlagsKHR::DECODE_H264,
        Codec::H265 => vk::VideoCodecOperationFlagsKHR::DECODE_H265,
        Codec::Av1 => vk::VideoCodecOperationFlagsKHR::DECODE_AV1,
    }
}

/// Extensions that decoding of a codec needs.
pub(crate) fn extensions(codec: Codec) -> [&'static CStr; 3] {
    let of_codec = match codec {
        Codec::H264 => ash::khr::video_decode_h264::NAME,
        Codec::H265 => ash::khr::video_decode_h265::NAME,
        Codec::Av1 => ash::khr::video_decode_av1::NAME,
    };
    [
        ash::khr::video_queue::NAME,
        ash::khr::video_decode_queue::NAME,
        of_codec,
    ]
}

/// Limits of a device for a profile.
#[derive(Clone, Debug)]
pub(crate) struct Support {
    /// Alignment of bitstream ranges: of offsets and of sizes, in bytes.
    pub bitstream_alignment: [u64; 2],
    /// Granularity of coded sizes, in pixels.
    pub granularity: [u32; 2],
    /// Least and largest coded size, in pixels.
    pub sizes: [[u32; 2]; 2],
    /// Most slots and active references.
    pub slots: [u32; 2],
    /// Whether a picture is output and reference at once. Pictures with film grain are not.
    pub coincide: bool,
    /// Highest `StdVideoH264LevelIdc`, `StdVideoH265LevelIdc` or `StdVideoAV1Level`.
    pub max_level: u32,
    /// Version of the codec's header.
    pub header: vk::ExtensionProperties,
}

impl Support {
    /// Queries a device.
    ///
    /// # Errors
    /// Text that names what is missing.
    pub(crate) fn query(
        (entry, instance): (&ash::Entry, &ash::Instance),
        physical: vk::PhysicalDevice,
        profile: &Profile,
    ) -> Result<Self, String> {
        let functions = ash::khr::video_queue::Instance::new(entry, instance);
        let functions = functions.fp();
        let mut h264 = vk::VideoDecodeH264CapabilitiesKHR::default();
        let mut h265 = vk::VideoDecodeH265CapabilitiesKHR::default();
        let mut av1 = vk::VideoDecodeAV1CapabilitiesKHR::default();
        let mut decode = vk::VideoDecodeCapabilitiesKHR {
            p_next: match profile.codec {
                CodecProfile::H264(_) => ptr::from_mut(&mut h264).cast::<c_void>(),
                CodecProfile::H265(_) => ptr::from_mut(&mut h265).cast::<c_void>(),
                CodecProfile::Av1(_) => ptr::from_mut(&mut av1).cast::<c_void>(),
            },
            ..Default::default()
        };
        let mut general = vk::VideoCapabilitiesKHR {
            p_next: ptr::from_mut(&mut decode).cast::<c_void>(),
            ..Default::default()
        };
        let result = profile.with(|profile| {
            // SAFETY: the extension is enabled, and the chains live for the time of the call.
            unsafe {
                (functions.get_physical_device_video_capabilities_khr)(
                    physical,
                    profile,
                    &mut general,
                )
            }
        });
        if result != vk::Result::SUCCESS {
            return Err(format!("decoding of this profile ({result})"));
        }
        let flags = decode.flags;
        let may_coincide = vk::VideoDecodeCapabilityFlagsKHR::DPB_AND_OUTPUT_COINCIDE;
        let coincide = flags.contains(may_coincide) && !profile.has_grain;
        let may_differ = vk::VideoDecodeCapabilityFlagsKHR::DPB_AND_OUTPUT_DISTINCT;
        if !coincide && !flags.contains(may_differ) {
            return Err("output of pictures beside their references".to_owned());
        }
        let wanted = usage(coincide);
        for usage in wanted.into_iter().filter(|usage| !usage.is_empty()) {
            if !has_format(functions, physical, profile, usage) {
                let format = profile.format();
                return Err(format!("the format {format:?} with the usage {usage:?}"));
            }
        }
        let size = |extent: vk::Extent2D| [extent.width, extent.height];
        Ok(Self {
            bitstream_alignment: [
                general.min_bitstream_buffer_offset_alignment.max(1),
                general.min_bitstream_buffer_size_alignment.max(1),
            ],
            granularity: size(general.picture_access_granularity).map(|it| it.max(1)),
            sizes: [
                size(general.min_coded_extent),
                size(general.max_coded_extent),
            ],
            slots: [general.max_dpb_slots, general.max_active_reference_pictures],
            coincide,
            max_level: match profile.codec {
                CodecProfile::H264(_) => h264.max_level_idc,
                CodecProfile::H265(_) => h265.max_level_idc,
                CodecProfile::Av1(_) => av1.max_level,
            },
            header: general.std_header_version,
        })
    }
}

/// Checks sizes, slots, active references and level of a stream against the limits of the device. The error names what
/// is missing.
pub(crate) fn check_limits(
    support: &Support,
    coded: [u32; 2],
    [slots, active]: [u32; 2],
    level: u32,
) -> Result<(), String> {
    let [least, most] = support.sizes;
    let fits = (0..2).all(|at| (least[at]..=most[at]).contains(&coded[at]));
    if !fits {
        return Err(format!(
            "pictures of {}x{} pixels (it decodes {}x{} to {}x{})",
            coded[0], coded[1], least[0], least[1], most[0], most[1]
        ));
    }
    let [most_slots, most_references] = support.slots;
    if slots > most_slots || active > most_references {
        return Err(format!(
            "{} reference pictures (it has {})",
            slots - 1,
            most_references.min(most_slots.saturating_sub(1))
        ));
    }
    if level > support.max_level {
        return Err("the level of the stream".to_owned());
    }
    Ok(())
}

/// Whether a queue family decodes a codec. The device must have `VK_KHR_video_queue`.
pub(crate) fn decodes(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    codec: Codec,
) -> bool {
    // SAFETY: the physical device is of this instance.
    let count = unsafe { instance.get_physical_device_queue_family_properties2_len(physical) };
    let mut video = vec![vk::QueueFamilyVideoPropertiesKHR::default(); count];
    let mut families: Vec<_> = video
        .iter_mut()
        .map(|it| vk::QueueFamilyProperties2::default().push_next(it))
        .collect();
    // SAFETY: as above; the chains live for the time of the call.
    unsafe { instance.get_physical_device_queue_family_properties2(physical, &mut families) };
    drop(families);
    let found = video.get(family as usize);
    found.is_some_and(|it| it.video_codec_operations.contains(operation(codec)))
}

/// Usages of the image of the decoded picture buffer, and of output images, which are none if both coincide.
pub(crate) fn usage(coincide: bool) -> [vk::ImageUsageFlags; 2] {
    let output = vk::ImageUsageFlags::VIDEO_DECODE_DST_KHR | vk::ImageUsageFlags::TRANSFER_SRC;
    let slots = vk::ImageUsageFlags::VIDEO_DECODE_DPB_KHR;
    match coincide {
        true => [slots | output, vk::ImageUsageFlags::empty()],
        false => [slots, output],
    }
}

/// Whether images of the profile's format support a usage.
fn has_format(
    functions: &ash::khr::video_queue::InstanceFn,
    physical: vk::PhysicalDevice,
    profile: &Profile,
    usage: vk::ImageUsageFlags,
) -> bool {
    let wanted = profile.format();
    profile.with(|profile| {
        let profiles = std::slice::from_ref(profile);
        let mut list = vk::VideoProfileListInfoKHR::default().profiles(profiles);
        let info = vk::PhysicalDeviceVideoFormatInfoKHR {
            p_next: ptr::from_mut(&mut list).cast::<c_void>(),
            image_usage: usage,
            ..Default::default()
        };
        let mut count = 0;
        // SAFETY: the extension is enabled, and the chain lives for the time of the call.
        let result = unsafe {
            (functions.get_physical_device_video_format_properties_khr)(
                physical,
                &info,
                &mut count,
                ptr::null_mut(),
            )
        };
        if result != vk::Result::SUCCESS {
            return false;
        }
        let mut formats = vec![vk::VideoFormatPropertiesKHR::default(); count as usize];
        // SAFETY: as above; there is room for as many formats as were counted.
        let result = unsafe {
            (functions.get_physical_device_video_format_properties_khr)(
                physical,
                &info,
                &mut count,
                formats.as_mut_ptr(),
            )
        };
        let optimal = |it: &vk::VideoFormatPropertiesKHR<'_>| {
            it.format == wanted && it.image_tiling == vk::ImageTiling::OPTIMAL
        };
        result.result().is_ok() && formats.iter().any(optimal)
    })
}
