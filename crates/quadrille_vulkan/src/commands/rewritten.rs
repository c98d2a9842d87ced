//! Arrays that are rewritten each frame, usually with equal contents.

use std::ops::Deref;

use smallvec::SmallVec;

/// An array that is cleared and rewritten repeatedly, and detects whether its contents changed.
///
/// Clearing leaves the items in place, and new items are compared with them. That
/// saves readers of the array from processing equal contents again. Up to `N` items are stored inline.
#[derive(Debug)]
pub(crate) struct Rewritten<T, const N: usize = 0> {
    /// The items written since the last clear, followed by the rest of the earlier contents.
    items: SmallVec<[T; N]>,
    /// Number of items written since the last clear. A `u32` to keep lists small.
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
    /// Starts rewriting the array.
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

    /// Returns the earlier item at the next index. Callers may compare it with the fields of a new item, and then
    /// [keep](Self::keep) it or [write](Self::write) the new one, so that the new item is not built in memory for the
    /// comparison.
    #[inline(always)]
    pub(crate) fn expected(&self) -> Option<&T> {
        self.items.get(self.len as usize)
    }

    /// Keeps the earlier item at the next index.
    #[inline(always)]
    pub(crate) fn keep(&mut self) {
        self.len += 1;
    }

    /// Writes the next item, which differs from the earlier one.
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

    /// Whether the contents equal those before the last clear.
    #[inline]
    pub(crate) fn is_repeated(&self) -> bool {
        !self.differs && self.len() == self.items.len()
    }

    /// The number of items written since the last clear.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The number of items that fit into the allocated memory.
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
