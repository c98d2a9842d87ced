//! Video usability information (clauses E.2.1 to E.2.3), of which colors and frame rate matter.

use super::super::bits::{Bits, Parsed};
use super::Usability;

/// Most `cpb_cnt_minus1`.
const MAX_BUFFERS: u32 = 31;

impl Usability {
    pub(super) fn parse(bits: &mut Bits<'_>, max_sub_layers_minus1: u8) -> Parsed<Self> {
        let mut usability = Self::default();
        // Aspect ratio; 255 is one of its own.
        if bits.flag()? && bits.u(8)? == 255 {
            bits.skip(32)?;
        }
        // Overscan.
        if bits.flag()? {
            bits.skip(1)?;
        }
        if bits.flag()? {
            bits.skip(3)?;
            usability.full_range = bits.flag()?;
            if bits.flag()? {
                bits.skip(16)?;
                usability.matrix_coefficients = Some(bits.u(8)? as u8);
            }
        }
        // Location of chroma samples.
        if bits.flag()? {
            bits.ue("chroma_sample_loc_type_top_field", 5)?;
            bits.ue("chroma_sample_loc_type_bottom_field", 5)?;
        }
        // `neutral_chroma_indication_flag`.
        bits.skip(1)?;
        usability.interlaced = bits.flag()?;
        bits.skip(1)?;
        // Default display window.
        if bits.flag()? {
            for _ in 0..4 {
                bits.ue("def_disp_win_offset", super::MAX_SIZE)?;
            }
        }
        if bits.flag()? {
            let timing = super::Timing::parse(bits)?;
            usability.num_units_in_tick = timing.num_units_in_tick;
            usability.time_scale = timing.time_scale;
            if bits.flag()? {
                hypothetical_decoder(bits, max_sub_layers_minus1)?;
            }
        }
        // Bitstream restrictions.
        if bits.flag()? {
            bits.skip(3)?;
            bits.ue("min_spatial_segmentation_idc", 4095)?;
            bits.ue("max_bytes_per_pic_denom", 16)?;
            bits.ue("max_bits_per_min_cu_denom", 16)?;
            bits.ue("log2_max_mv_length_horizontal", 16)?;
            bits.ue("log2_max_mv_length_vertical", 16)?;
        }
        Ok(usability)
    }
}

/// Skips parameters of the hypothetical reference decoder (`hrd_parameters`).
fn hypothetical_decoder(bits: &mut Bits<'_>, max_sub_layers_minus1: u8) -> Parsed<()> {
    let (nal, vcl) = (bits.flag()?, bits.flag()?);
    let mut sub_pictures = false;
    if nal || vcl {
        sub_pictures = bits.flag()?;
        if sub_pictures {
            bits.skip(19)?;
        }
        bits.skip(8)?;
        if sub_pictures {
            bits.skip(4)?;
        }
        bits.skip(15)?;
    }
    for _ in 0..=max_sub_layers_minus1 {
        let fixed_general = bits.flag()?;
        let fixed = fixed_general || bits.flag()?;
        let mut low_delay = false;
        if fixed {
            bits.ue("elemental_duration_in_tc_minus1", 2047)?;
        } else {
            low_delay = bits.flag()?;
        }
        let mut buffers = 1;
        if !low_delay {
            buffers = bits.ue("cpb_cnt_minus1", MAX_BUFFERS)? + 1;
        }
        for _ in 0..buffers * (u32::from(nal) + u32::from(vcl)) {
            let codes = if sub_pictures { 4 } else { 2 };
            for _ in 0..codes {
                bits.ue("bit_rate_value_minus1", u32::MAX - 1)?;
            }
            bits.skip(1)?;
        }
    }
    Ok(())
}
