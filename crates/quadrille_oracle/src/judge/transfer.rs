//! Queue family ownership transfers: a release, a semaphore wait, an acquire (section "Queue Family
//! Ownership Transfer").

use std::rc::Rc;

use quadrille_sync::flags::Layout;
use quadrille_sync::plan::Transfer;
use quadrille_sync::topology::FamilyIndex;

use super::barrier::{Change, Recorded, Target};
use super::cell::{Cell, Release, Write};
use super::{FrameCheck, Site};
use crate::area::Area;
use crate::stages::{COMMAND, stages_of_queue};
use crate::violation::{Actor, ResourcePart, Violation};

impl FrameCheck<'_> {
    /// Judges a release: the owner makes its writes available and gives up the range.
    pub(super) fn judge_release(
        &mut self,
        barrier: &Recorded,
        target: &Target,
        transfer: Transfer,
    ) {
        let Transfer { from, to, .. } = transfer;
        let actor = Actor::Release {
            from,
            to,
            frame: self.judge.frames,
        };
        let (old_layout, new_layout) = target.layouts.unwrap_or_default();
        let release = Rc::new(Release {
            from,
            to,
            old_layout,
            new_layout,
            area: target.area.clone(),
            done: barrier.done,
            actor: actor.clone(),
        });
        let exclusive = self.judge_families(barrier.site, target, transfer, from, &actor);
        let Some(tracked) = self.judge.resources.get_mut(&target.id) else {
            return;
        };
        let (kind, name) = (tracked.kind, tracked.name.clone());
        for (part, cell) in tracked.cells.parts_mut(&target.area) {
            let affected = ResourcePart {
                resource: name.clone(),
                range: part.words(&kind),
            };
            let change = Change {
                barrier,
                global: None,
                actor: &actor,
                affected: &affected,
            };
            change.judge_presented(cell, &name, &mut self.violations);
            if let Some(owner) = cell.owner.filter(|owner| *owner != from) {
                let (actor, affected) = (actor.clone(), affected.clone());
                self.violations.push(Violation::NotOwner {
                    actor,
                    affected,
                    family: from,
                    owner,
                });
            }
            if let Some(earlier) = &cell.released {
                let (actor, affected, release) =
                    (actor.clone(), affected.clone(), earlier.actor.clone());
                self.violations.push(Violation::Released {
                    actor,
                    affected,
                    release,
                });
            }
            if target.layouts.is_some() {
                change.judge_layouts(cell, old_layout, new_layout, &mut self.violations);
            }
            change.judge_hazards(cell, &mut self.violations);
            if exclusive {
                cell.released = Some(release.clone());
            }
        }
    }

    /// Judges an acquire: the new owner takes a released range, after a semaphore wait.
    pub(super) fn judge_acquire(
        &mut self,
        barrier: &Recorded,
        target: &Target,
        transfer: Transfer,
    ) {
        let Transfer { from, to, .. } = transfer;
        let actor = Actor::Acquire {
            from,
            to,
            frame: self.judge.frames,
        };
        let exclusive = self.judge_families(barrier.site, target, transfer, to, &actor);
        let owner = exclusive.then_some(to);
        let all_commands = !self.judge.topology.maintenance8;
        let queue = self.judge.topology.queue(barrier.site.queue);
        let all_stages = stages_of_queue(queue.capabilities);
        let clock = &self.judge.queues[barrier.site.instant.column].clock;
        let is_ordered = |release: &Release| {
            if all_commands {
                // The wait has to cover every stage of the queue, and the operations of barriers,
                // which are in no stage: ALL_COMMANDS.
                let mut stages = all_stages.iter().chain([COMMAND]);
                stages.all(|stage| clock.stage(stage).sees(&release.done))
            } else {
                barrier.view.sees(&release.done)
            }
        };
        let Some(tracked) = self.judge.resources.get_mut(&target.id) else {
            return;
        };
        let (kind, name) = (tracked.kind, tracked.name.clone());
        for (part, cell) in tracked.cells.parts_mut(&target.area) {
            let affected = ResourcePart {
                resource: name.clone(),
                range: part.words(&kind),
            };
            let change = Change {
                barrier,
                global: None,
                actor: &actor,
                affected: &affected,
            };
            change.judge_presented(cell, &name, &mut self.violations);
            let released = cell.released.take();
            if from.is_outside() && cell.owner == Some(from) {
                self.violations
                    .extend(import(cell, target, &actor, affected));
            } else {
                if released
                    .as_ref()
                    .is_some_and(|release| !is_ordered(release))
                {
                    self.violations.push(Violation::AcquireUnordered {
                        actor: actor.clone(),
                        affected: affected.clone(),
                        all_commands,
                    });
                }
                let actor = actor.clone();
                let unmatched = unmatched(released.as_deref(), transfer, target, actor, affected);
                self.violations.extend(unmatched);
            }
            take(cell, barrier, owner, target.layouts, &actor);
        }
    }

    /// Checks that a transfer is between two families, on a queue of the right one, of an exclusive
    /// resource. Returns whether the resource is exclusive.
    fn judge_families(
        &mut self,
        site: Site,
        target: &Target,
        transfer: Transfer,
        family: FamilyIndex,
        actor: &Actor,
    ) -> bool {
        let Some(tracked) = self.judge.resources.get(&target.id) else {
            return false;
        };
        let exclusive = tracked.is_exclusive();
        let why = if !exclusive {
            "the resource is concurrent"
        } else if transfer.from == transfer.to {
            "both families are the same"
        } else if site.family != family {
            "the queue is of another family"
        } else {
            return true;
        };
        let (actor, affected) = (actor.clone(), tracked.affected(&target.area));
        self.violations.push(Violation::ImpossibleTransfer {
            actor,
            affected,
            why,
        });
        exclusive
    }
}

