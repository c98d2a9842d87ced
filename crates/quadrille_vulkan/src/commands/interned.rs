//! The pipelines and samplers of a command list, each once.

use smallvec::SmallVec;

/// Objects by index. Clearing keeps them: whoever records the same again finds them in place and
/// counts no references, and what is not used again is let go at the next clearing.
pub(crate) struct Interned<T> {
    objects: SmallVec<[T; 1]>,
    used: usize,
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

impl<T: Clone + PartialEq> Interned<T> {
    /// The index of an object, which is taken up if it is new. Lists have few objects and mostly
    /// use the last again.
    #[inline]
    pub(crate) fn index(&mut self, object: &T) -> u32 {
        // Mostly the first object is what it was.
        if self.used == 0 && self.objects.first() == Some(object) {
            self.used = 1;
            return 0;
        }
        self.find(object)
    }

    fn find(&mut self, object: &T) -> u32 {
        let known = self.objects[..self.used].iter();
        if let Some(index) = known.rev().position(|other| other == object) {
            return (self.used - 1 - index) as u32;
        }
        match self.objects.get_mut(self.used) {
            Some(old) if *old == *object => {}
            Some(old) => {
                *old = object.clone();
                self.differs = true;
            }
            None => {
                self.objects.push(object.clone());
                self.differs = true;
            }
        }
        self.used += 1;
        (self.used - 1) as u32
    }

    /// The objects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects[..self.used].iter()
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
    pub(crate) fn clear(&mut self) {
        self.objects.truncate(self.used);
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
