//! Frame headers (AV1 specification, sections 5.9 and 6.8). Names of fields are those of the specification.

pub(crate) mod filters;
pub(crate) mod grain;
pub(crate) mod motion;
pub(crate) mod quantization;
pub(crate) mod references;
pub(crate) mod tiles;

use super::bits::{Bits, Parsed};
use super::sequence::{SELECT, SequenceHeader};
use super::state::{Stored, StoredFrames};
use filters::{Cdef, LoopFilter, Restoration};
use grain::Grain;
use motion::Motion;
use quantization::{Quantization, Segmentation};
use tiles::Tiles;

pub(crate) const KEY: u8 = 0;
pub(crate) const INTER: u8 = 1;
pub(crate) const INTRA_ONLY: u8 = 2;
pub(crate) const SWITCH: u8 = 3;

/// `PRIMARY_REF_NONE`.
pub(crate) const NO_PRIMARY: u8 = 7;

/// `SWITCHABLE` interpolation filter.
const SWITCHABLE: u8 = 4;

/// Frame header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub frame_type: u8,
    pub show_frame: bool,
    pub showable_frame: bool,
    pub error_resilient_mode: bool,
    pub disable_cdf_update: bool,
    pub allow_screen_content_tools: bool,
    pub force_integer_mv: bool,
    pub current_frame_id: u32,
    pub frame_size_override: bool,
    pub order_hint: u8,
    pub primary_ref_frame: u8,
    pub buffer_removal_time_present: bool,
    pub refresh_frame_flags: u8,
    pub size: FrameSize,
    pub allow_intrabc: bool,
    pub frame_refs_short_signaling: bool,
    /// Indices of the stored frames of LAST to ALTREF.
    pub ref_frame_idx: [u8; 7],
    pub expected_frame_ids: [u32; 8],
    /// Order hints by reference name; that of INTRA is 0.
    pub order_hints: [u8; 8],
    /// `RefFrameSignBias`, a bit for each reference name.
    pub sign_bias: u8,
    pub allow_high_precision_mv: bool,
    pub is_filter_switchable: bool,
    pub interpolation_filter: u8,
    pub is_motion_mode_switchable: bool,
    pub use_ref_frame_mvs: bool,
    pub disable_frame_end_update_cdf: bool,
    pub tiles: Tiles,
    pub quantization: Quantization,
    pub segmentation: Segmentation,
    /// `delta_q_res` and, if it is present, `delta_lf_res` with `delta_lf_multi`.
    pub delta_q_res: Option<u8>,
    pub delta_lf: Option<(u8, bool)>,
    pub loop_filter: LoopFilter,
    pub cdef: Cdef,
    pub restoration: Restoration,
    /// `TxMode`.
    pub tx_mode: u8,
    pub reference_select: bool,
    /// `SkipModeFrame`, if skip mode is allowed, and whether it is present.
    pub skip_mode: Option<([u8; 2], bool)>,
    pub allow_warped_motion: bool,
    pub reduced_tx_set: bool,
    pub motion: Motion,
    pub grain: Option<Grain>,
}

/// Sizes of a frame (sections 5.9.5 to 5.9.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameSize {
    /// `UpscaledWidth` and `FrameHeight`.
    pub upscaled: [u32; 2],
    /// `FrameWidth`.
    pub width: u32,
    /// `coded_denom`, if super-resolution is used.
    pub coded_denom: Option<u8>,
    /// `RenderWidth` and `RenderHeight`.
    pub render: [u32; 2],
}

impl FrameSize {
    /// `MiCols` and `MiRows`.
    pub(crate) fn in_blocks(&self) -> [u32; 2] {
        [self.width, self.upscaled[1]].map(|it| 2 * it.div_ceil(8))
    }
}

/// Frame header or a reference to an earlier frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// Header of a frame that is decoded.
    Frame(Box<FrameHeader>),
    /// `frame_to_show_map_idx` of a stored frame that is shown.
    Existing(usize),
}

