//! Barrier calls: execution dependencies, availability and visibility, layout transitions.
//!
//! The barriers of one call form no dependency chain: first scopes refer to commands before the call,
//! and the dependencies take effect after it.

use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::plan::{
    BarrierBatch, BufferBarrier, ImageBarrier, Scope, Transfer, TransferHalf,
};
use quadrille_sync::resource::ResourceId;

use super::cell::{Cell, Contents, Scopes, Write};
use super::clock::{Done, View};
use super::{FrameCheck, Site};
use crate::area::Area;
use crate::stages::{COMMAND, first_scope, impossible, second_scope};
use crate::violation::{Actor, Hazard, MissingDependency, ResourcePart, Side, Violation};

/// A barrier with its position, and the properties that follow from it.
#[derive(Clone)]
pub(super) struct Recorded {
    pub(super) site: Site,
    pub(super) scopes: Scopes,
    /// Operations in its first scope.
    pub(super) view: View,
    /// End of the barrier's own operation (layout transition or transfer).
    pub(super) done: Done,
    pub(super) transfer: Option<Transfer>,
    /// Range and layouts; `None` for a global memory barrier.
    pub(super) target: Option<Target>,
}

/// Range of a buffer or image memory barrier.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) id: ResourceId,
    pub(super) area: Area,
    /// `None` for buffers.
    pub(super) layouts: Option<(Layout, Layout)>,
}

impl Target {
    /// The layouts, if they change.
    fn transition(&self) -> Option<(Layout, Layout)> {
        self.layouts.filter(|(old, new)| old != new)
    }
}

