//! Timeline semaphores of users: the values that passes wait for and signal.

use std::sync::Arc;

use quadrille_sync::frame::{Give, PassIndex, TimelineUse, TimelineUseKind, UserTimeline};
use quadrille_vulkan::resources::TimelineSemaphore;

use super::Collector;
use crate::data::internal::InternalPass;
use crate::record::recording::SubRecording;

impl Collector {
    /// Adds the timeline values that a pass waits for and signals.
    pub(super) fn add_timelines(&mut self, pass: PassIndex, recorded: &SubRecording) {
        for (semaphore, kind, value) in recorded.timelines() {
            self.add_timeline(pass, (semaphore, *kind, *value));
        }
    }

    /// Adds what the pass of the renderer's own that was added last waits for and signals, and the resources that it
    /// releases to an owner outside of the device.
    pub(super) fn add_exchange(&mut self, pass: &InternalPass) {
        let index = PassIndex(self.frame.passes.len() as u32 - 1);
        for (semaphore, kind, value) in &pass.timeline_uses {
            self.add_timeline(index, (semaphore, *kind, *value));
        }
        if let Some((family, layout)) = pass.gives {
            let uses = self.frame.uses_of(index).iter();
            let gives = uses.map(|used| Give {
                resource: used.resource,
                family,
                layout,
            });
            let gives: Vec<Give> = gives.collect();
            self.frame.gives.extend(gives);
        }
    }

    fn add_timeline(
        &mut self,
        pass: PassIndex,
        (semaphore, kind, value): (&TimelineSemaphore, TimelineUseKind, u64),
    ) {
        let timeline = self.timeline(semaphore);
        self.frame.timeline_uses.push(TimelineUse {
            pass,
            timeline,
            kind,
            value,
        });
    }

    /// The index of a timeline in the frame; adds the timeline if it is new. Names are made unique, because the text
    /// form of a frame refers to timelines by name.
    fn timeline(&mut self, semaphore: &TimelineSemaphore) -> u32 {
        let known = self.timelines.iter().position(|it| it == semaphore);
        let at = known.unwrap_or_else(|| {
            let at = self.timelines.len();
            let mut name = Arc::clone(semaphore.name());
            if self.frame.timelines.iter().any(|it| it.name == name) {
                name = format!("{name} {at}").into();
            }
            self.frame.timelines.push(UserTimeline { name, base: 0 });
            self.timelines.push(semaphore.clone());
            at
        });
        at as u32
    }

    /// Makes values relative to the lowest of their timeline, so that successive frames are equal and their
    /// plan can be reused.
    pub(super) fn rebase_timelines(&mut self) {
        for (index, timeline) in (0..).zip(&mut self.frame.timelines) {
            let uses = self.frame.timeline_uses.iter_mut();
            let mut uses: Vec<&mut TimelineUse> =
                uses.filter(|one| one.timeline == index).collect();
            let lowest = uses.iter().map(|one| one.value).min();
            timeline.base = lowest.unwrap_or_default();
            for one in &mut uses {
                one.value -= timeline.base;
            }
        }
    }
}
