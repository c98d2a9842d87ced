//! Phase `touch`: which uses meet in the same memory?
//!
//! Each resource's line of positions is cut wherever a use begins or ends; between two cuts all
//! positions are touched by the same uses. Most resources are only used as a whole, and then
//! there is nothing to cut.

use std::ops::Range;

use crate::frame::{Frame, Use};
use crate::range::{EVERYTHING, intervals};
use crate::resource::ResourceIndex;

/// An interval of a resource, all of it touched by the same uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) resource: ResourceIndex,
    pub(super) interval: Range<u64>,
    /// Its part of [`Touches::members`].
    members: Range<u32>,
}

/// All spans that are touched at all, and who touches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Touches {
    /// The pass of each use.
    pass_of: Vec<u32>,
    spans: Vec<Span>,
    /// Indices of uses, span by span, in declaration order until [`Touches::sort`].
    members: Vec<u32>,
}

impl Touches {
    /// The spans.
    pub(super) fn spans(&self) -> impl ExactSizeIterator<Item = (&Span, &[u32])> {
        self.spans.iter().map(|span| (span, self.members_of(span)))
    }

    /// The uses that touch a span.
    fn members_of(&self, span: &Span) -> &[u32] {
        &self.members[span.members.start as usize..span.members.end as usize]
    }

    /// The pass that declares a use.
    pub(super) fn pass_of(&self, one: u32) -> u32 {
        self.pass_of[one as usize]
    }

    /// Puts the uses of each span in the order of their passes.
    pub(super) fn sort(&mut self, position_of_pass: &[u32]) {
        let pass_of = &self.pass_of;
        for span in &self.spans {
            let members = &mut self.members[span.members.start as usize..span.members.end as usize];
            // Mostly they are in order.
            let position = |one: &u32| position_of_pass[pass_of[*one as usize] as usize];
            if !members.is_sorted_by_key(position) {
                members.sort_by_key(position);
            }
        }
    }

    /// Adds a span.
    fn push(&mut self, resource: ResourceIndex, interval: Range<u64>, members: &[u32]) {
        let first = self.members.len() as u32;
        self.members.extend_from_slice(members);
        let members = first..self.members.len() as u32;
        self.spans.push(Span {
            resource,
            interval,
            members,
        });
    }
}

/// Finds all spans. Uses that do not fit their resource are left out (they are errors already).
pub(super) fn touch(frame: &Frame) -> Touches {
    let (starts, by_resource) = uses_by_resource(frame);
    let mut touches = Touches {
        pass_of: pass_of_uses(frame),
        ..Touches::default()
    };
    touches.members.reserve(by_resource.len());
    for (at, resource) in frame.resources.iter().enumerate() {
        let uses = &by_resource[starts[at] as usize..starts[at + 1] as usize];
        let range = |one: u32| &frame.uses[one as usize].range;
        let mut whole = true;
        for one in uses {
            intervals(&resource.kind, range(*one), |interval| {
                whole &= interval == EVERYTHING
            });
        }
        let index = ResourceIndex(at as u32);
        if whole && !uses.is_empty() {
            touches.push(index, EVERYTHING, uses);
        } else if !whole {
            cut(frame, index, uses, &mut touches);
        }
    }
    touches
}

/// Cuts one resource into spans.
fn cut(frame: &Frame, resource: ResourceIndex, uses: &[u32], touches: &mut Touches) {
    let kind = &frame.resource(resource).kind;
    let mut parts: Vec<(Range<u64>, u32)> = Vec::new();
    for one in uses {
        let range = &frame.uses[*one as usize].range;
        intervals(kind, range, |interval| parts.push((interval, *one)));
    }
    let mut cuts: Vec<u64> = parts
        .iter()
        .flat_map(|(part, _)| [part.start, part.end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); cuts.len()];
    for (part, one) in &parts {
        let first = cuts.partition_point(|cut| *cut < part.start);
        let last = cuts.partition_point(|cut| *cut < part.end);
        for list in &mut members[first..last] {
            list.push(*one);
        }
    }
    for (ends, list) in cuts
        .windows(2)
        .zip(&members)
        .filter(|(_, list)| !list.is_empty())
    {
        touches.push(resource, ends[0]..ends[1], list);
    }
}

/// The uses that fit, sorted by resource, and where each resource's begin.
fn uses_by_resource(frame: &Frame) -> (Vec<u32>, Vec<u32>) {
    let fits = |one: &Use| one.range.fits(&frame.resource(one.resource).kind);
    let used = || {
        let uses = frame
            .pass_indices()
            .flat_map(|pass| frame.pass(pass).uses.clone());
        uses.filter(|one| fits(&frame.uses[*one as usize]))
    };
    let mut starts = vec![0_u32; frame.resources.len() + 1];
    for one in used() {
        starts[frame.uses[one as usize].resource.0 as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0; starts.last().copied().unwrap_or(0) as usize];
    for one in used() {
        let next = &mut next[frame.uses[one as usize].resource.0 as usize];
        sorted[*next as usize] = one;
        *next += 1;
    }
    (starts, sorted)
}

/// The pass of each use.
fn pass_of_uses(frame: &Frame) -> Vec<u32> {
    let mut pass_of = vec![u32::MAX; frame.uses.len()];
    for pass in frame.pass_indices() {
        for one in frame.pass(pass).uses.clone() {
            pass_of[one as usize] = pass.0;
        }
    }
    pass_of
}
