//! Sequence headers (AV1 specification, sections 5.5 and 6.4). Names of fields are those of the specification.

use super::bits::{Bits, Parsed};

/// `SELECT_SCREEN_CONTENT_TOOLS` and `SELECT_INTEGER_MV`: each frame chooses.
pub(crate) const SELECT: u8 = 2;

/// Colors (section 5.5.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColorConfig {
    pub bit_depth: u8,
    pub mono_chrome: bool,
    /// `color_primaries`, `transfer_characteristics` and `matrix_coefficients`, if they are stated.
    pub description: Option<[u8; 3]>,
    pub full_range: bool,
    /// `subsampling_x` and `subsampling_y`.
    pub subsampling: [bool; 2],
    pub chroma_sample_position: u8,
    pub separate_uv_delta_q: bool,
}

/// Times (section 5.5.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimingInfo {
    pub num_units_in_display_tick: u32,
    pub time_scale: u32,
    /// `num_ticks_per_picture_minus_1`, if all pictures take the same time.
    pub ticks_per_picture_minus_1: Option<u32>,
}

/// Lengths of the fields of the decoder model (section 5.5.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecoderModel {
    pub buffer_delay_length: u32,
    pub buffer_removal_time_length: u32,
    pub frame_presentation_time_length: u32,
}

/// Operating point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperatingPoint {
    pub idc: u16,
    pub level_idx: u8,
    pub has_decoder_model: bool,
}

/// Sequence header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceHeader {
    pub profile: u8,
    pub still_picture: bool,
    pub reduced_still_picture_header: bool,
    pub timing: Option<TimingInfo>,
    pub decoder_model: Option<DecoderModel>,
    pub initial_display_delay_present: bool,
    pub operating_points: Vec<OperatingPoint>,
    /// Bits of width and height.
    pub size_bits: [u8; 2],
    /// Largest width and height.
    pub max_size: [u32; 2],
    /// `delta_frame_id_length_minus_2` and `additional_frame_id_length_minus_1`.
    pub frame_ids: Option<[u8; 2]>,
    pub use_128x128_superblock: bool,
    pub enable_filter_intra: bool,
    pub enable_intra_edge_filter: bool,
    pub enable_interintra_compound: bool,
    pub enable_masked_compound: bool,
    pub enable_warped_motion: bool,
    pub enable_dual_filter: bool,
    pub enable_jnt_comp: bool,
    pub enable_ref_frame_mvs: bool,
    pub force_screen_content_tools: u8,
    pub force_integer_mv: u8,
    /// `OrderHintBits`; 0 without order hints.
    pub order_hint_bits: u32,
    pub enable_superres: bool,
    pub enable_cdef: bool,
    pub enable_restoration: bool,
    pub color: ColorConfig,
    pub film_grain_params_present: bool,
}

impl SequenceHeader {
    /// Parses the payload of a sequence header.
    pub(crate) fn parse(payload: &[u8]) -> Parsed<Self> {
        let bits = &mut Bits::new(payload);
        let mut header = Self {
            profile: bits.f_8(3)?,
            still_picture: bits.flag()?,
            reduced_still_picture_header: bits.flag()?,
            force_screen_content_tools: SELECT,
            force_integer_mv: SELECT,
            ..Self::default()
        };
        if header.profile > 2 {
            return Err(format!("`seq_profile` is {}", header.profile));
        }
        header.operating_points(bits)?;
        header.size_bits = [bits.f_8(4)? + 1, bits.f_8(4)? + 1];
        let [width, height] = header.size_bits.map(u32::from);
        header.max_size = [bits.f(width)? + 1, bits.f(height)? + 1];
        if bits.flag_if(!header.reduced_still_picture_header)? {
            let lengths = [bits.f_8(4)?, bits.f_8(3)?];
            if lengths[0] + lengths[1] + 3 > 16 {
                return Err("its frame ids have more than 16 bits".to_owned());
            }
            header.frame_ids = Some(lengths);
        }
        header.use_128x128_superblock = bits.flag()?;
        header.enable_filter_intra = bits.flag()?;
        header.enable_intra_edge_filter = bits.flag()?;
        if !header.reduced_still_picture_header {
            header.inter_tools(bits)?;
        }
        header.enable_superres = bits.flag()?;
        header.enable_cdef = bits.flag()?;
        header.enable_restoration = bits.flag()?;
        header.color = ColorConfig::parse(bits, header.profile)?;
        header.film_grain_params_present = bits.flag()?;
        Ok(header)
    }

    /// Bits of frame ids.
    pub(crate) fn frame_id_bits(&self) -> Option<u32> {
        let [delta, additional] = self.frame_ids?;
        Some(u32::from(delta + additional) + 3)
    }

