//! Parameter sets of H.265 streams as Vulkan takes them.

use std::ptr;

use crate::api::vk;
use crate::h265;
use crate::h265::sets::lists::ScalingLists;
use crate::h265::sets::picture::{Pps, Tiles};
use crate::h265::sets::reference_sets::ReferenceSet;
use crate::h265::sets::{BufferSizes, ProfileTierLevel, Sps, Vps};

use vk::native::{
    StdVideoH265DecPicBufMgr, StdVideoH265LongTermRefPicsSps, StdVideoH265PictureParameterSet,
    StdVideoH265PpsFlags, StdVideoH265ProfileTierLevel, StdVideoH265ProfileTierLevelFlags,
    StdVideoH265ScalingLists, StdVideoH265SequenceParameterSet, StdVideoH265ShortTermRefPicSet,
    StdVideoH265ShortTermRefPicSetFlags, StdVideoH265SpsFlags, StdVideoH265VideoParameterSet,
    StdVideoH265VpsFlags,
};

/// Parameter sets with the memory that they point to.
#[derive(Default)]
pub(crate) struct Sets {
    pub vps: Vec<StdVideoH265VideoParameterSet>,
    pub sps: Vec<StdVideoH265SequenceParameterSet>,
    pub pps: Vec<StdVideoH265PictureParameterSet>,
    memory: Memory,
}

/// Structures that the sets point to.
#[derive(Default)]
#[expect(
    clippy::vec_box,
    reason = "the sets point to the structures, which must stay in place"
)]
struct Memory {
    profiles: Vec<Box<StdVideoH265ProfileTierLevel>>,
    sizes: Vec<Box<StdVideoH265DecPicBufMgr>>,
    lists: Vec<Box<StdVideoH265ScalingLists>>,
    long_term: Vec<Box<StdVideoH265LongTermRefPicsSps>>,
    reference_sets: Vec<Box<[StdVideoH265ShortTermRefPicSet]>>,
}

/// Stores a structure and returns where.
fn keep<T>(all: &mut Vec<Box<T>>, item: T) -> *const T {
    let item = Box::new(item);
    let at = ptr::from_ref(&*item);
    all.push(item);
    at
}

impl Sets {
    /// Translates a sequence parameter set, its video parameter set, and the picture parameter sets that refer to it.
    /// Other ones are left out: they were not checked. `None` if one is missing.
    pub(crate) fn new(known: &h265::Sets, sps: u8) -> Option<Self> {
        let sps = known.sps.get(&sps)?;
        let vps = known.vps.get(&sps.vps)?;
        let mut sets = Self::default();
        let translated = sets.memory.video(vps);
        sets.vps.push(translated);
        let translated = sets.memory.sequence(sps);
        sets.sps.push(translated);
        let of_sequence = known.pps.values().filter(|it| it.sps == sps.id);
        for pps in of_sequence.filter(|it| it.check(sps).is_ok()) {
            let translated = sets.memory.picture(pps, sps);
            sets.pps.push(translated);
        }
        Some(sets)
    }
}

impl Memory {
    fn video(&mut self, vps: &Vps) -> StdVideoH265VideoParameterSet {
        let timing = vps.timing.clone().unwrap_or_default();
        let proportional = timing.ticks_per_count_minus1;
        StdVideoH265VideoParameterSet {
            flags: StdVideoH265VpsFlags {
                _bitfield_align_1: [],
                _bitfield_1: StdVideoH265VpsFlags::new_bitfield_1(
                    u32::from(vps.temporal_id_nesting),
                    u32::from(vps.sub_layer_ordering_info_present),
                    u32::from(vps.timing.is_some()),
                    u32::from(proportional.is_some()),
                ),
                __bindgen_padding_0: [0; 3],
            },
            vps_video_parameter_set_id: vps.id,
            vps_max_sub_layers_minus1: vps.max_sub_layers_minus1,
            reserved1: 0,
            reserved2: 0,
            vps_num_units_in_tick: timing.num_units_in_tick,
            vps_time_scale: timing.time_scale,
            vps_num_ticks_poc_diff_one_minus1: proportional.unwrap_or(0),
            reserved3: 0,
            pDecPicBufMgr: self.sizes(&vps.sizes),
            pHrdParameters: ptr::null(),
            pProfileTierLevel: self.profile(&vps.profile),
        }
    }

