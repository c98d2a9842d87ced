//! H.265 (ITU-T H.265; ISO/IEC 23008-2): parameter sets and slice headers, and the state between pictures: picture
//! order counts (clause 8.3.1), reference picture sets (clause 8.3.2) and output order (clause C.5.2).
//!
//! Own code: `cros-codecs` panics on broken sets, `scuffle-h265` has sequence parameter sets only, and `hevc_parser`
//! hides fields that devices need. All counts are limited before they allocate.

pub(crate) mod access_units;
pub(crate) mod bits;
pub(crate) mod nal;
pub(crate) mod references;
pub(crate) mod sets;
pub(crate) mod slice;

use std::collections::BTreeMap;

use crate::coding::{self, CodedPicture, ColorMatrix, KnownSets, PictureSize, Sequence};
use crate::error::VideoError;
use crate::output::{OutputLimits, OutputOrder};
use bits::{Bits, Parsed};
use nal::Kind;
use references::{CurrentReferences, References};
use sets::picture::Pps;
use sets::{Sps, Vps};
use slice::{SliceHeader, SliceStart};

/// Syntax of the slice headers of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub vps: u8,
    /// Whether it is an IRAP picture.
    pub is_random_access: bool,
    /// Whether it is an IDR picture.
    pub is_idr: bool,
    pub references: CurrentReferences,
    /// `short_term_ref_pic_set_sps_flag`.
    pub set_of_sequence: bool,
    /// Bits of the reference picture set in the slice header.
    pub set_bits: u16,
    /// `NumDeltaPocs[RefRpsIdx]` of the set in the slice header.
    pub predicting: u8,
}

/// Parameter sets by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    pub vps: BTreeMap<u8, Vps>,
    pub sps: BTreeMap<u8, Sps>,
    pub pps: BTreeMap<u8, Pps>,
}

/// State between pictures.
#[derive(Clone, Debug, Default)]
struct State {
    references: References,
    /// Order count of `prevTid0Pic`.
    previous: i32,
    /// Whether a picture was decoded since the begin or the last end of a sequence.
    has_begun: bool,
    /// Whether the leading pictures of the last IRAP picture are skipped (`NoRaslOutputFlag`).
    skips_leading: bool,
}

impl State {
    /// Whether a picture is skipped: a leading one of an IRAP picture where decoding began.
    fn skips(&self, kind: Kind) -> bool {
        kind.is_skipped_leading() && self.has_begun && self.skips_leading
    }

    /// Begins a picture. Returns whether it needs no earlier one: it is an IRAP picture with `NoRaslOutputFlag`. The
    /// error is a text.
    fn begin(&mut self, kind: Kind) -> Parsed<bool> {
        if !kind.is_random_access() {
            return match self.has_begun {
                true => Ok(false),
                false => Err("its reference pictures are missing".to_owned()),
            };
        }
        let is_refresh = !self.has_begun || !kind.is_clean_access();
        self.skips_leading = is_refresh;
        self.has_begun = true;
        Ok(is_refresh)
    }

    /// Returns the order count of a picture and the references that it uses, and keeps those of its set. The error is
    /// a text.
    fn select(
        &mut self,
        slices: &Slices,
        sps: &Sps,
        is_refresh: bool,
    ) -> Parsed<(i32, CurrentReferences)> {
        let log2_max_lsb = sps.log2_max_lsb();
        let order_count = order_count(self.previous, &slices.header, is_refresh, log2_max_lsb);
        let references = if is_refresh {
            self.references.clear();
            CurrentReferences::NONE
        } else {
            let references = &mut self.references;
            references.select(&slices.header, order_count, log2_max_lsb)?
        };
        let has_none = slices.kind.is_random_access() || references == CurrentReferences::NONE;
        if has_none && !slices.is_intra {
            return Err("its reference pictures are missing".to_owned());
        }
        Ok((order_count, references))
    }

    /// Adds a decoded picture and returns its slot.
    fn add(&mut self, kind: Kind, order_count: i32) -> usize {
        let slot = self.references.free_slot();
        self.references.add(slot, order_count);
        if kind.is_previous() {
            self.previous = order_count;
        }
        slot
    }
}

/// State of a stream between pictures.
#[derive(Default)]
pub(crate) struct Parser {
    sets: Sets,
    known: KnownSets,
    format: Option<(PictureSize, ColorMatrix)>,
    state: State,
    output: OutputOrder,
    next: u64,
}

/// Slices of a picture.
struct Slices {
    kind: Kind,
    pps: u8,
    header: SliceHeader,
    /// Whether all slices are I slices.
    is_intra: bool,
    indices: Vec<usize>,
}

impl Parser {
    /// Parses parameter sets outside of samples.
    pub(crate) fn add_sets(&mut self, units: &[Vec<u8>]) -> Result<(), VideoError> {
        for unit in units {
            let Some((kind, payload)) = Kind::split(unit) else {
                continue;
            };
            self.parameter_set(kind, payload, unit)
                .map_err(|problem| VideoError::Container { problem })?;
        }
        Ok(())
    }

