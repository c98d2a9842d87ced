//! Parts of a plan: elements that order or show something, and what their masks say.

use quadrille_sync::{
    AccessMask, BarrierBatch, PassRef, Plan, Reason, ResourceIndex, Scope, Stages, Step, Topology,
    TransferHalf,
};

use super::barrier::{Kind, Spot};
use super::cell::Grain;
use crate::area::Area;
use crate::stages::{impossible, single, stages_of_queue};

/// Where an element is, counted as in the plan that nothing has been taken out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// A wait of a submission.
    Wait { submission: usize, at: usize },
    /// A barrier.
    Barrier(Spot),
}

/// One of the two scopes of an element; waits have only a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Src,
    Dst,
}

/// How much of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    All,
    Stages(Side, Stages),
    /// All stages but this one.
    OtherStages(Side, Stages),
    Access(Side, AccessMask),
    /// So many of the signals of this frame that a wait is for.
    Signals(i64),
}

/// An element, or something that one of its masks says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) element: Element,
    pub(super) what: What,
}

impl Part {
    /// Whether it is one of the stages that another part stands for.
    pub(super) fn is_in(self, other: Self) -> bool {
        match (self.what, other.what) {
            (What::Stages(side, stage), What::Stages(of, group)) => {
                side == of && single(group).contains(stage)
            }
            _ => false,
        }
    }
}

impl Element {
    /// The submission that it is in.
    pub(super) fn submission(self) -> usize {
        match self {
            Element::Wait { submission, .. } => submission,
            Element::Barrier(spot) => spot.submission,
        }
    }

    /// Whether it is a barrier in the last call of its queue that stands before a pass.
    pub(super) fn is_in_last_call(self, plan: &Plan) -> bool {
        let Element::Barrier(spot) = self else {
            return false;
        };
        let queue = |at: usize| plan.submissions[at].queue;
        let is_later = |other: Spot| {
            queue(other.submission) == queue(spot.submission)
                && (other.submission, other.step) > (spot.submission, spot.step)
        };
        // Releases, and what is shown to the host, stand at the end.
        let is_before_pass = |other: Spot| {
            let behind = &plan.submissions[other.submission].steps[other.step..];
            behind.iter().any(|step| matches!(step, Step::Pass(_)))
        };
        let is_for_pass = |other: Element| {
            let mut reasons = other.reasons(plan).iter();
            reasons.any(|reason| matches!(reason.later, PassRef::Pass(_)))
        };
        !elements(plan).into_iter().any(|other| match other {
            Element::Wait { .. } => false,
            Element::Barrier(place) => {
                is_later(place) && is_before_pass(place) && is_for_pass(other)
            }
        })
    }

    /// What it is there for.
    pub(super) fn reasons(self, plan: &Plan) -> &[Reason] {
        match self {
            Element::Wait { submission, at } => &plan.submissions[submission].waits[at].reasons,
            Element::Barrier(spot) => match (spot.batch(plan), spot.kind) {
                (Some(batch), Kind::Memory) => {
                    batch.memory.as_ref().map_or(&[], |memory| &memory.reasons)
                }
                (Some(batch), Kind::Buffer(at)) => std::slice::from_ref(&batch.buffers[at].reason),
                (Some(batch), Kind::Image(at)) => std::slice::from_ref(&batch.images[at].reason),
                (None, _) => &[],
            },
        }
    }

    /// How many signals of this frame a wait is for.
    fn signals(self, plan: &Plan) -> i64 {
        match self {
            Element::Wait { submission, at } => plan.submissions[submission].waits[at].point.offset,
            Element::Barrier(_) => 0,
        }
    }

    /// What it waits in, or both scopes.
    pub(super) fn scopes(self, plan: &Plan) -> [Scope; 2] {
        let mut copy = [Scope::default(); 2];
        match self {
            Element::Wait { submission, at } => {
                copy[1].stages = plan.submissions[submission].waits[at].stages;
            }
            Element::Barrier(spot) => {
                if let Some(batch) = spot.batch(plan) {
                    copy = match spot.kind {
                        Kind::Memory => batch.memory.as_ref().map_or(copy, |it| [it.src, it.dst]),
                        Kind::Buffer(at) => [batch.buffers[at].src, batch.buffers[at].dst],
                        Kind::Image(at) => [batch.images[at].src, batch.images[at].dst],
                    };
                }
            }
        }
        copy
    }

