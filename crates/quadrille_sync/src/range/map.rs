//! State per range: a line of positions, cut into runs of equal values.

use std::ops::Range;

use smallvec::SmallVec;

/// A value for each position of a line, from 0 to `u64::MAX`.
///
/// Stored as runs: each begins where the one before it ends, the first begins at 0, and
/// neighbours always differ. A map that was only ever updated as a whole is one run, and then
/// every operation is a constant few steps, and there is no memory to allocate.
///
/// Two verbs change it: [`update`](RangeMap::update) applies a function to a range, cutting runs
/// at the range's ends and joining neighbours that have become equal, and
/// [`new`](RangeMap::new) begins again with one value. The length of the resource is not the
/// map's business: the last run goes on for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RangeMap<T> {
    runs: SmallVec<[Run<T>; 1]>,
}

/// A run: its first position, and the value there and up to the next run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run<T> {
    start: u64,
    value: T,
}

/// All positions.
pub(crate) const EVERYTHING: Range<u64> = 0..u64::MAX;

impl<T: Clone + Eq> RangeMap<T> {
    /// The same value everywhere.
    pub(crate) fn new(value: T) -> Self {
        Self {
            runs: SmallVec::from_buf([Run { start: 0, value }]),
        }
    }

    /// A map with the same cuts and another value for each run; neighbours that become equal are
    /// joined.
    pub(crate) fn map<U: Clone + Eq>(&self, mut each: impl FnMut(&T) -> U) -> RangeMap<U> {
        if let [run] = self.runs.as_slice() {
            return RangeMap::new(each(&run.value));
        }
        let runs = self.runs.iter().map(|run| Run {
            start: run.start,
            value: each(&run.value),
        });
        let mut runs: SmallVec<[Run<U>; 1]> = runs.collect();
        runs.dedup_by(|next, run| next.value == run.value);
        RangeMap { runs }
    }

    /// The runs in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Range<u64>, &T)> {
        self.runs
            .iter()
            .enumerate()
            .map(|(at, run)| (run.start..self.end_of(at), &run.value))
    }

    /// The runs that share a position with a range, in order.
    pub(crate) fn iter_within(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &T)> {
        let first = match self.runs.as_slice() {
            [_] => 0,
            runs => runs
                .partition_point(|run| run.start <= range.start)
                .saturating_sub(1),
        };
        let runs = self.runs[first..].iter().enumerate();
        runs.map(move |(at, run)| (run.start..self.end_of(first + at), &run.value))
            .take_while(move |(run, _)| run.start < range.end)
    }

    /// The values of all runs, to be changed. Neighbours have to stay different.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.runs.iter_mut().map(|run| &mut run.value)
    }

    /// Applies `change` to every run within `range`, in order. An empty range changes nothing.
    pub(crate) fn update(&mut self, range: Range<u64>, mut change: impl FnMut(Range<u64>, &mut T)) {
        if range.is_empty() {
            return;
        }
        if range == EVERYTHING && self.runs.len() == 1 {
            change(range, &mut self.runs[0].value);
            return;
        }
        let first = self.cut(range.start);
        let last = if range.end == u64::MAX {
            self.runs.len()
        } else {
            self.cut(range.end)
        };
        for at in first..last {
            let positions = self.runs[at].start..self.end_of(at);
            change(positions, &mut self.runs[at].value);
        }
        self.join_between(first, last);
    }

    /// Where a run ends.
    fn end_of(&self, at: usize) -> u64 {
        self.runs.get(at + 1).map_or(u64::MAX, |next| next.start)
    }

    /// Makes a run begin at `position` and returns its index.
    fn cut(&mut self, position: u64) -> usize {
        match self.runs.binary_search_by_key(&position, |run| run.start) {
            Ok(at) => at,
            Err(at) => {
                // `at` is at least 1, because the first run begins at 0.
                let value = self.runs[at - 1].value.clone();
                self.runs.insert(
                    at,
                    Run {
                        start: position,
                        value,
                    },
                );
                at
            }
        }
    }

    /// Joins equal neighbours among the runs `first..last` and those right beside them.
    fn join_between(&mut self, first: usize, last: usize) {
        let from = first.saturating_sub(1);
        let to = (last + 1).min(self.runs.len());
        let mut kept = from;
        for at in from + 1..to {
            if self.runs[at].value != self.runs[kept].value {
                kept += 1;
                self.runs.swap(kept, at);
            }
        }
        self.runs.drain(kept + 1..to);
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
