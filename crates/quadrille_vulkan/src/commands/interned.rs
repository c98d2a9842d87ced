//! Deduplicated pipelines and samplers of a command list.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::pipeline::CurrentCode;

/// Value that a list stores for an object.
pub(crate) trait InternedValue<Object> {
    /// Whether this is the current value for the object.
    fn is_of(&self, object: &Object) -> bool;

    /// Returns the value to store for the object.
    fn store(object: &Object) -> Self;
}

/// Stores a clone of the object.
impl<T: Clone + PartialEq> InternedValue<T> for T {
    #[inline]
    fn is_of(&self, object: &T) -> bool {
        self == object
    }

    fn store(object: &T) -> Self {
        object.clone()
    }
}

/// Stores the current code of a pipeline whose code can be replaced.
impl<T> InternedValue<CurrentCode<T>> for Arc<T> {
    #[inline]
    fn is_of(&self, code: &CurrentCode<T>) -> bool {
        code.is(self)
    }

    fn store(code: &CurrentCode<T>) -> Self {
        code.current()
    }
}

/// Objects by index. Clearing keeps them, so that recording the same list again changes no reference counts. Objects
/// that were not used again are dropped by the next clear.
pub(crate) struct Interned<T> {
    objects: SmallVec<[T; 1]>,
    /// Number of objects used since the last clear. A `u32` to keep lists small.
    used: u32,
    /// Whether an object differs from the one at its index before the last clear.
    differs: bool,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            objects: SmallVec::new(),
            used: 0,
            differs: false,
        }
    }
}

impl<T> Interned<T> {
    /// Returns the index of an object, and adds it if it is new. Lists have few objects and usually
    /// use the last one again.
    #[inline]
    pub(crate) fn index<Object>(&mut self, object: &Object) -> u32
    where
        T: InternedValue<Object>,
    {
        // Fast path: the first object is usually unchanged.
        if self.used == 0 && self.objects.first().is_some_and(|it| it.is_of(object)) {
            self.used = 1;
            return 0;
        }
        self.find(object)
    }

    fn find<Object>(&mut self, object: &Object) -> u32
    where
        T: InternedValue<Object>,
    {
        let known = self.objects[..self.used as usize].iter();
        if let Some(index) = known.rev().position(|other| other.is_of(object)) {
            return self.used - 1 - index as u32;
        }
        match self.objects.get_mut(self.used as usize) {
            Some(old) if old.is_of(object) => {}
            Some(old) => {
                *old = T::store(object);
                self.differs = true;
            }
            None => {
                self.objects.push(T::store(object));
                self.differs = true;
            }
        }
        self.used += 1;
        self.used - 1
    }

    /// The objects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects[..self.used as usize].iter()
    }

    /// Whether no object is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Whether the objects equal those before the last clear, or the first of them.
    #[inline]
    pub(crate) fn is_repeated(&self) -> bool {
        !self.differs
    }

    /// Clears the list of objects, and drops those that were not used since the last clear.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if (self.used as usize) < self.objects.len() {
            self.objects.truncate(self.used as usize);
        }
        self.used = 0;
        self.differs = false;
    }
}

impl<T> std::ops::Index<usize> for Interned<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.objects[at]
    }
}

#[cfg(test)]
mod tests;
