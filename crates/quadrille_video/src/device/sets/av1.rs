//! Sequence headers of AV1 streams as Vulkan takes them.

use std::ptr;

use crate::api::vk;
use crate::av1::sequence::{ColorConfig, SequenceHeader, TimingInfo};

use vk::native::{
    StdVideoAV1ColorConfig, StdVideoAV1ColorConfigFlags, StdVideoAV1SequenceHeader,
    StdVideoAV1SequenceHeaderFlags, StdVideoAV1TimingInfo, StdVideoAV1TimingInfoFlags,
};

/// Sequence header with the memory that it points to.
pub(crate) struct Sets {
    header: StdVideoAV1SequenceHeader,
    color: StdVideoAV1ColorConfig,
    timing: Option<StdVideoAV1TimingInfo>,
}

impl Sets {
    pub(crate) fn new(sequence: &SequenceHeader) -> Self {
        let [width, height] = sequence.max_size;
        let [delta, additional] = sequence.frame_ids.unwrap_or_default();
        Self {
            header: StdVideoAV1SequenceHeader {
                flags: flags(sequence),
                seq_profile: u32::from(sequence.profile),
                frame_width_bits_minus_1: sequence.size_bits[0] - 1,
                frame_height_bits_minus_1: sequence.size_bits[1] - 1,
                max_frame_width_minus_1: (width - 1) as u16,
                max_frame_height_minus_1: (height - 1) as u16,
                delta_frame_id_length_minus_2: delta,
                additional_frame_id_length_minus_1: additional,
                order_hint_bits_minus_1: sequence.order_hint_bits.saturating_sub(1) as u8,
                seq_force_integer_mv: sequence.force_integer_mv,
                seq_force_screen_content_tools: sequence.force_screen_content_tools,
                reserved1: [0; 5],
                pColorConfig: ptr::null(),
                pTimingInfo: ptr::null(),
            },
            color: color(&sequence.color),
            timing: sequence.timing.as_ref().map(timing),
        }
    }

    /// Calls a function with the header.
    pub(super) fn with<R>(&self, call: impl FnOnce(&StdVideoAV1SequenceHeader) -> R) -> R {
        call(&StdVideoAV1SequenceHeader {
            pColorConfig: &self.color,
            pTimingInfo: self.timing.as_ref().map_or(ptr::null(), ptr::from_ref),
            ..self.header
        })
    }
}

fn flags(sequence: &SequenceHeader) -> StdVideoAV1SequenceHeaderFlags {
    StdVideoAV1SequenceHeaderFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoAV1SequenceHeaderFlags::new_bitfield_1(
            u32::from(sequence.still_picture),
            u32::from(sequence.reduced_still_picture_header),
            u32::from(sequence.use_128x128_superblock),
            u32::from(sequence.enable_filter_intra),
            u32::from(sequence.enable_intra_edge_filter),
            u32::from(sequence.enable_interintra_compound),
            u32::from(sequence.enable_masked_compound),
            u32::from(sequence.enable_warped_motion),
            u32::from(sequence.enable_dual_filter),
            u32::from(sequence.order_hint_bits > 0),
            u32::from(sequence.enable_jnt_comp),
            u32::from(sequence.enable_ref_frame_mvs),
            u32::from(sequence.frame_ids.is_some()),
            u32::from(sequence.enable_superres),
            u32::from(sequence.enable_cdef),
            u32::from(sequence.enable_restoration),
            u32::from(sequence.film_grain_params_present),
            u32::from(sequence.timing.is_some()),
            u32::from(sequence.initial_display_delay_present),
            0,
        ),
    }
}

fn color(color: &ColorConfig) -> StdVideoAV1ColorConfig {
    /// `CP_UNSPECIFIED`, `TC_UNSPECIFIED` and `MC_UNSPECIFIED`.
    const UNSPECIFIED: [u8; 3] = [2; 3];
    let [primaries, transfer, matrix] = color.description.unwrap_or(UNSPECIFIED);
    StdVideoAV1ColorConfig {
        flags: StdVideoAV1ColorConfigFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1ColorConfigFlags::new_bitfield_1(
                u32::from(color.mono_chrome),
                u32::from(color.full_range),
                u32::from(color.separate_uv_delta_q),
                u32::from(color.description.is_some()),
                0,
            ),
        },
        BitDepth: color.bit_depth,
        subsampling_x: u8::from(color.subsampling[0]),
        subsampling_y: u8::from(color.subsampling[1]),
        reserved1: 0,
        color_primaries: u32::from(primaries),
        transfer_characteristics: u32::from(transfer),
        matrix_coefficients: u32::from(matrix),
        chroma_sample_position: u32::from(color.chroma_sample_position),
    }
}

fn timing(timing: &TimingInfo) -> StdVideoAV1TimingInfo {
    let ticks = timing.ticks_per_picture_minus_1;
    StdVideoAV1TimingInfo {
        flags: StdVideoAV1TimingInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1TimingInfoFlags::new_bitfield_1(u32::from(ticks.is_some()), 0),
        },
        num_units_in_display_tick: timing.num_units_in_display_tick,
        time_scale: timing.time_scale,
        num_ticks_per_picture_minus_1: ticks.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
