//! One cell of a resource in frames of its own: everybody uses all of it, or nothing.
//!
//! The solver keeps the states of ranges apart, and plans are to be minimal for each. So whoever
//! wants to know whether a cell needs something looks at frames in which nothing else is used.

use quadrille_sync::{
    Frame, PassIndex, Placement, Plan, Resource, ResourceId, ResourceIndex, Rung, Use,
};

use super::part::{Part, elements};
use super::proof::Taken;
use super::restrict::Purpose;
use super::world::Site;
use crate::area::{Area, AreaMap};
use crate::shrink::rebuilt;

/// A frame, and whether it comes before the one in question.
#[derive(Clone, Copy)]
pub(super) struct When<'a> {
    pub(super) frame: &'a Frame,
    pub(super) is_before: bool,
}

/// How small cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Mip levels with all of their slices, which change layout or owner as one.
    Levels,
    /// Slices, for a barrier that names the others only because none can name fewer.
    Slices,
}

/// A cell, and the resources that share memory with it.
#[derive(Clone)]
pub(super) struct Cell {
    id: ResourceId,
    area: Area,
    /// The resources that share memory with it at any time.
    sharing: Vec<ResourceId>,
    /// It moves in shared memory, or is an image there: nobody says what of it was which bytes before.
    is_placed: bool,
}

impl Cell {
    /// The cells that an element of the frame at `at` is for. What lies in shared memory is also looked
    /// at alone, unless the element is there for those who share.
    pub(super) fn all(steps: &[Taken], at: usize, purpose: &Purpose, grain: Grain) -> Vec<Self> {
        let (_, frame, _) = &steps[at];
        let of = frame.resource(purpose.resource);
        let whole = Area::whole(&of.kind);
        let mut cells = AreaMap::new(whole.clone(), ());
        for (_, frame, _) in steps {
            let uses = frame.uses.iter();
            for one in uses.filter(|one| frame.resource(one.resource).id == of.id) {
                let area = Area::of(&of.kind, &one.range);
                let area = match grain {
                    Grain::Levels => area.levels(),
                    Grain::Slices => area,
                };
                cells.touch(&area).for_each(drop);
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
        let mut cells: Vec<Self> = cells.collect();
        let is_for_sharing = matches!(purpose.earlier, Some((_, Rung::Aliasing)));
        let shared = cells
            .iter()
            .filter(|it| !it.sharing.is_empty() && !is_for_sharing);
        let alone = shared.map(|it| Self {
            sharing: Vec::new(),
            ..it.clone()
        });
        let alone: Vec<Self> = alone.collect();
        cells.extend(alone);
        cells
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

    /// A frame with nothing but this in use: what is left of the uses of passes, counted from 0.
    pub(super) fn frame(
        &self,
        when: When<'_>,
        left_of: impl Fn(PassIndex, usize, Use) -> Option<Use>,
    ) -> Frame {
        let frame = when.frame;
        let mut left = rebuilt(frame, |pass, uses, _| {
            let part = |one: &Use| {
                let kind = &frame.resource(one.resource).kind;
                let area = self.part(when, one.resource, Area::of(kind, &one.range))?;
                let range = area.sub_range(kind);
                Some(Use { range, ..*one })
            };
            let parts = uses.iter().filter_map(part).enumerate();
            let pass = PassIndex(pass as u32);
            *uses = parts.filter_map(|(at, it)| left_of(pass, at, it)).collect();
            true
        });
        left.gives.retain(|give| self.has(frame, give.resource));
        left
    }

    /// The passes up to the frame at `at` that use it, and in how many ways.
    pub(super) fn users(&self, steps: &[Taken], at: usize) -> Vec<(Site, usize)> {
        let sites = steps.iter().enumerate().take(at + 1);
        let sites = sites.flat_map(|(of, (_, frame, _))| {
            let is_before = of < at;
            let left = self.frame(When { frame, is_before }, |_, _, one| Some(one));
            let passes = frame.pass_indices();
            passes.map(move |pass| (Site { frame: of, pass }, left.uses_of(pass).len()))
        });
        sites.filter(|(_, count)| *count > 0).collect()
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

/// The resources that lie in some of the same bytes at any time.
fn sharing(steps: &[Taken], id: ResourceId) -> Vec<ResourceId> {
    let all = || steps.iter().flat_map(|(_, frame, _)| &frame.resources);
    let own = all().filter(|it| it.id == id);
    let own: Vec<Placement> = own.filter_map(|it| it.memory).collect();
    let meets = |one: &Placement, other: &Placement| {
        let (one_bytes, bytes) = (one.range(), other.range());
        one.block == other.block && one_bytes.start < bytes.end && bytes.start < one_bytes.end
    };
    let is_shared = |it: &&Resource| {
        let place = it.memory;
        place.is_some_and(|place| own.iter().any(|own| meets(own, &place)))
    };
    let others = all().filter(is_shared).map(|it| it.id);
    others.filter(|other| *other != id).collect()
}