/// State that a frame header is parsed with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub sequence: &'a SequenceHeader,
    pub stored: &'a StoredFrames,
    /// `temporal_id` and `spatial_id`.
    pub layer: [u8; 2],
}

impl Context<'_> {
    /// A stored frame. The error is a text.
    pub(crate) fn stored(&self, index: u8) -> Parsed<&Stored> {
        let frame = self.stored[usize::from(index & 7)].as_deref();
        frame.ok_or_else(|| "its reference pictures are missing".to_owned())
    }
}

impl FrameHeader {
    /// Whether it is a key frame or an intra-only frame (`FrameIsIntra`).
    pub(crate) fn is_intra(&self) -> bool {
        matches!(self.frame_type, KEY | INTRA_ONLY)
    }

    /// Parses `uncompressed_header()`.
    pub(crate) fn parse(bits: &mut Bits<'_>, context: &Context<'_>) -> Parsed<Header> {
        let sequence = context.sequence;
        let mut header = Self::default();
        if sequence.reduced_still_picture_header {
            header.show_frame = true;
            header.error_resilient_mode = true;
        } else if bits.flag()? {
            return Ok(Header::Existing(bits.f(3)? as usize));
        } else {
            header.visibility(bits, sequence)?;
        }
        header.begin(bits, context)?;
        let all = header.refresh_frame_flags == 0xff;
        if (!header.is_intra() || !all)
            && header.error_resilient_mode
            && sequence.order_hint_bits > 0
        {
            for index in 0..8 {
                let hint = bits.f_8(sequence.order_hint_bits)?;
                let known = context.stored(index).map(|it| it.info.order_hint);
                if !header.is_intra() && known != Ok(hint) {
                    return Err("its reference pictures are missing".to_owned());
                }
            }
        }
        if header.is_intra() {
            header.size = header.frame_size(bits, sequence)?;
            let size = &header.size;
            let may_copy = header.allow_screen_content_tools && size.upscaled[0] == size.width;
            header.allow_intrabc = bits.flag_if(may_copy)?;
        } else {
            header.inter(bits, context)?;
        }
        let keeps = sequence.reduced_still_picture_header || header.disable_cdf_update;
        header.disable_frame_end_update_cdf = keeps || bits.flag()?;
        header.coding(bits, context)?;
        Ok(Header::Frame(Box::new(header)))
    }

    fn visibility(&mut self, bits: &mut Bits<'_>, sequence: &SequenceHeader) -> Parsed<()> {
        self.frame_type = bits.f_8(2)?;
        self.show_frame = bits.flag()?;
        if self.show_frame {
            let timing = sequence.timing.as_ref();
            let is_equal = timing.is_some_and(|it| it.ticks_per_picture_minus_1.is_some());
            if let Some(model) = sequence.decoder_model.as_ref().filter(|_| !is_equal) {
                bits.skip(model.frame_presentation_time_length)?;
            }
            self.showable_frame = self.frame_type != KEY;
        } else {
            self.showable_frame = bits.flag()?;
        }
        let is_resilient = self.frame_type == SWITCH || (self.frame_type == KEY && self.show_frame);
        self.error_resilient_mode = is_resilient || bits.flag()?;
        Ok(())
    }

