//! Arrays that are written anew each frame, mostly with what they had before.

use std::ops::Deref;

/// An array that is cleared and written again and again, and knows whether it came out the same.
///
/// Clearing leaves the items in place. What is written is compared with what is there, which costs
/// less than it saves: whoever reads the array need not look at it again.
#[derive(Debug)]
pub(crate) struct Rewritten<T> {
    /// What was written this time; behind that, what was there before.
    items: Vec<T>,
    /// In few bytes: lists lie in the hot path's memory.
    len: u32,
    differs: bool,
}

impl<T> Default for Rewritten<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            len: 0,
            differs: false,
        }
    }
}

impl<T: Copy + PartialEq> Rewritten<T> {
    /// Begins again.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.len() < self.items.len() {
            self.items.truncate(self.len());
        }
        self.len = 0;
        self.differs = false;
    }

    /// Writes the next item. Inlined where the item is made, so that it is compared field by field
    /// and never comes to lie in memory of its own.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: T) {
        self.push_by(item, |old, new| old == new);
    }

    /// The same with a comparison of its own.
    #[inline(always)]
    pub(crate) fn push_by(&mut self, item: T, is_same: impl FnOnce(&T, &T) -> bool) {
        match self.items.get(self.len as usize) {
            Some(old) if is_same(old, &item) => {}
            _ => self.replace(item),
        }
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn replace(&mut self, item: T) {
        self.differs = true;
        match self.items.get_mut(self.len as usize) {
            Some(old) => *old = item,
            None => self.items.push(item),
        }
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

impl<T> Deref for Rewritten<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

#[cfg(test)]
mod tests;
