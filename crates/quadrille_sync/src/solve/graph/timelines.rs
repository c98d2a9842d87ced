//! Order by timeline semaphores of the user: a value only rises, so each signal precedes signals of
//! higher values, and waits for its value or higher ones (section "Semaphore Signaling").

use crate::error::PlanError;
use crate::frame::{Frame, PassKind, TimelineUse, TimelineUseKind as Kind};
use crate::solve::graph::{Edge, Graph};

/// Adds the order that timeline values need. Reports values that can never be reached in the order of
/// the passes. A cycle of `graph` must have been reported before.
pub(crate) fn order_by_timelines(frame: &Frame, graph: &mut Graph, errors: &mut Vec<PlanError>) {
    let mut uses: Vec<&TimelineUse> = Vec::with_capacity(frame.timeline_uses.len());
    for one in &frame.timeline_uses {
        match frame.passes.get(one.pass.0 as usize) {
            Some(pass) if pass.kind == PassKind::Host => {
                errors.push(PlanError::TimelineOfHostPass {
                    pass: pass.name.clone(),
                });
            }
            Some(_) if (one.timeline as usize) < frame.timelines.len() => uses.push(one),
            _ => errors.push(PlanError::UnknownTimeline {
                timeline: one.timeline,
                pass: one.pass.0,
            }),
        }
    }
    uses.sort_by_key(|one| (one.timeline, one.value, one.kind));
    for of_timeline in uses.chunk_by(|a, b| a.timeline == b.timeline) {
        let mut last: Option<&TimelineUse> = None;
        for one in of_timeline.iter().copied() {
            if let Some(signal) = last {
                follow(frame, (signal, one), graph, errors);
            }
            if one.kind == Kind::Signal {
                last = Some(one);
            }
        }
    }
}

/// Orders a pass after the one that signals the same timeline before it.
fn follow(
    frame: &Frame,
    (signal, later): (&TimelineUse, &TimelineUse),
    graph: &mut Graph,
    errors: &mut Vec<PlanError>,
) {
    let (from, to) = (signal.pass.0, later.pass.0);
    let is_signal = later.kind == Kind::Signal;
    if from == to && is_signal && signal.value < later.value {
        return;
    }
    if from == to || is_signal && signal.value == later.value || is_reached(graph, to, from) {
        let error = impossible(frame, signal, later);
        // A pass that waits and signals would be reported twice against the same pass.
        if !errors.iter().any(|known| is_of_same_passes(known, &error)) {
            errors.push(error);
        }
    } else {
        let resource = None;
        graph.extend(std::iter::once(Edge { from, to, resource }));
    }
}

/// Whether two errors are about the order of the same passes by the same timeline.
fn is_of_same_passes(one: &PlanError, other: &PlanError) -> bool {
    let passes = |error: &PlanError| match error {
        PlanError::TimelineNeverReached {
            timeline,
            signaller,
            later,
            ..
        } => Some((timeline.clone(), signaller.clone(), later.clone())),
        _ => None,
    };
    passes(one).is_some_and(|one| Some(one) == passes(other))
}

/// The error for a use that cannot follow a signal.
fn impossible(frame: &Frame, signal: &TimelineUse, later: &TimelineUse) -> PlanError {
    let of = &frame.timelines[signal.timeline as usize];
    let timeline = of.name.clone();
    let name = |one: &TimelineUse| frame.pass(one.pass).name.clone();
    let value = |one: &TimelineUse| of.base.saturating_add(one.value);
    if later.kind == Kind::Signal && signal.value == later.value {
        PlanError::TimelineSignalledTwice {
            timeline,
            first: name(signal),
            second: name(later),
            value: value(later),
        }
    } else if signal.pass == later.pass {
        PlanError::TimelineOfItself {
            timeline,
            pass: name(later),
            wanted: value(later),
            signalled: value(signal),
        }
    } else {
        PlanError::TimelineNeverReached {
            timeline,
            signaller: name(signal),
            signalled: value(signal),
            later: name(later),
            value: value(later),
            waits: later.kind == Kind::Wait,
        }
    }
}

/// Whether one pass precedes another. A depth-first search for each query: frames have few timeline
/// values.
fn is_reached(graph: &Graph, from: u32, to: u32) -> bool {
    let mut seen = vec![false; graph.len()];
    let mut open = vec![from];
    while let Some(pass) = open.pop() {
        if pass == to {
            return true;
        }
        if !std::mem::replace(&mut seen[pass as usize], true) {
            open.extend(graph.after(pass));
        }
    }
    false
}
