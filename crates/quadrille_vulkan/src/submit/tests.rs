use quadrille_sync::{QueueIndex, Submission, SubmitPolicy};

use super::runs;

/// Submissions by queue number; runs as `queue:members` words.
fn check(queues: &[u8], policy: SubmitPolicy, expected: &str) {
    let submissions: Vec<_> = queues
        .iter()
        .map(|&queue| Submission {
            queue: QueueIndex(queue),
            waits: Vec::new(),
            acquires: Vec::new(),
            steps: Vec::new(),
            signal: 1,
            presents: Vec::new(),
        })
        .collect();
    let words: Vec<_> = runs(&submissions, policy)
        .iter()
        .map(|(queue, members)| {
            let members: Vec<_> = members.iter().map(usize::to_string).collect();
            format!("{}:{}", queue.0, members.join(","))
        })
        .collect();
    assert_eq!(words.join(" "), expected, "{queues:?}");
}

#[test]
fn in_order_runs_end_where_the_queue_changes() {
    check(&[0, 0, 1, 0], SubmitPolicy::InOrder, "0:0,1 1:2 0:3");
    check(&[], SubmitPolicy::InOrder, "");
}

#[test]
fn coalesced_queues_have_one_run() {
    check(&[0, 0, 1, 0, 1], SubmitPolicy::Coalesced, "0:0,1,3 1:2,4");
}
