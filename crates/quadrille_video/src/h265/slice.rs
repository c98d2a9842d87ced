//! Slice segment headers (clause 7.3.6.1), up to the reference picture sets.

use super::bits::{Bits, Parsed};
use super::nal::Kind;
use super::sets::Sps;
use super::sets::picture::Pps;
use super::sets::reference_sets::ReferenceSet;

/// Long-term reference of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongTerm {
    /// Low bits of its order count (`PocLsbLt`).
    pub lsb: i32,
    /// `DeltaPocMsbCycleLt`, if the high bits are given too.
    pub cycle: Option<i64>,
    /// `UsedByCurrPicLt`.
    pub is_used: bool,
}

/// Begin of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SliceStart {
    /// `first_slice_segment_in_pic_flag`.
    pub is_first: bool,
    /// `slice_pic_parameter_set_id`.
    pub pps: u8,
}

impl SliceStart {
    pub(crate) fn parse(bits: &mut Bits<'_>, kind: Kind) -> Parsed<Self> {
        let is_first = bits.flag()?;
        if kind.is_random_access() {
            // `no_output_of_prior_pics_flag`: a player shows all pictures.
            bits.skip(1)?;
        }
        Ok(Self {
            is_first,
            pps: bits.ue_8("slice_pic_parameter_set_id", 63)?,
        })
    }
}

/// Header of a slice segment that depends on no other one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceHeader {
    /// Whether it is an I slice.
    pub is_intra: bool,
    /// `pic_output_flag`.
    pub is_output: bool,
    /// `slice_pic_order_cnt_lsb`.
    pub lsb: u32,
    pub references: ReferenceSet,
    pub long_term: Vec<LongTerm>,
    /// `short_term_ref_pic_set_sps_flag`.
    pub set_of_sequence: bool,
    /// Bits of the set in the header, without emulation prevention.
    pub set_bits: u16,
    /// `NumDeltaPocs[RefRpsIdx]` of the set in the header.
    pub predicting: u8,
}

impl SliceHeader {
    /// Parses the rest of a header; `None` if the segment depends on an earlier one.
    pub(crate) fn parse(
        bits: &mut Bits<'_>,
        (kind, start): (Kind, SliceStart),
        sps: &Sps,
        pps: &Pps,
    ) -> Parsed<Option<Self>> {
        if !start.is_first {
            let is_dependent = pps.dependent_slice_segments_enabled && bits.flag()?;
            let [width, height] = sps.size_in_tree_blocks();
            let address = bits.u(log2_ceil(width * height))?;
            if address == 0 || address >= width * height {
                return Err(format!("`slice_segment_address` is {address}"));
            }
            if is_dependent {
                return Ok(None);
            }
        }
        bits.skip(u32::from(pps.num_extra_slice_header_bits))?;
        let mut header = Self {
            // B, P, I.
            is_intra: bits.ue("slice_type", 2)? == 2,
            is_output: !pps.output_flag_present || bits.flag()?,
            ..Self::default()
        };
        if !kind.is_refresh() {
            header.lsb = bits.u(sps.log2_max_lsb())?;
            header.parse_set(bits, sps)?;
            if let Some(known) = &sps.long_term {
                let room =
                    usize::from(sps.max_references()).saturating_sub(header.references.len());
                header.long_term = long_term(bits, known, room as u32, sps.log2_max_lsb())?;
            }
        }
        Ok(Some(header))
    }

    /// Parses the short-term reference picture set.
    fn parse_set(&mut self, bits: &mut Bits<'_>, sps: &Sps) -> Parsed<()> {
        let known = &sps.reference_sets;
        self.set_of_sequence = bits.flag()?;
        if self.set_of_sequence {
            let index = bits.u(log2_ceil(known.len() as u32))? as usize;
            let set = known.get(index);
            let set = set.ok_or_else(|| format!("there is no reference picture set {index}"))?;
            self.references = set.clone();
            return Ok(());
        }
        let begin = bits.position();
        let (set, predicting) = ReferenceSet::parse(bits, known, true, sps.max_references())?;
        self.references = set;
        // A set of 16 pictures has at most 16 codes of 63 bits.
        self.set_bits = (bits.position() - begin) as u16;
        self.predicting = predicting.map_or(0, |it| it.len() as u8);
        Ok(())
    }
}

/// Parses long-term references: those that the sequence lists, then others.
fn long_term(
    bits: &mut Bits<'_>,
    known: &[(u32, bool)],
    room: u32,
    log2_max_lsb: u32,
) -> Parsed<Vec<LongTerm>> {
    let of_sequence = match known.len() as u32 {
        0 => 0,
        count => bits.ue("num_long_term_sps", count.min(room))?,
    };
    let others = bits.ue("num_long_term_pics", room - of_sequence)?;
    let mut list: Vec<LongTerm> = Vec::new();
    let mut sum = 0;
    for index in 0..of_sequence + others {
        let (lsb, is_used) = if index < of_sequence {
            let at = bits.u(log2_ceil(known.len() as u32))? as usize;
            let entry = known.get(at).copied();
            entry.ok_or_else(|| format!("there is no long-term reference {at}"))?
        } else {
            (bits.u(log2_max_lsb)?, bits.flag()?)
        };
        let has_cycle = bits.flag()?;
        // Differences add up (equation 7-52); a missing one is 0.
        if index == of_sequence {
            sum = 0;
        }
        if has_cycle {
            let max = u32::MAX >> log2_max_lsb;
            sum += i64::from(bits.ue("delta_poc_msb_cycle_lt", max)?);
        }
        list.push(LongTerm {
            lsb: lsb as i32,
            cycle: has_cycle.then_some(sum),
            is_used,
        });
    }
    Ok(list)
}

/// `Ceil(Log2(count))`; 0 for no choice.
fn log2_ceil(count: u32) -> u32 {
    match count {
        0 | 1 => 0,
        count => 32 - (count - 1).leading_zeros(),
    }
}