    /// Fields from `disable_cdf_update` to `refresh_frame_flags`.
    fn begin(&mut self, bits: &mut Bits<'_>, context: &Context<'_>) -> Parsed<()> {
        let sequence = context.sequence;
        self.disable_cdf_update = bits.flag()?;
        self.allow_screen_content_tools = match sequence.force_screen_content_tools {
            SELECT => bits.flag()?,
            forced => forced == 1,
        };
        if self.allow_screen_content_tools {
            self.force_integer_mv = match sequence.force_integer_mv {
                SELECT => bits.flag()?,
                forced => forced == 1,
            };
        }
        self.force_integer_mv |= self.is_intra();
        if let Some(length) = sequence.frame_id_bits() {
            self.current_frame_id = bits.f(length)?;
        }
        self.frame_size_override = match self.frame_type {
            SWITCH => true,
            _ => bits.flag_if(!sequence.reduced_still_picture_header)?,
        };
        self.order_hint = bits.f_8(sequence.order_hint_bits)?;
        self.primary_ref_frame = match self.is_intra() || self.error_resilient_mode {
            true => NO_PRIMARY,
            false => bits.f_8(3)?,
        };
        if let Some(model) = &sequence.decoder_model {
            self.buffer_removal_time_present = bits.flag()?;
            if self.buffer_removal_time_present {
                let [temporal, spatial] = context.layer;
                for point in &sequence.operating_points {
                    let has = |bit: u8| point.idc >> bit & 1 == 1;
                    let is_in = point.idc == 0 || (has(temporal) && has(spatial + 8));
                    if point.has_decoder_model && is_in {
                        bits.skip(model.buffer_removal_time_length)?;
                    }
                }
            }
        }
        let refreshes_all =
            self.frame_type == SWITCH || (self.frame_type == KEY && self.show_frame);
        self.refresh_frame_flags = match refreshes_all {
            true => 0xff,
            false => bits.f_8(8)?,
        };
        if self.frame_type == INTRA_ONLY && self.refresh_frame_flags == 0xff {
            return Err("an intra-only frame replaces all references".to_owned());
        }
        Ok(())
    }

    /// `frame_size()` and `render_size()`.
    fn frame_size(&self, bits: &mut Bits<'_>, sequence: &SequenceHeader) -> Parsed<FrameSize> {
        let size = match self.frame_size_override {
            true => {
                let [width, height] = sequence.size_bits.map(u32::from);
                [bits.f(width)? + 1, bits.f(height)? + 1]
            }
            false => sequence.max_size,
        };
        let mut size = superres(bits, size, sequence)?;
        if bits.flag()? {
            size.render = [bits.f(16)? + 1, bits.f(16)? + 1];
        }
        Ok(size)
    }

    /// `frame_size_with_refs()`.
    fn frame_size_with_refs(
        &self,
        bits: &mut Bits<'_>,
        context: &Context<'_>,
    ) -> Parsed<FrameSize> {
        for index in self.ref_frame_idx {
            if bits.flag()? {
                let known = context.stored(index)?.size;
                let mut size = superres(bits, known.upscaled, context.sequence)?;
                size.render = known.render;
                return Ok(size);
            }
        }
        self.frame_size(bits, context.sequence)
    }

    /// Fields of frames that refer to others, up to the sign biases.
    fn inter(&mut self, bits: &mut Bits<'_>, context: &Context<'_>) -> Parsed<()> {
        let sequence = context.sequence;
        self.frame_refs_short_signaling = bits.flag_if(sequence.order_hint_bits > 0)?;
        if self.frame_refs_short_signaling {
            let chosen = [bits.f_8(3)?, bits.f_8(3)?];
            self.ref_frame_idx = references::short_signaling(context, chosen, self.order_hint)?;
        }
        for at in 0..7 {
            if !self.frame_refs_short_signaling {
                self.ref_frame_idx[at] = bits.f_8(3)?;
            }
            if let (Some(length), Some([delta, _])) = (sequence.frame_id_bits(), sequence.frame_ids)
            {
                let delta = bits.f(u32::from(delta) + 2)? + 1;
                let all = 1_u32 << length;
                let expected = (self.current_frame_id + all).wrapping_sub(delta) % all;
                self.expected_frame_ids[at + 1] = expected;
            }
        }
        self.size = match self.frame_size_override && !self.error_resilient_mode {
            true => self.frame_size_with_refs(bits, context)?,
            false => self.frame_size(bits, sequence)?,
        };
        self.allow_high_precision_mv = bits.flag_if(!self.force_integer_mv)?;
        self.is_filter_switchable = bits.flag()?;
        self.interpolation_filter = match self.is_filter_switchable {
            true => SWITCHABLE,
            false => bits.f_8(2)?,
        };
        self.is_motion_mode_switchable = bits.flag()?;
        let may_project = !self.error_resilient_mode && sequence.enable_ref_frame_mvs;
        self.use_ref_frame_mvs = bits.flag_if(may_project)?;
        for (at, &index) in self.ref_frame_idx.iter().enumerate() {
            let hint = context.stored(index)?.info.order_hint;
            self.order_hints[at + 1] = hint;
            if sequence.distance(hint, self.order_hint) > 0 {
                self.sign_bias |= 1 << (at + 1);
            }
        }
        Ok(())
    }

