//! Accesses of passes: contents, layout, owner, and hazards with earlier accesses.

use quadrille_sync::flags::Stages;
use quadrille_sync::frame::{PassIndex, Use};
use quadrille_sync::plan::Scope;
use quadrille_sync::resource::{Lifetime, ResourceKind};

use super::cell::{Cell, Contents, Read, Write};
use super::clock::{Clock, Done};
use super::{FrameCheck, Site, Tracked};
use crate::area::Area;
use crate::order::overlap;
use crate::stages::{StageAccess, accesses, pairs, single, stages_of_queue};
use crate::violation::{Actor, Hazard, MissingDependency, ResourcePart, Violation};

/// A use by a pass, with its queue's clock.
struct PassUse<'a> {
    actor: Actor,
    site: Site,
    clock: &'a Clock,
    /// The access needs the old contents.
    needs_contents: bool,
    /// Contents in any part suffice (see [`Tracked::is_filled`]).
    filled: bool,
    /// The use does not discard the contents.
    keeps_contents: bool,
    writes: bool,
    reading: Vec<StageAccess>,
    writing: Vec<StageAccess>,
}

impl FrameCheck<'_> {
    /// Judges all uses of a pass on the device.
    pub(super) fn judge_pass(&mut self, site: Site, pass: PassIndex) {
        if pass.0 as usize >= self.frame.passes.len() {
            let index = u64::from(pass.0);
            return self.violations.push(Violation::UnknownIndex {
                what: "pass",
                index,
            });
        }
        let frame = self.frame;
        self.ran[pass.0 as usize] = Some(site.instant);
        for declared in frame.uses_of(pass) {
            self.judge_use(site, pass, declared);
        }
    }

    fn judge_use(&mut self, site: Site, pass: PassIndex, declared: &Use) {
        let Some(id) = self.id_of(declared.resource) else {
            return;
        };
        let actor = self.actor(pass, declared);
        let resource = self.frame.resource(declared.resource);
        let lifetime = resource.lifetime;
        let area = Area::of(&resource.kind, &declared.range);
        self.open(id, &area);
        let queue = self.judge.topology.queue(site.queue);
        let stages = single(declared.access.stages()) & stages_of_queue(queue.capabilities);
        let mask = declared.access.scope(queue.capabilities).access;
        let touches_of = |writes| {
            pairs(Scope {
                stages,
                access: accesses(mask, writes),
            })
            .collect()
        };
        let tracked = self.judge.resources.get_mut(&id);
        let filled = tracked.is_some_and(Tracked::is_filled) || self.is_filled_elsewhere(declared);
        let pass_use = PassUse {
            actor,
            site,
            clock: &self.judge.queues[site.instant.column].clock,
            needs_contents: declared.access.is_read() && !declared.discard,
            filled,
            keeps_contents: !declared.discard,
            writes: declared.access.is_write(),
            reading: touches_of(false),
            writing: touches_of(true),
        };
        let Some(tracked) = self.judge.resources.get_mut(&id) else {
            return;
        };
        let mut violations = Vec::new();
        let (kind, name, exclusive) = (tracked.kind, tracked.name.clone(), tracked.is_exclusive());
        for (part, cell) in tracked.cells.parts_mut(&area) {
            let affected = ResourcePart {
                resource: name.clone(),
                range: part.words(&kind),
            };
            if lifetime == Lifetime::Swapchain && cell.presented {
                let (actor, image) = (pass_use.actor.clone(), name.clone());
                violations.push(Violation::NotAcquired { actor, image });
                cell.presented = false;
            }
            if exclusive {
                pass_use.take_owner(cell, &affected, kind, &mut violations);
            }
            if declared.access.layout() != cell.layout && matches!(kind, ResourceKind::Image { .. })
            {
                let (actor, affected) = (pass_use.actor.clone(), affected.clone());
                let (found, needed) = (cell.layout, declared.access.layout());
                violations.push(Violation::WrongLayout {
                    actor,
                    affected,
                    found,
                    needed,
                });
                cell.layout = needed;
            }
            pass_use.judge_contents(cell, &affected, &mut violations);
            pass_use.judge_hazards(cell, &affected, &mut violations);
            pass_use.judge_formers(cell, &affected, &mut violations);
            pass_use.mark(cell);
        }
        self.violations.append(&mut violations);
    }

    /// Whether a pass of the frame fills another part of the buffer. That suffices (see
    /// [`Tracked::is_filled`]) even if the pass comes later or is culled, since without an overlap
    /// nothing orders the two.
    pub(super) fn is_filled_elsewhere(&self, declared: &Use) -> bool {
        let frame = self.frame;
        let fills = |one: &Use| {
            let same = one.resource == declared.resource && one.access.is_write();
            same && !overlap(frame, one, declared)
        };
        !frame.resource(declared.resource).is_image() && frame.uses.iter().any(fills)
    }

    /// Names a pass and its access for a violation.
    pub(super) fn actor(&self, pass: PassIndex, declared: &Use) -> Actor {
        Actor::Pass {
            name: self.frame.pass(pass).name.clone(),
            access: declared.access.name(),
            frame: self.judge.frames,
        }
    }
}

