//! Allocator of index ranges, such as rows of a table or vertices of a buffer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Best-fit allocator of index ranges from 0, growing as needed. Allocation and free take logarithmic time.
///
/// ```
/// # use quadrille_content::buffers::RangeAllocator;
/// let mut ranges = RangeAllocator::default();
/// let (first, second) = (ranges.allocate(3), ranges.allocate(5));
/// ranges.free(first);
/// assert_eq!((ranges.allocate(2), ranges.end()), (0..2, second.end));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RangeAllocator {
    /// Ends of free ranges by start. Free ranges are coalesced, and none is adjacent to the end.
    free_ranges: BTreeMap<u32, u32>,
    /// Lengths and starts of the free ranges.
    by_length: BTreeSet<(u32, u32)>,
    end: u32,
}

impl RangeAllocator {
    /// Allocates from the smallest sufficient free range, the first of equals.
    pub fn allocate(&mut self, count: u32) -> Range<u32> {
        if count == 0 {
            return 0..0;
        }
        let Some(&(length, start)) = self.by_length.range((count, 0)..).next() else {
            let first = self.end;
            self.end += count;
            return first..self.end;
        };
        self.remove_free(start, start + length);
        self.add_free(start + count, start + length);
        start..start + count
    }

    /// Frees a range.
    pub fn free(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let Range { mut start, mut end } = range;
        if let Some((&before, &touching)) = self.free_ranges.range(..start).next_back()
            && touching == start
        {
            self.remove_free(before, touching);
            start = before;
        }
        if let Some(&behind) = self.free_ranges.get(&end) {
            self.remove_free(end, behind);
            end = behind;
        }
        if end == self.end {
            self.end = start;
        } else {
            self.add_free(start, end);
        }
    }

    /// End of the last allocated range.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Length of the largest free range.
    pub fn largest_free(&self) -> u32 {
        self.by_length.last().map_or(0, |&(length, _)| length)
    }

    fn add_free(&mut self, start: u32, end: u32) {
        if start < end {
            self.free_ranges.insert(start, end);
            self.by_length.insert((end - start, start));
        }
    }

    fn remove_free(&mut self, start: u32, end: u32) {
        self.free_ranges.remove(&start);
        self.by_length.remove(&(end - start, start));
    }
}

#[cfg(test)]
mod tests;
