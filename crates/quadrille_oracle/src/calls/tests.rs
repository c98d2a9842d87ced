use quadrille_sync::plan::{Plan, SubmitCall};
use quadrille_sync::planner::Planner;
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::{parse_frame, parse_topology};
use quadrille_sync::topology::{QueueIndex, SubmitPolicy, Topology};

use super::judge_calls;
use crate::generate;
use crate::{Random, Shape};

/// The plan of passes that alternate between two queues, each after the previous one.
fn ping_pong(topology: &Topology) -> Plan {
    let frame = parse_frame(
        "buffer a 0 bytes 4\npass one fixed 0\n  CopyWrite a\npass two fixed 1\n  \
         StorageReadWriteCompute a\n  after one\npass three fixed 0\n  CopyRead a\n  after two\n",
    )
    .unwrap();
    plan(&frame, topology, &States::default()).unwrap()
}

/// Builds calls from pairs of a queue and its submissions.
fn calls(list: &[(u8, &[usize])]) -> Vec<SubmitCall> {
    let call = |(queue, submissions): &(u8, &[usize])| SubmitCall {
        queue: QueueIndex(*queue),
        submissions: submissions.to_vec(),
    };
    list.iter().map(call).collect()
}

#[track_caller]
fn check(topology: &Topology, list: &[(u8, &[usize])], expected: &[&str]) {
    let violations = judge_calls(&ping_pong(topology), topology, &calls(list));
    let text: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(text, expected);
}

#[test]
fn wrong_calls_are_objected_to() {
    let in_order = parse_topology("gct:2").unwrap();
    check(&in_order, &[(0, &[0]), (1, &[1]), (0, &[2])], &[]);
    let early = "Submission 2 waits for value 1 of queue 1, which no earlier submission signals.";
    check(&in_order, &[(0, &[0, 2]), (1, &[1])], &[early]);
    let coalesced = parse_topology("gct:2 coalesced").unwrap();
    check(&coalesced, &[(0, &[0, 2]), (1, &[1])], &[]);
    let second = "Queue 0 has a second submit call in one frame, though calls are coalesced.";
    check(&coalesced, &[(0, &[0]), (1, &[1]), (0, &[2])], &[second]);
    let mut shared = coalesced.clone();
    shared.queues[1] = shared.queues[0].clone();
    check(&shared, &[(0, &[0]), (1, &[1]), (0, &[2])], &[]);
    let deadlock = "Submission 2 waits for ever, for value 1 of queue 1.";
    check(&shared, &[(0, &[0, 2]), (1, &[1])], &[deadlock]);
    let missing = "Submission 2 is submitted 0 times.";
    check(&coalesced, &[(0, &[0]), (1, &[1])], &[missing]);
}

/// Tries all mappings: each queue may be the same `VkQueue` as the one before it.
#[test]
fn calls_of_random_frames_end_on_any_mapping_of_queues() {
    let shape = Shape {
        passes: 8,
        resources: 4,
        uses: 3,
        frames: 3,
    };
    let mut judged = 0;
    for seed in 0..400 {
        let sequence = generate::sequence(&mut Random::new(seed), &shape);
        for policy in [SubmitPolicy::InOrder, SubmitPolicy::Coalesced] {
            let topology = Topology {
                submit: policy,
                ..sequence.topology.clone()
            };
            let (mut planner, mut states) = (Planner::default(), States::default());
            for frame in &sequence.frames {
                let Ok(planned) = planner.plan(frame, &topology, &states) else {
                    continue;
                };
                judged += mappings(&planned.plan, &topology, seed);
                states.commit(frame, &topology, &planned.plan);
            }
        }
    }
    assert!(judged > 1000, "only {judged} plans were judged");
}

fn mappings(plan: &Plan, topology: &Topology, seed: u64) -> usize {
    let queues = topology.queues.len();
    let masks = 1_u32 << (queues - 1).min(4);
    for mask in 0..masks {
        let mut topology = topology.clone();
        for at in (1..queues).filter(|at| mask >> (at - 1) & 1 == 1) {
            topology.queues[at] = topology.queues[at - 1].clone();
        }
        let violations = judge_calls(plan, &topology, &plan.submit_calls(&topology));
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
    }
    masks as usize
}
