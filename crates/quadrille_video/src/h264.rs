//! H.264 streams (ITU-T H.264, 08/2021): from NAL units to pictures that a device can decode.
//!
//! The device parses slices itself, including reference lists. Its caller keeps the state between pictures: parameter
//! sets, picture order counts (clause 8.2.1), reference marking (clause 8.2.5) and output order (clause C.4).

pub(crate) mod access_units;
pub(crate) mod order_count;
pub(crate) mod references;

use h264_reader::Context;
use h264_reader::nal::pps::PicParameterSet;
use h264_reader::nal::slice::{FieldPic, SliceFamily, SliceHeader};
use h264_reader::nal::sps::{ChromaFormat, FrameMbsFlags, PicOrderCntType, SeqParameterSet};
use h264_reader::nal::{Nal as _, NalHeader, RefNal, UnitType};

use crate::coding::{
    CodedPicture, ColorMatrix, KnownSets, MAX_SLOTS, PictureSize, Sequence, Syntax,
};
use crate::error::VideoError;
use crate::output::{OutputLimits, OutputOrder};
use order_count::OrderCounts;
use references::References;

/// Limit of width and height in pixels: level 6.2 allows 16,880 in one direction.
const MAX_SIZE: u32 = 16_384;

/// State of a stream between pictures.
#[derive(Default)]
pub(crate) struct Parser {
    context: Context,
    known: KnownSets,
    size: Option<PictureSize>,
    color: Option<ColorMatrix>,
    references: References,
    counts: OrderCounts,
    output: OutputOrder,
    next: u64,
}

impl Parser {
    /// Parses parameter sets outside of samples.
    pub(crate) fn add_sets(&mut self, units: &[Vec<u8>]) -> Result<(), VideoError> {
        for unit in units.iter().filter(|unit| !unit.is_empty()) {
            self.parameter_set(&RefNal::new(unit, &[], true), unit)
                .map_err(|problem| VideoError::Container { problem })?;
        }
        Ok(())
    }

    /// Forgets pictures, before decoding begins at another sample. Returns the pictures that were still to be output.
    pub(crate) fn reset(&mut self) -> Vec<u64> {
        self.references.clear();
        self.counts = OrderCounts::default();
        self.output.flush()
    }

    /// Parameter sets, for the device.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Number that changes with the contents of parameter sets.
    pub(crate) fn version(&self) -> u64 {
        self.known.version()
    }

    /// Demands of a sequence on its decoder.
    pub(crate) fn sequence(&self, sps: u8) -> Option<Sequence> {
        let mut known = self.context.sps();
        let sps = known.find(|it| it.seq_parameter_set_id.id() == sps)?;
        Some(Sequence {
            profile_idc: sps.profile().profile_idc(),
            level_idc: sps.level_idc,
            references: sps.max_num_ref_frames,
            active: sps.max_num_ref_frames,
            reordered: output_limits(sps).reordered,
            bit_depth: 8,
            has_grain: false,
        })
    }

    /// Size and colors of the last picture; `None` before the first one.
    pub(crate) fn format(&self) -> Option<(PictureSize, ColorMatrix)> {
        self.size.zip(self.color)
    }

