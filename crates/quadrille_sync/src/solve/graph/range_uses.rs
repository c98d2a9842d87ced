//! Phase `range_uses`: cuts each resource into spans, with the uses of each.
//!
//! A resource is a line of positions: bytes, or subresources. It is cut wherever a use begins or
//! ends, so all positions between two cuts have the same uses. Most resources are only used as a
//! whole and are one span.

use std::ops::Range;

use crate::frame::{Frame, Use};
use crate::range::{EVERYTHING, SubRange, intervals};
use crate::resource::{ResourceIndex, ResourceKind};
use crate::solve::graph::lists::Lists;
use crate::solve::graph::ranks;

/// An interval of a resource, all of it touched by the same uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) resource: ResourceIndex,
    pub(crate) interval: Range<u64>,
    /// Belongs to an image that is used by depth slices; layout and owner are compared level by level.
    pub(crate) is_of_slices: bool,
    /// The range of its uses in [`RangeUses::members`].
    members: Range<u32>,
}

/// A use that touches a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its index in [`Frame::uses`].
    pub(crate) one: u32,
    /// The pass that declares it.
    pub(crate) pass: u32,
    /// Whether it writes.
    pub(crate) writes: bool,
}

/// All spans with uses, and their uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeUses {
    spans: Vec<Span>,
    /// The mip levels of images that are used by slices. All uses of any slice of a level count as
    /// reads here.
    levels: Vec<Span>,
    /// Uses, span by span, in declaration order until [`RangeUses::sort`].
    members: Vec<Member>,
}

impl RangeUses {
    /// The spans.
    pub(crate) fn spans(&self) -> impl ExactSizeIterator<Item = (&Span, &[Member])> {
        self.spans.iter().map(|span| (span, self.members_of(span)))
    }

    /// The mip levels that are used by slices.
    pub(crate) fn levels(&self) -> impl ExactSizeIterator<Item = (&Span, &[Member])> {
        self.levels.iter().map(|span| (span, self.members_of(span)))
    }

    /// The uses that touch a span.
    fn members_of(&self, span: &Span) -> &[Member] {
        &self.members[span.members.start as usize..span.members.end as usize]
    }

    /// Puts the uses of each span in the order of their passes.
    pub(crate) fn sort(&mut self, order: &[u32]) {
        if order.is_sorted() {
            // Members are in declaration order already.
            return;
        }
        let rank = ranks(order);
        for span in self.spans.iter().chain(&self.levels) {
            let members = &mut self.members[span.members.start as usize..span.members.end as usize];
            members.sort_by_key(|member| rank[member.pass as usize]);
        }
    }

    /// Adds the uses of a span and returns the span.
    fn add(
        &mut self,
        resource: ResourceIndex,
        interval: Range<u64>,
        members: impl Iterator<Item = Member>,
    ) -> Span {
        let first = self.members.len() as u32;
        self.members.extend(members);
        Span {
            resource,
            interval,
            is_of_slices: false,
            members: first..self.members.len() as u32,
        }
    }
}

/// Finds all spans. Uses beyond the bounds of their resource, which are already errors, are skipped.
pub(crate) fn range_uses(frame: &Frame) -> RangeUses {
    let Users { lists, in_parts } = Users::new(frame);
    let mut uses = RangeUses::default();
    uses.spans.reserve(frame.resources.len());
    if in_parts.contains(&true) {
        uses.members.reserve(lists.items.len());
        for (at, in_parts) in (0..).zip(in_parts) {
            let (index, users) = (ResourceIndex(at), lists.of(at));
            if in_parts {
                cut(frame, index, users, &mut uses);
            } else if !users.is_empty() {
                let span = uses.add(index, EVERYTHING, users.iter().copied());
                uses.spans.push(span);
            }
        }
        return uses;
    }
    for at in 0..frame.resources.len() as u32 {
        let users = lists.range(at);
        if !users.is_empty() {
            uses.spans.push(Span {
                resource: ResourceIndex(at),
                interval: EVERYTHING,
                is_of_slices: false,
                members: users.start as u32..users.end as u32,
            });
        }
    }
    uses.members = lists.items;
    uses
}

/// Cuts one resource into spans.
fn cut(frame: &Frame, resource: ResourceIndex, users: &[Member], uses: &mut RangeUses) {
    let kind = &frame.resource(resource).kind;
    let range = |member: &Member| frame.uses[member.one as usize].range;
    let is_of_slices = |member: &Member| matches!(range(member), SubRange::Slices(_));
    let in_slices = users.iter().any(is_of_slices);
    cut_parts(kind, users, range, |interval, members| {
        let mut span = uses.add(resource, interval, members.iter().copied());
        span.is_of_slices = in_slices;
        uses.spans.push(span);
    });
    if !in_slices {
        return;
    }
    let levels = |member: &Member| range(member).levels();
    cut_parts(kind, users, levels, |interval, members| {
        let members = members.iter().map(|member| Member {
            writes: false,
            ..*member
        });
        let level = uses.add(resource, interval, members);
        uses.levels.push(level);
    });
}

/// Cuts a resource into spans, and calls `each` with each span and its uses.
fn cut_parts(
    kind: &ResourceKind,
    users: &[Member],
    range: impl Fn(&Member) -> SubRange,
    mut each: impl FnMut(Range<u64>, &[Member]),
) {
    let mut parts: Vec<(Range<u64>, Member)> = Vec::new();
    for member in users {
        intervals(kind, &range(member), |interval| {
            parts.push((interval, *member));
        });
    }
    let mut cuts: Vec<u64> = parts
        .iter()
        .flat_map(|(part, _)| [part.start, part.end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut members: Vec<Vec<Member>> = vec![Vec::new(); cuts.len()];
    for (part, member) in &parts {
        let first = cuts.partition_point(|cut| *cut < part.start);
        let last = cuts.partition_point(|cut| *cut < part.end);
        for list in &mut members[first..last] {
            list.push(*member);
        }
    }
    for (ends, list) in cuts
        .windows(2)
        .zip(&members)
        .filter(|(_, list)| !list.is_empty())
    {
        each(ends[0]..ends[1], list);
    }
}

/// The uses within the bounds of their resources, by resource, in declaration order.
struct Users {
    lists: Lists<Member>,
    /// By resource: whether any use covers only a part of it.
    in_parts: Vec<bool>,
}

impl Users {
    fn new(frame: &Frame) -> Self {
        let count = frame.resources.len();
        let mut in_parts = vec![false; count];
        let mut lengths = vec![0_u32; count];
        for one in &frame.uses {
            let resource = one.resource.0 as usize;
            if one.range == SubRange::Whole {
                lengths[resource] += 1;
            } else if fits(frame, one) {
                lengths[resource] += 1;
                in_parts[resource] = true;
            }
        }
        let users = (0..).zip(&frame.passes).flat_map(|(pass, decl)| {
            decl.uses.clone().filter_map(move |at| {
                let one = &frame.uses[at as usize];
                let user = Member {
                    one: at,
                    pass,
                    writes: one.access.is_write(),
                };
                let is_user = one.range == SubRange::Whole || fits(frame, one);
                is_user.then_some((one.resource.0, user))
            })
        });
        Self {
            lists: Lists::with_lengths(lengths, users),
            in_parts,
        }
    }
}

/// Whether the range of a use lies within its resource.
fn fits(frame: &Frame, one: &Use) -> bool {
    one.range.fits(&frame.resource(one.resource).kind)
}
