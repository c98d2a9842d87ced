//! One cell of a resource in frames of its own: everybody uses all of it, or nothing.
//!
//! The solver keeps the states of ranges apart, and plans are to be minimal for each. So whoever
//! wants to know whether a cell needs something looks at frames in which nothing else is used.

use quadrille_sync::{Frame, PassRef, Plan, Reason, ResourceId, ResourceIndex, Use};

use super::part::{Part, elements};
use super::proof::Taken;
use super::restrict::Purpose;
use crate::area::{Area, AreaMap};
use crate::shrink::rebuilt;

/// A frame, and whether it comes before the one in question.
#[derive(Clone, Copy)]
pub(super) struct When<'a> {
    pub(super) frame: &'a Frame,
    pub(super) is_before: bool,
}

/// A cell, and the resources that share memory with it.
pub(super) struct Cell {
    id: ResourceId,
    area: Area,
    /// The resources that share memory with it at any time.
    sharing: Vec<ResourceId>,
    /// It moves in shared memory, or is an image there: nobody says what of it was which bytes before.
    is_placed: bool,
}

impl Cell {
    /// The cells that an element of the frame at `at` is for.
    pub(super) fn all(steps: &[Taken], at: usize, purpose: &Purpose) -> Vec<Self> {
        let (_, frame, _) = &steps[at];
        let of = frame.resource(purpose.resource);
        let whole = Area::whole(&of.kind);
        let mut cells = AreaMap::new(whole.clone(), ());
        for (_, frame, _) in steps {
            let uses = frame.uses.iter();
            for one in uses.filter(|one| frame.resource(one.resource).id == of.id) {
                cells.touch(&Area::of(&of.kind, &one.range)).for_each(drop);
            }
        }
        let meets = purpose.area.as_ref().unwrap_or(&whole);
        let cells = cells.iter().filter_map(|(area, ())| {
            area.intersection(meets)?;
            Some(Self {
                id: of.id,
                area: area.clone(),
                sharing: sharing(steps, of.id),
                is_placed: is_placed(steps, of.id),
            })
        });
        cells.collect()
    }

    /// Whether something is used of a resource.
    pub(super) fn has(&self, frame: &Frame, resource: ResourceIndex) -> bool {
        let id = frame.resource(resource).id;
        id == self.id || self.sharing.contains(&id)
    }

    /// The part of an area of a resource that is used.
    fn part(&self, when: When<'_>, resource: ResourceIndex, area: Area) -> Option<Area> {
        let is_it = when.frame.resource(resource).id == self.id;
        match is_it && !(self.is_placed && when.is_before) {
            true => self.area.intersection(&area),
            false => self.has(when.frame, resource).then_some(area),
        }
    }

    /// Whether an area of a resource is used.
    pub(super) fn meets(&self, when: When<'_>, resource: ResourceIndex, area: &Area) -> bool {
        self.part(when, resource, area.clone()).is_some()
    }

    /// A frame with nothing but this in use, and with a pair nobody who only reads it but the two.
    pub(super) fn frame(
        &self,
        steps: &[Taken],
        (of, at): (usize, usize),
        pair: Option<&Reason>,
    ) -> Frame {
        let (_, frame, _) = &steps[of];
        let is_before = of < at;
        let when = When { frame, is_before };
        let mut left = rebuilt(frame, |pass, uses, _| {
            let is_of_pair = |it: &PassRef| match it {
                PassRef::Pass(one) => of == at && one.0 as usize == pass,
                PassRef::Earlier(name) | PassRef::Next(name) => {
                    of < at && frame.passes[pass].name == *name
                }
                PassRef::Presentation | PassRef::Nobody => false,
            };
            let is_named = pair.is_none_or(|it| is_of_pair(&it.earlier) || is_of_pair(&it.later));
            let part = |one: &Use| {
                let kind = &frame.resource(one.resource).kind;
                let area = self.part(when, one.resource, Area::of(kind, &one.range))?;
                let is_kept = of > at || is_named || one.access.is_write();
                let range = area.sub_range(kind);
                is_kept.then_some(Use { range, ..*one })
            };
            *uses = uses.iter().filter_map(part).collect();
            true
        });
        left.gives.retain(|give| self.has(frame, give.resource));
        left
    }

    /// The plan with acquires, presents and barriers of nothing else: the latter where they are, and
    /// which of them are to be taken out.
    pub(super) fn plan(&self, plan: &Plan, when: When<'_>) -> (Plan, Vec<Part>) {
        let When { frame, .. } = when;
        let (mut left, mut gone) = (Plan::clone(plan), Vec::new());
        for submission in &mut left.submissions {
            let acquires = &mut submission.acquires;
            acquires.retain(|it| self.has(frame, it.resource));
            submission.presents.retain(|it| self.has(frame, *it));
        }
        for element in elements(plan) {
            let Some((resource, area)) = element.area(plan) else {
                continue;
            };
            match self.part(when, resource, area) {
                Some(part) => element.clip(&mut left, &part),
                None => gone.push(element.whole()),
            }
        }
        (left, gone)
    }
}

/// Whether a resource is in other bytes at other times, or an image in shared memory.
fn is_placed(steps: &[Taken], id: ResourceId) -> bool {
    let all = steps.iter().flat_map(|(_, frame, _)| &frame.resources);
    let mut places = all
        .filter(|it| it.id == id)
        .map(|it| (it.is_image(), it.memory));
    let first = places.next();
    first.is_some_and(|(is_image, place)| is_image && place.is_some())
        || places.any(|place| Some(place) != first)
}

/// The resources that lie in the same block of memory at any time.
fn sharing(steps: &[Taken], id: ResourceId) -> Vec<ResourceId> {
    let mut sharing = Vec::new();
    for (_, frame, _) in steps {
        let block = |id: ResourceId| {
            let mut resources = frame.resources.iter();
            let of = resources.find(|it| it.id == id);
            of.and_then(|it| it.memory).map(|place| place.block)
        };
        let Some(own) = block(id) else { continue };
        let others = frame.resources.iter().map(|it| it.id);
        sharing.extend(others.filter(|other| *other != id && block(*other) == Some(own)));
    }
    sharing
}
