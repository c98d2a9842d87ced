//! Adjacency lists in one array (compressed sparse rows), built by a counting sort.

use std::ops::Range;

/// Lists in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<T> {
    /// The end of each list in `items`, and the start of the next one.
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

    /// Sorts `items` into lists of known lengths.
    pub(super) fn with_lengths(
        lengths: Vec<u32>,
        items: impl IntoIterator<Item = (u32, T)>,
    ) -> Self {
        // Each entry is the insert position of its list; after the last item it is the end of the list.
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

    /// The range of a list in `items`.
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
