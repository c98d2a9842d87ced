//! What stands in a plan for the cell of a proof, and what for others.

use std::ops::Range;

use quadrille_sync::{
    AccessMask, Frame, PassIndex, PassRef, QueueIndex, Reason, ResourceIndex, Rung, Scope, Stages,
    Step, Submission, TransferHalf, Use,
};

use super::cell::When;
use super::isolate::Isolation;
use super::part::{Element, Part, Side, What, elements};
use super::world::{Site, View, is_before};

impl Isolation<'_> {
    /// Whether a part of a plan stands there for something that is not used in this isolation, and
    /// for nothing else: who uses the cell does nothing of the kind, and somebody else does whom the
    /// element is for.
    pub(super) fn is_for_others(&self, of: usize, part: &Part) -> bool {
        let (_, _, plan) = &self.question.steps[of];
        let reasons = part.element.reasons(plan);
        let serves = |reason: &&Reason| self.serves(of, &part.element, reason);
        if !reasons.iter().any(|reason| serves(&reason)) {
            return true;
        }
        let (side, what) = match part.what {
            What::All => return false,
            // Some of the reasons may need no more than earlier signals.
            What::Signals(_) => return !reasons.iter().all(|reason| serves(&reason)),
            What::Stages(side, stages) | What::OtherStages(side, stages) => {
                let access = AccessMask::empty();
                (side, Scope { stages, access })
            }
            What::Access(side, access) => {
                let stages = Stages::empty();
                (side, Scope { stages, access })
            }
        };
        let queue = plan.submissions[part.element.submission()].queue;
        let own = reasons.iter().filter(serves);
        let is_wait = matches!(part.element, Element::Wait { .. });
        let named = |reason: &Reason, isolated: bool| {
            let mut scope = self.named(of, reason, side, queue, isolated);
            if is_wait && reason.rung == Rung::OwnershipTransfer {
                // Nobody can tell in which stage ownership moves.
                scope.stages = Stages::ALL_COMMANDS;
            }
            scope
        };
        let own = own.map(|reason| named(reason, true));
        let own = own.fold(Scope::default(), union);
        let all = reasons.iter().map(|it| named(it, false));
        let all = all.fold(Scope::default(), union);
        if is_wait && matches!(self.view, View::Until(_)) {
            // A stage that is named for others too may have been added for them, later.
            let later = reasons.iter().filter(|reason| !serves(reason));
            let later = later.map(|it| named(it, false));
            return names(later.fold(Scope::default(), union), what);
        }
        !names(own, what) && names(all, what)
    }

    /// Whether an element is there for the cell, as far as a reason goes.
    fn serves(&self, of: usize, element: &Element, reason: &Reason) -> bool {
        let (_, frame, plan) = &self.question.steps[of];
        // Who is foreseen need not come: what he needs is there for somebody else.
        let is_left =
            !matches!(reason.later, PassRef::Next(_)) || matches!(self.view, View::Foreseen);
        if !self.cell.has(frame, reason.resource) || !is_left {
            return false;
        }
        let is_here = |pass: &PassRef| {
            let is_outside = matches!(pass, PassRef::Presentation | PassRef::Nobody);
            is_outside || self.uses(of, reason, pass, true).next().is_some()
        };
        if let Some((resource, area)) = element.area(plan) {
            // Barriers of several ranges may be one, whoever came before: the reason is the first's.
            let is_meant = !self.view.is_cut() || is_here(&reason.later);
            return is_meant && self.cell.meets(self.when(of), resource, &area);
        }
        let uses_of = |pass| self.uses(of, reason, pass, true);
        let (earlier, later) = (&reason.earlier, &reason.later);
        is_here(earlier)
            && is_here(later)
            && match reason.rung {
                Rung::Execution => {
                    uses_of(later).any(|one| one.access.is_write()) && !self.is_past(of, reason)
                }
                Rung::Memory => {
                    let is_written = uses_of(earlier).any(|one| one.access.is_write());
                    (is_written || self.is_changed_for(of, earlier)) && !self.is_past(of, reason)
                }
                Rung::OwnershipTransfer => self.is_moved_for(of, reason),
                Rung::OtherQueue => {
                    let mut all = uses_of(earlier).chain(uses_of(later));
                    all.any(|one| one.access.is_write())
                        || self.is_changed_for(of, earlier)
                        || self.is_changed_for(of, later)
                }
                _ => true,
            }
    }

    /// Whether the cell has come from another family between the submissions of two passes, or since
    /// the frame began.
    fn is_brought(
        &self,
        of: usize,
        resource: ResourceIndex,
        earlier: Option<PassIndex>,
        later: PassIndex,
    ) -> bool {
        let (_, _, plan) = &self.question.steps[of];
        let place = |pass: PassIndex| {
            let runs = |it: &Submission| it.steps.contains(&Step::Pass(pass));
            plan.submissions.iter().position(runs)
        };
        let (first, last) = (earlier.and_then(place), place(later));
        elements(plan).into_iter().any(|element| {
            let area = element.area(plan);
            let is_acquire = || element.half(plan) == Some(TransferHalf::Acquire);
            let area = area.filter(|(it, _)| *it == resource && is_acquire());
            let meets = |(it, area)| self.cell.meets(self.when(of), it, &area);
            let at = Some(element.submission());
            first < at && at <= last && area.is_some_and(meets)
        })
    }

    /// Whether somebody writes the cell between the two ends of a reason, and so is who comes later
    /// ordered after him.
    fn is_past(&self, of: usize, reason: &Reason) -> bool {
        let site = |pass| Site { frame: of, pass };
        let PassRef::Pass(later) = reason.later else {
            return false;
        };
        let steps = self.question.steps;
        let is_after = |pass: PassIndex| match reason.earlier {
            PassRef::Pass(earlier) => is_before(steps, site(earlier), site(pass)),
            PassRef::Earlier(_) => true,
            _ => false,
        };
        let writes = |pass: PassIndex| {
            let pass = PassRef::Pass(pass);
            self.uses(of, reason, &pass, true)
                .any(|one| one.access.is_write())
        };
        let earlier = match reason.earlier {
            PassRef::Pass(earlier) => Some(Some(earlier)),
            PassRef::Earlier(_) => Some(None),
            _ => None,
        };
        if earlier.is_some_and(|it| self.is_brought(of, reason.resource, it, later)) {
            return true;
        }
        let mut passes = self.frames[of].pass_indices();
        passes
            .any(|pass| is_after(pass) && is_before(steps, site(pass), site(later)) && writes(pass))
    }

    /// Whether the cell changes its family where a wait has this reason: it may be there for other
    /// ranges that the two use.
    fn is_moved_for(&self, of: usize, reason: &Reason) -> bool {
        let (_, _, plan) = &self.question.steps[of];
        let transfers = elements(plan).into_iter();
        let transfers = transfers.filter(|element| element.is_transfer(plan));
        let same = |it: &Reason| (it.resource, &it.later) == (reason.resource, &reason.later);
        let meets = |element: Element| {
            let area = element.area(plan);
            area.is_some_and(|(it, area)| self.cell.meets(self.when(of), it, &area))
        };
        let of_later = transfers.filter(|it| it.reasons(plan).iter().any(same));
        // Barriers of several ranges may be one, and say who came before of the first.
        let of_both = of_later
            .clone()
            .filter(|it| it.reasons(plan).contains(reason));
        match of_both.clone().next() {
            Some(_) => of_both.into_iter().any(meets),
            None => of_later.into_iter().any(meets),
        }
    }

    fn when(&self, of: usize) -> When<'_> {
        When {
            frame: &self.question.steps[of].1,
            is_before: of < self.question.at,
        }
    }

    /// Whether a barrier changes the cell's layout or owner for a pass, or may: that is a write.
    fn is_changed_for(&self, of: usize, pass: &PassRef) -> bool {
        let is_meant = |at: usize, later: &PassRef| match (pass, later) {
            (PassRef::Pass(one), PassRef::Pass(other)) => at == of && one == other,
            (PassRef::Earlier(name), PassRef::Pass(other)) => {
                self.frames[at].pass(*other).name == *name
            }
            (PassRef::Earlier(name), PassRef::Next(other)) => name == other,
            (PassRef::Nobody | PassRef::Presentation, _) => true,
            _ => false,
        };
        (0..=of).any(|at| {
            let (_, _, plan) = &self.question.steps[at];
            elements(plan).into_iter().any(|element| {
                let area = element.area(plan).filter(|_| element.changes(plan));
                let meets =
                    area.is_some_and(|(it, area)| self.cell.meets(self.when(at), it, &area));
                let mut reasons = element.reasons(plan).iter();
                meets && reasons.any(|reason| is_meant(at, &reason.later))
            })
        })
    }

    /// The uses that are meant with one end of a reason, in this isolation or in the frames as they
    /// are: of the resource, or of whatever had its memory before.
    fn uses(
        &self,
        of: usize,
        reason: &Reason,
        pass: &PassRef,
        isolated: bool,
    ) -> impl Iterator<Item = &Use> {
        let id = self.question.steps[of].1.resource(reason.resource).id;
        let is_aliased = reason.rung == Rung::Aliasing && *pass != reason.later;
        let is_it = |frame: &Frame, one: &Use| match is_aliased {
            true => self.cell.has(frame, one.resource),
            false => frame.resource(one.resource).id == id,
        };
        let named = |frames: Range<usize>, name: &str| {
            let frames = frames.map(|at| self.frame(at, isolated));
            let uses = frames.flat_map(|frame| {
                let passes = frame.pass_indices();
                let passes = passes.filter(|it| *frame.pass(*it).name == *name);
                let uses = passes.flat_map(|pass| frame.uses_of(pass));
                uses.filter(|one| is_it(frame, one))
            });
            uses.collect::<Vec<_>>()
        };
        let found: Vec<&Use> = match pass {
            PassRef::Pass(pass) => {
                let frame = self.frame(of, isolated);
                let uses = frame.uses_of(*pass).iter();
                uses.filter(|one| is_it(frame, one)).collect()
            }
            PassRef::Earlier(name) => named(0..of, name),
            PassRef::Next(name) => named(0..of + 1, name),
            PassRef::Presentation | PassRef::Nobody => Vec::new(),
        };
        found.into_iter()
    }

    fn frame(&self, of: usize, isolated: bool) -> &Frame {
        match isolated {
            true => &self.frames[of],
            false => &self.question.steps[of].1,
        }
    }

    /// What those who are named in a reason do: whoever comes later, and for a first scope also
    /// whoever comes earlier, because a chain leads on from the stages that wait.
    fn named(
        &self,
        of: usize,
        reason: &Reason,
        side: Side,
        queue: QueueIndex,
        isolated: bool,
    ) -> Scope {
        let earlier = (side == Side::Src).then_some(&reason.earlier);
        let passes = earlier.into_iter().chain([&reason.later]);
        let capabilities = self.question.topology.queue(queue).capabilities;
        let uses = passes.flat_map(|pass| self.uses(of, reason, pass, isolated));
        let scopes = uses.map(|one| one.access.scope(capabilities));
        scopes.fold(Scope::default(), union)
    }
}

fn union(one: Scope, other: Scope) -> Scope {
    Scope {
        stages: one.stages | other.stages,
        access: one.access | other.access,
    }
}

/// Whether a scope names a part of a mask, in the same words.
fn names(scope: Scope, what: Scope) -> bool {
    let is_all = scope.stages.contains(Stages::ALL_COMMANDS) && !what.stages.is_empty();
    is_all || scope.stages.intersects(what.stages) || scope.access.intersects(what.access)
}
