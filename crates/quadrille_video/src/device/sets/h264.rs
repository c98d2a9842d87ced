//! Parameter sets of H.264 streams as Vulkan takes them.

use std::ptr;

use h264_reader::Context;
use h264_reader::nal::pps::PicParameterSet;
use h264_reader::nal::sps::{PicOrderCntType, SeqParameterSet};

use crate::api::vk;

use vk::native::{
    StdVideoH264PictureParameterSet, StdVideoH264PpsFlags, StdVideoH264ScalingLists,
    StdVideoH264SequenceParameterSet, StdVideoH264SpsFlags,
};

/// Parameter sets with the memory that they point to.
pub(crate) struct Sets {
    pub sps: Vec<StdVideoH264SequenceParameterSet>,
    pub pps: Vec<StdVideoH264PictureParameterSet>,
    /// Scaling lists that the sets point to.
    #[expect(
        clippy::vec_box,
        reason = "the sets point to the lists, which must stay in place"
    )]
    _lists: Vec<Box<StdVideoH264ScalingLists>>,
    /// Offsets of order counts that the sets point to.
    _offsets: Vec<Box<[i32]>>,
}

impl Sets {
    /// Translates a sequence parameter set and the picture parameter sets that refer to it. Other ones are left out:
    /// they were not checked.
    pub(crate) fn new(context: &Context, sps: &SeqParameterSet) -> Self {
        let mut sets = Self {
            sps: Vec::new(),
            pps: Vec::new(),
            _lists: Vec::new(),
            _offsets: Vec::new(),
        };
        let translated = sets.sequence(sps);
        sets.sps.push(translated);
        let id = sps.seq_parameter_set_id;
        for pps in context.pps().filter(|it| it.seq_parameter_set_id == id) {
            let translated = sets.picture(pps, sps);
            sets.pps.push(translated);
        }
        sets
    }

    fn sequence(&mut self, sps: &SeqParameterSet) -> StdVideoH264SequenceParameterSet {
        let chroma = &sps.chroma_info;
        let crop = sps.frame_cropping.as_ref();
        let lists = chroma.scaling_matrix.as_ref().map(|_| {
            self.keep_lists(
                chroma.scaling_lists_4x4(),
                Some(chroma.scaling_lists_8x8().as_slice()),
            )
        });
        let mut set = StdVideoH264SequenceParameterSet {
            flags: sps_flags(sps),
            profile_idc: u32::from(sps.profile().profile_idc()),
            level_idc: level(sps.level_idc),
            chroma_format_idc: chroma.chroma_format.to_u32(),
            seq_parameter_set_id: sps.seq_parameter_set_id.id(),
            bit_depth_luma_minus8: chroma.bit_depth_luma_minus8,
            bit_depth_chroma_minus8: chroma.bit_depth_chroma_minus8,
            log2_max_frame_num_minus4: sps.log2_max_frame_num_minus4,
            pic_order_cnt_type: 0,
            offset_for_non_ref_pic: 0,
            offset_for_top_to_bottom_field: 0,
            log2_max_pic_order_cnt_lsb_minus4: 0,
            num_ref_frames_in_pic_order_cnt_cycle: 0,
            max_num_ref_frames: sps.max_num_ref_frames.min(16) as u8,
            reserved1: 0,
            pic_width_in_mbs_minus1: sps.pic_width_in_mbs_minus1,
            pic_height_in_map_units_minus1: sps.pic_height_in_map_units_minus1,
            frame_crop_left_offset: crop.map_or(0, |crop| crop.left_offset),
            frame_crop_right_offset: crop.map_or(0, |crop| crop.right_offset),
            frame_crop_top_offset: crop.map_or(0, |crop| crop.top_offset),
            frame_crop_bottom_offset: crop.map_or(0, |crop| crop.bottom_offset),
            reserved2: 0,
            pOffsetForRefFrame: ptr::null(),
            pScalingLists: lists.unwrap_or(ptr::null()),
            pSequenceParameterSetVui: ptr::null(),
        };
        match &sps.pic_order_cnt {
            PicOrderCntType::TypeZero {
                log2_max_pic_order_cnt_lsb_minus4: log2,
            } => set.log2_max_pic_order_cnt_lsb_minus4 = *log2,
            PicOrderCntType::TypeOne {
                offset_for_non_ref_pic,
                offset_for_top_to_bottom_field,
                offsets_for_ref_frame,
                ..
            } => {
                set.pic_order_cnt_type = 1;
                set.offset_for_non_ref_pic = *offset_for_non_ref_pic;
                set.offset_for_top_to_bottom_field = *offset_for_top_to_bottom_field;
                set.num_ref_frames_in_pic_order_cnt_cycle =
                    offsets_for_ref_frame.len().min(255) as u8;
                let offsets: Box<[i32]> = offsets_for_ref_frame.as_slice().into();
                set.pOffsetForRefFrame = offsets.as_ptr();
                self._offsets.push(offsets);
            }
            PicOrderCntType::TypeTwo => set.pic_order_cnt_type = 2,
        }
        set
    }

