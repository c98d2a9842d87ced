//! Plans with less in them: without what is there for other purposes than one element's.
//!
//! One element of a plan can do by chance what another is there for: a barrier orders everything,
//! whatever it is for, and so does a wait. To leave the other out on that account would make plans
//! hang on chance. So the question is not whether an element can be left out, but whether it could
//! be if what is there for something else were not.

use quadrille_sync::{
    AccessMask, BarrierBatch, BufferBarrier, Frame, ImageBarrier, MemoryBarrier, PassIndex,
    PassRef, Plan, Reason, ResourceId, ResourceIndex, Rung, Stages, Step, Wait,
};

use crate::area::Area;
use crate::shrink::rebuilt;
use crate::stages::{first_scope, second_scope};

/// What an element of a plan is there for.
#[derive(Clone, Debug)]
pub(crate) struct Purpose {
    pub(crate) resource: ResourceIndex,
    /// Who comes earlier, and what the two need of each other; nothing in particular for what a
    /// host pass waits for.
    pub(crate) earlier: Option<(PassRef, Rung)>,
    pub(crate) later: PassRef,
    /// The range, if it is for one.
    pub(crate) area: Option<Area>,
}

impl Purpose {
    /// The purpose of a barrier of a range.
    pub(crate) fn of_range(reason: &Reason, area: Area) -> Self {
        Self {
            area: Some(area),
            ..Self::from(reason)
        }
    }

    /// The purposes of what a host pass waits for: all that it touches.
    pub(crate) fn of_host_pass(frame: &Frame, pass: PassIndex) -> Vec<Self> {
        let uses = frame.uses_of(pass).iter();
        let purpose = |resource| Self {
            resource,
            earlier: None,
            later: PassRef::Pass(pass),
            area: None,
        };
        uses.map(|one| purpose(one.resource)).collect()
    }

    /// Whether something that is there for a reason, and a range, serves this purpose.
    fn is_served_by(&self, reason: &Reason, area: Option<&Area>) -> bool {
        let is_apart = |mine: &Area| area.is_some_and(|other| mine.intersection(other).is_none());
        self.resource == reason.resource
            && self.later == reason.later
            && (self.earlier.as_ref())
                .is_none_or(|(earlier, rung)| *earlier == reason.earlier && *rung == reason.rung)
            && !self.area.as_ref().is_some_and(is_apart)
    }
}

impl From<&Reason> for Purpose {
    fn from(reason: &Reason) -> Self {
        Self {
            resource: reason.resource,
            earlier: Some((reason.earlier.clone(), reason.rung)),
            later: reason.later.clone(),
            area: None,
        }
    }
}

/// An element that orders or shows something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Element {
    Wait(Wait),
    Memory(MemoryBarrier),
    Buffer(BufferBarrier),
    Image(ImageBarrier),
}

impl Element {
    /// Whether it serves one of these purposes.
    fn serves(&self, purposes: &[Purpose]) -> bool {
        let any = |reason: &Reason, area: Option<&Area>| {
            purposes
                .iter()
                .any(|purpose| purpose.is_served_by(reason, area))
        };
        match self {
            Element::Wait(wait) => wait.reasons.iter().any(|reason| any(reason, None)),
            Element::Memory(memory) => memory.reasons.iter().any(|reason| any(reason, None)),
            Element::Buffer(it) => any(&it.reason, Some(&Area::bytes(it.offset, it.size))),
            Element::Image(it) => any(&it.reason, Some(&Area::subresources(&it.range))),
        }
    }

    /// Whether it serves some resource that is asked for.
    fn is_for(&self, resource: impl Fn(ResourceIndex) -> bool) -> bool {
        match self {
            Element::Wait(wait) => wait.reasons.iter().any(|it| resource(it.resource)),
            Element::Memory(memory) => memory.reasons.iter().any(|it| resource(it.resource)),
            Element::Buffer(it) => resource(it.resource),
            Element::Image(it) => resource(it.resource),
        }
    }
}

/// All elements of a plan, with their submissions.
fn elements(plan: &Plan) -> Vec<(usize, Element)> {
    let mut all = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        let mut add = |element| all.push((at, element));
        submission
            .waits
            .iter()
            .cloned()
            .map(Element::Wait)
            .for_each(&mut add);
        for step in &submission.steps {
            if let Step::Barriers(batch) = step {
                batch
                    .memory
                    .iter()
                    .cloned()
                    .map(Element::Memory)
                    .for_each(&mut add);
                batch
                    .buffers
                    .iter()
                    .cloned()
                    .map(Element::Buffer)
                    .for_each(&mut add);
                batch
                    .images
                    .iter()
                    .cloned()
                    .map(Element::Image)
                    .for_each(&mut add);
            }
        }
    }
    all
}

/// The elements of a plan that serve none of these purposes.
pub(crate) fn others(plan: &Plan, purposes: &[Purpose]) -> Vec<(usize, Element)> {
    let mut all = elements(plan);
    all.retain(|(_, element)| !element.serves(purposes));
    all
}