    fn sequence(&mut self, sps: &Sps) -> StdVideoH265SequenceParameterSet {
        // Drivers need no default lists of their own then.
        let lists = sps.scaling_list_enabled.then(|| match &sps.scaling_lists {
            Some(lists) => self.scaling_lists(lists),
            None => self.scaling_lists(&ScalingLists::default()),
        });
        let sets: Box<[_]> = sps.reference_sets.iter().map(reference_set).collect();
        let reference_sets = match sets.is_empty() {
            true => ptr::null(),
            false => sets.as_ptr(),
        };
        self.reference_sets.push(sets);
        let long_term = sps.long_term.as_ref().filter(|it| !it.is_empty());
        let long_term_count = long_term.map_or(0, Vec::len);
        let long_term = long_term.map(|it| keep(&mut self.long_term, long_term_references(it)));
        let [left, right, top, bottom] = sps.window.unwrap_or([0; 4]);
        let (blocks, pcm) = (&sps.blocks, sps.pcm.as_ref());
        StdVideoH265SequenceParameterSet {
            flags: sps_flags(sps),
            chroma_format_idc: u32::from(sps.chroma_format_idc),
            pic_width_in_luma_samples: sps.size[0],
            pic_height_in_luma_samples: sps.size[1],
            sps_video_parameter_set_id: sps.vps,
            sps_max_sub_layers_minus1: sps.max_sub_layers_minus1,
            sps_seq_parameter_set_id: sps.id,
            bit_depth_luma_minus8: sps.bit_depth_luma_minus8,
            bit_depth_chroma_minus8: sps.bit_depth_chroma_minus8,
            log2_max_pic_order_cnt_lsb_minus4: sps.log2_max_lsb_minus4,
            log2_min_luma_coding_block_size_minus3: blocks.log2_min_coding_minus3,
            log2_diff_max_min_luma_coding_block_size: blocks.log2_diff_max_min_coding,
            log2_min_luma_transform_block_size_minus2: blocks.log2_min_transform_minus2,
            log2_diff_max_min_luma_transform_block_size: blocks.log2_diff_max_min_transform,
            max_transform_hierarchy_depth_inter: blocks.max_transform_hierarchy_depth_inter,
            max_transform_hierarchy_depth_intra: blocks.max_transform_hierarchy_depth_intra,
            num_short_term_ref_pic_sets: sps.reference_sets.len() as u8,
            num_long_term_ref_pics_sps: long_term_count as u8,
            pcm_sample_bit_depth_luma_minus1: pcm.map_or(0, |it| it.bit_depth_luma_minus1),
            pcm_sample_bit_depth_chroma_minus1: pcm.map_or(0, |it| it.bit_depth_chroma_minus1),
            log2_min_pcm_luma_coding_block_size_minus3: pcm
                .map_or(0, |it| it.log2_min_coding_minus3),
            log2_diff_max_min_pcm_luma_coding_block_size: pcm
                .map_or(0, |it| it.log2_diff_max_min_coding),
            reserved1: 0,
            reserved2: 0,
            palette_max_size: 0,
            delta_palette_max_predictor_size: 0,
            motion_vector_resolution_control_idc: 0,
            sps_num_palette_predictor_initializers_minus1: 0,
            conf_win_left_offset: left,
            conf_win_right_offset: right,
            conf_win_top_offset: top,
            conf_win_bottom_offset: bottom,
            pProfileTierLevel: self.profile(&sps.profile),
            pDecPicBufMgr: self.sizes(&sps.sizes),
            pScalingLists: lists.unwrap_or(ptr::null()),
            pShortTermRefPicSet: reference_sets,
            pLongTermRefPicsSps: long_term.unwrap_or(ptr::null()),
            // Usability information has no influence on decoding.
            pSequenceParameterSetVui: ptr::null(),
            pPredictorPaletteEntries: ptr::null(),
        }
    }

