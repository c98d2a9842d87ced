//! Submit calls: can what they submit run, however queues take turns?

use quadrille_sync::{Plan, SubmitCall, SubmitPolicy, Topology};

use crate::violation::Violation;

/// Judges the calls that submit a plan of a topology.
///
/// Each submission is submitted once, in plan order on its queue. Queues of one family and index
/// are one `VkQueue`, which carries out what it is given first before it looks at the rest; with
/// this the calls must not end in a deadlock. In order, they must not even have to wait for a
/// signal that is submitted later; coalesced, no queue that is a `VkQueue` of its own has two
/// between the same host passes. No call holds submissions from before and after a host pass.
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
    // How many host passes come before a submission.
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

/// Carries the calls out, one first-in-first-out line for each `VkQueue`.
fn run(plan: &Plan, topology: &Topology, calls: &[SubmitCall]) -> Vec<Violation> {
    let count = topology.queues.len();
    // The first queue with the same identity stands for all of them.
    let line_of = |queue: usize| {
        let of = |queue: usize| (topology.queues[queue].family, topology.queues[queue].index);
        (0..count)
            .find(|other| of(*other) == of(queue))
            .unwrap_or(queue)
    };
    let mut lines: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut values = vec![0_i64; count];
    let mut violations = Vec::new();
    let mut submitted = vec![0_i64; count];
    for call in calls {
        for at in &call.submissions {
            let Some(submission) = plan.submissions.get(*at) else {
                continue;
            };
            for wait in &submission.waits {
                let signalled = submitted[usize::from(wait.point.queue.0)];
                if topology.submit == SubmitPolicy::InOrder && wait.point.offset > signalled {
                    violations.push(Violation::WaitBeforeSignal {
                        submission: *at,
                        queue: wait.point.queue,
                        value: wait.point.offset.into(),
                    });
                }
            }
            let queue = usize::from(submission.queue.0);
            if submission.signal <= submitted[queue] {
                violations.push(Violation::SignalNotIncreasing {
                    submission: *at,
                    queue: submission.queue,
                    value: submission.signal.into(),
                    last: submitted[queue].unsigned_abs(),
                });
            }
            submitted[queue] = submission.signal;
            lines[line_of(queue)].push(*at);
        }
    }
    let mut heads = vec![0; count];
    loop {
        let runnable = (0..count).find(|line| {
            let head = lines[*line].get(heads[*line]);
            head.is_some_and(|at| {
                let waits = &plan.submissions[*at].waits;
                let reached = |it: &quadrille_sync::RelativePoint| {
                    it.offset <= values[usize::from(it.queue.0)]
                };
                waits.iter().all(|wait| reached(&wait.point))
            })
        });
        let Some(line) = runnable else { break };
        let submission = &plan.submissions[lines[line][heads[line]]];
        values[usize::from(submission.queue.0)] = submission.signal;
        heads[line] += 1;
    }
    for (line, head) in lines.iter().zip(heads) {
        if let Some(at) = line.get(head) {
            let waits = plan.submissions[*at].waits.iter();
            let mut open =
                waits.filter(|it| it.point.offset > values[usize::from(it.point.queue.0)]);
            violations.extend(open.next().map(|wait| Violation::Deadlock {
                submission: *at,
                queue: wait.point.queue,
                value: wait.point.offset.into(),
            }));
        }
    }
    violations
}

#[cfg(test)]
mod tests;
