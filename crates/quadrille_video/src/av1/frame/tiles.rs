//! Tiles of a frame: their sizes (AV1 specification, section 5.9.15) and their bytes (section 5.11.1).

use std::ops::Range;

use super::FrameSize;
use crate::av1::bits::{Bits, Parsed};

/// `MAX_TILE_WIDTH` and `MAX_TILE_AREA`.
const MAX_WIDTH: u32 = 4096;
const MAX_AREA: u32 = 4096 * 2304;
/// `MAX_TILE_COLS` and `MAX_TILE_ROWS`.
const MAX_COUNT: u32 = 64;

/// Sizes of the tiles of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub is_uniform: bool,
    /// Begins of columns and rows in units of 4 pixels, and last the ends: `MiColStarts` and `MiRowStarts`.
    pub starts: [Vec<u16>; 2],
    /// Widths of columns and heights of rows in superblocks, less one.
    pub sizes_minus_1: [Vec<u16>; 2],
    /// `TileColsLog2` and `TileRowsLog2`.
    pub log2: [u32; 2],
    pub context_update_tile_id: u16,
    pub tile_size_bytes_minus_1: u8,
}

/// The least `k` for which `size << k` is not below a target.
fn tile_log2(size: u32, target: u32) -> u32 {
    (0..31).find(|&k| size << k >= target).unwrap_or(31)
}

impl Tiles {
    pub(super) fn parse(bits: &mut Bits<'_>, size: &FrameSize, is_128: bool) -> Parsed<Self> {
        let shift = if is_128 { 5 } else { 4 };
        let blocks = size.in_blocks();
        let superblocks = blocks.map(|it| it.div_ceil(1 << shift));
        let [columns, rows] = superblocks;
        let max_width = MAX_WIDTH >> (shift + 2);
        let max_area = MAX_AREA >> (2 * (shift + 2));
        let min_columns_log2 = tile_log2(max_width, columns);
        let min_log2 = min_columns_log2.max(tile_log2(max_area, rows * columns));
        let mut tiles = Self {
            is_uniform: bits.flag()?,
            ..Self::default()
        };
        if tiles.is_uniform {
            for (axis, &count) in superblocks.iter().enumerate() {
                let mut log2 = match axis {
                    0 => min_columns_log2,
                    _ => min_log2.saturating_sub(tiles.log2[0]),
                };
                let most = tile_log2(1, count.min(MAX_COUNT));
                while log2 < most && bits.flag()? {
                    log2 += 1;
                }
                tiles.log2[axis] = log2;
                let step = count.div_ceil(1 << log2);
                let sizes = (0..count).step_by(step.max(1) as usize);
                let sizes = sizes.map(|start| step.min(count - start));
                tiles.sizes_minus_1[axis] = sizes.map(|size| (size - 1) as u16).collect();
            }
        } else {
            let mut limit = max_width;
            for (axis, &count) in superblocks.iter().enumerate() {
                let sizes = explicit(bits, count, limit)?;
                tiles.log2[axis] = tile_log2(1, sizes.len() as u32);
                let area = match min_log2 {
                    0 => rows * columns,
                    _ => (rows * columns) >> (min_log2 + 1),
                };
                let widest = sizes.iter().max().map_or(1, |it| u32::from(*it) + 1);
                limit = (area / widest).max(1);
                tiles.sizes_minus_1[axis] = sizes;
            }
        }
        for (axis, &end_of_all) in blocks.iter().enumerate() {
            let sizes = &tiles.sizes_minus_1[axis];
            if sizes.len() > MAX_COUNT as usize {
                return Err(format!("it has {} columns or rows of tiles", sizes.len()));
            }
            let ends = sizes.iter().scan(0_u32, |end, size| {
                *end += u32::from(*size) + 1;
                Some((*end << shift).min(end_of_all) as u16)
            });
            tiles.starts[axis] = [0].into_iter().chain(ends).collect();
        }
        if tiles.log2 != [0, 0] {
            tiles.context_update_tile_id = bits.f(tiles.log2[0] + tiles.log2[1])? as u16;
            if usize::from(tiles.context_update_tile_id) >= tiles.count() {
                return Err("`context_update_tile_id` is of no tile".to_owned());
            }
            tiles.tile_size_bytes_minus_1 = bits.f_8(2)?;
        }
        Ok(tiles)
    }

    /// Number of tiles.
    pub(crate) fn count(&self) -> usize {
        self.sizes_minus_1[0].len() * self.sizes_minus_1[1].len()
    }

    /// Appends the tiles of a tile group: `tile_group_obu()`, which takes a range of bytes.
    pub(crate) fn group(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        found: &mut Vec<Range<usize>>,
    ) -> Parsed<()> {
        let ended = || "a tile group ends too early".to_owned();
        let data = bytes.get(range.clone()).ok_or_else(ended)?;
        let mut bits = Bits::new(data);
        let count = self.count();
        let (mut first, mut last) = (0, count - 1);
        if bits.flag_if(count > 1)? {
            let length = self.log2[0] + self.log2[1];
            first = bits.f(length)? as usize;
            last = bits.f(length)? as usize;
        }
        if first != found.len() || last < first || last >= count {
            return Err("its tiles are not in order".to_owned());
        }
        let mut at = range.start + bits.bytes_read();
        for tile in first..=last {
            let size = if tile == last {
                range.end.saturating_sub(at)
            } else {
                let length = usize::from(self.tile_size_bytes_minus_1) + 1;
                let size = bytes.get(at..at + length).ok_or_else(ended)?;
                at += length;
                let size = size.iter().rev();
                size.fold(0_usize, |sum, &byte| (sum << 8) | usize::from(byte)) + 1
            };
            if size == 0 || size > range.end.saturating_sub(at) {
                return Err(ended());
            }
            found.push(at..at + size);
            at += size;
        }
        Ok(())
    }
}

/// Sizes in superblocks, less one, each of which is stated.
fn explicit(bits: &mut Bits<'_>, all: u32, limit: u32) -> Parsed<Vec<u16>> {
    let mut sizes = Vec::new();
    let mut start = 0;
    while start < all {
        let size_minus_1 = bits.ns(limit.min(all - start))?;
        sizes.push(size_minus_1 as u16);
        if sizes.len() > MAX_COUNT as usize {
            return Err("it has too many columns or rows of tiles".to_owned());
        }
        start += size_minus_1 + 1;
    }
    Ok(sizes)
}