    fn picture(
        &mut self,
        pps: &PicParameterSet,
        sps: &SeqParameterSet,
    ) -> StdVideoH264PictureParameterSet {
        let extension = pps.extension.as_ref();
        let matrix = extension.and_then(|it| it.pic_scaling_matrix.as_ref());
        let lists = matrix.map(|matrix| {
            let eights = matrix.scaling_lists_8x8(&sps.chroma_info);
            self.keep_lists(
                matrix.scaling_lists_4x4(&sps.chroma_info),
                eights.as_ref().map(|it| it.as_slice()),
            )
        });
        // Ranges are those that the parser checks.
        let chroma = pps.chroma_qp_index_offset;
        let second = extension.map_or(chroma, |it| it.second_chroma_qp_index_offset);
        StdVideoH264PictureParameterSet {
            flags: pps_flags(pps),
            seq_parameter_set_id: pps.seq_parameter_set_id.id(),
            pic_parameter_set_id: pps.pic_parameter_set_id.id(),
            num_ref_idx_l0_default_active_minus1: pps.num_ref_idx_l0_default_active_minus1 as u8,
            num_ref_idx_l1_default_active_minus1: pps.num_ref_idx_l1_default_active_minus1 as u8,
            weighted_bipred_idc: u32::from(pps.weighted_bipred_idc),
            pic_init_qp_minus26: pps.pic_init_qp_minus26 as i8,
            pic_init_qs_minus26: pps.pic_init_qs_minus26 as i8,
            chroma_qp_index_offset: chroma as i8,
            second_chroma_qp_index_offset: second as i8,
            pScalingLists: lists.unwrap_or(ptr::null()),
        }
    }

    /// Stores complete scaling lists and returns where. Without the lists of 8x8 blocks those of the sequence apply.
    fn keep_lists(
        &mut self,
        fours: [[u8; 16]; 6],
        eights: Option<&[[u8; 64]]>,
    ) -> *const StdVideoH264ScalingLists {
        let mut lists = StdVideoH264ScalingLists {
            scaling_list_present_mask: 0x3f,
            use_default_scaling_matrix_mask: 0,
            ScalingList4x4: fours,
            ScalingList8x8: [[16; 64]; 6],
        };
        for (index, list) in eights.unwrap_or(&[]).iter().take(6).enumerate() {
            lists.scaling_list_present_mask |= 1 << (6 + index);
            lists.ScalingList8x8[index] = *list;
        }
        let lists = Box::new(lists);
        let at = ptr::from_ref(&*lists);
        self._lists.push(lists);
        at
    }
}

/// `StdVideoH264LevelIdc` of a `level_idc`: the index in the list of levels.
pub(crate) fn level(level_idc: u8) -> u32 {
    const LEVELS: [u8; 19] = [
        10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62,
    ];
    // Level 1b is coded as 9 or as 11 with a flag.
    let index = LEVELS.iter().position(|&known| known >= level_idc);
    index.unwrap_or(LEVELS.len() - 1) as u32
}

fn sps_flags(sps: &SeqParameterSet) -> StdVideoH264SpsFlags {
    let zero = matches!(
        sps.pic_order_cnt,
        PicOrderCntType::TypeOne {
            delta_pic_order_always_zero_flag: true,
            ..
        }
    );
    let constraints = sps.constraint_flags;
    let chroma = &sps.chroma_info;
    StdVideoH264SpsFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoH264SpsFlags::new_bitfield_1(
            u32::from(constraints.flag0()),
            u32::from(constraints.flag1()),
            u32::from(constraints.flag2()),
            u32::from(constraints.flag3()),
            u32::from(constraints.flag4()),
            u32::from(constraints.flag5()),
            u32::from(sps.direct_8x8_inference_flag),
            // Interlaced streams are refused.
            0,
            1,
            u32::from(zero),
            u32::from(chroma.separate_colour_plane_flag),
            u32::from(sps.gaps_in_frame_num_value_allowed_flag),
            u32::from(chroma.qpprime_y_zero_transform_bypass_flag),
            u32::from(sps.frame_cropping.is_some()),
            u32::from(chroma.scaling_matrix.is_some()),
            // Usability information has no influence on decoding.
            0,
        ),
        __bindgen_padding_0: 0,
    }
}

fn pps_flags(pps: &PicParameterSet) -> StdVideoH264PpsFlags {
    let extension = pps.extension.as_ref();
    StdVideoH264PpsFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoH264PpsFlags::new_bitfield_1(
            u32::from(extension.is_some_and(|it| it.transform_8x8_mode_flag)),
            u32::from(pps.redundant_pic_cnt_present_flag),
            u32::from(pps.constrained_intra_pred_flag),
            u32::from(pps.deblocking_filter_control_present_flag),
            u32::from(pps.weighted_pred_flag),
            u32::from(pps.bottom_field_pic_order_in_frame_present_flag),
            u32::from(pps.entropy_coding_mode_flag),
            u32::from(extension.is_some_and(|it| it.pic_scaling_matrix.is_some())),
        ),
        __bindgen_padding_0: [0; 3],
    }
}

#[cfg(test)]
mod tests;
