use crate::frame::PassIndex;
use crate::plan::{HostStep, Plan, Submission};
use crate::text::parse_topology;
use crate::topology::QueueIndex;

/// Compares the calls for submissions to these queues with `expected`, in words `queue:submissions`.
/// `twice` makes queues 0 and 1 one `VkQueue`.
#[track_caller]
fn check(queues: &[u8], topology: &str, twice: bool, expected: &str) {
    check_with_host(queues, &[], topology, twice, expected);
}

/// [`check`] with host passes, each given by the submission after it.
#[track_caller]
fn check_with_host(
    queues: &[u8],
    host: &[Option<u32>],
    topology: &str,
    twice: bool,
    expected: &str,
) {
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
    let step = |before: &Option<u32>| HostStep {
        pass: PassIndex(0),
        waits: Vec::new(),
        before: *before,
    };
    let plan = Plan {
        submissions: queues.iter().map(submission).collect(),
        host: host.iter().map(step).collect(),
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

#[test]
fn no_call_reaches_beyond_a_host_pass() {
    let host = [Some(2), Some(2), None];
    let queues = [0, 1, 0, 1, 1];
    check_with_host(
        &queues,
        &host,
        "gct:2 coalesced",
        false,
        "0:0 1:1 0:2 1:3,4",
    );
    check_with_host(&[0, 0], &[Some(1)], "gct:1", false, "0:0 0:1");
}

/// Compares segments with `expected`, in words `host/submissions`. Host passes are given by the submission
/// after each.
#[track_caller]
fn check_segments(submissions: usize, host: &[Option<u32>], expected: &str) {
    let submission = |_| Submission {
        queue: QueueIndex(0),
        waits: Vec::new(),
        acquires: Vec::new(),
        steps: Vec::new(),
        signal: 1,
        presents: Vec::new(),
    };
    let step = |before: &Option<u32>| HostStep {
        pass: PassIndex(0),
        waits: Vec::new(),
        before: *before,
    };
    let plan = Plan {
        submissions: (0..submissions).map(submission).collect(),
        host: host.iter().map(step).collect(),
        ..Plan::default()
    };
    let words: Vec<_> = plan
        .segments()
        .iter()
        .map(|segment| format!("{:?}/{:?}", segment.host, segment.submissions))
        .collect();
    assert_eq!(words.join(" "), expected, "{host:?}");
}

#[test]
fn host_passes_cut_the_submissions() {
    check_segments(3, &[], "0..0/0..3");
    check_segments(3, &[Some(0), None], "0..1/0..3");
    let host = [Some(1), Some(1), Some(2), None];
    check_segments(3, &host, "0..0/0..1 0..2/1..2 2..3/2..3");
    check_segments(0, &[None], "0..0/0..0");
}
