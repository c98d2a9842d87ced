//! Recording of a pass system: its command lists, and the declarations that they imply.

mod sub;
mod used;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::View;

use crate::declare::access::PassUse;
use crate::declare::kind::Used;
use crate::error::RecordError;
use crate::record::host::HostCall;
use crate::record::outcome::Outcome;
use crate::record::slot::{BLOCK, Block, Slot};

pub(crate) use sub::{Resolved, SubRecording};

/// Properties of a system's only pass that frame collection depends on, besides declaration and `overwritten`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    needs: Capabilities,
    used: Used,
    /// The pass recorded no commands, so the frame leaves it out.
    is_empty: bool,
    /// The pass has rarely used state: see `SubRecording::is_rare`.
    is_rare: bool,
}

impl Shape {
    #[inline]
    fn of(recording: &SubRecording) -> Self {
        Self {
            needs: recording.needs,
            used: recording.used,
            is_empty: recording.is_empty(),
            is_rare: recording.is_rare(),
        }
    }
}

/// Everything that one pass system recorded in one run.
///
/// All memory that a run of a simple pass accesses is in few cache lines, which no other pass shares.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct PassRecording {
    main: SubRecording,
    /// The last shape of `main`, and the outcome of all runs since it last changed.
    shape: Shape,
    outcome: Outcome,
    /// Whether the system recorded several passes (parts).
    has_parts: bool,
    /// Whether the recording time of the system is measured.
    timed: bool,
    rest: Box<Rest>,
}

/// Rarely used state.
#[derive(Default)]
struct Rest {
    parts: Vec<SubRecording>,
    part_count: usize,
    /// Rarely used fields of the last shape of `main`.
    overwritten: Vec<(ResourceId, View)>,
    resolved: Vec<(ResourceId, Resolved)>,
    on_host: bool,
    began: Option<Instant>,
    took: Option<Duration>,
}

impl PassRecording {
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.main.clear();
        self.has_parts = false;
        if self.timed {
            self.rest.began = Some(Instant::now());
        }
    }

    /// Ends a complete run, and returns its outcome.
    #[inline]
    pub(crate) fn end(&mut self) -> Outcome {
        if self.timed {
            let rest = &mut *self.rest;
            rest.took = rest.began.take().map(|began| began.elapsed());
        }
        let shape = Shape::of(&self.main);
        if !self.has_parts && !shape.is_rare && self.shape == shape {
            self.outcome
        } else {
            self.end_otherwise(shape)
        }
    }

    /// Ends a run that differs from the previous one, has several passes, overwrites or resolves attachments, is a host
    /// pass, or failed.
    #[inline(never)]
    fn end_otherwise(&mut self, shape: Shape) -> Outcome {
        if self.has_parts && !self.main.is_empty() {
            self.main.fail(RecordError::OutsideParts);
        }
        let parts = if self.has_parts {
            &mut self.rest.parts[..self.rest.part_count]
        } else {
            &mut []
        };
        for pass in parts.iter_mut().chain([&mut self.main]) {
            if pass.is_on_host() && !pass.list.is_empty() {
                pass.fail(RecordError::HostAndDevice);
            }
        }
        if self.has_parts || self.has_errors() || !self.main.timelines().is_empty() {
            return Outcome::LOOK;
        }
        let (main, rest) = (&self.main, &mut *self.rest);
        let is_same = self.shape == shape
            && rest.on_host == main.is_on_host()
            && rest.overwritten == main.overwritten()
            && rest.resolved == main.all_resolved();
        if !is_same {
            self.shape = shape;
            rest.on_host = main.is_on_host();
            rest.overwritten.clear();
            rest.overwritten.extend_from_slice(main.overwritten());
            rest.resolved.clear();
            rest.resolved.extend_from_slice(main.all_resolved());
            self.outcome = self.outcome.after();
        }
        self.outcome
    }

    #[inline]
    pub(crate) fn main(&mut self) -> &mut SubRecording {
        &mut self.main
    }

    /// Begins the next part. Its memory is reused from the previous frame, and its name if unchanged.
    pub(crate) fn sub(
        &mut self,
        name: &str,
        uses: &[PassUse],
        step: Option<u32>,
    ) -> &mut SubRecording {
        let rest = &mut *self.rest;
        if !self.has_parts {
            self.has_parts = true;
            rest.part_count = 0;
        }
        if rest.parts.len() == rest.part_count {
            rest.parts.push(SubRecording::default());
        }
        let recording = &mut rest.parts[rest.part_count];
        rest.part_count += 1;
        recording.clear();
        recording.begin_part(name, uses, step);
        recording
    }

    /// Returns the parts of this run.
    fn parts(&self) -> &[SubRecording] {
        if self.has_parts {
            &self.rest.parts[..self.rest.part_count]
        } else {
            &[]
        }
    }

    /// Returns the recorded passes: the parts, or else the system's only pass; none if nothing was recorded.
    pub(crate) fn passes(&self) -> &[SubRecording] {
        if self.has_parts {
            self.parts()
        } else if self.main.is_empty() && self.main.errors().is_empty() {
            &[]
        } else {
            std::slice::from_ref(&self.main)
        }
    }

    /// Returns the commands of one of the passes.
    #[inline]
    pub(crate) fn list(&self, part: Option<u32>) -> Option<&CommandList> {
        match part {
            None => Some(&self.main.list),
            Some(part) => Some(&self.parts().get(part as usize)?.list),
        }
    }

    /// Returns the recording time of the system, if measured.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.rest.took
    }

    /// Whether recording failed.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Takes the host callback of one of the passes.
    pub(crate) fn take_host(&mut self, part: Option<u32>) -> Option<HostCall> {
        match part {
            None => self.main.take_host(),
            Some(part) if self.has_parts => {
                let parts = &mut self.rest.parts[..self.rest.part_count];
                parts.get_mut(part as usize)?.take_host()
            }
            Some(_) => None,
        }
    }

    /// Errors of the recording.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &RecordError> {
        std::iter::once(&self.main)
            .chain(self.parts())
            .flat_map(SubRecording::errors)
    }

    /// Enables or disables measurement of the recording time.
    fn time(&mut self, timed: bool) {
        if self.timed != timed {
            self.timed = timed;
            self.rest.took = None;
        }
    }
}