impl FrameCheck<'_> {
    /// Judges one barrier call, and applies its effects.
    pub(super) fn judge_barriers(&mut self, site: Site, batch: &BarrierBatch) {
        let barriers = self.recorded(site, batch);
        for barrier in barriers.iter().filter(|barrier| changes(barrier)) {
            if let Some(target) = &barrier.target {
                self.open(target.id, &target.area);
            }
        }
        for barrier in &barriers {
            self.judge_scopes(barrier);
        }
        self.judge_collisions(&barriers);
        for barrier in &barriers {
            match &barrier.target {
                None => self.pass_everywhere(barrier),
                Some(target) if !changes(barrier) => self.pass_within(barrier, target),
                Some(_) => {}
            }
        }
        let global = barriers.iter().find(|barrier| barrier.target.is_none());
        for barrier in barriers.iter().filter(|barrier| changes(barrier)) {
            let Some(target) = &barrier.target else {
                continue;
            };
            match barrier.transfer.map(|transfer| (transfer.half, transfer)) {
                None => self.judge_transition(barrier, global, target),
                Some((TransferHalf::Release, transfer)) => {
                    self.judge_release(barrier, target, transfer)
                }
                Some((TransferHalf::Acquire, transfer)) => {
                    self.judge_acquire(barrier, target, transfer)
                }
            }
        }
        let clock = &mut self.judge.queues[site.instant.column].clock;
        for barrier in &barriers {
            clock.order_after(second_scope(barrier.scopes.dst.stages), &barrier.view);
        }
    }

    /// The barriers of a call, all with the state before the call.
    fn recorded(&mut self, site: Site, batch: &BarrierBatch) -> Vec<Recorded> {
        let mut barriers = Vec::with_capacity(batch.len());
        if let Some(memory) = &batch.memory {
            barriers.push(self.record(site, memory.src, memory.dst, None, None));
        }
        for barrier in &batch.buffers {
            let BufferBarrier {
                resource,
                offset,
                size,
                src,
                dst,
                transfer,
                ..
            } = barrier;
            if let Some(id) = self.id_of(*resource) {
                let area = Area::bytes(*offset, *size);
                let target = Target {
                    id,
                    area,
                    layouts: None,
                };
                barriers.push(self.record(site, *src, *dst, *transfer, Some(target)));
            }
        }
        for barrier in &batch.images {
            let ImageBarrier {
                resource,
                range,
                src,
                dst,
                old_layout,
                new_layout,
                transfer,
                ..
            } = barrier;
            if let Some(id) = self.id_of(*resource) {
                let layouts = Some((*old_layout, *new_layout));
                let target = Target {
                    id,
                    area: Area::subresources(range),
                    layouts,
                };
                barriers.push(self.record(site, *src, *dst, *transfer, Some(target)));
            }
        }
        barriers
    }

    /// Builds one barrier. A release has no second scope and an acquire no first one, unless
    /// `VK_KHR_maintenance8` is used (section "Queue Family Ownership Transfer").
    fn record(
        &self,
        site: Site,
        mut src: Scope,
        mut dst: Scope,
        transfer: Option<Transfer>,
        target: Option<Target>,
    ) -> Recorded {
        let ignored = |scope: Scope| Scope {
            stages: if self.judge.topology.maintenance8 {
                scope.stages
            } else {
                Stages::empty()
            },
            access: AccessMask::empty(),
        };
        match transfer.map(|transfer| transfer.half) {
            Some(TransferHalf::Release) => dst = ignored(dst),
            Some(TransferHalf::Acquire) => src = ignored(src),
            None => {}
        }
        let clock = &self.judge.queues[site.instant.column].clock;
        let view = clock.first_scope(first_scope(src.stages), site.instant.position);
        let done = Done::Dependency(site.instant, second_scope(dst.stages) | COMMAND);
        Recorded {
            site,
            scopes: Scopes { src, dst },
            view,
            done,
            transfer,
            target,
        }
    }

    /// Checks that the queue supports the stages, and that the stages can make the accesses.
    fn judge_scopes(&mut self, barrier: &Recorded) {
        let Scopes { src, dst } = barrier.scopes;
        for (scope, side) in [(src, Side::Src), (dst, Side::Dst)] {
            self.judge_stages(barrier.site, scope.stages, side);
            let access = impossible(scope);
            if !access.is_empty() {
                let submission = barrier.site.submission;
                self.violations.push(Violation::UnsupportedAccess {
                    submission,
                    access,
                    side,
                });
            }
        }
    }

    /// Checks that no two barriers of one call change the layout or owner of the same range.
    fn judge_collisions(&mut self, barriers: &[Recorded]) {
        for (at, barrier) in barriers.iter().enumerate() {
            for earlier in &barriers[..at] {
                let (Some(a), Some(b)) = (&earlier.target, &barrier.target) else {
                    continue;
                };
                if !(changes(barrier) && changes(earlier) && a.id == b.id) {
                    continue;
                }
                if let Some(both) = a.area.intersection(&b.area)
                    && let Some(tracked) = self.judge.resources.get(&a.id)
                {
                    let affected = tracked.affected(&both);
                    self.violations
                        .push(Violation::BarriersCollide { affected });
                }
            }
        }
    }

    /// Applies a global memory barrier to the writes of every resource.
    fn pass_everywhere(&mut self, barrier: &Recorded) {
        self.judge.for_each_write(|write| {
            write.pass_barrier(&barrier.view, barrier.scopes, barrier.done);
        });
    }

    /// Applies a barrier that changes neither layout nor owner.
    fn pass_within(&mut self, barrier: &Recorded, target: &Target) {
        let frame = self.judge.frames;
        let Some(tracked) = self.judge.resources.get_mut(&target.id) else {
            return;
        };
        let (kind, name) = (tracked.kind, tracked.name.clone());
        let is_placed = tracked.memory.is_some();
        let cells = tracked.cells.parts_mut(&target.area);
        for (part, cell) in cells.filter(|(_, cell)| cell.is_open || !is_placed) {
            if let Some((old, new)) = target.layouts
                && old != cell.layout
            {
                self.violations.push(Violation::WrongLayout {
                    actor: Actor::Transition { old, new, frame },
                    affected: ResourcePart {
                        resource: name.clone(),
                        range: part.words(&kind),
                    },
                    found: cell.layout,
                    needed: old,
                });
            }
            if let Some(write) = &mut cell.write {
                write.pass_barrier(&barrier.view, barrier.scopes, barrier.done);
            }
        }
    }

    /// Judges a layout transition, which reads and writes its range between the two scopes of its
    /// barrier.
    fn judge_transition(&mut self, barrier: &Recorded, global: Option<&Recorded>, target: &Target) {
        let Some((old, new)) = target.transition() else {
            return;
        };
        let frame = self.judge.frames;
        let actor = Actor::Transition { old, new, frame };
        let Some(tracked) = self.judge.resources.get_mut(&target.id) else {
            return;
        };
        let (kind, name, exclusive) = (tracked.kind, tracked.name.clone(), tracked.is_exclusive());
        for (part, cell) in tracked.cells.parts_mut(&target.area) {
            let affected = ResourcePart {
                resource: name.clone(),
                range: part.words(&kind),
            };
            let change = Change {
                barrier,
                global,
                actor: &actor,
                affected: &affected,
            };
            change.judge_presented(cell, &name, &mut self.violations);
            if exclusive {
                change.take_owner(cell, old, &mut self.violations);
            }
            change.judge_layouts(cell, old, new, &mut self.violations);
            change.judge_hazards(cell, &mut self.violations);
            cell.layout = new;
            cell.set_write(Write::by_barrier(
                actor.clone(),
                barrier.done,
                barrier.scopes.dst,
            ));
        }
    }
}

