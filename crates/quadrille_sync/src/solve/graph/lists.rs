//! Many short lists in one array, made by a counting sort.

use std::ops::Range;

/// Lists in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<T> {
    /// Where each list ends, and the next one begins.
    ends: Vec<u32>,
    pub(super) items: Vec<T>,
}

impl<T: Clone + Default> Lists<T> {
    /// Sorts `items`, each with the number of its list, into `count` lists, keeping their order.
    pub(super) fn new(count: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut lengths = vec![0_u32; count];
        for (list, _) in items.clone() {
            lengths[list as usize] += 1;
        }
        Self::with_lengths(lengths, items)
    }

    /// The same where the length of each list is known.
    pub(super) fn with_lengths(
        lengths: Vec<u32>,
        items: impl IntoIterator<Item = (u32, T)>,
    ) -> Self {
        // First where the next item of each list goes, and in the end the list's end.
        let mut ends = lengths;
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut sorted = vec![T::default(); sum as usize];
        for (list, item) in items {
            let next = &mut ends[list as usize];
            sorted[*next as usize] = item;
            *next += 1;
        }
        Self {
            ends,
            items: sorted,
        }
    }

    /// Where the items of a list are.
    pub(super) fn range(&self, list: u32) -> Range<usize> {
        let start = list.checked_sub(1);
        let start = start.map_or(0, |before| self.ends[before as usize]);
        start as usize..self.ends[list as usize] as usize
    }

    /// The items of a list.
    pub(super) fn of(&self, list: u32) -> &[T] {
        &self.items[self.range(list)]
    }
}