    /// See [`coding::Parser::reset`].
    pub(crate) fn reset(&mut self) -> Vec<u64> {
        self.state = State::default();
        self.output.flush()
    }

    /// Parameter sets, for the device.
    pub(crate) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Number that changes with the contents of parameter sets.
    pub(crate) fn version(&self) -> u64 {
        self.known.version()
    }

    /// Size and colors of the last picture; `None` before the first one.
    pub(crate) fn format(&self) -> Option<(PictureSize, ColorMatrix)> {
        self.format
    }

    /// Demands of a sequence on its decoder.
    pub(crate) fn sequence(&self, sps: u8) -> Option<Sequence> {
        let sps = self.sets.sps.get(&sps)?;
        Some(Sequence {
            profile_idc: sps.profile.profile(),
            level_idc: sps.profile.level_idc,
            references: u32::from(sps.max_references()),
            active: u32::from(sps.max_references()),
            reordered: output_limits(sps).reordered,
            bit_depth: 8 + sps.bit_depth_luma_minus8,
            has_grain: false,
        })
    }

    /// Parses the NAL units of a sample. `None` if there is no slice in it, or its picture is skipped.
    pub(crate) fn picture(
        &mut self,
        units: &[&[u8]],
        sample: usize,
    ) -> Result<Option<CodedPicture>, VideoError> {
        let broken = |problem: String| VideoError::Broken { sample, problem };
        let mut slices: Option<Slices> = None;
        let mut ends = false;
        for (index, unit) in units.iter().enumerate() {
            let Some((kind, payload)) = Kind::split(unit) else {
                continue;
            };
            if kind.is_set() {
                self.parameter_set(kind, payload, unit).map_err(broken)?;
            } else if kind.is_slice() {
                let more = self.slice(slices, kind, payload, index).map_err(broken)?;
                slices = Some(more);
            }
            ends |= kind.is_end();
        }
        let picture = match slices {
            Some(slices) => self.begin_picture(slices, sample)?,
            None => None,
        };
        if ends {
            self.state.has_begun = false;
        }
        Ok(picture)
    }

    /// Parses a parameter set, unless it is known. The error is a text.
    fn parameter_set(&mut self, kind: Kind, payload: &[u8], unit: &[u8]) -> Parsed<()> {
        let named = |name: &'static str| move |problem: String| format!("{name}: {problem}");
        let id = match kind.id {
            nal::VPS => {
                let vps = Vps::parse(payload).map_err(named("video parameter set"))?;
                let id = vps.id;
                self.sets.vps.insert(id, vps);
                id
            }
            nal::SPS => {
                let sps = Sps::parse(payload).map_err(named("sequence parameter set"))?;
                let id = sps.id;
                self.sets.sps.insert(id, sps);
                id
            }
            nal::PPS => {
                let pps = Pps::parse(payload).map_err(named("picture parameter set"))?;
                let id = pps.id;
                self.sets.pps.insert(id, pps);
                id
            }
            _ => return Ok(()),
        };
        if !self.known.contains((kind.id, id), unit) {
            self.known.insert((kind.id, id), unit);
        }
        Ok(())
    }

    /// Sets of a picture, by the id of its picture parameter set. The error is a text.
    fn sets_of(&self, pps: u8) -> Parsed<(&Sps, &Pps)> {
        let missing = |name: &str, id: u8| format!("its {name} parameter set {id} is missing");
        let pps = self
            .sets
            .pps
            .get(&pps)
            .ok_or_else(|| missing("picture", pps))?;
        let sps = self.sets.sps.get(&pps.sps);
        let sps = sps.ok_or_else(|| missing("sequence", pps.sps))?;
        Ok((sps, pps))
    }

    /// Parses the header of a slice segment. The error is a text.
    fn slice(
        &self,
        earlier: Option<Slices>,
        kind: Kind,
        payload: &[u8],
        index: usize,
    ) -> Parsed<Slices> {
        let mut bits = Bits::new(payload);
        let start = SliceStart::parse(&mut bits, kind)?;
        let (sps, pps) = self.sets_of(start.pps)?;
        let header = SliceHeader::parse(&mut bits, (kind, start), sps, pps)?;
        match (earlier, header) {
            (None, Some(header)) if start.is_first => Ok(Slices {
                kind,
                pps: start.pps,
                is_intra: header.is_intra,
                header,
                indices: vec![index],
            }),
            (None, _) => Err("its first slice is missing".to_owned()),
            (Some(_), _) if start.is_first => Err("it has two pictures".to_owned()),
            (Some(mut slices), header) => {
                let differs = |it: &SliceHeader| it.lsb != slices.header.lsb;
                let is_other = kind != slices.kind || start.pps != slices.pps;
                if is_other || header.as_ref().is_some_and(differs) {
                    return Err("its slices are of several pictures".to_owned());
                }
                slices.is_intra &= header.is_none_or(|it| it.is_intra);
                slices.indices.push(index);
                Ok(slices)
            }
        }
    }

