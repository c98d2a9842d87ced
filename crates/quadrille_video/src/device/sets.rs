//! Parameter sets of streams as Vulkan takes them.

mod av1;
pub(crate) mod h264;
pub(crate) mod h265;

use std::ffi::c_void;
use std::ptr;

use crate::api::vk;
use crate::coding::Parser;
use crate::container::Codec;

/// Parameter sets with the memory that they point to.
pub(crate) enum Sets {
    H264(h264::Sets),
    H265(h265::Sets),
    Av1(Box<av1::Sets>),
}

impl Sets {
    /// Translates a sequence parameter set and the sets that belong to it; `None` if one is missing.
    pub(crate) fn new(parser: &Parser, sps: u8) -> Option<Self> {
        match parser {
            Parser::H264(parser) => {
                let context = parser.context();
                let mut known = context.sps();
                let sps = known.find(|it| it.seq_parameter_set_id.id() == sps)?;
                Some(Self::H264(h264::Sets::new(context, sps)))
            }
            Parser::H265(parser) => h265::Sets::new(parser.sets(), sps).map(Self::H265),
            Parser::Av1(parser) => {
                let sequence = parser.sequence_of_pictures()?;
                Some(Self::Av1(Box::new(av1::Sets::new(sequence))))
            }
        }
    }

    /// Calls a function with the chain of the session parameters.
    pub(crate) fn with<R>(&self, call: impl FnOnce(*const c_void) -> R) -> R {
        match self {
            Self::H264(sets) => {
                let add = vk::VideoDecodeH264SessionParametersAddInfoKHR::default()
                    .std_sp_ss(&sets.sps)
                    .std_pp_ss(&sets.pps);
                let codec = vk::VideoDecodeH264SessionParametersCreateInfoKHR::default()
                    .max_std_sps_count(sets.sps.len() as u32)
                    .max_std_pps_count(sets.pps.len() as u32)
                    .parameters_add_info(&add);
                call(ptr::from_ref(&codec).cast())
            }
            Self::H265(sets) => {
                let add = vk::VideoDecodeH265SessionParametersAddInfoKHR::default()
                    .std_vp_ss(&sets.vps)
                    .std_sp_ss(&sets.sps)
                    .std_pp_ss(&sets.pps);
                let codec = vk::VideoDecodeH265SessionParametersCreateInfoKHR::default()
                    .max_std_vps_count(sets.vps.len() as u32)
                    .max_std_sps_count(sets.sps.len() as u32)
                    .max_std_pps_count(sets.pps.len() as u32)
                    .parameters_add_info(&add);
                call(ptr::from_ref(&codec).cast())
            }
            Self::Av1(sets) => sets.with(|header| {
                let codec = vk::VideoDecodeAV1SessionParametersCreateInfoKHR::default()
                    .std_sequence_header(header);
                call(ptr::from_ref(&codec).cast())
            }),
        }
    }
}

/// `StdVideoH264LevelIdc`, `StdVideoH265LevelIdc` or `StdVideoAV1Level` of a level: the index in the list of levels.
pub(crate) fn level(codec: Codec, level_idc: u8) -> u32 {
    match codec {
        Codec::H264 => h264::level(level_idc),
        Codec::H265 => h265::level(level_idc),
        Codec::Av1 => u32::from(level_idc),
    }
}
