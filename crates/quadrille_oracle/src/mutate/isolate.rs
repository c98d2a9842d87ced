//! Whether a cell needs a part of a plan, once what stands there for anything else is gone.

use quadrille_sync::{
    AccessMask, Frame, PassRef, Plan, QueueIndex, Reason, ResourceId, ResourceIndex, Rung, Scope,
    Stages, Topology, Use,
};

use super::cell::{Cell, When};
use super::part::{Element, Part, Side, What, elements, parts, without};
use super::proof::Taken;
use crate::judge::Judge;
use crate::stages::stages_of_queue;
use crate::violation::Violation;

/// A part of the plan of one frame of a sequence.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) topology: &'a Topology,
    pub(super) steps: &'a [Taken],
    /// The frame.
    pub(super) at: usize,
    pub(super) part: Part,
}

/// How to look at a sequence.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    /// As it is.
    Plain,
    /// As if nobody else read than those whom a reason names.
    Pair(&'a Reason),
    /// The same, and whatever rests on what others read is as wrong without them as it may be.
    Alone(&'a Reason),
    /// As if all queues had all stages, so that groups of stages mean all that they can.
    Whole,
    /// With `ALL_COMMANDS` spelled out in first scopes: the stages, but not what barriers do
    /// themselves.
    Spelled,
}

/// Frames in which one cell alone is used, and of their plans what that needs.
pub(super) struct Isolation<'a> {
    question: Question<'a>,
    start: Judge,
    cell: Cell,
    frames: Vec<Frame>,
    plans: Vec<Plan>,
    /// By frame: what has been taken out of its plan.
    gone: Vec<Vec<Part>>,
    /// What was wrong before, such as reading what nobody writes in these frames.
    known: Vec<Violation>,
}

impl<'a> Isolation<'a> {
    /// Takes out of the plans, up to the one with the part, whatever is there for anything but a
    /// cell, as long as they stay right: there may be more ways than one to a stage, and one has to
    /// stay.
    pub(super) fn new(question: Question<'a>, cell: Cell, view: View<'_>) -> Self {
        let Question {
            steps,
            at,
            part: own,
            ..
        } = question;
        let frames = (0..steps.len()).map(|of| {
            let pair = match view {
                View::Pair(reason) | View::Alone(reason) => Some(reason),
                _ => None,
            };
            cell.frame(steps, (of, at), pair)
        });
        let clipped = (0..steps.len()).map(|of| {
            let (_, frame, plan) = &steps[of];
            let is_before = of < at;
            cell.plan(plan, When { frame, is_before })
        });
        let (mut plans, gone): (Vec<Plan>, _) = clipped.unzip();
        if let View::Spelled = view {
            plans
                .iter_mut()
                .for_each(|plan| spell_out(plan, question.topology));
        }
        let mut start = steps[0].0.clone();
        if let View::Whole = view {
            start.widen_queues();
        }
        let mut isolation = Self {
            question,
            start,
            frames: frames.collect(),
            cell,
            plans,
            gone,
            known: Vec::new(),
        };
        isolation.known = isolation.violations();
        for (of, (_, _, plan)) in steps.iter().enumerate().take(at + 1) {
            for part in parts(plan) {
                let is_own = of == at && part.element == own.element;
                let is_asked = is_own && (part == own || part.what == What::All);
                if !is_asked && isolation.is_for_others(of, &part) {
                    match view {
                        View::Alone(_) => isolation.gone[of].push(part),
                        _ => isolation.try_without(of, part),
                    }
                }
            }
        }
        if let View::Alone(_) = view {
            isolation.known = isolation.violations();
        }
        isolation
    }

    fn violations(&self) -> Vec<Violation> {
        let mut judge = self.start.clone();
        let mut found = Vec::new();
        for (of, frame) in self.frames.iter().enumerate() {
            let plan = without(&self.plans[of], self.gone[of].iter());
            found.extend(judge.frame(frame, &plan));
        }
        found
    }

    /// Whether the plans are as right as they were.
    fn is_right(&self) -> bool {
        let mut found = self.violations().into_iter();
        found.all(|it| self.known.contains(&it))
    }

    fn try_without(&mut self, of: usize, part: Part) {
        self.gone[of].push(part);
        if !self.is_right() {
            self.gone[of].pop();
        }
    }

    /// Whether the plans are wrong without a part as well.
    pub(super) fn needs(&mut self) -> bool {
        let Question { at, part, .. } = self.question;
        self.gone[at].push(part);
        let is_right = self.is_right();
        self.gone[at].pop();
        !is_right
    }

    /// Whether a stage is one of several that would each do to lead on from what comes before or to
    /// what comes after: alone it is enough, and without any of them the plans are wrong.
    pub(super) fn is_link(&mut self) -> bool {
        let Question { at, part, .. } = self.question;
        let What::Stages(side, stage) = part.what else {
            return false;
        };
        let scope = part.element.scopes(&self.plans[at])[side as usize];
        let count = self.gone[at].len();
        for other in scope.stages.iter().filter(|other| *other != stage) {
            let what = What::Stages(side, other);
            self.gone[at].push(Part { what, ..part });
        }
        let is_enough = self.is_right();
        self.gone[at].push(part);
        let is_needed = !self.is_right();
        self.gone[at].truncate(count);
        is_enough && is_needed
    }
}

