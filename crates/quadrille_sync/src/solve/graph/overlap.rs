//! Groups of uses of one pass that may overlap: uses of one resource whose byte or layer intervals,
//! sorted by start, intersect in a row. A pass may use thousands of ranges of one buffer, so comparing
//! all pairs would be slow.

use std::ops::Range;

use crate::frame::Use;
use crate::range::{EVERYTHING, SubRange};

/// The uses of a pass in groups. Uses of different groups do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct Overlaps {
    /// Indices of uses, group by group; within a group in declaration order.
    members: Vec<u32>,
    /// By use: the range of its group in `members`.
    groups: Vec<Range<u32>>,
}

impl Overlaps {
    /// Groups the uses of one pass.
    pub(crate) fn new(uses: &[Use]) -> Self {
        let key = |at: &u32| {
            let one = &uses[*at as usize];
            (one.resource, extent(&one.range).start)
        };
        let mut members: Vec<u32> = (0..uses.len() as u32).collect();
        members.sort_by_key(key);
        let mut groups = vec![0..0; uses.len()];
        let mut first = 0;
        let mut reach = None;
        let mut overlaps_more = |at: &u32| {
            let one = &uses[*at as usize];
            let Range { start, end } = extent(&one.range);
            let overlapped =
                reach.filter(|(resource, end)| *resource == one.resource && start < *end);
            reach = Some((
                one.resource,
                overlapped.map_or(end, |(_, before)| end.max(before)),
            ));
            overlapped.is_some()
        };
        let begins: Vec<bool> = members.iter().map(|at| !overlaps_more(at)).collect();
        for next in 1..=members.len() {
            if begins.get(next).is_none_or(|begins| *begins) {
                members[first..next].sort_unstable();
                for at in &members[first..next] {
                    groups[*at as usize] = first as u32..next as u32;
                }
                first = next;
            }
        }
        Self { members, groups }
    }

    /// The uses that may overlap a given one, itself among them.
    pub(crate) fn of(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let group = &self.groups[at];
        let members = &self.members[group.start as usize..group.end as usize];
        members.iter().map(|at| *at as usize)
    }
}

/// A one-dimensional bound of a range: its bytes or array layers.
fn extent(range: &SubRange) -> Range<u64> {
    match range {
        SubRange::Whole => EVERYTHING,
        SubRange::Bytes { offset, size } => *offset..offset.saturating_add(*size),
        SubRange::Subresources(part) => {
            let (base, count) = (u64::from(part.base_layer), u64::from(part.layer_count));
            base..base + count
        }
        // All slices of an image are one group: a 3D image has one array layer.
        SubRange::Slices(_) => 0..1,
    }
}

#[cfg(test)]
#[path = "overlap_tests.rs"]
mod tests;
