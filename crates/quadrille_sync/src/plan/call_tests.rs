use crate::{Plan, QueueIndex, Submission, parse_topology};

/// Submissions by queue number; calls as `queue:members` words. `twice` makes queues 0 and 1 one
/// `VkQueue`.
#[track_caller]
fn check(queues: &[u8], topology: &str, twice: bool, expected: &str) {
    let mut topology = parse_topology(topology).unwrap();
    if twice {
        topology.queues[1] = topology.queues[0].clone();
    }
    let submission = |&queue: &u8| Submission {
        queue: QueueIndex(queue),
        waits: Vec::new(),
        acquires: Vec::new(),
        steps: Vec::new(),
        signal: 1,
        presents: Vec::new(),
    };
    let plan = Plan {
        submissions: queues.iter().map(submission).collect(),
        ..Plan::default()
    };
    let words: Vec<_> = plan
        .submit_calls(&topology)
        .iter()
        .map(|call| {
            let members: Vec<_> = call.submissions.iter().map(usize::to_string).collect();
            format!("{}:{}", call.queue.0, members.join(","))
        })
        .collect();
    assert_eq!(words.join(" "), expected, "{queues:?}");
}

#[test]
fn in_order_calls_end_where_the_queue_changes() {
    check(&[0, 0, 1, 0], "gct:2", false, "0:0,1 1:2 0:3");
    check(&[], "gct:2", false, "");
}

#[test]
fn coalesced_queues_have_one_call() {
    check(&[0, 0, 1, 0, 1], "gct:2 coalesced", false, "0:0,1,3 1:2,4");
}

#[test]
fn queues_that_share_one_stay_in_order() {
    let expected = "0:0 2:1,4 1:2 0:3";
    check(&[0, 2, 1, 0, 2], "gct:2,ct:1 coalesced", true, expected);
}
