//! Pipelines and samplers that a command list uses, kept once each.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::pipeline::CurrentCode;

/// Value that a list keeps of an object that it uses.
pub(crate) trait Keep<Object> {
    /// Whether this is what would be kept of the object now.
    fn is_of(&self, object: &Object) -> bool;

    /// Returns the value to keep of the object.
    fn keep(object: &Object) -> Self;
}

/// Usually the object itself.
impl<T: Clone + PartialEq> Keep<T> for T {
    #[inline]
    fn is_of(&self, object: &T) -> bool {
        self == object
    }

    fn keep(object: &T) -> Self {
        object.clone()
    }
}

/// A pipeline whose code can change is kept by its code.
impl<T> Keep<CurrentCode<T>> for Arc<T> {
    #[inline]
    fn is_of(&self, code: &CurrentCode<T>) -> bool {
        code.is(self)
    }

    fn keep(code: &CurrentCode<T>) -> Self {
        code.current()
    }
}

/// Objects by index. Clearing keeps them: a list that is recorded again finds them in place and
/// counts no references, and what is not used again is let go at the next clearing.
pub(crate) struct Interned<T> {
    objects: SmallVec<[T; 1]>,
    /// In few bytes: lists lie in the hot path's memory.
    used: u32,
    /// Something else was found in the place of an object.
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
    /// The index of an object, which is taken up if it is new. Lists have few objects and mostly
    /// use the last again.
    #[inline]
    pub(crate) fn index<Object>(&mut self, object: &Object) -> u32
    where
        T: Keep<Object>,
    {
        // Mostly the first object is what it was.
        if self.used == 0 && self.objects.first().is_some_and(|it| it.is_of(object)) {
            self.used = 1;
            return 0;
        }
        self.find(object)
    }

    fn find<Object>(&mut self, object: &Object) -> u32
    where
        T: Keep<Object>,
    {
        let known = self.objects[..self.used as usize].iter();
        if let Some(index) = known.rev().position(|other| other.is_of(object)) {
            return self.used - 1 - index as u32;
        }
        match self.objects.get_mut(self.used as usize) {
            Some(old) if old.is_of(object) => {}
            Some(old) => {
                *old = T::keep(object);
                self.differs = true;
            }
            None => {
                self.objects.push(T::keep(object));
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

    /// Whether the objects are those from before it was cleared last, or fewer.
    #[inline]
    pub(crate) fn is_repeated(&self) -> bool {
        !self.differs
    }

    /// Forgets all objects, and lets go of those that were not used since the last time.
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
