//! Tables on the device of which each user has a range of rows that stays where it is.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::table::grow;

/// Which ranges of a line of places are taken.
#[derive(Default)]
pub(crate) struct Ranges {
    /// Sorted; no two of them touch, and none touches the end.
    free: Vec<Range<u32>>,
    end: u32,
}

impl Ranges {
    /// Takes the first free range of so many places.
    pub(crate) fn take(&mut self, count: u32) -> Range<u32> {
        let fits = |free: &Range<u32>| free.len() as u32 >= count;
        if let Some(at) = self.free.iter().position(fits) {
            let free = &mut self.free[at];
            let taken = free.start..free.start + count;
            free.start = taken.end;
            if free.start == free.end {
                self.free.remove(at);
            }
            return taken;
        }
        let first = self.end;
        self.end += count;
        first..self.end
    }

    /// Gives a range back.
    pub(crate) fn give(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let at = self.free.partition_point(|free| free.end < range.start);
        let mut joined = range;
        while let Some(free) = self.free.get(at).filter(|free| free.start <= joined.end) {
            joined = joined.start.min(free.start)..joined.end.max(free.end);
            self.free.remove(at);
        }
        if joined.end == self.end {
            self.end = joined.start;
        } else {
            self.free.insert(at, joined);
        }
    }

    /// Behind the last place that is taken.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }
}

/// Ranges of rows, and which of them the device has.
pub(crate) struct RangeTable<T> {
    rows: Vec<T>,
    places: Ranges,
    /// What changed since it was sent, in any order.
    changed: Vec<Range<u32>>,
}

impl<T> Default for RangeTable<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            places: Ranges::default(),
            changed: Vec::new(),
        }
    }
}

impl<T: Pod> RangeTable<T> {
    /// Adds a range of so many rows, all zero.
    pub(crate) fn add(&mut self, count: u32) -> Range<u32> {
        let range = self.places.take(count);
        let end = self.places.end() as usize;
        if self.rows.len() < end {
            self.rows.resize(end, T::zeroed());
        }
        self.change(&range).fill(T::zeroed());
        range
    }

    /// The rows of a range, to be written.
    pub(crate) fn change(&mut self, range: &Range<u32>) -> &mut [T] {
        self.changed.push(range.clone());
        &mut self.rows[range.start as usize..range.end as usize]
    }

    /// Makes room where a range was.
    pub(crate) fn remove(&mut self, range: Range<u32>) {
        self.places.give(range);
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.changed.clear();
        self.changed.push(0..self.rows.len() as u32);
    }

    /// Sends what changed; a larger buffer takes the place of one that is too small.
    pub(crate) fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.rows.as_slice()) as u64;
        if grow(gpu, buffer, bytes)? {
            self.begin_anew();
        }
        self.changed.sort_unstable_by_key(|range| range.start);
        let mut rest = self.changed.drain(..).filter(|range| !range.is_empty());
        let mut next = rest.next();
        while let Some(mut run) = next.take() {
            for range in rest.by_ref() {
                if range.start > run.end {
                    next = Some(range);
                    break;
                }
                run.end = run.end.max(range.end);
            }
            let offset = run.start as usize * size_of::<T>();
            let rows = &self.rows[run.start as usize..run.end as usize];
            uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(rows));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
