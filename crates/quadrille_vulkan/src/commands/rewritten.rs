//! Arrays that are rewritten each frame, mostly with what they had before.

use std::ops::Deref;

use smallvec::SmallVec;

/// An array that is cleared and written again and again, and knows whether it came out the same.
///
/// Clearing leaves the items in place. What is written is compared with what is there, which costs
/// less than it saves: readers of the array need not look at it again. Up to `N` items lie in the
/// array itself, more of them apart.
#[derive(Debug)]
pub(crate) struct Rewritten<T, const N: usize = 0> {
    /// The items written since the last clear; behind them, the rest of the earlier contents.
    items: SmallVec<[T; N]>,
    /// In few bytes: lists lie in the hot path's memory.
    len: u32,
    differs: bool,
}

impl<T, const N: usize> Default for Rewritten<T, N> {
    fn default() -> Self {
        Self {
            items: SmallVec::new(),
            len: 0,
            differs: false,
        }
    }
}

impl<T: Copy + PartialEq, const N: usize> Rewritten<T, N> {
    /// Begins again.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.len() < self.items.len() {
            self.items.truncate(self.len());
        }
        self.len = 0;
        self.differs = false;
    }

    /// Writes the next item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        match self.expected() {
            Some(old) if *old == item => self.keep(),
            _ => self.write(item),
        }
    }

    /// The item that was in the next item's place before. A caller that compares it with the new one where
    /// that is made, and then [keeps](Self::keep) or [writes](Self::write) it, has it compared
    /// field by field, without putting it together in memory.
    #[inline(always)]
    pub(crate) fn expected(&self) -> Option<&T> {
        self.items.get(self.len as usize)
    }

    /// The next item is what it was.
    #[inline(always)]
    pub(crate) fn keep(&mut self) {
        self.len += 1;
    }

    /// Writes the next item, which is not what it was.
    #[cold]
    #[inline(never)]
    pub(crate) fn write(&mut self, item: T) {
        self.differs = true;
        match self.items.get_mut(self.len as usize) {
            Some(old) => *old = item,
            None => self.items.push(item),
        }
        self.len += 1;
    }

    /// Writes the next items.
    pub(crate) fn extend_from_slice(&mut self, items: &[T]) {
        let (start, end) = (self.len(), self.len() + items.len());
        if self.items.get(start..end) != Some(items) {
            self.differs = true;
            self.items.truncate(start);
            self.items.extend_from_slice(items);
        }
        self.len = end as u32;
    }

    /// Whether it is what it was before it was cleared last.
    #[inline]
    pub(crate) fn is_repeated(&self) -> bool {
        !self.differs && self.len() == self.items.len()
    }

    /// How many items were written.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// How many items there is memory for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.items.capacity()
    }
}

impl<T, const N: usize> Deref for Rewritten<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

#[cfg(test)]
mod tests;