    fn picture(&mut self, pps: &Pps, sps: &Sps) -> StdVideoH265PictureParameterSet {
        let lists = pps.scaling_lists.as_ref().map(|it| self.scaling_lists(it));
        let deblocking = pps.deblocking.clone().unwrap_or_default();
        let (column_width_minus1, row_height_minus1) =
            tile_sizes(pps.tiles.as_ref(), sps.size_in_tree_blocks());
        StdVideoH265PictureParameterSet {
            flags: pps_flags(pps),
            pps_pic_parameter_set_id: pps.id,
            pps_seq_parameter_set_id: pps.sps,
            sps_video_parameter_set_id: sps.vps,
            num_extra_slice_header_bits: pps.num_extra_slice_header_bits,
            num_ref_idx_l0_default_active_minus1: pps.default_active_minus1[0],
            num_ref_idx_l1_default_active_minus1: pps.default_active_minus1[1],
            init_qp_minus26: pps.init_qp_minus26,
            diff_cu_qp_delta_depth: pps.cu_qp_delta_depth.unwrap_or(0),
            pps_cb_qp_offset: pps.cb_qp_offset,
            pps_cr_qp_offset: pps.cr_qp_offset,
            pps_beta_offset_div2: deblocking.beta_offset_div2,
            pps_tc_offset_div2: deblocking.tc_offset_div2,
            log2_parallel_merge_level_minus2: pps.log2_parallel_merge_level_minus2,
            log2_max_transform_skip_block_size_minus2: 0,
            diff_cu_chroma_qp_offset_depth: 0,
            chroma_qp_offset_list_len_minus1: 0,
            cb_qp_offset_list: [0; 6],
            cr_qp_offset_list: [0; 6],
            log2_sao_offset_scale_luma: 0,
            log2_sao_offset_scale_chroma: 0,
            pps_act_y_qp_offset_plus5: 0,
            pps_act_cb_qp_offset_plus5: 0,
            pps_act_cr_qp_offset_plus3: 0,
            pps_num_palette_predictor_initializers: 0,
            luma_bit_depth_entry_minus8: 0,
            chroma_bit_depth_entry_minus8: 0,
            num_tile_columns_minus1: pps.tiles.as_ref().map_or(0, |it| it.columns_minus1),
            num_tile_rows_minus1: pps.tiles.as_ref().map_or(0, |it| it.rows_minus1),
            reserved1: 0,
            reserved2: 0,
            column_width_minus1,
            row_height_minus1,
            reserved3: 0,
            pScalingLists: lists.unwrap_or(ptr::null()),
            pPredictorPaletteEntries: ptr::null(),
        }
    }

    fn profile(&mut self, profile: &ProfileTierLevel) -> *const StdVideoH265ProfileTierLevel {
        let flags = StdVideoH265ProfileTierLevelFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoH265ProfileTierLevelFlags::new_bitfield_1(
                u32::from(profile.tier),
                u32::from(profile.progressive_source),
                u32::from(profile.interlaced_source),
                u32::from(profile.non_packed_constraint),
                u32::from(profile.frame_only_constraint),
            ),
            __bindgen_padding_0: [0; 3],
        };
        let profile = StdVideoH265ProfileTierLevel {
            flags,
            general_profile_idc: u32::from(profile.profile()),
            general_level_idc: level(profile.level_idc),
        };
        keep(&mut self.profiles, profile)
    }

    fn sizes(&mut self, sizes: &BufferSizes) -> *const StdVideoH265DecPicBufMgr {
        let sizes = StdVideoH265DecPicBufMgr {
            max_latency_increase_plus1: sizes.max_latency_increase_plus1,
            max_dec_pic_buffering_minus1: sizes.max_dec_pic_buffering_minus1,
            max_num_reorder_pics: sizes.max_num_reorder_pics,
        };
        keep(&mut self.sizes, sizes)
    }

    fn scaling_lists(&mut self, lists: &ScalingLists) -> *const StdVideoH265ScalingLists {
        let [of_8, of_16, of_32] = lists.larger;
        let lists = StdVideoH265ScalingLists {
            ScalingList4x4: lists.of_4,
            ScalingList8x8: of_8,
            ScalingList16x16: of_16,
            // Luma only: intra and inter.
            ScalingList32x32: [of_32[0], of_32[3]],
            ScalingListDCCoef16x16: lists.dc[0],
            ScalingListDCCoef32x32: [lists.dc[1][0], lists.dc[1][3]],
        };
        keep(&mut self.lists, lists)
    }
}

/// `StdVideoH265LevelIdc` of a `general_level_idc`: the index in the list of levels.
pub(crate) fn level(level_idc: u8) -> u32 {
    const LEVELS: [u8; 13] = [30, 60, 63, 90, 93, 120, 123, 150, 153, 156, 180, 183, 186];
    let index = LEVELS.iter().position(|&known| known >= level_idc);
    index.unwrap_or(LEVELS.len() - 1) as u32
}

/// Reference picture set without prediction: its pictures were derived.
fn reference_set(set: &ReferenceSet) -> StdVideoH265ShortTermRefPicSet {
    let pictures = |list: &[(i32, bool)]| {
        let mut deltas_minus1 = [0_u16; 16];
        let (mut used, mut before) = (0_u16, 0);
        for (at, &(delta, is_used)) in list.iter().take(16).enumerate() {
            deltas_minus1[at] = (delta.abs() - before - 1).max(0) as u16;
            before = delta.abs();
            used |= u16::from(is_used) << at;
        }
        (deltas_minus1, used)
    };
    let (delta_poc_s0_minus1, used_by_curr_pic_s0_flag) = pictures(&set.before);
    let (delta_poc_s1_minus1, used_by_curr_pic_s1_flag) = pictures(&set.after);
    StdVideoH265ShortTermRefPicSet {
        flags: StdVideoH265ShortTermRefPicSetFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoH265ShortTermRefPicSetFlags::new_bitfield_1(0, 0),
            __bindgen_padding_0: [0; 3],
        },
        delta_idx_minus1: 0,
        use_delta_flag: 0,
        abs_delta_rps_minus1: 0,
        used_by_curr_pic_flag: 0,
        used_by_curr_pic_s0_flag,
        used_by_curr_pic_s1_flag,
        reserved1: 0,
        reserved2: 0,
        reserved3: 0,
        num_negative_pics: set.before.len() as u8,
        num_positive_pics: set.after.len() as u8,
        delta_poc_s0_minus1,
        delta_poc_s1_minus1,
    }
}

