//! Structures of one AV1 frame.

use std::ptr;

use super::Chains;
use crate::api::vk;
use crate::av1::Syntax;
use crate::av1::frame::FrameHeader;
use crate::av1::frame::grain::Grain;
use crate::av1::state::ReferenceInfo;

use vk::native::{
    StdVideoAV1CDEF, StdVideoAV1FilmGrain, StdVideoAV1FilmGrainFlags, StdVideoAV1GlobalMotion,
    StdVideoAV1LoopFilter, StdVideoAV1LoopFilterFlags, StdVideoAV1LoopRestoration,
    StdVideoAV1Quantization, StdVideoAV1QuantizationFlags, StdVideoAV1Segmentation,
    StdVideoAV1TileInfo, StdVideoAV1TileInfoFlags, StdVideoDecodeAV1PictureInfo,
    StdVideoDecodeAV1PictureInfoFlags, StdVideoDecodeAV1ReferenceInfo,
    StdVideoDecodeAV1ReferenceInfoFlags,
};

/// Calls a function with the chains of a frame.
pub(super) fn with(syntax: &Syntax, call: impl FnOnce(&Chains<'_>)) {
    let header = &syntax.header;
    let own = ReferenceInfo::new(header);
    let std: Vec<_> = syntax
        .references
        .iter()
        .chain([&own])
        .map(reference)
        .collect();
    let infos: Vec<_> = std
        .iter()
        .map(|it| vk::VideoDecodeAV1DpbSlotInfoKHR::default().std_reference_info(it))
        .collect();
    let chains: Vec<_> = infos.iter().map(|it| ptr::from_ref(it).cast()).collect();
    let tiles = tile_info(header);
    let quantization = quantization(header);
    let segmentation = StdVideoAV1Segmentation {
        FeatureEnabled: header.segmentation.features.enabled,
        FeatureData: header.segmentation.features.data,
    };
    let loop_filter = loop_filter(header);
    let cdef = StdVideoAV1CDEF {
        cdef_damping_minus_3: header.cdef.damping_minus_3,
        cdef_bits: header.cdef.bits,
        cdef_y_pri_strength: header.cdef.luma[0],
        cdef_y_sec_strength: header.cdef.luma[1],
        cdef_uv_pri_strength: header.cdef.chroma[0],
        cdef_uv_sec_strength: header.cdef.chroma[1],
    };
    let restoration = StdVideoAV1LoopRestoration {
        FrameRestorationType: header.restoration.types.map(u32::from),
        // Drivers take the binary logarithm less 5, as other programs pass it.
        LoopRestorationSize: header
            .restoration
            .log2_sizes
            .map(|it| u16::from(it.saturating_sub(5))),
    };
    let motion = StdVideoAV1GlobalMotion {
        GmType: header.motion.types,
        gm_params: header.motion.params,
    };
    let grain = header.grain.as_ref().map(film_grain);
    let picture = StdVideoDecodeAV1PictureInfo {
        pTileInfo: &tiles,
        pQuantization: &quantization,
        pSegmentation: &segmentation,
        pLoopFilter: &loop_filter,
        pCDEF: &cdef,
        pLoopRestoration: &restoration,
        pGlobalMotion: &motion,
        pFilmGrain: grain.as_ref().map_or(ptr::null(), ptr::from_ref),
        ..picture(header)
    };
    let offsets: Vec<u32> = syntax.tiles.iter().map(|it| it.start as u32).collect();
    let sizes: Vec<u32> = syntax.tiles.iter().map(|it| it.len() as u32).collect();
    let info = vk::VideoDecodeAV1PictureInfoKHR::default()
        .std_picture_info(&picture)
        .reference_name_slot_indices(syntax.slots)
        .frame_header_offset(0)
        .tile_offsets(&offsets)
        .tile_sizes(&sizes);
    call(&Chains {
        slots: &chains,
        picture: ptr::from_ref(&info).cast(),
    });
}

fn reference(info: &ReferenceInfo) -> StdVideoDecodeAV1ReferenceInfo {
    StdVideoDecodeAV1ReferenceInfo {
        flags: StdVideoDecodeAV1ReferenceInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoDecodeAV1ReferenceInfoFlags::new_bitfield_1(
                u32::from(info.disable_frame_end_update_cdf),
                u32::from(info.segmentation_enabled),
                0,
            ),
        },
        frame_type: info.frame_type,
        RefFrameSignBias: info.sign_bias,
        OrderHint: info.order_hint,
        SavedOrderHints: info.order_hints,
    }
}

