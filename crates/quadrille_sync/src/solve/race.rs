//! Phase `race`: does the order say who sees whose writes?

use std::ops::Range;

use super::check::party;
use super::graph::{Graph, ranks};
use super::touch::{Span, Touches};
use crate::error::{Party, PlanError};
use crate::frame::Frame;
use crate::resource::{Lifetime, Resource};
use crate::states::States;

/// Two uses that need an order.
struct Pair {
    first: u32,
    second: u32,
    /// The span whose writers an error lists.
    span: usize,
}

/// Reports uses without an order that they need, and reads of what was never written.
/// `touches` is sorted by `order`.
pub(super) fn race(
    frame: &Frame,
    touches: &Touches,
    graph: &Graph,
    order: &[u32],
    states: &States,
    errors: &mut Vec<PlanError>,
) {
    let pairs = pairs(frame, touches);
    let ends: Vec<(u32, u32)> = (pairs.iter())
        .map(|pair| (touches.pass_of(pair.first), touches.pass_of(pair.second)))
        .collect();
    let ordered = graph.reaches(order, &ends);
    let mut reported = Vec::new();
    for ((pair, ends), _) in pairs
        .iter()
        .zip(ends)
        .zip(ordered)
        .filter(|(_, ordered)| !ordered)
    {
        // The same two passes may meet in many spans; one error says enough.
        let resource = frame.uses[pair.first as usize].resource;
        if !reported.contains(&(ends, resource)) {
            reported.push((ends, resource));
            errors.push(unordered(frame, touches, pair));
        }
    }
    for one in unwritten(frame, touches, order, states) {
        errors.push(never_written(frame, touches, one));
    }
}

/// All pairs of neighbours that need an order, among uses of spans with several writers. The rest
/// follows: order is transitive, and [`depend`](super::depend) has ordered the other spans.
fn pairs(frame: &Frame, touches: &Touches) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (at, (_, members)) in touches.spans().enumerate() {
        let writes = |one: u32| frame.uses[one as usize].access.is_write();
        if members.iter().filter(|one| writes(**one)).count() < 2 {
            continue;
        }
        let mut writer: Option<u32> = None;
        let mut readers: Vec<u32> = Vec::new();
        for one in members {
            let mut push = |first: u32| {
                if touches.pass_of(first) != touches.pass_of(*one) {
                    pairs.push(Pair {
                        first,
                        second: *one,
                        span: at,
                    });
                }
            };
            if writes(*one) {
                readers.iter().for_each(|reader| push(*reader));
                if readers.is_empty() {
                    writer.into_iter().for_each(push);
                }
                readers.clear();
                writer = Some(*one);
            } else {
                writer.into_iter().for_each(push);
                readers.push(*one);
            }
        }
    }
    pairs
}

/// The error for a pair without order.
fn unordered(frame: &Frame, touches: &Touches, pair: &Pair) -> PlanError {
    let one = |at: u32| &frame.uses[at as usize];
    let who = |at: u32| party(&frame.passes[touches.pass_of(at) as usize], one(at).access);
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
    let members = touches
        .spans()
        .nth(pair.span)
        .map_or(&[][..], |(_, members)| members);
    let writers: Vec<Party> = (members.iter())
        .filter(|member| one(**member).access.is_write())
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

/// The uses that read what nobody has ever written, in declaration order.
///
/// Images are judged span by span. A buffer counts as written once any of it is: filling a part
/// and reading the whole is common and does no harm.
fn unwritten(frame: &Frame, touches: &Touches, order: &[u32], states: &States) -> Vec<u32> {
    let rank = ranks(order);
    let rank_of = |one: u32| rank[touches.pass_of(one) as usize];
    let first_write = first_writes(frame, touches, &rank);
    let mut found = Vec::new();
    for (span, members) in touches.spans() {
        let resource = frame.resource(span.resource);
        let mut defined = defined_at_start(resource, span, states);
        for one in members {
            let access = frame.uses[*one as usize].access;
            let filled =
                !resource.is_image() && first_write[span.resource.0 as usize] < rank_of(*one);
            let needs_contents = access.is_read() && !frame.uses[*one as usize].discard;
            if needs_contents && !defined && !filled {
                found.push(*one);
            }
            defined |= access.is_write();
            if defined {
                break;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The rank of the first pass that writes each resource.
fn first_writes(frame: &Frame, touches: &Touches, rank: &[u32]) -> Vec<u32> {
    let mut first = vec![u32::MAX; frame.resources.len()];
    for (span, members) in touches.spans() {
        let writes = |one: &&u32| frame.uses[**one as usize].access.is_write();
        if let Some(one) = members.iter().find(writes) {
            let first = &mut first[span.resource.0 as usize];
            *first = (*first).min(rank[touches.pass_of(*one) as usize]);
        }
    }
    first
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
    let meets = |run: &Range<u64>| run.start < span.interval.end && span.interval.start < run.end;
    map.iter()
        .filter(|(run, _)| meets(run))
        .all(|(_, state)| state.defined)
}

/// The error for a read of nothing.
fn never_written(frame: &Frame, touches: &Touches, one: u32) -> PlanError {
    let reader = &frame.uses[one as usize];
    PlanError::NeverWritten {
        reader: party(&frame.passes[touches.pass_of(one) as usize], reader.access),
        resource: frame.resource(reader.resource).name.clone(),
        range: reader.range,
    }
}