    /// Fields from `tile_info()` on.
    fn coding(&mut self, bits: &mut Bits<'_>, context: &Context<'_>) -> Parsed<()> {
        let sequence = context.sequence;
        let previous = match self.primary_ref_frame {
            NO_PRIMARY => None,
            primary => {
                let index = self.ref_frame_idx[usize::from(primary)];
                Some(context.stored(index)?)
            }
        };
        self.tiles = Tiles::parse(bits, &self.size, sequence.use_128x128_superblock)?;
        self.quantization = Quantization::parse(bits, &sequence.color)?;
        self.segmentation = Segmentation::parse(bits, previous.map(|it| &it.features))?;
        let has_delta_q = bits.flag_if(self.quantization.base_q_idx > 0)?;
        if has_delta_q {
            self.delta_q_res = Some(bits.f_8(2)?);
            if bits.flag_if(!self.allow_intrabc)? {
                self.delta_lf = Some((bits.f_8(2)?, bits.flag()?));
            }
        }
        let is_lossless = self.quantization.is_lossless(&self.segmentation);
        let is_filtered = !is_lossless && !self.allow_intrabc;
        self.loop_filter = LoopFilter::parse(
            bits,
            is_filtered,
            sequence.color.mono_chrome,
            previous.map(|it| it.deltas),
        )?;
        if is_filtered && sequence.enable_cdef {
            self.cdef = Cdef::parse(bits, sequence.color.mono_chrome)?;
        }
        let is_all_lossless = is_lossless && self.size.width == self.size.upscaled[0];
        if !is_all_lossless && !self.allow_intrabc && sequence.enable_restoration {
            self.restoration = Restoration::parse(bits, sequence)?;
        }
        self.tx_mode = match is_lossless {
            true => 0,
            false => 1 + bits.f_8(1)?,
        };
        self.reference_select = bits.flag_if(!self.is_intra())?;
        if self.reference_select
            && let Some(frames) = references::skip_mode_frames(sequence, self)
        {
            self.skip_mode = Some((frames, bits.flag()?));
        }
        let may_warp =
            !self.is_intra() && !self.error_resilient_mode && sequence.enable_warped_motion;
        self.allow_warped_motion = bits.flag_if(may_warp)?;
        self.reduced_tx_set = bits.flag()?;
        if !self.is_intra() {
            let previous = previous.map(|it| it.motion).unwrap_or_default();
            self.motion = Motion::parse(bits, &previous, self.allow_high_precision_mv)?;
        }
        if sequence.film_grain_params_present && (self.show_frame || self.showable_frame) {
            self.grain = Grain::parse(bits, context, self)?;
        }
        Ok(())
    }
}

/// `superres_params()`, for a size before it.
fn superres(
    bits: &mut Bits<'_>,
    upscaled: [u32; 2],
    sequence: &SequenceHeader,
) -> Parsed<FrameSize> {
    let mut size = FrameSize {
        upscaled,
        width: upscaled[0],
        coded_denom: None,
        render: upscaled,
    };
    if bits.flag_if(sequence.enable_superres)? {
        let coded_denom = bits.f_8(3)?;
        // `SUPERRES_DENOM_MIN` and `SUPERRES_NUM`.
        let denominator = u32::from(coded_denom) + 9;
        size.coded_denom = Some(coded_denom);
        size.width = (upscaled[0] * 8 + denominator / 2) / denominator;
    }
    Ok(size)
}
