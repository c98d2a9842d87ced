//! What a pass system records: command lists, and what they need.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use quadrille_sync::{Capabilities, ResourceId};
use quadrille_vulkan::CommandList;

use crate::access::PassUse;
use crate::bind::Bound;
use crate::error::RecordError;
use crate::host::HostCall;
use crate::kind::{AccessKind, Used};

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

impl SubRecording {
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
    pub(crate) fn check_declared(&mut self, bound: Bound<'_>) {
        let Some(part) = &self.part else { return };
        let declares =
            |used: &PassUse| used.handle.id() == bound.id() && used.kind.covers(bound.kind);
        let weaker = |used: &PassUse| {
            // A parameter may be declared for more than this part uses.
            used.handle.id() == bound.id() && bound.kind.covers(used.kind)
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
    pub(crate) fn declared_kind(&self, bound: Bound<'_>) -> AccessKind {
        let part = self.part.as_ref();
        let used = part.and_then(|part| part.uses.iter().find(|u| u.handle.id() == bound.id()));
        used.map_or(bound.kind, |used| used.kind)
    }
}

/// Everything that one pass system recorded in one run.
#[derive(Default)]
pub(crate) struct PassRecording {
    main: SubRecording,
    parts: Vec<SubRecording>,
    part_count: usize,
    /// The system ran to its end.
    finished: bool,
}

impl PassRecording {
    pub(crate) fn begin(&mut self) {
        self.main.clear();
        self.part_count = 0;
        self.finished = false;
    }

    pub(crate) fn end(&mut self, finished: bool) {
        self.finished = finished;
        if self.part_count > 0 && !self.main.is_empty() {
            self.main.errors.push(RecordError::OutsideParts);
        }
        let parts = self.parts[..self.part_count].iter_mut();
        for pass in parts.chain([&mut self.main]) {
            if pass.host.is_some() && !pass.list.is_empty() {
                pass.errors.push(RecordError::HostAndDevice);
            }
        }
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
        for used in uses.iter().filter(|used| !used.declared.covers(used.kind)) {
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

    /// Whether something was done wrong while recording.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Takes what the host does in one of the passes.
    pub(crate) fn take_host(&mut self, part: usize) -> Option<HostCall> {
        if self.part_count > 0 {
            self.parts[..self.part_count].get_mut(part)?.host.take()
        } else {
            self.main.host.take()
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

/// The recordings of a frame, by pass slot.
///
/// Recordings are boxed, so that handing one over is an exchange of pointers.
#[derive(Resource, Default)]
pub(crate) struct Recordings {
    slots: Vec<Box<PassRecording>>,
    ran: Vec<bool>,
}

impl Recordings {
    /// Makes room for `slots` passes, none of which ran yet.
    pub(crate) fn begin(&mut self, slots: usize) {
        self.slots.resize_with(slots, Box::default);
        self.ran.clear();
        self.ran.resize(slots, false);
    }

    /// Takes what a pass recorded and gives it the memory of an earlier frame.
    pub(crate) fn put(&mut self, slot: u32, recording: &mut Box<PassRecording>) {
        let slot = slot as usize;
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, Box::default);
            self.ran.resize(slot + 1, false);
        }
        self.ran[slot] = recording.finished;
        std::mem::swap(&mut self.slots[slot], recording);
    }

    /// What a pass recorded, to take from it.
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut PassRecording> {
        self.slots.get_mut(slot as usize).map(|slot| &mut **slot)
    }

    /// What a pass recorded in this frame, if it ran to its end.
    pub(crate) fn get(&self, slot: u32) -> Option<&PassRecording> {
        let slot = slot as usize;
        self.ran
            .get(slot)
            .copied()
            .unwrap_or(false)
            .then(|| &*self.slots[slot])
    }
}
