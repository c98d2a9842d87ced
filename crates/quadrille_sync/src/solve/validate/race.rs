//! Phase `race`: hazards without a declared or inferred order, and reads of unwritten contents.

use crate::error::{ConflictingAccess, PlanError};
use crate::frame::Frame;
use crate::resource::{Lifetime, Resource, ResourceIndex};
use crate::solve::graph::depend::is_declared;
use crate::solve::graph::range_uses::{Member, RangeUses, Span};
use crate::solve::graph::{Graph, ranks};
use crate::states::States;

/// Two uses that need an order.
struct Pair {
    first: Member,
    second: Member,
    /// The span whose writers an error lists.
    span: usize,
}

/// Reports pairs of uses that lack an order, and reads of contents that were never written. `uses`
/// is sorted by `order`.
pub(crate) fn race(
    frame: &Frame,
    uses: &RangeUses,
    graph: &Graph,
    order: &[u32],
    states: &States,
    errors: &mut Vec<PlanError>,
) {
    let pairs = pairs(frame, uses);
    let ends: Vec<(u32, u32)> = (pairs.iter())
        .map(|pair| (pair.first.pass, pair.second.pass))
        .collect();
    let ordered = graph.reaches(order, &ends);
    let mut reported = Vec::new();
    for ((pair, ends), _) in pairs
        .iter()
        .zip(ends)
        .zip(ordered)
        .filter(|(_, ordered)| !ordered)
    {
        // The same two passes may conflict in many spans of a resource; report one.
        let resource = frame.uses[pair.first.one as usize].resource;
        if !reported.contains(&(ends, resource)) {
            reported.push((ends, resource));
            errors.push(unordered(frame, uses, pair));
        }
    }
    for one in unwritten(frame, uses, order, states) {
        errors.push(never_written(frame, one));
    }
}

/// All pairs of successive uses that need an order, in spans with several writers. Other pairs follow,
/// because order is transitive and [`depend`](crate::solve::graph::depend) has ordered the spans with
/// one writer.
fn pairs(frame: &Frame, uses: &RangeUses) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut readers: Vec<Member> = Vec::new();
    for (span, (_, members)) in uses.spans().enumerate() {
        if members.iter().filter(|member| member.writes).count() < 2 {
            continue;
        }
        let mut writer: Option<Member> = None;
        readers.clear();
        for second in members.iter().copied() {
            let mut push = |first: Member| {
                // Skips the graph in the common case of a directly declared order.
                let is_ordered = || is_declared(frame, first.pass, second.pass);
                if first.pass != second.pass && !is_ordered() {
                    pairs.push(Pair {
                        first,
                        second,
                        span,
                    });
                }
            };
            if second.writes {
                readers.iter().copied().for_each(&mut push);
                if readers.is_empty() {
                    writer.into_iter().for_each(push);
                }
                readers.clear();
                writer = Some(second);
            } else {
                writer.into_iter().for_each(push);
                readers.push(second);
            }
        }
    }
    pairs
}

/// The error for a pair of uses without an order.
fn unordered(frame: &Frame, uses: &RangeUses, pair: &Pair) -> PlanError {
    let one = |member: Member| &frame.uses[member.one as usize];
    let who = |member: Member| {
        ConflictingAccess::new(&frame.passes[member.pass as usize], one(member).access)
    };
    let (first, second) = (one(pair.first), one(pair.second));
    let range = first.range.intersection(&second.range);
    let resource = frame.resource(first.resource).name.clone();
    if first.access.is_write() && second.access.is_write() {
        let (first, second) = (who(pair.first), who(pair.second));
        return PlanError::UnorderedWrites {
            first,
            second,
            resource,
            range,
        };
    }
    let (reader, writer) = if first.access.is_write() {
        (pair.second, pair.first)
    } else {
        (pair.first, pair.second)
    };
    let members = uses
        .spans()
        .nth(pair.span)
        .map_or(&[][..], |(_, members)| members);
    let writers: Vec<ConflictingAccess> = (members.iter())
        .filter(|member| member.writes)
        .map(|member| who(*member))
        .collect();
    let (reader, writer) = (who(reader), who(writer));
    PlanError::AmbiguousRead {
        reader,
        writer,
        writers,
        resource,
        range,
    }
}

/// The uses that read contents that were never written, in declaration order.
///
/// Images are checked span by span. A buffer counts as written once any part of it is: filling a part
/// and declaring a read of the whole is common and harmless.
fn unwritten(frame: &Frame, uses: &RangeUses, order: &[u32], states: &States) -> Vec<Member> {
    let mut found = Vec::new();
    // Computed on first use: most frames have no candidates.
    let mut first_write: Option<FirstWrites> = None;
    for (span, members) in uses.spans() {
        let resource = frame.resource(span.resource);
        if defined_at_start(resource, span, states) {
            continue;
        }
        for member in members {
            let one = &frame.uses[member.one as usize];
            if one.access.is_read() && !one.discard {
                let first = first_write.get_or_insert_with(|| FirstWrites::new(frame, uses, order));
                if resource.is_image() || !first.is_before(span.resource, member.pass) {
                    found.push(*member);
                }
            }
            if member.writes {
                break;
            }
        }
    }
    found.sort_unstable_by_key(|member| member.one);
    found.dedup();
    found
}

/// The first writer of each resource.
struct FirstWrites {
    /// By pass: its position in the order.
    rank: Vec<u32>,
    /// By resource, the rank of the first pass that writes it.
    first: Vec<u32>,
}

impl FirstWrites {
    fn new(frame: &Frame, uses: &RangeUses, order: &[u32]) -> Self {
        let rank = ranks(order);
        let mut first = vec![u32::MAX; frame.resources.len()];
        for (span, members) in uses.spans() {
            if let Some(member) = members.iter().find(|member| member.writes) {
                let first = &mut first[span.resource.0 as usize];
                *first = (*first).min(rank[member.pass as usize]);
            }
        }
        Self { rank, first }
    }

    /// Whether a resource is written before a pass.
    fn is_before(&self, resource: ResourceIndex, pass: u32) -> bool {
        self.first[resource.0 as usize] < self.rank[pass as usize]
    }
}

/// Whether earlier frames have left contents in all of a span, or anywhere in a buffer.
fn defined_at_start(resource: &Resource, span: &Span, states: &States) -> bool {
    let Some(map) = states
        .map(resource.id)
        .filter(|_| resource.lifetime == Lifetime::Persistent)
    else {
        return false;
    };
    if !resource.is_image() {
        return map.iter().any(|(_, state)| state.defined);
    }
    let mut within = map.iter_within(span.interval.clone());
    within.all(|(_, state)| state.defined)
}

/// The error for a read of contents that were never written.
fn never_written(frame: &Frame, member: Member) -> PlanError {
    let reader = &frame.uses[member.one as usize];
    PlanError::NeverWritten {
        reader: ConflictingAccess::new(&frame.passes[member.pass as usize], reader.access),
        resource: frame.resource(reader.resource).name.clone(),
        range: reader.range,
    }
}