    /// Difference of order hints (section 7.8: `get_relative_dist`).
    pub(crate) fn distance(&self, one: u8, other: u8) -> i32 {
        let Some(shift) = self.order_hint_bits.checked_sub(1) else {
            return 0;
        };
        let difference = i32::from(one) - i32::from(other);
        let sign = 1 << shift;
        (difference & (sign - 1)) - (difference & sign)
    }

    /// Pictures per second, if they are stated.
    pub(crate) fn rate(&self) -> Option<f64> {
        let timing = self.timing.as_ref()?;
        let ticks = f64::from(timing.ticks_per_picture_minus_1?) + 1.0;
        let seconds = f64::from(timing.num_units_in_display_tick) * ticks;
        let rate = f64::from(timing.time_scale) / seconds;
        (1.0..=1000.0).contains(&rate).then_some(rate)
    }

    fn operating_points(&mut self, bits: &mut Bits<'_>) -> Parsed<()> {
        if self.reduced_still_picture_header {
            let level_idx = bits.f_8(5)?;
            self.operating_points.push(OperatingPoint {
                level_idx,
                ..OperatingPoint::default()
            });
            return Ok(());
        }
        if bits.flag()? {
            self.timing = Some(TimingInfo {
                num_units_in_display_tick: bits.f(32)?,
                time_scale: bits.f(32)?,
                ticks_per_picture_minus_1: match bits.flag()? {
                    true => Some(bits.uvlc()?),
                    false => None,
                },
            });
            if bits.flag()? {
                let buffer_delay_length = bits.f(5)? + 1;
                // `num_units_in_decoding_tick`.
                bits.skip(32)?;
                self.decoder_model = Some(DecoderModel {
                    buffer_delay_length,
                    buffer_removal_time_length: bits.f(5)? + 1,
                    frame_presentation_time_length: bits.f(5)? + 1,
                });
            }
        }
        self.initial_display_delay_present = bits.flag()?;
        let count = bits.f(5)? + 1;
        for _ in 0..count {
            let idc = bits.f(12)? as u16;
            let level_idx = bits.f_8(5)?;
            // `seq_tier`.
            bits.flag_if(level_idx > 7)?;
            let has_decoder_model = bits.flag_if(self.decoder_model.is_some())?;
            if let Some(model) = self.decoder_model.as_ref().filter(|_| has_decoder_model) {
                bits.skip(2 * model.buffer_delay_length + 1)?;
            }
            if self.initial_display_delay_present && bits.flag()? {
                bits.skip(4)?;
            }
            self.operating_points.push(OperatingPoint {
                idc,
                level_idx,
                has_decoder_model,
            });
        }
        Ok(())
    }

    fn inter_tools(&mut self, bits: &mut Bits<'_>) -> Parsed<()> {
        self.enable_interintra_compound = bits.flag()?;
        self.enable_masked_compound = bits.flag()?;
        self.enable_warped_motion = bits.flag()?;
        self.enable_dual_filter = bits.flag()?;
        let has_order_hints = bits.flag()?;
        self.enable_jnt_comp = bits.flag_if(has_order_hints)?;
        self.enable_ref_frame_mvs = bits.flag_if(has_order_hints)?;
        if !bits.flag()? {
            self.force_screen_content_tools = bits.f_8(1)?;
        }
        if self.force_screen_content_tools > 0 && !bits.flag()? {
            self.force_integer_mv = bits.f_8(1)?;
        }
        if has_order_hints {
            self.order_hint_bits = bits.f(3)? + 1;
        }
        Ok(())
    }
}

impl ColorConfig {
    fn parse(bits: &mut Bits<'_>, profile: u8) -> Parsed<Self> {
        let high_bitdepth = bits.flag()?;
        let twelve_bit = bits.flag_if(profile == 2 && high_bitdepth)?;
        let mut color = Self {
            bit_depth: match (high_bitdepth, twelve_bit) {
                (false, _) => 8,
                (true, false) => 10,
                (true, true) => 12,
            },
            mono_chrome: bits.flag_if(profile != 1)?,
            subsampling: [true; 2],
            ..Self::default()
        };
        if bits.flag()? {
            color.description = Some([bits.f_8(8)?, bits.f_8(8)?, bits.f_8(8)?]);
        }
        if color.mono_chrome {
            color.full_range = bits.flag()?;
            return Ok(color);
        }
        // BT.709 primaries, the transfer function of sRGB, and RGB without a matrix.
        if color.description == Some([1, 13, 0]) {
            color.full_range = true;
            color.subsampling = [false; 2];
        } else {
            color.full_range = bits.flag()?;
            color.subsampling = match profile {
                0 => [true; 2],
                1 => [false; 2],
                _ if twelve_bit => {
                    let horizontal = bits.flag()?;
                    [horizontal, bits.flag_if(horizontal)?]
                }
                _ => [true, false],
            };
            if color.subsampling == [true; 2] {
                color.chroma_sample_position = bits.f_8(2)?;
            }
        }
        color.separate_uv_delta_q = bits.flag()?;
        Ok(color)
    }
}