    /// Parses the NAL units of a sample. `None` if there is no slice in it. `sample` is its index, for messages.
    pub(crate) fn picture(
        &mut self,
        units: &[&[u8]],
        sample: usize,
    ) -> Result<Option<CodedPicture>, VideoError> {
        let broken = |problem: String| VideoError::Broken { sample, problem };
        let mut slices = Vec::new();
        for (index, unit) in units.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let nal = RefNal::new(unit, &[], true);
            let Ok(header) = nal.header() else {
                return Err(broken(format!("NAL unit {index} has a forbidden bit")));
            };
            match header.nal_unit_type() {
                UnitType::SeqParameterSet | UnitType::PicParameterSet => {
                    self.parameter_set(&nal, unit).map_err(broken)?;
                }
                UnitType::SliceLayerWithoutPartitioningIdr
                | UnitType::SliceLayerWithoutPartitioningNonIdr => slices.push((index, header)),
                UnitType::SliceDataPartitionALayer => {
                    let feature = "data partitioning (extended profile)".to_owned();
                    return Err(VideoError::Unsupported { feature });
                }
                _ => {}
            }
        }
        if slices.is_empty() {
            return Ok(None);
        }
        self.slices(units, &slices, sample).map(Some)
    }

    /// Parses a parameter set, unless it is known.
    fn parameter_set(&mut self, nal: &RefNal<'_>, unit: &[u8]) -> Result<(), String> {
        let kind = nal.header().map_or(0, |header| header.nal_unit_type().id());
        let id = if kind == UnitType::SeqParameterSet.id() {
            let sps = SeqParameterSet::from_bits(nal.rbsp_bits());
            let sps = sps.map_err(|error| format!("sequence parameter set: {error:?}"))?;
            let id = sps.seq_parameter_set_id.id();
            if self.known.contains((kind, id), unit) {
                return Ok(());
            }
            self.context.put_seq_param_set(sps);
            // Picture parameter sets are parsed by the sequence parameter set that they name.
            self.known.remove_type(UnitType::PicParameterSet.id());
            id
        } else {
            let pps = PicParameterSet::from_bits(&self.context, nal.rbsp_bits());
            let pps = pps.map_err(|error| format!("picture parameter set: {error:?}"))?;
            let id = pps.pic_parameter_set_id.id();
            if self.known.contains((kind, id), unit) {
                return Ok(());
            }
            self.context.put_pic_param_set(pps);
            id
        };
        self.known.insert((kind, id), unit);
        Ok(())
    }

    /// Parses the slices of a picture, and updates the state.
    fn slices(
        &mut self,
        units: &[&[u8]],
        slices: &[(usize, NalHeader)],
        sample: usize,
    ) -> Result<CodedPicture, VideoError> {
        let broken = |problem: String| VideoError::Broken { sample, problem };
        let is_reference = slices.iter().any(|(_, header)| header.nal_ref_idc() != 0);
        // Only slices of references have marking (clause 7.3.3), so all must agree (clause 7.4.1).
        if is_reference && slices.iter().any(|(_, header)| header.nal_ref_idc() == 0) {
            let problem = "some of its slices are of a reference picture, others are not";
            return Err(broken(problem.to_owned()));
        }
        let headers = headers(&self.context, units, slices).map_err(broken)?;
        let Headers {
            slice,
            sps,
            pps,
            is_intra,
            indices,
        } = headers;
        let size = check(sps, pps, &slice)?;
        let is_idr = slice.idr_pic_id.is_some();
        if self.size.is_some_and(|known| known != size) && !is_idr {
            return Err(broken(format!(
                "the size changes to {}x{} in a picture that needs earlier ones",
                size.coded[0], size.coded[1]
            )));
        }
        if is_idr {
            self.references.clear();
        } else {
            self.references.fill_gap(sps, slice.frame_num);
        }
        let known = self.references.list();
        if known.is_empty() && !is_intra {
            return Err(broken("its reference pictures are missing".to_owned()));
        }
        let order_counts = self.counts.next(sps, &slice, is_idr, is_reference);
        let slot = self.references.free_slot();
        let references = &mut self.references;
        let resets = references.mark(sps, &slice, is_reference, slot, order_counts);
        if resets {
            self.counts.reset(order_counts);
        }
        let id = self.next;
        self.next += 1;
        let shown = (id, order_counts[0].min(order_counts[1]));
        let begins = is_idr || resets;
        let output = self.output.add(output_limits(sps), shown, true, begins);
        self.size = Some(size);
        self.color = Some(color(sps, &size));
        Ok(CodedPicture {
            id,
            sps: sps.seq_parameter_set_id.id(),
            pps: pps.pic_parameter_set_id.id(),
            order_counts,
            is_refresh: is_idr,
            is_intra,
            is_reference,
            is_shown: true,
            slot,
            references: known,
            slices: indices,
            output,
            syntax: Syntax::H264 {
                frame_num: slice.frame_num,
                idr_pic_id: slice.idr_pic_id.unwrap_or(0) as u16,
            },
        })
    }
}

/// Headers of the slices of a picture.
struct Headers<'a> {
    /// Header of the first slice.
    slice: SliceHeader,
    sps: &'a SeqParameterSet,
    pps: &'a PicParameterSet,
    /// Whether all slices are I slices.
    is_intra: bool,
    /// NAL units of the slices, without redundant ones.
    indices: Vec<usize>,
}

/// Parses the headers of slices. The error is a text.
fn headers<'a>(
    context: &'a Context,
    units: &[&[u8]],
    slices: &[(usize, NalHeader)],
) -> Result<Headers<'a>, String> {
    let mut found: Option<Headers<'a>> = None;
    for &(index, header) in slices {
        let nal = RefNal::new(units[index], &[], true);
        let parsed = SliceHeader::from_bits(context, &mut nal.rbsp_bits(), header, None);
        let (slice, sps, pps) = parsed.map_err(|error| format!("slice header: {error:?}"))?;
        if slice.redundant_pic_cnt.is_some_and(|count| count > 0) {
            continue;
        }
        let family = slice.slice_type.family;
        let is_intra = matches!(family, SliceFamily::I | SliceFamily::SI);
        match &mut found {
            Some(first) if first.slice.frame_num != slice.frame_num => {
                return Err(format!(
                    "its slices have the frame numbers {} and {}",
                    first.slice.frame_num, slice.frame_num
                ));
            }
            Some(first) => {
                first.is_intra &= is_intra;
                first.indices.push(index);
            }
            None => {
                found = Some(Headers {
                    slice,
                    sps,
                    pps,
                    is_intra,
                    indices: vec![index],
                });
            }
        }
    }
    found.ok_or_else(|| "it has redundant slices only".to_owned())
}

