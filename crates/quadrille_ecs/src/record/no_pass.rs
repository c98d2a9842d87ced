//! Detection of systems that look like passes but are not. Without an error, their commands or declarations would be
//! lost silently.

use bevy_ecs::prelude::*;
use bevy_platform::collections::HashSet;

use crate::error::RenderError;
use crate::record::outcome::Outcome;
use crate::record::recording::Recordings;

/// State of the detection of such systems.
#[derive(Resource, Default)]
pub(crate) struct NoPasses {
    /// Slots of recorders that no system of the `Render` schedule has (yet), with the name of the system that takes
    /// them.
    unclaimed: Vec<(u32, String)>,
    /// Errors found when the schedule was built.
    found: Vec<RenderError>,
}

impl NoPasses {
    /// Adds the recorder of a system.
    pub(crate) fn add_recorder(&mut self, slot: u32, system: String) {
        self.unclaimed.push((slot, system));
    }

    /// Removes the recorders of these slots, which systems of the built `Render` schedule have.
    pub(crate) fn claim(&mut self, slots: &HashSet<u32>) {
        self.unclaimed.retain(|(slot, _)| !slots.contains(slot));
    }

    /// Adds an error for a system of the `Render` schedule that declares accesses and has no recorder.
    pub(crate) fn has_no_recorder(&mut self, system: String) {
        self.found.push(RenderError::NoPass {
            system,
            problem: "declares what it touches and takes no `Recorder`, so it is no pass and its \
                      declarations count for nothing; add a `Recorder` to its parameters, or look \
                      at the resource with `Res`",
        });
    }

    /// Adds an error for a system with several recorders.
    pub(crate) fn has_several_recorders(&mut self, system: String) {
        self.found.push(RenderError::NoPass {
            system,
            problem: "takes more than one `Recorder`, of which only one is its pass; take one, \
                      and begin further passes with `recorder.pass`",
        });
    }
}

/// Takes the errors of systems that were added or have run since the last call. Called before the next frame is
/// recorded.
pub(crate) fn take(world: &mut World) -> Vec<RenderError> {
    let Some(mut no_passes) = world.get_resource_mut::<NoPasses>() else {
        return Vec::new();
    };
    let mut found = std::mem::take(&mut no_passes.found);
    if no_passes.unclaimed.is_empty() {
        return found;
    }
    world.resource_scope(|world, mut recordings: Mut<Recordings>| {
        let recorded = recordings.read();
        let no_passes = world.resource::<NoPasses>();
        let ran = |(slot, _): &&(u32, String)| recorded.outcome(*slot) != Outcome::NONE;
        let outside = no_passes.unclaimed.iter().filter(ran);
        found.extend(outside.map(|(_, system)| RenderError::NoPass {
            system: system.clone(),
            problem: "records a pass outside of the `Render` schedule, where nothing draws it; \
                      add it with `add_systems(Render, ..)`",
        }));
    });
    found
}

#[cfg(test)]
#[path = "no_pass_tests.rs"]
mod tests;