    /// Updates the state by a picture.
    fn begin_picture(
        &mut self,
        slices: Slices,
        sample: usize,
    ) -> Result<Option<CodedPicture>, VideoError> {
        let broken = |problem: String| VideoError::Broken { sample, problem };
        let (sps, pps) = self.sets_of(slices.pps).map_err(broken)?;
        let format = check(sps)?;
        pps.check(sps).map_err(broken)?;
        let kind = slices.kind;
        let mut state = self.state.clone();
        if state.skips(kind) {
            return Ok(None);
        }
        let is_refresh = state.begin(kind).map_err(broken)?;
        let has_other_size = self.format.is_some_and(|known| known.0 != format.0);
        if has_other_size && !is_refresh {
            return Err(broken(format!(
                "the size changes to {}x{} in a picture that needs earlier ones",
                format.0.coded[0], format.0.coded[1]
            )));
        }
        let (order_count, references) = state.select(&slices, sps, is_refresh).map_err(broken)?;
        let known = state.references.list();
        let slot = state.add(kind, order_count);
        let header = &slices.header;
        let syntax = coding::Syntax::H265(Syntax {
            vps: sps.vps,
            is_random_access: kind.is_random_access(),
            is_idr: kind.is_refresh(),
            references,
            set_of_sequence: header.set_of_sequence,
            set_bits: header.set_bits,
            predicting: header.predicting,
        });
        let id = self.next;
        let limits = output_limits(sps);
        let sps = sps.id;
        let output = &mut self.output;
        let output = output.add(limits, (id, order_count), header.is_output, is_refresh);
        self.next += 1;
        self.state = state;
        self.format = Some(format);
        Ok(Some(CodedPicture {
            id,
            sps,
            pps: slices.pps,
            order_counts: [order_count; 2],
            is_refresh,
            is_intra: slices.is_intra,
            is_reference: true,
            is_shown: slices.header.is_output,
            slot,
            references: known,
            slices: slices.indices,
            output,
            syntax,
        }))
    }
}

/// `PicOrderCntVal` (clause 8.3.1).
fn order_count(previous: i32, header: &SliceHeader, is_refresh: bool, log2_max_lsb: u32) -> i32 {
    let max = 1_i32 << log2_max_lsb;
    // Conforming streams stay in the range of the type.
    let lsb = header.lsb as i32;
    if is_refresh {
        return lsb;
    }
    let previous_lsb = previous & (max - 1);
    let previous_msb = previous.wrapping_sub(previous_lsb);
    let msb = if lsb < previous_lsb && previous_lsb - lsb >= max / 2 {
        previous_msb.wrapping_add(max)
    } else if lsb > previous_lsb && lsb - previous_lsb > max / 2 {
        previous_msb.wrapping_sub(max)
    } else {
        previous_msb
    };
    msb.wrapping_add(lsb)
}

/// Limits of the output order (clause C.5.2.2). The fullness of the buffer does not count: decoded pictures are
/// copied, and the order is the same.
fn output_limits(sps: &Sps) -> OutputLimits {
    let highest = usize::from(sps.max_sub_layers_minus1);
    let reordered = sps.sizes.max_num_reorder_pics[highest];
    // `SpsMaxLatencyPictures`.
    let increase = sps.sizes.max_latency_increase_plus1[highest].checked_sub(1);
    OutputLimits {
        reordered: usize::from(reordered),
        latency: increase.map(|it| it.saturating_add(u32::from(reordered))),
    }
}

/// Checks that pictures are progressive, 4:2:0 and of 8 or 10 bits, and returns their format.
fn check(sps: &Sps) -> Result<(PictureSize, ColorMatrix), VideoError> {
    let unsupported = |feature: String| Err(VideoError::Unsupported { feature });
    let usability = sps.usability.as_ref();
    if usability.is_some_and(|it| it.interlaced) {
        return unsupported("interlaced pictures".to_owned());
    }
    if sps.chroma_format_idc != 1 {
        let formats = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"];
        let name = formats[usize::from(sps.chroma_format_idc & 3)];
        return unsupported(format!("the chroma format {name}"));
    }
    let depths = [sps.bit_depth_luma_minus8, sps.bit_depth_chroma_minus8];
    if !matches!(depths, [0, 0] | [2, 2]) {
        let [luma, chroma] = depths.map(|it| 8 + u32::from(it));
        return unsupported(format!("{luma} bits of luma and {chroma} of chroma"));
    }
    if sps.has_extension {
        return unsupported("an extension of the main profile".to_owned());
    }
    let [left, right, top, bottom] = sps.window.unwrap_or([0; 4]);
    // In units of chroma samples, of 2 x 2 pixels.
    let shown = [
        sps.size[0].saturating_sub(2 * (left + right)),
        sps.size[1].saturating_sub(2 * (top + bottom)),
    ];
    if shown.contains(&0) {
        return unsupported("pictures without pixels".to_owned());
    }
    let size = PictureSize {
        coded: sps.size,
        origin: [2 * left, 2 * top],
        shown,
    };
    let color = ColorMatrix::new(
        usability.and_then(|it| it.matrix_coefficients),
        usability.is_some_and(|it| it.full_range),
        &size,
    );
    Ok((size, color.with_bits(8 + depths[0])))
}

#[cfg(test)]
mod tests;