impl FrameCheck<'_> {
    /// Checks that resources which leave the device were released to the receiving family in the requested
    /// layout. A resource that this family still owns needs no release.
    pub(super) fn judge_gives(&mut self) {
        let frame = self.frame;
        for give in frame.gives.iter().filter(|give| give.family.is_outside()) {
            let Some(id) = self.id_of(give.resource) else {
                continue;
            };
            let Some(tracked) = self.judge.resources.get_mut(&id) else {
                continue;
            };
            let is_image = tracked.is_image();
            let area = Area::whole(&tracked.kind);
            let (kind, name) = (tracked.kind, tracked.name.clone());
            for (part, cell) in tracked.cells.parts_mut(&area) {
                let fits = |release: &Rc<Release>| {
                    let layout = !is_image || release.new_layout == give.layout;
                    release.to == give.family && layout
                };
                let is_theirs = cell.released.is_none() && cell.owner == Some(give.family);
                if !is_theirs && !cell.released.as_ref().is_some_and(fits) {
                    let range = part.words(&kind);
                    let affected = ResourcePart {
                        resource: name.clone(),
                        range,
                    };
                    let family = give.family;
                    self.violations
                        .push(Violation::NotGiven { affected, family });
                }
            }
        }
    }
}

/// Returns the violation of an acquire from an external owner. That owner released the resource before its
/// import, in the layout of the import, and orders the release itself.
fn import(
    cell: &Cell,
    target: &Target,
    actor: &Actor,
    affected: ResourcePart,
) -> Option<Violation> {
    let present = (cell.layout, cell.layout);
    let layouts = target.layouts.unwrap_or(present);
    (layouts != present).then(|| Violation::WrongLayout {
        actor: actor.clone(),
        affected,
        found: cell.layout,
        needed: layouts.0,
    })
}

/// Returns the violation of an acquire, given its release if there is one.
fn unmatched(
    release: Option<&Release>,
    transfer: Transfer,
    target: &Target,
    actor: Actor,
    affected: ResourcePart,
) -> Option<Violation> {
    let Some(release) = release else {
        return Some(Violation::AcquireWithoutRelease { actor, affected });
    };
    let what = difference(release, transfer, target)?;
    let release = release.actor.clone();
    Some(Violation::TransferMismatch {
        actor,
        release,
        affected,
        what,
    })
}

/// Returns the property in which the two halves of a transfer differ, if any.
fn difference(release: &Release, transfer: Transfer, target: &Target) -> Option<&'static str> {
    let layouts = target.layouts.unwrap_or_default();
    if (release.from, release.to) != (transfer.from, transfer.to) {
        Some("families")
    } else if release.area != target.area {
        Some("ranges")
    } else if release.old_layout != layouts.0 {
        Some("old layouts")
    } else if release.new_layout != layouts.1 {
        Some("new layouts")
    } else {
        None
    }
}

/// Applies an acquire to a cell.
fn take(
    cell: &mut Cell,
    barrier: &Recorded,
    owner: Option<FamilyIndex>,
    layouts: Option<(Layout, Layout)>,
    actor: &Actor,
) {
    cell.owner = owner;
    if let Some((_, new)) = layouts {
        cell.layout = new;
    }
    cell.set_write(Write::by_barrier(
        actor.clone(),
        barrier.done,
        barrier.scopes.dst,
    ));
}
