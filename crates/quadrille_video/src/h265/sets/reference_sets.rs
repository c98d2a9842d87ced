//! Short-term reference picture sets (clauses 7.3.7 and 7.4.8).

use super::super::bits::{Bits, Parsed};

/// Most sets of a sequence.
const MAX_SETS: u32 = 64;

/// Order counts of short-term references, relative to the current picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReferenceSet {
    /// Earlier pictures in output order (`DeltaPocS0`, `UsedByCurrPicS0`), the nearest first.
    pub before: Vec<(i32, bool)>,
    /// Later pictures in output order (`DeltaPocS1`, `UsedByCurrPicS1`), the nearest first.
    pub after: Vec<(i32, bool)>,
}

impl ReferenceSet {
    /// Number of pictures (`NumDeltaPocs`).
    pub(crate) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Parses the set behind some known ones: of the sequence, or of a slice, which names the distance to its
    /// prediction. `max` is the limit of its number of pictures. Returns the predicting set too.
    pub(crate) fn parse<'a>(
        bits: &mut Bits<'_>,
        known: &'a [Self],
        in_slice: bool,
        max: u8,
    ) -> Parsed<(Self, Option<&'a Self>)> {
        let mut predicting = None;
        let set = if !known.is_empty() && bits.flag()? {
            let mut distance = 1;
            if in_slice {
                distance += bits.ue("delta_idx_minus1", known.len() as u32 - 1)? as usize;
            }
            let negative = bits.flag()?;
            let delta = bits.ue("abs_delta_rps_minus1", 0x7fff)? as i32 + 1;
            let delta = if negative { -delta } else { delta };
            let from = &known[known.len() - distance];
            predicting = Some(from);
            Self::predicted(bits, from, delta)?
        } else {
            let before = bits.ue("num_negative_pics", u32::from(max))?;
            let after = bits.ue("num_positive_pics", u32::from(max) - before)?;
            Self {
                before: deltas(bits, before, -1)?,
                after: deltas(bits, after, 1)?,
            }
        };
        if set.len() > usize::from(max) {
            return Err(format!(
                "a set of {} reference pictures exceeds the limit of {max}",
                set.len()
            ));
        }
        Ok((set, predicting))
    }

    /// Equations 7-61 and 7-62.
    fn predicted(bits: &mut Bits<'_>, from: &Self, delta: i32) -> Parsed<Self> {
        // For each picture and for the predicting picture itself: whether it is used by the current picture, and
        // whether it is in the set.
        let mut flags = Vec::with_capacity(from.len() + 1);
        for _ in 0..=from.len() {
            let used = bits.flag()?;
            let included = used || bits.flag()?;
            flags.push((used, included));
        }
        let all = from.before.iter().chain(&from.after).map(|it| it.0);
        let all = all.chain([0]).zip(flags);
        let kept = all.filter(|(_, (_, included))| *included);
        let mut deltas: Vec<(i32, bool)> = kept
            .map(|(count, (used, _))| (count.saturating_add(delta), used))
            .filter(|(count, _)| *count != 0)
            .collect();
        deltas.sort_by_key(|(count, _)| count.abs());
        if deltas.iter().any(|(count, _)| count.abs() > 0x8000) {
            return Err("a reference picture is too far away".to_owned());
        }
        let (before, after) = deltas.into_iter().partition(|(count, _)| *count < 0);
        Ok(Self { before, after })
    }
}

/// Order counts of pictures, the nearest first, in one direction.
fn deltas(bits: &mut Bits<'_>, count: u32, sign: i32) -> Parsed<Vec<(i32, bool)>> {
    let mut distance = 0;
    let entries = (0..count).map(|_| {
        distance += bits.ue("delta_poc_minus1", 0x7fff)? as i32 + 1;
        if distance > 0x8000 {
            return Err("a reference picture is too far away".to_owned());
        }
        Ok((sign * distance, bits.flag()?))
    });
    entries.collect()
}

/// Parses all sets of a sequence.
pub(super) fn parse_all(bits: &mut Bits<'_>, max: u8) -> Parsed<Vec<ReferenceSet>> {
    let count = bits.ue("num_short_term_ref_pic_sets", MAX_SETS)?;
    let mut sets = Vec::new();
    for _ in 0..count {
        let (set, _) = ReferenceSet::parse(bits, &sets, false, max)?;
        sets.push(set);
    }
    Ok(sets)
}
