//! Blocks of memory while a frame is planned: the last accesses to each byte, by any resource.
//!
//! Resources in blocks have no states of their own between frames. When the first pass of a frame
//! uses one, the resource *enters* its byte range in the block. All resources that overlap the range
//! *leave*: their last accesses are recorded byte by byte. The recorded accesses become aliasing
//! hazards of the new occupant ([`RareParts::aliased`](crate::states::RareParts::aliased)), which is ordered
//! after them range by range as it is used. At the end of the frame all resources leave.

use std::collections::BTreeMap;

use crate::frame::Frame;
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{BlockId, Placement, ResourceIndex};
use crate::solve::state::predecessors::{for_each_predecessor, source};
use crate::solve::state::{Maps, Past, State, TrackedAccess};
use crate::states::States;

/// The last accesses to each byte.
type Bytes = RangeMap<Vec<TrackedAccess>>;

/// A block that resources of the frame lie in.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) id: BlockId,
    /// The index in [`Past`] of its first access before the frame.
    pub(crate) first: u32,
    pub(crate) bytes: Bytes,
    /// The current occupants, by first byte; they do not overlap.
    present: BTreeMap<u64, ResourceIndex>,
}

/// All blocks of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) list: Vec<Block>,
    /// By resource: the index of its block, until it enters. Empty if there are no blocks.
    waiting: Vec<Option<u32>>,
}

impl Blocks {
    /// The blocks at the end of the last frame.
    pub(crate) fn load<'a>(frame: &Frame, states: &'a States, past: &mut Past<'a>) -> Self {
        let mut blocks = Self::default();
        for (at, resource) in frame.resources.iter().enumerate() {
            let Some(placement) = resource.memory else {
                continue;
            };
            let known = blocks.list.iter().position(|it| it.id == placement.block);
            let index = known.unwrap_or_else(|| {
                blocks.list.push(Block::load(placement.block, states, past));
                blocks.list.len() - 1
            });
            blocks.waiting.resize(frame.resources.len(), None);
            blocks.waiting[at] = Some(index as u32);
        }
        blocks
    }

    /// Makes a resource an occupant of its block, if it lies in one and has not entered yet.
    #[inline]
    pub(crate) fn enter(&mut self, frame: &Frame, resource: ResourceIndex, maps: &mut Maps) {
        if !self.waiting.is_empty() {
            self.enter_waiting(frame, resource, maps);
        }
    }

    /// [`Blocks::enter`] for frames with blocks.
    fn enter_waiting(&mut self, frame: &Frame, resource: ResourceIndex, maps: &mut Maps) {
        let waiting = self.waiting.get_mut(resource.0 as usize);
        let Some(index) = waiting.and_then(Option::take) else {
            return;
        };
        let block = &mut self.list[index as usize];
        let placement = placement(frame, resource);
        while let Some(other) = block.over(frame, &placement) {
            record_last_accesses(&mut block.bytes, frame, other, &maps[other.0 as usize]);
        }
        block.present.insert(placement.offset, resource);
        let map = &mut maps[resource.0 as usize];
        if frame.resource(resource).is_image() {
            let mut all = Vec::new();
            for (_, accesses) in block.bytes.iter_within(placement.range()) {
                accesses.iter().for_each(|tracked| add(&mut all, *tracked));
            }
            map.update(EVERYTHING, |_, state| state.rare.set_aliased(all.clone()));
            return;
        }
        let last = frame.resource(resource).kind.length() - 1;
        for (run, accesses) in block.bytes.iter_within(placement.range()) {
            // Bytes of the placement beyond the end of the buffer (alignment) count as its last byte.
            let start = run.start.saturating_sub(placement.offset).min(last);
            let end = match run.end.saturating_sub(placement.offset) {
                end if end <= last => end,
                _ => EVERYTHING.end,
            };
            map.update(start..end, |_, state| {
                let mut aliased = state.rare.aliased().to_vec();
                accesses
                    .iter()
                    .for_each(|tracked| add(&mut aliased, *tracked));
                state.rare.set_aliased(aliased);
            });
        }
    }

    /// Ends the frame: all occupants leave.
    pub(crate) fn close(&mut self, frame: &Frame, maps: &Maps) {
        for Block { bytes, present, .. } in &mut self.list {
            for resource in std::mem::take(present).into_values() {
                record_last_accesses(bytes, frame, resource, &maps[resource.0 as usize]);
            }
        }
    }
}