/// The recordings of all pass systems, by slot.
///
/// Each system writes its own recording, which this resource shares, so nothing is copied and memory is reused by the
/// next frame. Recording systems count as readers of this resource, so only its exclusive owner may read the slots.
#[derive(Resource, Default)]
pub(crate) struct Recordings {
    blocks: Vec<Arc<Block>>,
    count: usize,
    timed: bool,
}

impl Recordings {
    /// Adds a slot for a new pass system. Returns its index and the slot.
    pub(crate) fn add(&mut self) -> (u32, Slot) {
        let (number, at) = (self.count, self.count % BLOCK);
        if at == 0 {
            self.blocks.push(Arc::default());
        }
        self.count += 1;
        let slot = Slot::new(&self.blocks[number / BLOCK], at);
        let timed = self.timed;
        self.change(number as u32, |recording| recording.time(timed));
        (number as u32, slot)
    }

    /// Sets the single-threaded run order of the systems, for prefetching.
    pub(crate) fn set_order(&mut self, order: &[u32]) {
        for pair in order.windows(2) {
            let [block, next] =
                [pair[0], pair[1]].map(|slot| self.blocks.get(slot as usize / BLOCK));
            if let (Some(block), Some(next)) = (block, next) {
                let next = next.memory(pair[1] as usize % BLOCK);
                block.set_next(pair[0] as usize % BLOCK, next);
            }
        }
    }

    /// Returns the addresses that the system of a slot accesses first.
    #[cfg(test)]
    pub(crate) fn memory_of(&self, slot: u32) -> [*const u8; 2] {
        self.blocks[slot as usize / BLOCK].memory(slot as usize % BLOCK)
    }

    /// Returns the addresses that the system of a slot prefetches.
    #[cfg(test)]
    pub(crate) fn next_of(&self, slot: u32) -> [*const u8; 2] {
        self.blocks[slot as usize / BLOCK].next(slot as usize % BLOCK)
    }

    /// Begins a frame, in which no pass ran yet.
    pub(crate) fn begin(&mut self) {
        self.blocks.iter().for_each(|block| block.begin());
    }

    /// Gives mutable access to the recording of a pass.
    pub(crate) fn change<T>(
        &mut self,
        slot: u32,
        change: impl FnOnce(&mut PassRecording) -> T,
    ) -> Option<T> {
        let block = Arc::clone(self.blocks.get(slot as usize / BLOCK)?);
        Some(change(block.with(slot as usize % BLOCK, self)))
    }

    /// Number of slots.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Enables or disables measurement of the recording times.
    pub(crate) fn time_systems(&mut self, timed: bool) {
        self.timed = timed;
        self.for_each(|recording| recording.time(timed));
    }

    /// Drops all recorded commands and their memory.
    pub(crate) fn forget(&mut self) {
        let timed = self.timed;
        self.for_each(|recording| {
            *recording = PassRecording::default();
            recording.time(timed);
        });
    }

    fn for_each(&mut self, mut change: impl FnMut(&mut PassRecording)) {
        for slot in 0..self.count as u32 {
            self.change(slot, &mut change);
        }
    }

    /// Whether recording times are measured.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// Returns read access to the recordings, during which no system can write.
    pub(crate) fn read(&mut self) -> Recorded<'_> {
        Recorded(self)
    }
}

/// Read access to all recordings. Holds `Recordings` exclusively, so no system writes meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a>(&'a Recordings);

impl<'a> Recorded<'a> {
    /// Returns the recording of a pass in this frame, if it ran to its end.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&'a PassRecording> {
        match self.outcome(slot) {
            Outcome::NONE => None,
            _ => {
                let block = self.0.blocks.get(slot as usize / BLOCK)?;
                Some(block.read(slot as usize % BLOCK, self))
            }
        }
    }

    /// Returns the outcome of a pass in this frame.
    #[inline]
    pub(crate) fn outcome(&self, slot: u32) -> Outcome {
        let block = self.0.blocks.get(slot as usize / BLOCK);
        block.map_or(Outcome::NONE, |block| block.outcome(slot as usize % BLOCK))
    }
}

#[cfg(test)]
mod tests;
