//! What a pass system records: command lists, and what they need.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use quadrille_sync::{Capabilities, ResourceId};
use quadrille_vulkan::CommandList;

use crate::access::PassUse;
use crate::bind::Bound;
use crate::error::RecordError;
use crate::host::HostCall;
use crate::kind::{AccessKind, Used};
use crate::outcome::{Outcome, Outcomes};
use crate::slot::Slot;

/// The commands of one pass and what they imply for its declaration.
#[derive(Default)]
pub(crate) struct SubRecording {
    /// The pass's name and uses, if it is one of several of its system.
    pub(crate) part: Option<Part>,
    pub(crate) list: CommandList,
    /// What the host does, if this is a host pass.
    pub(crate) host: Option<HostCall>,
    /// Which pipelines were bound.
    pub(crate) used: Used,
    /// What the queue must be able to do.
    pub(crate) needs: Capabilities,
    /// Attachments whose old contents are cleared or not needed.
    pub(crate) overwritten: Vec<ResourceId>,
    pub(crate) errors: Vec<RecordError>,
}

/// One of several passes of a system.
pub(crate) struct Part {
    pub(crate) name: Arc<str>,
    pub(crate) uses: Vec<PassUse>,
}

impl Part {
    fn declared_kind<'b>(&'b self, bound: Bound<'b>) -> &'b AccessKind {
        let used = self.uses.iter().find(|used| used.handle.id() == bound.id());
        used.map_or(bound.kind, |used| &used.kind)
    }
}

impl SubRecording {
    #[inline]
    fn clear(&mut self) {
        self.list.clear();
        self.host = None;
        self.used = Used::default();
        self.needs = Capabilities::empty();
        self.overwritten.clear();
        self.errors.clear();
    }

    /// Whether there is nothing to do, neither on the device nor on the host.
    fn is_empty(&self) -> bool {
        self.list.is_empty() && self.host.is_none()
    }

    /// Adds what the host does.
    pub(crate) fn set_host(&mut self, call: HostCall) {
        if self.host.replace(call).is_some() {
            self.errors.push(RecordError::TwoHostCalls);
        }
    }

    /// Checks that a bound or attached resource is declared by this part, if it is one.
    #[inline]
    pub(crate) fn check_declared(&mut self, bound: Bound<'_>) {
        if self.part.is_some() {
            self.check_part(bound);
        }
    }

    fn check_part(&mut self, bound: Bound<'_>) {
        let Some(part) = &self.part else { return };
        let declares =
            |used: &PassUse| used.handle.id() == bound.id() && used.kind.covers(bound.kind);
        let weaker = |used: &PassUse| {
            // A parameter may be declared for more than this part uses.
            used.handle.id() == bound.id() && bound.kind.covers(&used.kind)
        };
        if !part.uses.iter().any(|used| declares(used) || weaker(used)) {
            self.errors.push(RecordError::NotDeclared {
                part: part.name.clone(),
                resource: bound.name().into(),
                access: bound.kind.name(),
            });
        }
    }

    /// What this part, or else the parameter, declares for a bound resource.
    #[inline]
    pub(crate) fn declared_kind<'b>(&'b self, bound: Bound<'b>) -> &'b AccessKind {
        match &self.part {
            Some(part) => part.declared_kind(bound),
            None => bound.kind,
        }
    }
}

/// What the only pass of a system means to the frame, besides what it declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// It recorded nothing, and is not there.
    is_empty: bool,
    /// What it recorded is for the host.
    on_host: bool,
    used: Used,
    needs: Capabilities,
    overwritten: Vec<ResourceId>,
}

impl Shape {
    /// Whether this is the shape of a recording.
    fn is_of(&self, recording: &SubRecording) -> bool {
        self.is_empty == recording.is_empty()
            && self.on_host == recording.host.is_some()
            && self.used == recording.used
            && self.needs == recording.needs
            && self.overwritten == recording.overwritten
    }

    fn of(recording: &SubRecording) -> Self {
        Self {
            is_empty: recording.is_empty(),
            on_host: recording.host.is_some(),
            used: recording.used,
            needs: recording.needs,
            overwritten: recording.overwritten.clone(),
        }
    }
}

/// Everything that one pass system recorded in one run.
#[derive(Default)]
pub(crate) struct PassRecording {
    main: SubRecording,
    parts: Vec<SubRecording>,
    part_count: usize,
    /// The last shape of `main`, and the outcome of all runs that came to it.
    shape: Shape,
    outcome: Outcome,
    /// Whether to measure how long the system takes.
    timed: bool,
    began: Option<Instant>,
    took: Option<Duration>,
}

