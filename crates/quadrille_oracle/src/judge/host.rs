//! Host passes run after their waits in the plan, before the submissions that follow them in the
//! plan, and before later frames.
//!
//! A semaphore makes writes available to the device, not to the host. A host read also needs a barrier
//! with the host stage in its second scope (section "Host Write Ordering Guarantees" and the
//! description of `VK_PIPELINE_STAGE_2_HOST_BIT`). Host writes are visible to everything submitted
//! later, and later submissions are ordered after host reads. For other memory a host wait orders
//! nothing: it makes no device write visible to another queue.

use quadrille_sync::flags::{AccessMask, Stages};
use quadrille_sync::frame::{PassIndex, PassKind, Use};

use super::FrameCheck;
use super::cell::{Cell, Contents, Write};
use super::clock::{Signalled, View};
use crate::area::Area;
use crate::stages::{StageAccess, covers};
use crate::violation::{Actor, Hazard, MissingDependency, ResourcePart, Violation};

impl FrameCheck<'_> {
    /// Judges a host pass. It must have all waits that it needs itself: the caller may run host passes
    /// in any order and at the same time.
    pub(super) fn judge_host(&mut self, index: usize) {
        let (frame, plan) = (self.frame, self.plan);
        let Some(step) = plan.host.get(index) else {
            return;
        };
        let declared = frame.passes.get(step.pass.0 as usize);
        if declared.is_none_or(|pass| pass.kind != PassKind::Host) {
            let index = u64::from(step.pass.0);
            return self.violations.push(Violation::UnknownIndex {
                what: "host pass",
                index,
            });
        }
        let mut seen = Signalled::default();
        for point in &step.waits {
            // A missing signal has been reported as a deadlock.
            if let Some(signalled) = self.signal_of(*point) {
                seen.join(&signalled);
            }
        }
        let view = seen.view(self.judge.queues.len());
        for earlier in frame.after_of(step.pass) {
            let ran = self.ran.get(earlier.0 as usize).copied().flatten();
            if ran.is_some_and(|instant| !view.reaches(instant)) {
                let name = |pass: PassIndex| frame.pass(pass).name.clone();
                let (earlier, later) = (name(*earlier), name(step.pass));
                self.violations
                    .push(Violation::HostTooEarly { earlier, later });
            }
        }
        for declared in frame.uses_of(step.pass) {
            self.judge_host_use(step.pass, declared, &seen);
        }
    }

    fn judge_host_use(&mut self, pass: PassIndex, declared: &Use, seen: &Signalled) {
        let actor = self.actor(pass, declared);
        let Some(id) = self.id_of(declared.resource) else {
            return;
        };
        let is_filled_elsewhere = self.is_filled_elsewhere(declared);
        let Some(tracked) = self.judge.resources.get_mut(&id) else {
            return;
        };
        let needs_contents = declared.access.is_read() && !declared.discard;
        let filled = is_filled_elsewhere || tracked.is_filled();
        let (kind, name, is_image) = (tracked.kind, tracked.name.clone(), tracked.is_image());
        let area = Area::of(&kind, &declared.range);
        let (column, now) = (self.judge.queues.len(), self.judge.frames);
        let violations = &mut self.violations;
        for (part, cell) in tracked.cells.parts_mut(&area) {
            let mut over = seen.clone();
            over.join(cell.host.before(now));
            cell.host.add(now, seen);
            let view = over.view(column);
            let affected = ResourcePart {
                resource: name.clone(),
                range: part.words(&kind),
            };
            let layout = declared.access.layout();
            if is_image && cell.layout != layout {
                let (actor, affected, found) = (actor.clone(), affected.clone(), cell.layout);
                violations.push(Violation::WrongLayout {
                    actor,
                    affected,
                    found,
                    needed: layout,
                });
            }
            match &cell.contents {
                Contents::Never if needs_contents && !filled => {
                    let (actor, affected) = (actor.clone(), affected.clone());
                    violations.push(Violation::NeverWritten { actor, affected });
                }
                Contents::Lost(by) if !declared.discard => {
                    let (actor, affected, discarded_by) =
                        (actor.clone(), affected.clone(), by.clone());
                    violations.push(Violation::LostContents {
                        actor,
                        affected,
                        discarded_by,
                    });
                }
                _ => {}
            }
            let later = (&actor, declared.access.is_write());
            judge_host_hazards(cell, &view, needs_contents, later, &affected, violations);
            if declared.access.is_write() {
                // Submission makes host writes visible to all later commands.
                cell.contents = Contents::Written;
                cell.write = None;
                cell.reads.clear();
            }
        }
    }
}

/// Checks for hazards between device accesses and a host access.
fn judge_host_hazards(
    cell: &Cell,
    view: &View,
    reads: bool,
    (later, writes): (&Actor, bool),
    affected: &ResourcePart,
    violations: &mut Vec<Violation>,
) {
    let mut report = |hazard, earlier: &Actor, missing| {
        let (affected, earlier, later) = (affected.clone(), earlier.clone(), later.clone());
        violations.push(Violation::Hazard {
            hazard,
            affected,
            earlier,
            later,
            missing,
        });
    };
    if let Some(write) = &cell.write {
        let hazard = if reads {
            Hazard::ReadAfterWrite
        } else {
            Hazard::WriteAfterWrite
        };
        // Before a host write, the device's write must be available to the host domain. A barrier for
        // either kind of host access makes it so.
        let access = AccessMask::HOST_READ;
        let written = StageAccess {
            stage: Stages::HOST,
            access: AccessMask::HOST_WRITE,
        };
        let for_write = !reads && is_visible(write, view, written);
        let stage = Stages::HOST;
        if !view.reaches(write.done.instant()) {
            report(hazard, &write.actor, MissingDependency::Execution);
        } else if !for_write && !is_visible(write, view, StageAccess { stage, access }) {
            report(
                hazard,
                &write.actor,
                MissingDependency::Visibility { stage, access },
            );
        }
    }
    if writes {
        for read in cell
            .reads
            .iter()
            .filter(|read| !view.reaches(read.done.instant()))
        {
            report(
                Hazard::WriteAfterRead,
                &read.actor,
                MissingDependency::Execution,
            );
        }
    }
}

/// Whether a barrier that the host has waited for makes a write visible to it.
fn is_visible(write: &Write, view: &View, pair: StageAccess) -> bool {
    let reached = write
        .visible
        .iter()
        .filter(|visible| view.reaches(visible.since.instant()));
    let mut scopes = reached.map(|visible| visible.scope);
    // ALL_COMMANDS does not include the host stage, so a semaphore alone is never enough.
    scopes.any(|scope| scope.stages.contains(Stages::HOST) && covers(scope, pair))
}
