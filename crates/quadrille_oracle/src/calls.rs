//! Submit calls: whether their submissions can complete, in whatever order queues execute them.

use quadrille_sync::plan::{Plan, SubmitCall};
use quadrille_sync::topology::{SubmitPolicy, Topology};

use crate::violation::Violation;

/// Judges the calls that submit a plan of a topology.
///
/// The rules:
///
/// - Each submission is submitted once, in plan order on its queue.
/// - The calls must not end in a deadlock. Queues of one family and index are one `VkQueue`, which
///   executes its submissions in order.
/// - With `SubmitPolicy::InOrder`, no call waits for a signal that a later call submits.
/// - With `SubmitPolicy::Coalesced`, a queue with a `VkQueue` of its own has at most one call between
///   two host passes.
/// - No call contains submissions from both before and after a host pass.
pub fn judge_calls(plan: &Plan, topology: &Topology, calls: &[SubmitCall]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut times = vec![0_usize; plan.submissions.len()];
    for at in calls.iter().flat_map(|call| &call.submissions) {
        if let Some(times) = times.get_mut(*at) {
            *times += 1;
        }
    }
    for (submission, times) in times.iter().enumerate().filter(|(_, times)| **times != 1) {
        let times = *times;
        violations.push(Violation::CallCount { submission, times });
    }
    let identity = |queue: usize| {
        let queue = topology.queues.get(queue);
        queue.map(|queue| (queue.family, queue.index))
    };
    let shares = |one: usize| {
        let mut others = (0..topology.queues.len()).filter(|other| *other != one);
        others.any(|other| identity(other) == identity(one))
    };
    // The number of host passes before a submission.
    let gates = |at: usize| {
        let passes = plan.host.iter();
        let before = passes.filter(|step| step.before.is_some_and(|before| before as usize <= at));
        before.count()
    };
    for (at, call) in calls.iter().enumerate() {
        let ends = [call.submissions.first(), call.submissions.last()];
        let [Some(first), Some(last)] = ends.map(|end| end.map(|end| gates(*end))) else {
            continue;
        };
        if first != last {
            violations.push(Violation::CallAcrossHost { queue: call.queue });
        }
        let again = calls[..at].iter().any(|other| {
            let gates = other.submissions.first().map(|first| gates(*first));
            other.queue == call.queue && gates == Some(first)
        });
        let is_coalesced = topology.submit == SubmitPolicy::Coalesced;
        if again && is_coalesced && !shares(usize::from(call.queue.0)) {
            violations.push(Violation::SecondCall { queue: call.queue });
        }
    }
    violations.extend(run(plan, topology, calls));
    violations
}

/// Executes the calls, with a first-in-first-out list for each `VkQueue`.
fn run(plan: &Plan, topology: &Topology, calls: &[SubmitCall]) -> Vec<Violation> {
    let count = topology.queues.len();
    // The first queue with the same identity stands for all of them.
    let line_of = |queue: usize| {
        let of = |queue: usize| (topology.queues[queue].family, topology.queues[queue].index);
        let mut queues = 0..count;
        queues
            .find(|other| of(*other) == of(queue))
            .unwrap_or(queue)
    };
    let mut lines: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut submitted = vec![0_i64; count];
    let mut violations = Vec::new();
    let members = calls.iter().flat_map(|call| &call.submissions);
    for at in members.filter(|at| **at < plan.submissions.len()) {
        submit(plan, topology, *at, &mut submitted, &mut violations);
        lines[line_of(usize::from(plan.submissions[*at].queue.0))].push(*at);
    }
    let mut values = vec![0_i64; count];
    let mut heads = vec![0; count];
    let open = |at: usize, values: &[i64]| {
        let mut waits = plan.submissions[at].waits.iter().map(|wait| wait.point);
        waits.find(|point| point.offset > values[usize::from(point.queue.0)])
    };
    let head = |line: usize, heads: &[usize]| lines[line].get(heads[line]).copied();
    while let Some(line) =
        (0..count).find(|line| head(*line, &heads).is_some_and(|at| open(at, &values).is_none()))
    {
        let submission = &plan.submissions[lines[line][heads[line]]];
        values[usize::from(submission.queue.0)] = submission.signal;
        heads[line] += 1;
    }
    let stuck = (0..count).filter_map(|line| head(line, &heads));
    violations.extend(stuck.filter_map(|submission| {
        let point = open(submission, &values)?;
        Some(Violation::Deadlock {
            submission,
            queue: point.queue,
            value: point.offset.into(),
        })
    }));
    violations
}

/// Submits one submission to its queue.
fn submit(
    plan: &Plan,
    topology: &Topology,
    at: usize,
    submitted: &mut [i64],
    violations: &mut Vec<Violation>,
) {
    let submission = &plan.submissions[at];
    for point in submission.waits.iter().map(|wait| wait.point) {
        let signalled = submitted[usize::from(point.queue.0)];
        if topology.submit == SubmitPolicy::InOrder && point.offset > signalled {
            violations.push(Violation::WaitBeforeSignal {
                submission: at,
                queue: point.queue,
                value: point.offset.into(),
            });
        }
    }
    let last = &mut submitted[usize::from(submission.queue.0)];
    if submission.signal <= *last {
        violations.push(Violation::SignalNotIncreasing {
            submission: at,
            queue: submission.queue,
            value: submission.signal.into(),
            last: last.unsigned_abs(),
        });
    }
    *last = submission.signal;
}

#[cfg(test)]
mod tests;
