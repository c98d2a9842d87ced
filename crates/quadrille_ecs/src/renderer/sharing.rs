//! Resources whose sharing follows from what frames cost ([`Sharing::Auto`]): when frames are
//! looked at, and how the contents of a resource get into what takes its place.
//!
//! What is better is decided by [`SharingTrials`], which knows plans and times; what it means for
//! Vulkan's objects is `Frames::change_sharing`. Between the two lies a frame: looked at is one
//! that was submitted, and changed is what the next one uses, before its passes record.
//!
//! [`Sharing::Auto`]: crate::Sharing::Auto

use std::cell::LazyCell;

use quadrille_sync::{
    Access, Capabilities, Frame, PassKind, Preference, QueueRequest, Sharing as Mode,
    SharingChange, SharingStage, SharingTrials, States, Topology,
};
use quadrille_vulkan::{CommandList, DeviceTimes, Frames, Handle, ImageRegion, SharingChanged};
use serde_json::{Map, Value};

use crate::data::internal::{InternalPass, InternalUse, copy_needs};
use crate::renderer::advice;

/// Frames between looks while a decision is under way: fewer than a second's.
const SHORT_GAP: u32 = 32;

/// Frames between looks at most: planning a frame a few times should cost next to nothing.
const LONG_GAP: u32 = 1024;

/// Changes how resources are shared, while frames go on.
pub(crate) struct OpenSharing {
    trials: SharingTrials,
    /// Frames until the next look, and from that to the one after it.
    frames_left: u32,
    gap: u32,
    /// What is to change before the next frame.
    wanted: Vec<(Handle, Mode)>,
    /// From where to where the next frame copies contents.
    moving: Vec<[Handle; 2]>,
}

impl Default for OpenSharing {
    fn default() -> Self {
        Self {
            trials: SharingTrials::default(),
            frames_left: SHORT_GAP,
            gap: SHORT_GAP,
            wanted: Vec::new(),
            moving: Vec::new(),
        }
    }
}

impl OpenSharing {
    /// Looks at a frame that was submitted, if it is time to.
    pub(crate) fn look(
        &mut self,
        frame: &Frame,
        handles: &[Handle],
        (topology, states): (&Topology, &States),
        times: Option<&DeviceTimes>,
    ) {
        if self.frames_left > 0 {
            self.frames_left -= 1;
            return;
        }
        // Few frames have anything to decide.
        let costs = LazyCell::new(|| Some(advice::measured(frame, times?)));
        let changes = self.trials.look(
            frame,
            topology,
            states,
            |resource| handles[resource.0 as usize].has_open_sharing(),
            |pass| costs.as_ref()?[pass.0 as usize],
        );
        let wanted = |change: SharingChange| {
            let handle = handles[change.resource.0 as usize].clone();
            (handle, change.sharing)
        };
        self.wanted.extend(changes.into_iter().map(wanted));
        self.gap = if self.trials.are_under_way() {
            SHORT_GAP
        } else {
            (self.gap * 2).min(LONG_GAP)
        };
        self.frames_left = self.gap;
    }

    /// Resources of a frame with these names are shared, where that is left open: passes that moved
    /// to another family's queue read them.
    pub(crate) fn share<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        frame: &Frame,
        handles: &[Handle],
    ) {
        for name in names {
            let of_name = frame.resources.iter().zip(handles);
            for (resource, handle) in of_name.filter(|(it, _)| *it.name == *name) {
                if resource.sharing == Mode::Exclusive && handle.has_open_sharing() {
                    self.trials.share(&resource.name);
                    self.wanted.push((handle.clone(), Mode::Concurrent));
                }
            }
        }
    }

    /// Makes anew what is to change; whether anything has. What cannot change stays as it is.
    pub(crate) fn change(&mut self, frames: &Frames, states: &mut States) -> bool {
        let mut has_changed = false;
        for (handle, mode) in self.wanted.drain(..) {
            let changed = frames.change_sharing(&handle, mode, states);
            match changed {
                Ok(SharingChanged::Empty) => has_changed = true,
                Ok(SharingChanged::Moved(old)) => {
                    has_changed = true;
                    self.moving.push([old, handle]);
                }
                Ok(SharingChanged::Refused) => self.trials.keep(&handle.declare()),
                Err(error) => {
                    tracing::warn!("{} stays shared as it is: {error}", handle.name());
                    self.trials.keep(&handle.declare());
                }
            }
        }
        has_changed
    }

    /// The pass that copies contents to where they belong, if there are any.
    pub(crate) fn pass(&self) -> Option<InternalPass> {
        if self.moving.is_empty() {
            return None;
        }
        let mut list = CommandList::default();
        let mut uses = Vec::new();
        let mut required = Capabilities::TRANSFER;
        for [from, to] in &self.moving {
            match (from, to) {
                (Handle::Buffer(from), Handle::Buffer(to)) => {
                    list.copy_buffer(from, 0, to, 0, from.bytes());
                }
                (Handle::Image(from), Handle::Image(to)) => {
                    for mip in 0..from.desc().mip_levels {
                        let (one, other) = (ImageRegion::mip(from, mip), ImageRegion::mip(to, mip));
                        list.copy_image(from, one, to, other);
                    }
                    required |= copy_needs(from, None);
                }
                _ => unreachable!("what takes the place of a resource is of its kind"),
            }
            uses.push(InternalUse::of(from.clone(), Access::TransferRead));
            uses.push(InternalUse::of(to.clone(), Access::TransferWrite).discarding());
        }
        Some(InternalPass {
            name: "change sharing".into(),
            kind: PassKind::Device,
            queue: QueueRequest {
                required,
                preference: Preference::Main,
                fixed: None,
            },
            prologue: true,
            uses,
            undeclared: Vec::new(),
            list,
        })
    }

    /// The frame with the pass was submitted.
    pub(crate) fn submitted(&mut self) {
        self.moving.clear();
    }

    /// What is decided, by name.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let stages = self.trials.stages().map(|(name, stage)| {
            let word = match stage {
                SharingStage::Open => "open",
                SharingStage::Tried => "tried",
                SharingStage::Settled(Mode::Exclusive) => "exclusive",
                SharingStage::Settled(Mode::Concurrent) => "concurrent",
            };
            (name.to_owned(), word.into())
        });
        stages.collect()
    }
}
