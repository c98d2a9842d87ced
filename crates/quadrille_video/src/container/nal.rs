//! NAL units: separation by start codes and by lengths.

use std::ops::Range;

/// Whether the bytes begin with a start code, perhaps after zeros.
pub(crate) fn starts_with_start_code(bytes: &[u8]) -> bool {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    zeros >= 2 && bytes.get(zeros) == Some(&1)
}

/// Ranges of the NAL units of a byte stream (H.264 and H.265, annex B). Zeros before a start code belong to no unit.
pub(crate) fn by_start_codes(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = next_start(bytes, 0);
    std::iter::from_fn(move || {
        let begin = at? + 3;
        at = next_start(bytes, begin);
        let end = at.unwrap_or(bytes.len());
        let zeros = bytes[begin..end]
            .iter()
            .rev()
            .take_while(|&&byte| byte == 0);
        let end = end - zeros.count();
        Some(begin..end)
    })
    .filter(|range| !range.is_empty())
}

/// Position of the next 00 00 01.
fn next_start(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest.windows(3).position(|window| window == [0, 0, 1]);
    found.map(|at| from + at)
}

/// NAL units behind big-endian lengths of `size` bytes. A length beyond the end ends the list.
pub(crate) fn by_lengths(bytes: &[u8], size: u8) -> impl Iterator<Item = &[u8]> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (length, behind) = rest.split_at_checked(usize::from(size))?;
        let length = length
            .iter()
            .fold(0_usize, |sum, &byte| (sum << 8) | usize::from(byte));
        let (unit, behind) = behind.split_at_checked(length)?;
        rest = behind;
        Some(unit)
    })
    .filter(|unit| !unit.is_empty())
}