impl Block {
    fn load<'a>(id: BlockId, states: &'a States, past: &mut Past<'a>) -> Self {
        let first = past.next();
        let stored = states.block(id);
        let bytes = stored.map(|stored| {
            stored.map(|accesses| {
                let accesses = accesses.iter();
                accesses
                    .map(|tracked| past.tracked(states, tracked))
                    .collect()
            })
        });
        Self {
            id,
            first,
            bytes: bytes.unwrap_or_else(|| RangeMap::new(Vec::new())),
            present: BTreeMap::new(),
        }
    }

    /// Removes an occupant that overlaps a placement, if there is one.
    fn over(&mut self, frame: &Frame, other: &Placement) -> Option<ResourceIndex> {
        let mut before = self.present.range(..other.range().end);
        let (offset, resource) = before.next_back()?;
        let (offset, resource) = (*offset, *resource);
        let is_over = placement(frame, resource).overlaps(other);
        is_over.then(|| self.present.remove(&offset)).flatten()
    }
}

/// The placement of a resource in its block.
fn placement(frame: &Frame, resource: ResourceIndex) -> Placement {
    match frame.resource(resource).memory {
        Some(placement) => placement,
        None => unreachable!("only resources with a placement enter blocks"),
    }
}

/// Records the last accesses of a resource. Unused bytes keep the accesses recorded before. The byte
/// layout of an image is unknown, so if any of its ranges is unused, all its bytes keep them.
fn record_last_accesses(
    bytes: &mut Bytes,
    frame: &Frame,
    resource: ResourceIndex,
    map: &RangeMap<State>,
) {
    let range = placement(frame, resource).range();
    if frame.resource(resource).is_image() {
        let mut accesses = Vec::new();
        for (_, state) in map.iter() {
            last_accesses(state, &mut accesses);
        }
        let untouched = map
            .iter()
            .any(|(_, state)| !state.rare.aliased().is_empty());
        bytes.update(range, |_, old| {
            // A used range is ordered after all accesses that need only an execution dependency,
            // which covers whole stages.
            old.retain(|tracked| accesses.is_empty() || !tracked.scope.access.is_empty());
            write_down(old, &accesses, untouched);
        });
        return;
    }
    for (run, state) in map.iter() {
        let end = run.end.saturating_add(range.start).min(range.end);
        let mut accesses = Vec::new();
        last_accesses(state, &mut accesses);
        let untouched = !state.rare.aliased().is_empty();
        bytes.update(range.start + run.start..end, |_, old| {
            write_down(old, &accesses, untouched)
        });
    }
}

/// Replaces the recorded accesses, or adds to them.
fn write_down(old: &mut Vec<TrackedAccess>, new: &[TrackedAccess], keep: bool) {
    if !keep {
        old.clear();
    }
    new.iter().for_each(|tracked| add(old, *tracked));
}

/// Adds the accesses that the next user of a range depends on, without the range's own aliasing
/// hazards.
fn last_accesses(state: &State, accesses: &mut Vec<TrackedAccess>) {
    let mut own = state.clone();
    own.rare.forget_aliased();
    for_each_predecessor(&own, |tracked, memory| {
        let scope = source(tracked, memory);
        add(accesses, TrackedAccess { scope, ..*tracked });
    });
}

/// Adds an access, unless a dependency on an existing one covers it. Drops existing ones that a
/// dependency on the new one covers.
fn add(accesses: &mut Vec<TrackedAccess>, new: TrackedAccess) {
    if accesses.iter().any(|tracked| covers(tracked, &new)) {
        return;
    }
    accesses.retain(|tracked| !covers(&new, tracked));
    accesses.push(new);
}

/// Whether a barrier or wait for one access also covers another. For two accesses before the frame
/// the result must not depend on their timeline values, because cached plans are used again.
fn covers(one: &TrackedAccess, other: &TrackedAccess) -> bool {
    let is_later = match (one.value > 0, other.value > 0) {
        (true, true) => (one.value, one.step) >= (other.value, other.step),
        (true, false) => true,
        (false, true) => false,
        (false, false) => one.pass == other.pass,
    };
    one.queue == other.queue && is_later && one.scope.covers(other.scope)
}