/// Checks that a picture is progressive, 4:2:0 and of 8 bits, without slice groups, and returns its size.
fn check(
    sps: &SeqParameterSet,
    pps: &PicParameterSet,
    slice: &SliceHeader,
) -> Result<PictureSize, VideoError> {
    let unsupported = |feature: String| Err(VideoError::Unsupported { feature });
    let chroma = &sps.chroma_info;
    if sps.frame_mbs_flags != FrameMbsFlags::Frames || slice.field_pic != FieldPic::Frame {
        return unsupported("interlaced pictures".to_owned());
    }
    if chroma.chroma_format != ChromaFormat::YUV420 {
        return unsupported(format!("the chroma format {:?}", chroma.chroma_format));
    }
    if chroma.bit_depth_luma_minus8 != 0 || chroma.bit_depth_chroma_minus8 != 0 {
        let bits = chroma
            .bit_depth_luma_minus8
            .max(chroma.bit_depth_chroma_minus8);
        return unsupported(format!("{} bits per channel", 8 + u32::from(bits)));
    }
    if pps.slice_groups.is_some() {
        return unsupported("slice groups (flexible macroblock order)".to_owned());
    }
    // 3 is reserved (clause 7.4.2.2).
    if pps.weighted_bipred_idc > 2 {
        return unsupported("a reserved mode of weighted prediction".to_owned());
    }
    if sps.max_num_ref_frames as usize >= MAX_SLOTS {
        return unsupported(format!("{} reference frames", sps.max_num_ref_frames));
    }
    picture_size(sps)
}

/// Size of the pictures of a sequence.
fn picture_size(sps: &SeqParameterSet) -> Result<PictureSize, VideoError> {
    let unsupported = |feature: String| VideoError::Unsupported { feature };
    let mbs = [
        sps.pic_width_in_mbs_minus1,
        sps.pic_height_in_map_units_minus1,
    ];
    if mbs.iter().any(|&it| it >= MAX_SIZE / 16) {
        return Err(unsupported("pictures of more than 16384 pixels".to_owned()));
    }
    let coded = mbs.map(|it| (it + 1) * 16);
    let shown = sps.pixel_dimensions();
    let (width, height) = shown.map_err(|error| unsupported(format!("the size: {error:?}")))?;
    if width == 0 || height == 0 {
        return Err(unsupported("pictures without pixels".to_owned()));
    }
    let crop = sps.frame_cropping.as_ref();
    // In units of chroma samples, of 2 x 2 pixels.
    let origin = crop.map_or([0, 0], |crop| [2 * crop.left_offset, 2 * crop.top_offset]);
    Ok(PictureSize {
        coded,
        origin,
        shown: [width, height],
    })
}

/// The matrix that a sequence states.
fn color(sps: &SeqParameterSet, size: &PictureSize) -> ColorMatrix {
    let vui = sps.vui_parameters.as_ref();
    let signal = vui.and_then(|vui| vui.video_signal_type.as_ref());
    let colors = signal.and_then(|signal| signal.colour_description.as_ref());
    let coefficients = colors.map(|colors| colors.matrix_coefficients);
    let full_range = signal.is_some_and(|signal| signal.video_full_range_flag);
    ColorMatrix::new(coefficients, full_range, size)
}

fn output_limits(sps: &SeqParameterSet) -> OutputLimits {
    OutputLimits {
        reordered: max_reordered(sps),
        latency: None,
    }
}

/// Number of pictures that may precede another one in decoding order and follow it in output order: as the sequence
/// parameter set states (clause E.2.1), or the capacity of the decoded picture buffer (clause A.3.1).
fn max_reordered(sps: &SeqParameterSet) -> usize {
    if sps.pic_order_cnt == PicOrderCntType::TypeTwo {
        return 0;
    }
    let restrictions = sps.vui_parameters.as_ref();
    let restrictions = restrictions.and_then(|vui| vui.bitstream_restrictions.as_ref());
    if let Some(known) = restrictions {
        return known.max_num_reorder_frames.min(16) as usize;
    }
    let mbs = (u64::from(sps.pic_width_in_mbs_minus1) + 1)
        * (u64::from(sps.pic_height_in_map_units_minus1) + 1);
    let limits = sps.level().limits();
    let frames = limits.map_or(16, |limits| u64::from(limits.max_dpb_mbs) / mbs);
    frames.clamp(1, 16) as usize
}

#[cfg(test)]
mod tests;
