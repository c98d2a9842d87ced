//! Access units of byte streams (clause 7.4.2.4.4): the slices of one picture, and the units before them.

use std::ops::Range;

use super::nal::{self, Kind};
use super::sets::{Sps, Vps, rate};
use crate::coding::AccessUnits;

/// Whether a byte stream is of H.265: its first parameter set or delimiter tells, whose first byte is no valid type of
/// H.264 (clause 7.4.1 there).
pub(crate) fn is_h265<'a>(mut units: impl Iterator<Item = &'a [u8]>) -> bool {
    let decided = units.find_map(|unit| {
        let is_of_h265 = matches!(unit, [0x40 | 0x42 | 0x44 | 0x46, 1, ..]);
        // Sequence parameter set or delimiter of H.264.
        let is_of_h264 = unit.first().is_some_and(|it| matches!(it & 0x9f, 7 | 9));
        (is_of_h265 || is_of_h264).then_some(is_of_h265)
    });
    decided.unwrap_or(false)
}

/// Splits a byte stream at its NAL units.
pub(crate) fn split(bytes: &[u8], units: impl Iterator<Item = Range<usize>>) -> AccessUnits {
    let mut found = AccessUnits::default();
    let mut known: Vec<(u8, u8)> = Vec::new();
    // Begin of the current unit, and whether its picture is a random access point.
    let mut begin: Option<usize> = None;
    let mut current: Option<bool> = None;
    let mut end = 0;
    for range in units {
        let unit = &bytes[range.clone()];
        let Some((kind, payload)) = Kind::split(unit) else {
            continue;
        };
        let is_slice = kind.is_slice();
        // `first_slice_segment_in_pic_flag`.
        let is_first_slice = is_slice && payload.first().is_some_and(|it| it & 0x80 != 0);
        let starts = is_first_slice || kind.begins_access_unit();
        if let Some(id) = set_id(kind, payload, &mut found.rate)
            && !known.contains(&(kind.id, id))
        {
            known.push((kind.id, id));
            found.sets.push(unit.to_vec());
        }
        if starts && let Some(is_sync) = current.take() {
            let from = begin.take().unwrap_or(0);
            found.pictures.push((from..end, is_sync));
        }
        begin = begin.or(Some(range.start.saturating_sub(3)));
        if is_slice && current.is_none() {
            current = Some(kind.is_random_access());
        }
        end = range.end;
    }
    if let Some(is_sync) = current {
        found.pictures.push((begin.unwrap_or(0)..end, is_sync));
    }
    found
}

/// Id of a readable parameter set. Its frame rate is kept, unless one is known.
fn set_id(kind: Kind, payload: &[u8], known_rate: &mut Option<f64>) -> Option<u8> {
    let (id, stated) = match kind.id {
        nal::VPS => {
            let vps = Vps::parse(payload).ok()?;
            let timing = vps.timing.as_ref();
            let stated = timing.and_then(|it| rate(it.num_units_in_tick, it.time_scale));
            (vps.id, stated)
        }
        nal::SPS => {
            let sps = Sps::parse(payload).ok()?;
            (sps.id, sps.rate())
        }
        nal::PPS => (super::sets::picture::Pps::parse(payload).ok()?.id, None),
        _ => return None,
    };
    *known_rate = known_rate.or(stated);
    Some(id)
}
