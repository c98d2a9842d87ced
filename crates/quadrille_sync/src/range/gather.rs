//! Conversion of intervals of positions back to ranges. Heuristics keep their number low.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::{EVERYTHING, SubRange, SubresourceRange, boxes, whole_levels};
use crate::resource::ResourceKind;

/// How many earlier ranges are tried for a join. Runs of a mip chain alternate, so the matching
/// range may be a few ranges back.
pub(crate) const JOINED: usize = 16;

/// Returns the ranges that cover intervals, in the order of positions. Intervals may be unsorted and
/// may overlap. Adjacent bytes are joined, and so are subresources whose union is one range. If
/// intervals contain only some slices of a mip level, the whole level is returned.
pub(crate) fn gather(kind: &ResourceKind, intervals: &mut [Range<u64>]) -> SmallVec<[SubRange; 1]> {
    if let [EVERYTHING] = intervals {
        return smallvec![SubRange::Whole];
    }
    if kind.depth() > 1 {
        for interval in intervals.iter_mut() {
            *interval = whole_levels(kind, interval);
        }
    }
    let mut ranges: SmallVec<[SubRange; 1]> = SmallVec::new();
    let mut parts: Vec<SubresourceRange> = Vec::new();
    for_each_union(intervals, |interval| match *kind {
        ResourceKind::Buffer { bytes } => {
            let end = interval.end.min(bytes);
            if interval.start < end {
                ranges.push(SubRange::Bytes {
                    offset: interval.start,
                    size: end - interval.start,
                });
            }
        }
        ResourceKind::Image { .. } => {
            let mut of_interval = Vec::new();
            boxes(kind, interval, &mut of_interval);
            for part in of_interval {
                parts.push(part);
                join_nearby(&mut parts, SubresourceRange::join);
            }
        }
    });
    ranges.extend(parts.into_iter().map(SubRange::Subresources));
    for range in &mut ranges {
        if range.covers(&SubRange::Whole, kind) {
            *range = SubRange::Whole;
        }
    }
    ranges
}

/// Calls `each` with the intervals in order, after adjacent and overlapping ones are joined.
pub(crate) fn for_each_union(intervals: &mut [Range<u64>], mut each: impl FnMut(Range<u64>)) {
    intervals.sort_unstable_by_key(|interval| interval.start);
    let mut last: Option<Range<u64>> = None;
    for interval in intervals.iter().filter(|interval| !interval.is_empty()) {
        last = match last {
            Some(last) if interval.start <= last.end => {
                Some(last.start..last.end.max(interval.end))
            }
            Some(last) => {
                each(last);
                Some(interval.clone())
            }
            None => Some(interval.clone()),
        };
    }
    last.into_iter().for_each(each);
}

/// Joins the last item with earlier ones as long as `join` succeeds. A joined item keeps the place of
/// the earlier one.
pub(crate) fn join_nearby<T>(items: &mut Vec<T>, mut join: impl FnMut(&mut T, &T) -> bool) {
    let mut grown = items.len().saturating_sub(1);
    while grown < items.len() {
        let end = items.len().min(grown + JOINED + 1);
        let nearby = grown.saturating_sub(JOINED)..end;
        let mut others = nearby.rev().filter(|other| *other != grown);
        let joined = others.find_map(|other| {
            let (first, second) = (grown.min(other), grown.max(other));
            let (before, after) = items.split_at_mut(second);
            join(&mut before[first], &after[0]).then_some((first, second))
        });
        let Some((first, second)) = joined else {
            return;
        };
        items.remove(second);
        grown = first;
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