fn long_term_references(list: &[(u32, bool)]) -> StdVideoH265LongTermRefPicsSps {
    let mut references = StdVideoH265LongTermRefPicsSps {
        used_by_curr_pic_lt_sps_flag: 0,
        lt_ref_pic_poc_lsb_sps: [0; 32],
    };
    for (at, &(lsb, is_used)) in list.iter().take(32).enumerate() {
        references.lt_ref_pic_poc_lsb_sps[at] = lsb;
        references.used_by_curr_pic_lt_sps_flag |= u32::from(is_used) << at;
    }
    references
}

/// Widths of all columns but the last and heights of all rows but the last, less one, for a size in coding tree blocks
/// (equations 6-3 and 6-4).
fn tile_sizes(tiles: Option<&Tiles>, size: [u32; 2]) -> ([u16; 19], [u16; 21]) {
    let (mut widths, mut heights) = ([0; 19], [0; 21]);
    let Some(tiles) = tiles else {
        return (widths, heights);
    };
    let counts = [tiles.columns_minus1, tiles.rows_minus1];
    let all: [&mut [u16]; 2] = [&mut widths, &mut heights];
    for (axis, sizes) in all.into_iter().enumerate() {
        let count = u32::from(counts[axis]) + 1;
        for (at, minus1) in (1..count).zip(sizes) {
            let equal = at * size[axis] / count - (at - 1) * size[axis] / count;
            let known = tiles.sizes_minus1.as_ref();
            let known = known.and_then(|it| it[axis].get(at as usize - 1));
            *minus1 = known.copied().unwrap_or(equal.saturating_sub(1) as u16);
        }
    }
    (widths, heights)
}

fn sps_flags(sps: &Sps) -> StdVideoH265SpsFlags {
    let pcm = sps.pcm.as_ref();
    StdVideoH265SpsFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoH265SpsFlags::new_bitfield_1(
            u32::from(sps.temporal_id_nesting),
            0,
            u32::from(sps.window.is_some()),
            u32::from(sps.sub_layer_ordering_info_present),
            u32::from(sps.scaling_list_enabled),
            u32::from(sps.scaling_list_enabled),
            u32::from(sps.amp_enabled),
            u32::from(sps.sample_adaptive_offset_enabled),
            u32::from(pcm.is_some()),
            u32::from(pcm.is_some_and(|it| it.loop_filter_disabled)),
            u32::from(sps.long_term.is_some()),
            u32::from(sps.temporal_mvp_enabled),
            u32::from(sps.strong_intra_smoothing_enabled),
            // Neither usability information nor an extension.
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ),
    }
}

fn pps_flags(pps: &Pps) -> StdVideoH265PpsFlags {
    let (tiles, deblocking) = (pps.tiles.as_ref(), pps.deblocking.as_ref());
    StdVideoH265PpsFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoH265PpsFlags::new_bitfield_1(
            u32::from(pps.dependent_slice_segments_enabled),
            u32::from(pps.output_flag_present),
            u32::from(pps.sign_data_hiding_enabled),
            u32::from(pps.cabac_init_present),
            u32::from(pps.constrained_intra_pred),
            u32::from(pps.transform_skip_enabled),
            u32::from(pps.cu_qp_delta_depth.is_some()),
            u32::from(pps.slice_chroma_qp_offsets_present),
            u32::from(pps.weighted_pred),
            u32::from(pps.weighted_bipred),
            u32::from(pps.transquant_bypass_enabled),
            u32::from(tiles.is_some()),
            u32::from(pps.entropy_coding_sync_enabled),
            u32::from(tiles.is_none_or(|it| it.sizes_minus1.is_none())),
            u32::from(tiles.is_none_or(|it| it.loop_filter_across)),
            u32::from(pps.loop_filter_across_slices_enabled),
            u32::from(deblocking.is_some()),
            u32::from(deblocking.is_some_and(|it| it.override_enabled)),
            u32::from(deblocking.is_some_and(|it| it.disabled)),
            u32::from(pps.scaling_lists.is_some()),
            u32::from(pps.lists_modification_present),
            u32::from(pps.slice_header_extension_present),
            // No extension.
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ),
    }
}

#[cfg(test)]
mod tests;
