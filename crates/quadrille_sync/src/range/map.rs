//! State per position of a resource, stored as runs of equal values.

use std::collections::{BTreeMap, btree_map};
use std::iter::Peekable;
use std::ops::Range;

/// A value for each position from 0 to `u64::MAX`.
///
/// Values are stored as runs: the first begins at 0, each begins where the previous one ends, and adjacent
/// runs differ. A map that is only updated as a whole has one run. Then every operation takes
/// constant time without allocation. Splitting a run takes logarithmic time in the number of runs,
/// because thousands of passes may each access one subresource.
///
/// [`update`](RangeMap::update) applies a function to a range: it splits runs at the range's ends,
/// and joins adjacent runs that become equal. The map does not know the length of the resource: the
/// last run ends at `u64::MAX`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RangeMap<T> {
    runs: Runs<T>,
}

/// The runs of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Runs<T> {
    /// The same value everywhere.
    One(T),
    /// At least two runs, by their first positions.
    Many(BTreeMap<u64, T>),
}

/// All positions.
pub(crate) const EVERYTHING: Range<u64> = 0..u64::MAX;

impl<T: Clone + Eq> RangeMap<T> {
    /// The same value everywhere.
    pub(crate) fn new(value: T) -> Self {
        Self {
            runs: Runs::One(value),
        }
    }

    /// Maps the value of each run. Adjacent runs that become equal are joined.
    #[inline]
    pub(crate) fn map<'a, U: Clone + Eq>(
        &'a self,
        mut each: impl FnMut(&'a T) -> U,
    ) -> RangeMap<U> {
        match &self.runs {
            Runs::One(value) => RangeMap::new(each(value)),
            Runs::Many(runs) => RangeMap::of_many(runs, each),
        }
    }

    /// [`map`](Self::map) for several runs.
    fn of_many<'a, S>(runs: &'a BTreeMap<u64, S>, mut each: impl FnMut(&'a S) -> T) -> Self {
        let mut runs: Vec<(u64, T)> = (runs.iter())
            .map(|(start, value)| (*start, each(value)))
            .collect();
        runs.dedup_by(|next, run| next.1 == run.1);
        let mut map = RangeMap {
            runs: Runs::Many(runs.into_iter().collect()),
        };
        map.settle();
        map
    }

    /// The number of runs.
    pub(crate) fn len(&self) -> usize {
        match &self.runs {
            Runs::One(_) => 1,
            Runs::Many(runs) => runs.len(),
        }
    }

    /// The runs in order.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.iter_within(EVERYTHING)
    }

    /// The runs that share a position with a range, in order.
    pub(crate) fn iter_within(&self, range: Range<u64>) -> Iter<'_, T> {
        let end = range.end;
        let (one, many) = match &self.runs {
            Runs::One(value) => (Some(value).filter(|_| end > 0), None),
            Runs::Many(runs) => {
                let first = runs.range(..=range.start).next_back();
                let first = first.map_or(0, |(start, _)| *start);
                (None, Some(runs.range(first..).peekable()))
            }
        };
        Iter { one, many, end }
    }

    /// Mutable values of all runs. Adjacent runs must stay different.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (one, many) = match &mut self.runs {
            Runs::One(value) => (Some(value), None),
            Runs::Many(runs) => (None, Some(runs.values_mut())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Calls `each` with the values of all runs, in order.
    #[inline]
    pub(crate) fn for_each(&self, mut each: impl FnMut(&T)) {
        match &self.runs {
            Runs::One(value) => each(value),
            Runs::Many(runs) => runs.values().for_each(each),
        }
    }

    /// Applies `change` to every run within `range`, in order. An empty range changes nothing.
    #[inline]
    pub(crate) fn update(&mut self, range: Range<u64>, mut change: impl FnMut(Range<u64>, &mut T)) {
        match &mut self.runs {
            Runs::One(value) if range == EVERYTHING => change(range, value),
            _ if range.is_empty() => {}
            _ => self.update_part(range, change),
        }
    }

    /// [`update`](Self::update) for several runs, or for a range that splits the only one.
    fn update_part(&mut self, range: Range<u64>, mut change: impl FnMut(Range<u64>, &mut T)) {
        let runs = self.cut_at([range.start, range.end]);
        let mut within = runs.range_mut(range.clone()).peekable();
        while let Some((start, value)) = within.next() {
            let end = within.peek().map_or(range.end, |(next, _)| **next);
            change(*start..end, value);
        }
        join_between(runs, range);
        self.settle();
    }

    /// Splits runs at positions, except at `u64::MAX`.
    fn cut_at(&mut self, positions: [u64; 2]) -> &mut BTreeMap<u64, T> {
        if let Runs::One(value) = &self.runs {
            self.runs = Runs::Many(BTreeMap::from([(0, value.clone())]));
        }
        let Runs::Many(runs) = &mut self.runs else {
            unreachable!("one run has just become the first of many");
        };
        for position in positions.into_iter().filter(|it| *it < EVERYTHING.end) {
            let before = runs.range(..=position).next_back();
            if let Some((_, value)) = before.filter(|(start, _)| **start < position) {
                let value = value.clone();
                runs.insert(position, value);
            }
        }
        runs
    }

    /// Converts a map with a single run left to [`Runs::One`].
    fn settle(&mut self) {
        if let Runs::Many(runs) = &mut self.runs
            && runs.len() == 1
            && let Some((_, value)) = runs.pop_first()
        {
            self.runs = Runs::One(value);
        }
    }
}

/// Joins equal adjacent runs in a range and at its ends.
fn join_between<T: Eq>(runs: &mut BTreeMap<u64, T>, range: Range<u64>) {
    let before = runs.range(..range.start).next_back();
    let from = before.map_or(range.start, |(start, _)| *start);
    let mut kept: Option<&T> = None;
    let mut equal = Vec::new();
    for (start, value) in runs.range(from..=range.end) {
        if kept == Some(value) {
            equal.push(*start);
        } else {
            kept = Some(value);
        }
    }
    for start in equal {
        runs.remove(&start);
    }
}

/// Runs in order, each with its positions.
pub(crate) struct Iter<'a, T> {
    one: Option<&'a T>,
    many: Option<Peekable<btree_map::Range<'a, u64, T>>>,
    /// The iteration ends at runs that begin here.
    end: u64,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (Range<u64>, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Some(many) = &mut self.many else {
            return Some((EVERYTHING, self.one.take()?));
        };
        let (start, value) = many.next_if(|(start, _)| **start < self.end)?;
        let end = many.peek().map_or(EVERYTHING.end, |(next, _)| **next);
        Some((*start..end, value))
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
