//! Swapchain images: acquired before their first use in a frame, presented after the last.

use quadrille_sync::flags::Layout;
use quadrille_sync::frame::PassIndex;
use quadrille_sync::resource::{Lifetime, ResourceIndex};

use super::cell::{Cell, Contents, Read};
use super::clock::{Done, Instant, Signalled};
use super::{FrameCheck, Site, Tracked};
use crate::stages::EVERY;
use crate::violation::{Actor, Hazard, MissingDependency, ResourcePart, Violation};

impl Tracked {
    /// Gives the image to the presentation engine at the start of a frame. The engine may read it until
    /// the semaphore of the acquire is signalled.
    pub(super) fn give_to_presentation(&mut self) {
        let instant = Instant {
            column: self.column,
            position: self.acquires + 1,
        };
        let read = Read {
            actor: Actor::Presentation,
            done: Done::Stages(instant, EVERY),
        };
        let cell = Cell {
            presented: true,
            reads: vec![read],
            ..Cell::fresh()
        };
        self.cells = crate::area::AreaMap::new(crate::area::Area::whole(&self.kind), cell);
    }
}

impl FrameCheck<'_> {
    /// Judges the acquire of an image, and returns the signal of its semaphore.
    pub(super) fn judge_acquire_image(&mut self, resource: ResourceIndex) -> Option<Signalled> {
        let id = self.id_of(resource)?;
        if self.frame.resource(resource).lifetime != Lifetime::Swapchain {
            let image = self.frame.resource(resource).name.clone();
            self.violations.push(Violation::NoSwapchainImage {
                image,
                what: "acquired",
            });
            return None;
        }
        let tracked = self.judge.resources.get_mut(&id)?;
        tracked.acquires += 1;
        for cell in tracked.cells.values_mut() {
            cell.presented = false;
        }
        Some(Signalled::of(Instant {
            column: tracked.column,
            position: tracked.acquires,
        }))
    }

    /// Judges the present of an image after a submission: all accesses to it must have completed, it
    /// must be in layout `PRESENT_SRC_KHR`, and it must have been written.
    pub(super) fn judge_present(
        &mut self,
        site: Site,
        resource: ResourceIndex,
        signalled: &Signalled,
    ) {
        let Some(id) = self.id_of(resource) else {
            return;
        };
        let name = self.frame.resource(resource).name.clone();
        if self.frame.resource(resource).lifetime != Lifetime::Swapchain {
            let (image, what) = (name, "presented");
            return self
                .violations
                .push(Violation::NoSwapchainImage { image, what });
        }
        if !self.judge.topology.queue(site.queue).can_present {
            let (image, queue) = (name.clone(), site.queue);
            self.violations
                .push(Violation::CannotPresent { image, queue });
        }
        let Some(tracked) = self.judge.resources.get_mut(&id) else {
            return;
        };
        let (kind, exclusive) = (tracked.kind, tracked.is_exclusive());
        let violations = &mut self.violations;
        for (area, cell) in tracked.cells.parts_mut(&crate::area::Area::whole(&kind)) {
            let affected = ResourcePart {
                resource: name.clone(),
                range: area.words(&kind),
            };
            judge_presented_state(site, exclusive, cell, &affected, violations);
            judge_presented_order(cell, &affected, signalled, violations);
            cell.presented = true;
        }
    }

    /// Checks that an image that is used is acquired and presented once, and an unused one never.
    pub(super) fn judge_swapchain_counts(&mut self) {
        let frame = self.frame;
        for (index, resource) in frame.resources.iter().enumerate() {
            if resource.lifetime != Lifetime::Swapchain {
                continue;
            }
            let index = ResourceIndex(index as u32);
            let uses = |pass: PassIndex| {
                frame.passes.get(pass.0 as usize).is_some()
                    && frame
                        .uses_of(pass)
                        .iter()
                        .any(|declared| declared.resource == index)
            };
            let expected = usize::from(self.plan.passes().any(|(_, pass)| uses(pass)));
            let submissions = || self.plan.submissions.iter();
            let acquired = submissions()
                .flat_map(|submission| &submission.acquires)
                .filter(|acquire| acquire.resource == index)
                .count();
            let presented = submissions()
                .flat_map(|submission| &submission.presents)
                .filter(|image| **image == index)
                .count();
            for (what, times) in [("acquired", acquired), ("presented", presented)] {
                if times != expected {
                    let image = resource.name.clone();
                    self.violations
                        .push(Violation::SwapchainCount { image, what, times });
                }
            }
        }
    }
}

/// Judges layout, owner and contents of a part of an image when it is presented.
fn judge_presented_state(
    site: Site,
    exclusive: bool,
    cell: &Cell,
    affected: &ResourcePart,
    violations: &mut Vec<Violation>,
) {
    let actor = Actor::Presentation;
    if cell.presented {
        let (actor, image) = (actor.clone(), affected.resource.clone());
        violations.push(Violation::NotAcquired { actor, image });
    }
    if cell.layout != Layout::PresentSrc {
        let (actor, affected) = (actor.clone(), affected.clone());
        let (found, needed) = (cell.layout, Layout::PresentSrc);
        violations.push(Violation::WrongLayout {
            actor,
            affected,
            found,
            needed,
        });
    }
    if let Some(owner) = cell
        .owner
        .filter(|owner| exclusive && *owner != site.family)
    {
        let (actor, affected, family) = (actor.clone(), affected.clone(), site.family);
        violations.push(Violation::NotOwner {
            actor,
            affected,
            family,
            owner,
        });
    }
    if let Some(release) = &cell.released {
        let (actor, affected, release) = (actor.clone(), affected.clone(), release.actor.clone());
        violations.push(Violation::Released {
            actor,
            affected,
            release,
        });
    }
    match &cell.contents {
        Contents::Written => {}
        Contents::Never | Contents::Taken(_) => {
            let (actor, affected) = (actor.clone(), affected.clone());
            violations.push(Violation::NeverWritten { actor, affected });
        }
        Contents::Lost(by) => {
            let (actor, affected, discarded_by) = (actor.clone(), affected.clone(), by.clone());
            violations.push(Violation::LostContents {
                actor,
                affected,
                discarded_by,
            });
        }
    }
}

/// Checks that all accesses to a part of an image have completed when it is presented.
fn judge_presented_order(
    cell: &Cell,
    affected: &ResourcePart,
    signalled: &Signalled,
    violations: &mut Vec<Violation>,
) {
    let write = cell
        .write
        .iter()
        .map(|write| (&write.actor, write.done, Hazard::ReadAfterWrite));
    let reads = cell
        .reads
        .iter()
        .map(|read| (&read.actor, read.done, Hazard::WriteAfterRead));
    for (earlier, done, hazard) in write.chain(reads) {
        if !signalled.reaches(done.instant()) {
            let (affected, earlier, later) =
                (affected.clone(), earlier.clone(), Actor::Presentation);
            let missing = MissingDependency::Execution;
            violations.push(Violation::Hazard {
                hazard,
                affected,
                earlier,
                later,
                missing,
            });
        }
    }
}