impl PassRecording {
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.main.clear();
        self.part_count = 0;
        self.began = self.timed.then(Instant::now);
    }

    /// Ends a run that came to its end, and says what came of it.
    #[inline]
    pub(crate) fn end(&mut self) -> Outcome {
        self.took = self.began.take().map(|began| began.elapsed());
        let is_simple = self.part_count == 0 && self.main.host.is_none();
        if is_simple && self.main.errors.is_empty() && self.shape.is_of(&self.main) {
            return self.outcome;
        }
        self.end_otherwise()
    }

    /// The end of a run that differs from the one before, or has several passes, or none on the
    /// device.
    #[cold]
    fn end_otherwise(&mut self) -> Outcome {
        if self.part_count > 0 && !self.main.is_empty() {
            self.main.errors.push(RecordError::OutsideParts);
        }
        let parts = self.parts[..self.part_count].iter_mut();
        for pass in parts.chain([&mut self.main]) {
            if pass.host.is_some() && !pass.list.is_empty() {
                pass.errors.push(RecordError::HostAndDevice);
            }
        }
        if self.part_count > 0 || self.has_errors() {
            return Outcome::LOOK;
        }
        if !self.shape.is_of(&self.main) {
            self.shape = Shape::of(&self.main);
            self.outcome = self.outcome.after();
        }
        self.outcome
    }

    pub(crate) fn main(&mut self) -> &mut SubRecording {
        &mut self.main
    }

    /// Begins the next part; its memory and, where it is the same, its name come from the frame
    /// before.
    pub(crate) fn sub(&mut self, name: &str, uses: &[PassUse]) -> &mut SubRecording {
        if self.parts.len() == self.part_count {
            self.parts.push(SubRecording::default());
        }
        let recording = &mut self.parts[self.part_count];
        self.part_count += 1;
        recording.clear();
        match &mut recording.part {
            Some(part) => {
                if part.name.as_ref() != name {
                    part.name = name.into();
                }
                part.uses.clear();
                part.uses.extend_from_slice(uses);
            }
            None => {
                recording.part = Some(Part {
                    name: name.into(),
                    uses: uses.to_vec(),
                })
            }
        }
        for used in uses.iter().filter(|used| !used.declared.covers(&used.kind)) {
            recording.errors.push(RecordError::WrongUse {
                command: "recorder.pass",
                resource: used.handle.name().into(),
                declared: used.declared.name(),
                needed: used.kind.name(),
            });
        }
        recording
    }

    /// The passes that were recorded: the parts, or else the system's own; none if the system
    /// recorded nothing, for then the device has nothing to wait for.
    pub(crate) fn passes(&self) -> &[SubRecording] {
        if self.part_count > 0 {
            &self.parts[..self.part_count]
        } else if self.main.is_empty() && self.main.errors.is_empty() {
            &[]
        } else {
            std::slice::from_ref(&self.main)
        }
    }

    /// The commands of one of the passes.
    #[inline]
    pub(crate) fn list(&self, part: Option<u32>) -> Option<&CommandList> {
        match part {
            None => Some(&self.main.list),
            Some(part) => Some(&self.parts[..self.part_count].get(part as usize)?.list),
        }
    }

    /// How long the system took to record, if that is measured.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.took
    }

    /// Whether something was done wrong while recording.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Takes what the host does in one of the passes.
    pub(crate) fn take_host(&mut self, part: Option<u32>) -> Option<HostCall> {
        match part {
            None => self.main.host.take(),
            Some(part) => {
                let parts = &mut self.parts[..self.part_count];
                parts.get_mut(part as usize)?.host.take()
            }
        }
    }

    /// What was done wrong while recording.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &RecordError> {
        let parts = self.parts[..self.part_count].iter();
        std::iter::once(&self.main)
            .chain(parts)
            .flat_map(|recording| &recording.errors)
    }
}

/// The recordings of all pass systems, by slot.
///
/// Each system writes its own, which it shares with this resource: nothing is handed over, and
/// the memory of a frame is that of the next. Systems that record count as readers of this
/// resource, so whoever has it for himself, and only he, may look into the slots.
#[derive(Resource, Default)]
pub(crate) struct Recordings {
    slots: Vec<Slot>,
    outcomes: Outcomes,
    timed: bool,
}

impl Recordings {
    /// The slot of a new pass system, and its number.
    pub(crate) fn add(&mut self) -> (u32, Slot) {
        let slot = Slot::after(self.slots.last(), self.outcomes.add());
        slot.with(self).timed = self.timed;
        self.slots.push(slot.clone());
        (self.slots.len() as u32 - 1, slot)
    }

    /// Begins a frame: no pass ran yet.
    pub(crate) fn begin(&mut self) {
        self.outcomes.begin();
    }

    /// What a pass recorded, to take from it.
    pub(crate) fn change<T>(
        &mut self,
        slot: u32,
        change: impl FnOnce(&mut PassRecording) -> T,
    ) -> Option<T> {
        let slot = self.slots.get(slot as usize)?.clone();
        Some(change(slot.with(self)))
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Measures from now on, or no more, how long systems take.
    pub(crate) fn time_systems(&mut self, timed: bool) {
        self.timed = timed;
        self.for_each(|recording| recording.timed = timed);
    }

    /// Lets go of everything that was recorded, and of its memory.
    pub(crate) fn forget(&mut self) {
        let timed = self.timed;
        self.for_each(|recording| {
            *recording = PassRecording {
                timed,
                ..PassRecording::default()
            };
        });
    }

    fn for_each(&mut self, mut change: impl FnMut(&mut PassRecording)) {
        let slots = std::mem::take(&mut self.slots);
        slots.iter().for_each(|slot| change(slot.with(self)));
        self.slots = slots;
    }

    /// Whether systems are measured.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// The recordings, for as long as no system writes one.
    pub(crate) fn read(&mut self) -> Recorded<'_> {
        Recorded(self)
    }
}

/// The recordings while no system writes one.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a>(&'a Recordings);

impl<'a> Recorded<'a> {
    /// What a pass recorded in this frame, if it ran to its end.
    pub(crate) fn get(&self, slot: u32) -> Option<&'a PassRecording> {
        match self.outcome(slot) {
            Outcome::NONE => None,
            _ => Some(self.0.slots.get(slot as usize)?.read(self)),
        }
    }

    /// What came of a pass in this frame.
    pub(crate) fn outcome(&self, slot: u32) -> Outcome {
        self.0.outcomes.of(slot)
    }
}