/// Picture without the structures that it points to.
fn picture(header: &FrameHeader) -> StdVideoDecodeAV1PictureInfo {
    StdVideoDecodeAV1PictureInfo {
        flags: picture_flags(header),
        frame_type: u32::from(header.frame_type),
        current_frame_id: header.current_frame_id,
        OrderHint: header.order_hint,
        primary_ref_frame: header.primary_ref_frame,
        refresh_frame_flags: header.refresh_frame_flags,
        reserved1: 0,
        interpolation_filter: u32::from(header.interpolation_filter),
        TxMode: u32::from(header.tx_mode),
        delta_q_res: header.delta_q_res.unwrap_or(0),
        delta_lf_res: header.delta_lf.map_or(0, |(resolution, _)| resolution),
        SkipModeFrame: header.skip_mode.map_or([0; 2], |(frames, _)| frames),
        coded_denom: header.size.coded_denom.unwrap_or(0),
        reserved2: [0; 3],
        OrderHints: header.order_hints,
        expectedFrameId: header.expected_frame_ids,
        pTileInfo: ptr::null(),
        pQuantization: ptr::null(),
        pSegmentation: ptr::null(),
        pLoopFilter: ptr::null(),
        pCDEF: ptr::null(),
        pLoopRestoration: ptr::null(),
        pGlobalMotion: ptr::null(),
        pFilmGrain: ptr::null(),
    }
}

fn picture_flags(header: &FrameHeader) -> StdVideoDecodeAV1PictureInfoFlags {
    let segmentation = &header.segmentation;
    let types = header.restoration.types;
    StdVideoDecodeAV1PictureInfoFlags {
        _bitfield_align_1: [],
        _bitfield_1: StdVideoDecodeAV1PictureInfoFlags::new_bitfield_1(
            u32::from(header.error_resilient_mode),
            u32::from(header.disable_cdf_update),
            u32::from(header.size.coded_denom.is_some()),
            u32::from(header.size.render != header.size.upscaled),
            u32::from(header.allow_screen_content_tools),
            u32::from(header.is_filter_switchable),
            u32::from(header.force_integer_mv),
            u32::from(header.frame_size_override),
            u32::from(header.buffer_removal_time_present),
            u32::from(header.allow_intrabc),
            u32::from(header.frame_refs_short_signaling),
            u32::from(header.allow_high_precision_mv),
            u32::from(header.is_motion_mode_switchable),
            u32::from(header.use_ref_frame_mvs),
            u32::from(header.disable_frame_end_update_cdf),
            u32::from(header.allow_warped_motion),
            u32::from(header.reduced_tx_set),
            u32::from(header.reference_select),
            u32::from(header.skip_mode.is_some_and(|(_, is_present)| is_present)),
            u32::from(header.delta_q_res.is_some()),
            u32::from(header.delta_lf.is_some()),
            u32::from(header.delta_lf.is_some_and(|(_, is_multi)| is_multi)),
            u32::from(segmentation.is_enabled),
            u32::from(segmentation.update_map),
            u32::from(segmentation.temporal_update),
            u32::from(segmentation.update_data),
            u32::from(types != [0; 3]),
            u32::from(types[1..] != [0; 2]),
            u32::from(header.grain.is_some()),
            0,
        ),
    }
}