impl Isolation<'_> {
    /// Whether a part of a plan stands there for something that is not used in this isolation, and
    /// for nothing else: who uses the cell does nothing of the kind, and somebody else does whom the
    /// element is for.
    fn is_for_others(&self, of: usize, part: &Part) -> bool {
        let (_, _, plan) = &self.question.steps[of];
        let reasons = part.element.reasons(plan);
        let serves = |reason: &&Reason| self.serves(of, &part.element, reason);
        if !reasons.iter().any(|reason| serves(&reason)) {
            return true;
        }
        let (side, what) = match part.what {
            What::All => return false,
            What::Stages(side, stages) => {
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
        let own = own.map(|reason| self.named(of, reason, side, queue, true));
        let own = own.fold(Scope::default(), union);
        let all = reasons
            .iter()
            .map(|it| self.named(of, it, side, queue, false));
        let all = all.fold(Scope::default(), union);
        !names(own, what) && names(all, what)
    }

    /// Whether an element is there for the cell, as far as a reason goes.
    fn serves(&self, of: usize, element: &Element, reason: &Reason) -> bool {
        let (_, frame, plan) = &self.question.steps[of];
        // Who is foreseen need not come: what he needs is there for somebody else.
        if !self.cell.has(frame, reason.resource) || matches!(reason.later, PassRef::Next(_)) {
            return false;
        }
        if let Some((resource, area)) = element.area(plan) {
            return self.cell.meets(self.when(of), resource, &area);
        }
        let uses = |pass| self.uses(of, reason.resource, pass, true);
        let is_outside = |pass: &PassRef| matches!(pass, PassRef::Presentation | PassRef::Nobody);
        let (earlier, later) = (&reason.earlier, &reason.later);
        let mut both = [earlier, later].into_iter();
        let are_here = both.all(|pass| is_outside(pass) || uses(pass).next().is_some());
        are_here
            && match reason.rung {
                Rung::Execution => uses(later).any(|one| one.access.is_write()),
                Rung::Memory => {
                    let is_written = uses(earlier).any(|one| one.access.is_write());
                    is_written || self.is_changed_for(of, earlier)
                }
                _ => true,
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
                let area = element.area(plan);
                let meets =
                    area.is_some_and(|(it, area)| self.cell.meets(self.when(at), it, &area));
                let mut reasons = element.reasons(plan).iter();
                meets && reasons.any(|reason| is_meant(at, &reason.later))
            })
        })
    }

    /// The uses of a resource by a pass, in this isolation or in the frames as they are.
    fn uses(
        &self,
        of: usize,
        resource: ResourceIndex,
        pass: &PassRef,
        isolated: bool,
    ) -> impl Iterator<Item = &Use> {
        let id = self.question.steps[of].1.resource(resource).id;
        let found: Vec<&Use> = match pass {
            PassRef::Pass(pass) => {
                let frame = self.frame(of, isolated);
                uses_of(frame, id, |index, _| index == pass.0).collect()
            }
            PassRef::Earlier(name) | PassRef::Next(name) => (0..=of)
                .flat_map(|of| uses_of(self.frame(of, isolated), id, |_, it| *it == **name))
                .collect(),
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
        let uses = passes.flat_map(|pass| self.uses(of, reason.resource, pass, isolated));
        let scopes = uses.map(|one| one.access.scope(capabilities));
        scopes.fold(Scope::default(), union)
    }
}

/// Lets the first scopes of barriers name stages instead of `ALL_COMMANDS`.
fn spell_out(plan: &mut Plan, topology: &Topology) {
    for element in elements(plan) {
        let queue = plan.submissions[element.submission()].queue;
        let [mut src, dst] = element.scopes(plan);
        if src.stages == Stages::ALL_COMMANDS {
            src.stages = stages_of_queue(topology.queue(queue).capabilities);
            element.put(plan, [src, dst]);
        }
    }
}

fn uses_of(
    frame: &Frame,
    id: ResourceId,
    is_meant: impl Fn(u32, &str) -> bool,
) -> impl Iterator<Item = &Use> {
    let passes = frame.pass_indices();
    let passes = passes.filter(move |it| is_meant(it.0, &frame.pass(*it).name));
    let uses = passes.flat_map(|pass| frame.uses_of(pass));
    uses.filter(move |one| frame.resource(one.resource).id == id)
}

fn union(one: Scope, other: Scope) -> Scope {
    Scope {
        stages: one.stages | other.stages,
        access: one.access | other.access,
    }
}

/// Whether a scope names a part of a mask, in the same words.
fn names(scope: Scope, what: Scope) -> bool {
    scope.stages.intersects(what.stages) || scope.access.intersects(what.access)
}
