//! Reference picture sets (clause 8.3.2) and the slots that hold their pictures.

use super::bits::Parsed;
use super::slice::SliceHeader;
use crate::coding::{MAX_SLOTS, Reference};

/// Most entries of a list that the current picture uses, as the device takes them (clause 7.4.7.1: `NumPicTotalCurr`).
pub(crate) const MAX_CURRENT: usize = 8;

/// Slot of an unused entry of a list.
pub(crate) const NO_SLOT: u8 = 0xff;

/// Slots of the pictures that the current one may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurrentReferences {
    /// `RefPicSetStCurrBefore`, `RefPicSetStCurrAfter` and `RefPicSetLtCurr`.
    pub lists: [[u8; MAX_CURRENT]; 3],
}

impl CurrentReferences {
    /// Lists without pictures.
    pub(crate) const NONE: Self = Self {
        lists: [[NO_SLOT; MAX_CURRENT]; 3],
    };
}

/// Pictures that are marked as used for reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    frames: Vec<Reference>,
}

impl References {
    /// Forgets all pictures.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    pub(crate) fn list(&self) -> Vec<Reference> {
        self.frames.clone()
    }

    /// A slot that holds no reference.
    pub(crate) fn free_slot(&self) -> usize {
        let is_free = |slot: &usize| self.frames.iter().all(|it| it.slot != *slot);
        (0..MAX_SLOTS).find(is_free).unwrap_or(0)
    }

    /// Adds the current picture as a short-term reference.
    pub(crate) fn add(&mut self, slot: usize, order_count: i32) {
        self.frames.push(Reference {
            slot,
            number: 0,
            order_counts: [order_count; 2],
            is_long_term: false,
        });
    }

    /// Keeps the pictures of the set of a slice, and returns those that the current picture uses. Pictures are missing
    /// without error if only later ones use them.
    pub(crate) fn select(
        &mut self,
        slice: &SliceHeader,
        order_count: i32,
        log2_max_lsb: u32,
    ) -> Parsed<CurrentReferences> {
        let mut kept = vec![false; self.frames.len()];
        let mut lists: [Vec<usize>; 3] = Default::default();
        let mut take = |found: Option<usize>, list: usize, used: bool| -> Parsed<()> {
            if let Some(at) = found {
                kept[at] = true;
            }
            match found {
                Some(at) if used => lists[list].push(at),
                None if used => return Err("its reference pictures are missing".to_owned()),
                _ => {}
            }
            Ok(())
        };
        let mask = (1_i32 << log2_max_lsb) - 1;
        for entry in &slice.long_term {
            let wanted = match entry.cycle {
                Some(cycle) => {
                    let count = i64::from(order_count & !mask) + i64::from(entry.lsb);
                    count - (cycle << log2_max_lsb)
                }
                None => i64::from(entry.lsb),
            };
            let is_wanted = |it: &Reference| match entry.cycle {
                Some(_) => i64::from(it.order_counts[0]) == wanted,
                None => i64::from(it.order_counts[0] & mask) == wanted,
            };
            let found = self.frames.iter().position(is_wanted);
            if let Some(at) = found {
                self.frames[at].is_long_term = true;
            }
            take(found, 2, entry.is_used)?;
        }
        let sets = [&slice.references.before, &slice.references.after];
        for (list, set) in sets.into_iter().enumerate() {
            for &(delta, used) in set {
                let wanted = order_count.wrapping_add(delta);
                let is_wanted = |it: &Reference| !it.is_long_term && it.order_counts[0] == wanted;
                take(self.frames.iter().position(is_wanted), list, used)?;
            }
        }
        let mut current = CurrentReferences::NONE;
        for (list, found) in current.lists.iter_mut().zip(&lists) {
            if found.len() > MAX_CURRENT {
                return Err(format!("it uses {} reference pictures", found.len()));
            }
            for (slot, &at) in list.iter_mut().zip(found) {
                *slot = self.frames[at].slot as u8;
            }
        }
        let mut kept = kept.into_iter();
        self.frames.retain(|_| kept.next().unwrap_or(false));
        Ok(current)
    }
}