/// Whether a barrier changes the layout or owner of its range.
fn changes(barrier: &Recorded) -> bool {
    let transition = barrier.target.as_ref().and_then(Target::transition);
    barrier.transfer.is_some() || transition.is_some()
}

/// A barrier that changes a cell.
pub(super) struct Change<'a> {
    pub(super) barrier: &'a Recorded,
    /// The global memory barrier of the same call, for layout transitions: resources in shared memory have no others.
    pub(super) global: Option<&'a Recorded>,
    pub(super) actor: &'a Actor,
    pub(super) affected: &'a ResourcePart,
}

impl Change<'_> {
    /// Checks that the image is not owned by the presentation engine.
    pub(super) fn judge_presented(
        &self,
        cell: &mut Cell,
        image: &std::sync::Arc<str>,
        violations: &mut Vec<Violation>,
    ) {
        if cell.presented {
            let (actor, image) = (self.actor.clone(), image.clone());
            violations.push(Violation::NotAcquired { actor, image });
            cell.presented = false;
        }
    }

    /// Checks and updates the owner. A barrier that discards contents may take a range from another
    /// family without a transfer.
    fn take_owner(&self, cell: &mut Cell, old: Layout, violations: &mut Vec<Violation>) {
        let family = self.barrier.site.family;
        let discards = old == Layout::Undefined;
        let (actor, affected) = (self.actor.clone(), self.affected.clone());
        if let Some(release) = cell.released.take() {
            if !discards {
                let release = release.actor.clone();
                violations.push(Violation::Released {
                    actor,
                    affected,
                    release,
                });
            } else if !self.barrier.view.sees(&release.done) {
                violations.push(Violation::Hazard {
                    hazard: Hazard::WriteAfterWrite,
                    affected,
                    earlier: release.actor.clone(),
                    later: actor,
                    missing: MissingDependency::Execution,
                });
            }
        } else if let Some(owner) = cell.owner
            && owner != family
            && !discards
        {
            violations.push(Violation::NotOwner {
                actor,
                affected,
                family,
                owner,
            });
        }
        cell.owner = Some(family);
    }

    /// Checks the layouts: the old one must be the current layout, or `UNDEFINED`, which discards the
    /// contents.
    pub(super) fn judge_layouts(
        &self,
        cell: &mut Cell,
        old: Layout,
        new: Layout,
        violations: &mut Vec<Violation>,
    ) {
        let (actor, affected) = (self.actor.clone(), self.affected.clone());
        if old == Layout::Undefined {
            if cell.contents == Contents::Written {
                cell.contents = Contents::Lost(actor.clone());
            }
        } else if old != cell.layout {
            let (actor, affected, found) = (actor.clone(), affected.clone(), cell.layout);
            violations.push(Violation::WrongLayout {
                actor,
                affected,
                found,
                needed: old,
            });
        }
        if matches!(new, Layout::Undefined | Layout::Preinitialized) && old != new {
            violations.push(Violation::InvalidNewLayout { actor, affected });
        }
    }

    /// Checks that the first scope includes the last write, which must be or become available, and all
    /// reads since.
    pub(super) fn judge_hazards(&self, cell: &Cell, violations: &mut Vec<Violation>) {
        let Recorded {
            site, scopes, view, ..
        } = self.barrier;
        let mut report = |hazard, earlier: &Actor, missing| {
            let (affected, earlier, later) =
                (self.affected.clone(), earlier.clone(), self.actor.clone());
            violations.push(Violation::Hazard {
                hazard,
                affected,
                earlier,
                later,
                missing,
            });
        };
        if let Some(write) = &cell.write {
            let column = site.instant.column;
            if !view.sees(&write.done) {
                report(
                    Hazard::WriteAfterWrite,
                    &write.actor,
                    MissingDependency::Execution,
                );
            } else if !write.in_access_scope(column, scopes.src)
                && !write.available_to(column, view)
            {
                report(
                    Hazard::WriteAfterWrite,
                    &write.actor,
                    MissingDependency::Availability,
                );
            }
        }
        for read in cell.reads.iter().filter(|read| !view.sees(&read.done)) {
            report(
                Hazard::WriteAfterRead,
                &read.actor,
                MissingDependency::Execution,
            );
        }
        let column = site.instant.column;
        let covers = |write: &Write| {
            let covers = |it: &Recorded| write.in_access_scope(column, it.scopes.src);
            covers(self.barrier) && self.global.is_some_and(covers)
        };
        let later = (self.actor, self.affected);
        cell.judge_formers(later, (column, view), covers, violations);
    }
}