impl PassUse<'_> {
    /// Checks and updates the owner. Only the owning family may use an exclusive resource. The first
    /// user of a resource becomes its owner. A buffer whose contents are not needed changes its owner
    /// without a transfer; an image does so by a barrier with old layout `UNDEFINED`.
    fn take_owner(
        &self,
        cell: &mut Cell,
        affected: &ResourcePart,
        kind: ResourceKind,
        violations: &mut Vec<Violation>,
    ) {
        let is_buffer = matches!(kind, ResourceKind::Buffer { .. });
        let no_contents = !self.keeps_contents || cell.contents == Contents::Never;
        let takes_over = is_buffer && no_contents && self.writes;
        let (actor, affected) = (self.actor.clone(), affected.clone());
        if let Some(release) = cell.released.take() {
            if !takes_over {
                let release = release.actor.clone();
                violations.push(Violation::Released {
                    actor,
                    affected,
                    release,
                });
            } else if !self.stages_see(&release.done) {
                violations.push(Violation::Hazard {
                    hazard: Hazard::WriteAfterWrite,
                    affected,
                    earlier: release.actor.clone(),
                    later: actor,
                    missing: MissingDependency::Execution,
                });
            }
        } else if let Some(owner) = cell.owner
            && owner != self.site.family
            && !takes_over
        {
            let family = self.site.family;
            violations.push(Violation::NotOwner {
                actor,
                affected,
                family,
                owner,
            });
        }
        cell.owner = Some(self.site.family);
    }

    fn stages_see(&self, done: &Done) -> bool {
        self.writing
            .iter()
            .all(|pair| self.clock.stage(pair.stage).sees(done))
    }

    /// Checks that the contents that an access needs are defined.
    fn judge_contents(
        &self,
        cell: &mut Cell,
        affected: &ResourcePart,
        violations: &mut Vec<Violation>,
    ) {
        let (actor, affected) = (self.actor.clone(), affected.clone());
        match &cell.contents {
            Contents::Lost(by) if self.keeps_contents => {
                let discarded_by = by.clone();
                violations.push(Violation::LostContents {
                    actor,
                    affected,
                    discarded_by,
                });
            }
            Contents::Taken(by) if self.needs_contents => {
                let by = by.clone();
                violations.push(Violation::TakenContents {
                    actor,
                    affected,
                    by,
                });
            }
            Contents::Never if self.needs_contents && !self.filled => {
                violations.push(Violation::NeverWritten { actor, affected });
            }
            _ => {}
        }
        if self.writes {
            cell.contents = Contents::Written;
        }
    }

    /// Checks for hazards with the last write and the reads since, and reports each at most once. The
    /// access mask decides whether an access reads, even if old contents are not needed: blending
    /// with a discarded attachment still reads memory.
    fn judge_hazards(&self, cell: &Cell, affected: &ResourcePart, violations: &mut Vec<Violation>) {
        let mut report = |hazard, earlier: &Actor, missing| {
            violations.push(Violation::Hazard {
                hazard,
                affected: affected.clone(),
                earlier: earlier.clone(),
                later: self.actor.clone(),
                missing,
            });
        };
        if let Some(write) = &cell.write {
            let lacks_read = self
                .reading
                .iter()
                .find_map(|pair| self.missing(write, *pair));
            let missing = |pair: &StageAccess| self.missing(write, *pair);
            if let Some(missing) = lacks_read {
                report(Hazard::ReadAfterWrite, &write.actor, missing);
            } else if let Some(missing) = self
                .writing
                .iter()
                .filter(|_| self.writes)
                .find_map(missing)
            {
                report(Hazard::WriteAfterWrite, &write.actor, missing);
            }
        }
        if self.writes {
            for read in cell
                .reads
                .iter()
                .filter(|read| !self.stages_see(&read.done))
            {
                report(
                    Hazard::WriteAfterRead,
                    &read.actor,
                    MissingDependency::Execution,
                );
            }
        }
    }

    /// Checks that all stages of the access are ordered after accesses of former resources to its
    /// memory.
    fn judge_formers(&self, cell: &Cell, affected: &ResourcePart, violations: &mut Vec<Violation>) {
        let column = self.site.instant.column;
        let (pairs, later) = (
            self.reading.iter().chain(&self.writing),
            (&self.actor, affected),
        );
        for pair in pairs {
            let view = self.clock.stage(pair.stage);
            let before = violations.len();
            cell.judge_formers(later, (column, view), |_| false, violations);
            if violations.len() > before {
                return;
            }
        }
    }

    /// Returns the missing dependency of an access on a write, if any.
    fn missing(&self, write: &Write, pair: StageAccess) -> Option<MissingDependency> {
        let column = self.site.instant.column;
        let view = self.clock.stage(pair.stage);
        let StageAccess { stage, access } = pair;
        if write.visible_to(column, pair) {
            None
        } else if !view.sees(&write.done) {
            Some(MissingDependency::Execution)
        } else if !write.available_to(column, view) {
            Some(MissingDependency::Availability)
        } else {
            Some(MissingDependency::Visibility { stage, access })
        }
    }

    /// Records the access in a cell.
    fn mark(&self, cell: &mut Cell) {
        let stages = |pairs: &[StageAccess]| pairs.iter().map(|pair| pair.stage).collect();
        let (read, written): (Stages, Stages) = (stages(&self.reading), stages(&self.writing));
        let done = |stages| Done::Stages(self.site.instant, stages);
        if self.writes {
            let access = self.writing.iter().map(|pair| pair.access).collect();
            let scope = Scope {
                stages: written,
                access,
            };
            cell.set_write(Write::by_pass(self.actor.clone(), done(written), scope));
        }
        if !self.writes || !written.contains(read) {
            cell.add_read(Read {
                actor: self.actor.clone(),
                done: done(read),
            });
        }
    }
}

impl Tracked {
    /// Whether it is an image.
    pub(super) fn is_image(&self) -> bool {
        matches!(self.kind, ResourceKind::Image { .. })
    }
}
