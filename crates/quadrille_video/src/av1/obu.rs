//! Open bitstream units (AV1 specification, sections 5.3 to 5.5) and their division into frames.

use std::ops::Range;

pub(crate) const SEQUENCE_HEADER: u8 = 1;
pub(crate) const TEMPORAL_DELIMITER: u8 = 2;
pub(crate) const FRAME_HEADER: u8 = 3;
pub(crate) const TILE_GROUP: u8 = 4;
pub(crate) const FRAME: u8 = 6;

/// Open bitstream unit within bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obu {
    /// `obu_type`.
    pub kind: u8,
    /// `temporal_id` and `spatial_id`, if it has an extension.
    pub layer: Option<[u8; 2]>,
    /// All of its bytes.
    pub range: Range<usize>,
    /// Bytes behind its header.
    pub payload: Range<usize>,
}

/// Units that follow each other. A broken one, or one that is cut off, ends the list.
pub(crate) fn obus(bytes: &[u8]) -> impl Iterator<Item = Obu> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let obu = next(bytes, at)?;
        at = obu.range.end;
        Some(obu)
    })
}

/// The unit at an offset.
fn next(bytes: &[u8], begin: usize) -> Option<Obu> {
    let head = *bytes.get(begin)?;
    // `obu_forbidden_bit`.
    if head & 0x80 != 0 {
        return None;
    }
    let mut at = begin + 1;
    let mut layer = None;
    if head & 4 != 0 {
        let extension = *bytes.get(at)?;
        layer = Some([extension >> 5, (extension >> 3) & 3]);
        at += 1;
    }
    let end = if head & 2 != 0 {
        let (size, length) = leb128(bytes.get(at..)?)?;
        at += length;
        at.checked_add(size)?
    } else {
        bytes.len()
    };
    (end <= bytes.len()).then_some(Obu {
        kind: (head >> 3) & 15,
        layer,
        range: begin..end,
        payload: at..end,
    })
}

/// A number in little-endian groups of 7 bits, and how many bytes it takes (section 4.10.5).
pub(crate) fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).ok()?;
            return Some((value as usize, at + 1));
        }
    }
    None
}

/// Frame of a temporal unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameUnits {
    /// Its bytes, with the units before it.
    pub range: Range<usize>,
    /// Whether it is a key frame that is shown.
    pub is_key: bool,
    /// Whether it ends a temporal unit: it is shown, or shows an earlier frame.
    pub is_shown: bool,
}

/// Frames of a temporal unit or of a byte stream. Bytes behind the last frame belong to it.
pub(crate) fn frames(bytes: &[u8]) -> Vec<FrameUnits> {
    let mut frames: Vec<FrameUnits> = Vec::new();
    let mut begin = 0;
    let mut is_open = false;
    let mut is_reduced = false;
    for obu in obus(bytes) {
        let payload = &bytes[obu.payload.clone()];
        let starts = matches!(obu.kind, FRAME | FRAME_HEADER);
        let is_part = matches!(obu.kind, TILE_GROUP | 7);
        if obu.kind == SEQUENCE_HEADER {
            // `reduced_still_picture_header`.
            is_reduced = payload.first().is_some_and(|it| it & 8 != 0);
        }
        if starts {
            // `show_existing_frame`, `frame_type` and `show_frame`.
            let head = payload.first().map_or(0, |it| it >> 4);
            let exists = head & 8 != 0;
            frames.push(FrameUnits {
                range: begin..obu.range.end,
                is_key: is_reduced || head == 1,
                is_shown: is_reduced || exists || head & 1 != 0,
            });
            begin = obu.range.end;
            is_open = !exists || is_reduced;
        } else if is_part
            && is_open
            && let Some(last) = frames.last_mut()
        {
            last.range.end = obu.range.end;
            begin = obu.range.end;
        }
    }
    if let Some(last) = frames.last_mut() {
        last.range.end = bytes.len();
    }
    frames
}