    /// What whoever comes after it sees: everything, after a wait.
    pub(super) fn shown(self, plan: &Plan) -> Scope {
        let [_, dst] = self.scopes(plan);
        match self {
            Element::Wait { .. } => Scope {
                access: AccessMask::MEMORY_READ | AccessMask::MEMORY_WRITE,
                ..dst
            },
            Element::Barrier(_) => dst,
        }
    }

    /// All of it.
    pub(super) fn whole(self) -> Part {
        Part {
            element: self,
            what: What::All,
        }
    }

    /// Whether it is one half of an ownership transfer.
    pub(super) fn is_transfer(self, plan: &Plan) -> bool {
        self.half(plan).is_some()
    }

    /// Which half of an ownership transfer it is, if any.
    pub(super) fn half(self, plan: &Plan) -> Option<TransferHalf> {
        let Element::Barrier(spot) = self else {
            return None;
        };
        let batch = spot.batch(plan)?;
        let transfer = match spot.kind {
            Kind::Memory => None,
            Kind::Buffer(at) => batch.buffers[at].transfer,
            Kind::Image(at) => batch.images[at].transfer,
        };
        transfer.map(|transfer| transfer.half)
    }

    /// What a barrier of a range is about, if it does more than to order: order has no range.
    pub(super) fn area(self, plan: &Plan) -> Option<(ResourceIndex, Area)> {
        let Element::Barrier(spot) = self else {
            return None;
        };
        let batch = spot.batch(plan)?;
        match spot.kind {
            Kind::Memory => None,
            Kind::Buffer(at) => {
                let buffer = &batch.buffers[at];
                let area = || Area::bytes(buffer.offset, buffer.size);
                (!self.only_orders(plan)).then(|| (buffer.resource, area()))
            }
            Kind::Image(at) => {
                let image = &batch.images[at];
                let is_plain = image.old_layout == image.new_layout && self.only_orders(plan);
                (!is_plain).then(|| (image.resource, Area::subresources(&image.range)))
            }
        }
    }

    /// Whether it changes the layout or the owner of what it is about.
    pub(super) fn changes(self, plan: &Plan) -> bool {
        let changes_layout = |spot: Spot| match (spot.kind, spot.batch(plan)) {
            (Kind::Image(at), Some(batch)) => {
                let image = &batch.images[at];
                image.old_layout != image.new_layout
            }
            _ => false,
        };
        self.is_transfer(plan) || matches!(self, Element::Barrier(spot) if changes_layout(spot))
    }

    /// How small the cells are that it is there for.
    pub(super) fn grain(self, plan: &Plan) -> Grain {
        let is_of_image =
            matches!(self, Element::Barrier(spot) if matches!(spot.kind, Kind::Image(_)));
        match is_of_image && !self.changes(plan) {
            true => Grain::Slices,
            false => Grain::Levels,
        }
    }

    /// Whether it neither shows nor moves anything.
    pub(super) fn only_orders(self, plan: &Plan) -> bool {
        let [src, dst] = self.scopes(plan);
        src.access.is_empty() && dst.access.is_empty() && !self.is_transfer(plan)
    }

    /// Lets a barrier of a range be about a part of it.
    pub(super) fn clip(self, plan: &mut Plan, part: &Area) {
        if let Element::Barrier(spot) = self {
            spot.clip(plan, part);
        }
    }

    /// Gives it other scopes.
    pub(super) fn put(self, plan: &mut Plan, [src, dst]: [Scope; 2]) {
        match self {
            Element::Wait { submission, at } => {
                plan.submissions[submission].waits[at].stages = dst.stages;
            }
            Element::Barrier(spot) => spot.put(plan, src, dst),
        }
    }
}

/// All elements of a plan.
pub(super) fn elements(plan: &Plan) -> Vec<Element> {
    let mut all = Vec::new();
    for (submission, it) in plan.submissions.iter().enumerate() {
        all.extend((0..it.waits.len()).map(|at| Element::Wait { submission, at }));
        for (step, it) in it.steps.iter().enumerate() {
            let Step::Barriers(batch) = it else { continue };
            let spot = |kind| {
                Element::Barrier(Spot {
                    submission,
                    step,
                    kind,
                })
            };
            all.extend(batch.memory.iter().map(|_| spot(Kind::Memory)));
            all.extend((0..batch.buffers.len()).map(|at| spot(Kind::Buffer(at))));
            all.extend((0..batch.images.len()).map(|at| spot(Kind::Image(at))));
        }
    }
    all
}