/// Tiles, whose begins are in units of 4 pixels.
fn tile_info(header: &FrameHeader) -> StdVideoAV1TileInfo {
    let tiles = &header.tiles;
    let [columns, rows] = [0, 1].map(|axis| tiles.sizes_minus_1[axis].len() as u8);
    StdVideoAV1TileInfo {
        flags: StdVideoAV1TileInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1TileInfoFlags::new_bitfield_1(u32::from(tiles.is_uniform), 0),
        },
        TileCols: columns,
        TileRows: rows,
        context_update_tile_id: tiles.context_update_tile_id,
        tile_size_bytes_minus_1: tiles.tile_size_bytes_minus_1,
        reserved1: [0; 7],
        pMiColStarts: tiles.starts[0].as_ptr(),
        pMiRowStarts: tiles.starts[1].as_ptr(),
        pWidthInSbsMinus1: tiles.sizes_minus_1[0].as_ptr(),
        pHeightInSbsMinus1: tiles.sizes_minus_1[1].as_ptr(),
    }
}

fn quantization(header: &FrameHeader) -> StdVideoAV1Quantization {
    let quantization = &header.quantization;
    let [qm_y, qm_u, qm_v] = quantization.matrices.unwrap_or_default();
    StdVideoAV1Quantization {
        flags: StdVideoAV1QuantizationFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1QuantizationFlags::new_bitfield_1(
                u32::from(quantization.matrices.is_some()),
                u32::from(quantization.diff_uv_delta),
                0,
            ),
        },
        base_q_idx: quantization.base_q_idx,
        DeltaQYDc: quantization.y_dc,
        DeltaQUDc: quantization.u_dc,
        DeltaQUAc: quantization.u_ac,
        DeltaQVDc: quantization.v_dc,
        DeltaQVAc: quantization.v_ac,
        qm_y,
        qm_u,
        qm_v,
    }
}

fn loop_filter(header: &FrameHeader) -> StdVideoAV1LoopFilter {
    let filter = &header.loop_filter;
    StdVideoAV1LoopFilter {
        flags: StdVideoAV1LoopFilterFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1LoopFilterFlags::new_bitfield_1(
                u32::from(filter.has_deltas),
                u32::from(filter.updates_deltas),
                0,
            ),
        },
        loop_filter_level: filter.levels,
        loop_filter_sharpness: filter.sharpness,
        update_ref_delta: filter.updated[0],
        loop_filter_ref_deltas: filter.deltas.references,
        update_mode_delta: filter.updated[1],
        loop_filter_mode_deltas: filter.deltas.modes,
    }
}

fn film_grain(grain: &Grain) -> StdVideoAV1FilmGrain {
    let [
        (cb_mult, cb_luma_mult, cb_offset),
        (cr_mult, cr_luma_mult, cr_offset),
    ] = grain.mixes;
    StdVideoAV1FilmGrain {
        flags: StdVideoAV1FilmGrainFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoAV1FilmGrainFlags::new_bitfield_1(
                u32::from(grain.chroma_scaling_from_luma),
                u32::from(grain.overlap_flag),
                u32::from(grain.clip_to_restricted_range),
                u32::from(grain.update_grain),
                0,
            ),
        },
        grain_scaling_minus_8: grain.grain_scaling_minus_8,
        ar_coeff_lag: grain.ar_coeff_lag,
        ar_coeff_shift_minus_6: grain.ar_coeff_shift_minus_6,
        grain_scale_shift: grain.grain_scale_shift,
        grain_seed: grain.grain_seed,
        film_grain_params_ref_idx: grain.film_grain_params_ref_idx,
        num_y_points: grain.y.count,
        point_y_value: grain.y.values,
        point_y_scaling: grain.y.scalings,
        num_cb_points: grain.cb.count,
        point_cb_value: grain.cb.values,
        point_cb_scaling: grain.cb.scalings,
        num_cr_points: grain.cr.count,
        point_cr_value: grain.cr.values,
        point_cr_scaling: grain.cr.scalings,
        // Unsigned bytes in a signed type.
        ar_coeffs_y_plus_128: grain.ar_coeffs_y_plus_128.map(u8::cast_signed),
        ar_coeffs_cb_plus_128: grain.ar_coeffs_cb_plus_128.map(u8::cast_signed),
        ar_coeffs_cr_plus_128: grain.ar_coeffs_cr_plus_128.map(u8::cast_signed),
        cb_mult,
        cb_luma_mult,
        cb_offset,
        cr_mult,
        cr_luma_mult,
        cr_offset,
    }
}
