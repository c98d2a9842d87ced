//! Memory blocks between frames: the last accesses to each byte, by any resource.

use super::commit::advance_accesses;
use super::{HasAccesses, PastAccess, States, TrackedAccess};
use crate::frame::Frame;
use crate::range::RangeMap;
use crate::resource::BlockId;

/// A block at the end of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndBlock {
    pub(crate) block: BlockId,
    /// By byte.
    pub(crate) map: RangeMap<Vec<TrackedAccess>>,
}

impl<M: Clone + Eq> HasAccesses<M> for Vec<M> {
    fn accesses<'a>(&'a self) -> impl Iterator<Item = &'a M>
    where
        M: 'a,
    {
        self.iter()
    }

    fn accesses_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a,
    {
        self.iter_mut()
    }
}

impl States {
    /// Removes a memory block, so that its id can be reused.
    pub fn remove_block(&mut self, id: BlockId) {
        self.leave_steady_state();
        if let Some(block) = self.blocks.get_mut(id.0 as usize) {
            *block = None;
        }
    }

    /// The last accesses to a block, if there are any.
    pub(crate) fn block(&self, id: BlockId) -> Option<&RangeMap<Vec<PastAccess>>> {
        self.blocks.get(id.0 as usize)?.as_ref()
    }

    /// Advances a block in place; see [`States::commit_again`].
    pub(super) fn commit_block_again(&mut self, end: &EndBlock) -> bool {
        let Self { blocks, base, .. } = self;
        let Some(Some(map)) = blocks.get_mut(end.block.0 as usize) else {
            return false;
        };
        advance_accesses(base, map, &end.map)
    }

    /// Replaces the last accesses to a block.
    pub(super) fn commit_block(&mut self, frame: &Frame, end: &EndBlock) {
        let index = end.block.0 as usize;
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, None);
        }
        let start = self.blocks[index].take();
        let start = start.unwrap_or_else(|| RangeMap::new(Vec::new()));
        let old: Vec<&PastAccess> = start.iter().flat_map(|(_, accesses)| accesses).collect();
        let map = end.map.map(|accesses| {
            let accesses = accesses.iter();
            accesses
                .map(|tracked| self.past_access(frame, &old, tracked))
                .collect()
        });
        self.blocks[index] = Some(map);
    }
}

#[cfg(test)]
mod tests;