/// All parts of a plan, those first that say most. What happens in a stage comes before the stage,
/// because no access can be left without its stages.
pub(super) fn parts(plan: &Plan) -> Vec<Part> {
    let elements = elements(plan);
    let mut all: Vec<Part> = Vec::new();
    let mut add = |element: &Element, what| {
        all.push(Part {
            element: *element,
            what,
        });
    };
    elements.iter().for_each(|it| add(it, What::All));
    for element in &elements {
        // One wait for several reasons is for the last of the signals.
        if element.reasons(plan).len() > 1 {
            let signals = element.signals(plan);
            (1..signals).for_each(|count| add(element, What::Signals(count)));
        }
    }
    for element in &elements {
        let scopes = element.scopes(plan);
        for (side, scope) in [Side::Src, Side::Dst].into_iter().zip(scopes) {
            let kinds = scope.access.iter();
            kinds.for_each(|kind| add(element, What::Access(side, kind)));
        }
        for (side, scope) in [Side::Src, Side::Dst].into_iter().zip(scopes) {
            let stages = scope.stages.iter();
            stages.for_each(|stage| add(element, What::Stages(side, stage)));
            // Waits are widened by whole groups.
            let is_wait = matches!(element, Element::Wait { .. });
            let parts = (single(scope.stages) - scope.stages).iter();
            parts
                .filter(|_| is_wait)
                .for_each(|stage| add(element, What::Stages(side, stage)));
        }
    }
    all
}

/// A scope without a stage, and without what can happen there alone, on a queue with these stages.
pub(super) fn without_stage(scope: Scope, stage: Stages, queue: Stages) -> Scope {
    let stages = match scope.stages.contains(stage) {
        false if single(scope.stages).contains(stage) => (single(scope.stages) & queue) - stage,
        _ => scope.stages - stage,
    };
    let left = Scope { stages, ..scope };
    Scope {
        access: left.access - impossible(left),
        ..left
    }
}

/// The single stages of a submission's queue, and the host's.
pub(super) fn stages_of(plan: &Plan, topology: &Topology, submission: usize) -> Stages {
    let queue = plan.submissions[submission].queue;
    let queue = topology.queues.get(usize::from(queue.0));
    let stages = queue.map_or(Stages::empty(), |queue| stages_of_queue(queue.capabilities));
    stages | Stages::HOST
}

/// A plan without some of its parts. Steps stay where they are, be they empty.
pub(super) fn without<'a>(
    plan: &Plan,
    topology: &Topology,
    gone: impl Iterator<Item = &'a Part> + Clone,
) -> Plan {
    let mut left = plan.clone();
    for part in gone.clone() {
        let mut scopes = part.element.scopes(&left);
        match part.what {
            What::All => continue,
            What::Stages(side, stage) => {
                let queue = stages_of(plan, topology, part.element.submission());
                let scope = &mut scopes[side as usize];
                *scope = without_stage(*scope, stage, queue);
            }
            What::OtherStages(side, stages) => {
                let scope = &mut scopes[side as usize];
                let left = Scope { stages, ..*scope };
                scope.stages = stages;
                scope.access -= impossible(left);
            }
            What::Access(side, access) => scopes[side as usize].access -= access,
            What::Signals(count) => {
                if let Element::Wait { submission, at } = part.element {
                    let fewer = part.element.signals(plan) - count;
                    let wait = &mut left.submissions[submission].waits[at];
                    wait.point.offset = wait.point.offset.min(fewer);
                }
                continue;
            }
        }
        part.element.put(&mut left, scopes);
    }
    let wholly = gone.filter(|part| part.what == What::All);
    let is_gone = |element: Element| wholly.clone().any(|part| part.element == element);
    for (submission, it) in left.submissions.iter_mut().enumerate() {
        keep_others(&mut it.waits, |at| {
            is_gone(Element::Wait { submission, at })
        });
        for (step, it) in it.steps.iter_mut().enumerate() {
            let Step::Barriers(batch) = it else { continue };
            let is_gone = |kind| {
                is_gone(Element::Barrier(Spot {
                    submission,
                    step,
                    kind,
                }))
            };
            drop_elements(batch, is_gone);
        }
    }
    left
}

fn drop_elements(batch: &mut BarrierBatch, is_gone: impl Fn(Kind) -> bool) {
    if is_gone(Kind::Memory) {
        batch.memory = None;
    }
    keep_others(&mut batch.buffers, |at| is_gone(Kind::Buffer(at)));
    keep_others(&mut batch.images, |at| is_gone(Kind::Image(at)));
}

/// Drops what is gone, by place.
fn keep_others<T>(list: &mut Vec<T>, is_gone: impl Fn(usize) -> bool) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        !is_gone(at - 1)
    });
}
