//! References of a frame: short signaling (AV1 specification, section 7.8) and skip mode (section 5.9.22).

use super::{Context, FrameHeader};
use crate::av1::bits::Parsed;
use crate::av1::sequence::SequenceHeader;

/// Indices of LAST and GOLDEN among the references.
const CHOSEN: [usize; 2] = [0, 3];

/// Derives `ref_frame_idx` from the stored frames of LAST and GOLDEN (`set_frame_refs()`).
pub(crate) fn short_signaling(
    context: &Context<'_>,
    chosen: [u8; 2],
    order_hint: u8,
) -> Parsed<[u8; 7]> {
    // Distances to the current frame in output order.
    let mut distances = [0; 8];
    for index in 0..8 {
        let hint = context.stored(index)?.info.order_hint;
        distances[usize::from(index)] = context.sequence.distance(hint, order_hint);
    }
    let mut found: [Option<u8>; 7] = [None; 7];
    let mut is_used = [false; 8];
    for (at, index) in CHOSEN.into_iter().zip(chosen) {
        if distances[usize::from(index)] >= 0 {
            return Err("it refers to later frames as earlier ones".to_owned());
        }
        found[at] = Some(index);
        is_used[usize::from(index)] = true;
    }
    let latest = |is_used: &[bool; 8], is_backward: bool| {
        let all = (0..8_u8).filter(|&it| !is_used[usize::from(it)]);
        let fitting = all.filter(|&it| (distances[usize::from(it)] >= 0) == is_backward);
        // The last of equal ones.
        fitting.max_by_key(|&it| distances[usize::from(it)])
    };
    let earliest_backward = |is_used: &[bool; 8]| {
        let all = (0..8_u8).filter(|&it| !is_used[usize::from(it)]);
        let fitting = all.filter(|&it| distances[usize::from(it)] >= 0);
        fitting.min_by_key(|&it| distances[usize::from(it)])
    };
    // ALTREF, BWDREF, ALTREF2.
    for at in [6, 4, 5] {
        let index = match at {
            6 => latest(&is_used, true),
            _ => earliest_backward(&is_used),
        };
        if let Some(index) = index {
            found[at] = Some(index);
            is_used[usize::from(index)] = true;
        }
    }
    // LAST2, LAST3, BWDREF, ALTREF2, ALTREF.
    for at in [1, 2, 4, 5, 6] {
        if found[at].is_none()
            && let Some(index) = latest(&is_used, false)
        {
            found[at] = Some(index);
            is_used[usize::from(index)] = true;
        }
    }
    let first = (0..8_u8).min_by_key(|&it| distances[usize::from(it)]);
    Ok(found.map(|index| index.or(first).unwrap_or(0)))
}

/// `SkipModeFrame`, if skip mode is allowed: the nearest frames before and after in output order, or two before.
pub(super) fn skip_mode_frames(sequence: &SequenceHeader, header: &FrameHeader) -> Option<[u8; 2]> {
    if sequence.order_hint_bits == 0 {
        return None;
    }
    let mut forward: Option<(u8, u8)> = None;
    let mut backward: Option<(u8, u8)> = None;
    let hints = || (1_u8..8).zip(header.order_hints.into_iter().skip(1));
    for (name, hint) in hints() {
        let distance = sequence.distance(hint, header.order_hint);
        let is_later = |(_, known): (u8, u8)| sequence.distance(hint, known) > 0;
        let is_earlier = |(_, known): (u8, u8)| sequence.distance(hint, known) < 0;
        if distance < 0 && forward.is_none_or(is_later) {
            forward = Some((name, hint));
        } else if distance > 0 && backward.is_none_or(is_earlier) {
            backward = Some((name, hint));
        }
    }
    let forward = forward?;
    let other = match backward {
        Some(backward) => backward,
        None => {
            let mut second: Option<(u8, u8)> = None;
            for (name, hint) in hints() {
                let is_later = |(_, known): (u8, u8)| sequence.distance(hint, known) > 0;
                if sequence.distance(hint, forward.1) < 0 && second.is_none_or(is_later) {
                    second = Some((name, hint));
                }
            }
            second?
        }
    };
    Some([forward.0.min(other.0), forward.0.max(other.0)])
}