/// Takes elements out of a plan, unless `keep`.
fn retain(plan: &mut Plan, keep: impl Fn(usize, &Element) -> bool) {
    for (at, submission) in plan.submissions.iter_mut().enumerate() {
        submission
            .waits
            .retain(|it| keep(at, &Element::Wait(it.clone())));
        for step in &mut submission.steps {
            let Step::Barriers(batch) = step else {
                continue;
            };
            batch.memory = batch
                .memory
                .take()
                .filter(|it| keep(at, &Element::Memory(it.clone())));
            batch
                .buffers
                .retain(|it| keep(at, &Element::Buffer(it.clone())));
            batch
                .images
                .retain(|it| keep(at, &Element::Image(it.clone())));
        }
    }
}

/// Takes one element out of a plan.
pub(crate) fn without(plan: &mut Plan, (submission, element): &(usize, Element)) {
    retain(plan, |at, other| at != *submission || other != element);
}

/// Takes all barriers out of a plan, and with `waits` the waits too, that serve none of these
/// purposes.
pub(crate) fn without_others(plan: &mut Plan, purposes: &[Purpose], waits: bool) {
    retain(plan, |_, element| {
        element.serves(purposes) || !waits && matches!(element, Element::Wait(_))
    });
}

/// Lets barriers that serve none of these purposes show nothing, and only order.
pub(crate) fn quieten_others(plan: &mut Plan, purposes: &[Purpose]) {
    quieten_where(plan, |_, element| !element.serves(purposes));
}

/// Lets one barrier show nothing, and only order.
pub(crate) fn quieten(plan: &mut Plan, (submission, element): &(usize, Element)) {
    quieten_where(plan, |at, other| at == *submission && other == element);
}

fn quieten_where(plan: &mut Plan, is_meant: impl Fn(usize, &Element) -> bool) {
    for (at, _, batch) in batches(plan) {
        if let Some(memory) = &mut batch.memory
            && is_meant(at, &Element::Memory(memory.clone()))
        {
            memory.dst.access = AccessMask::empty();
        }
        for buffer in &mut batch.buffers {
            if is_meant(at, &Element::Buffer(buffer.clone())) {
                buffer.dst.access = AccessMask::empty();
            }
        }
        for image in &mut batch.images {
            if is_meant(at, &Element::Image(image.clone())) {
                image.dst.access = AccessMask::empty();
            }
        }
    }
}

/// The barrier calls of a plan, each with its submission and step.
fn batches(plan: &mut Plan) -> impl Iterator<Item = (usize, usize, &mut BarrierBatch)> {
    let submissions = plan.submissions.iter_mut().enumerate();
    submissions.flat_map(|(at, submission)| {
        let steps = submission.steps.iter_mut().enumerate();
        steps.filter_map(move |(step, it)| match it {
            Step::Barriers(batch) => Some((at, step, &mut **batch)),
            Step::Pass(_) => None,
        })
    })
}

/// Lets first scopes of barriers that meet a stage meet only there.
pub(crate) fn narrow(plan: &mut Plan, stage: Stages) {
    for (_, _, batch) in batches(plan) {
        let memory = batch.memory.iter_mut().map(|it| &mut it.src);
        let buffers = batch.buffers.iter_mut().map(|it| &mut it.src);
        let images = batch.images.iter_mut().map(|it| &mut it.src);
        for src in memory.chain(buffers).chain(images) {
            if first_scope(src.stages).intersects(second_scope(stage)) {
                src.stages = stage;
            }
        }
    }
}

/// One resource, and those that share memory with it.
pub(crate) struct Focus {
    resources: Vec<ResourceId>,
}

impl Focus {
    /// On the resource of a purpose.
    pub(crate) fn on(purpose: &Purpose, frame: &Frame) -> Self {
        let of = frame.resource(purpose.resource);
        let block = of.memory.map(|place| place.block);
        let shares = |block| {
            let others = frame.resources.iter();
            others.filter(move |it| it.memory.is_some_and(|place| place.block == block))
        };
        let others = block.into_iter().flat_map(shares).map(|it| it.id);
        Self {
            resources: [of.id].into_iter().chain(others).collect(),
        }
    }

    fn has(&self, frame: &Frame, resource: ResourceIndex) -> bool {
        self.resources.contains(&frame.resource(resource).id)
    }

    /// The frame without uses of other resources.
    pub(crate) fn frame(&self, frame: &Frame) -> Frame {
        let mut left = rebuilt(frame, |_, uses, _| {
            uses.retain(|one| self.has(frame, one.resource));
            true
        });
        left.gives.retain(|give| self.has(frame, give.resource));
        left
    }

    /// The plan without barriers for other resources, and with `waits` without waits for them too.
    pub(crate) fn plan(&self, frame: &Frame, plan: &Plan, waits: bool) -> Plan {
        let mut left = plan.clone();
        retain(&mut left, |_, element| {
            let is_kept = !waits && matches!(element, Element::Wait(_));
            is_kept || element.is_for(|resource| self.has(frame, resource))
        });
        left
    }
}
