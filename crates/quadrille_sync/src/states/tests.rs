use super::*;
use crate::access::Access;
use crate::frame::{Frame, QueueRequest, Use};
use crate::planner::Planner;
use crate::resource::{BlockId, Resource};
use crate::solve::plan;
use crate::text::{parse_frame, parse_topology};
use crate::topology::Topology;

/// A frame with one pass that uses one buffer.
fn frame(access: Access, queue: Option<u8>) -> Frame {
    let mut frame = Frame::default();
    let cells = frame.add_resource(Resource::buffer(ResourceId(3), "cells", 64));
    let request = QueueRequest {
        fixed: queue.map(QueueIndex),
        ..QueueRequest::default()
    };
    frame.add_pass("pass", request, &[Use::whole(cells, access)], &[]);
    frame
}

fn run(states: &mut States, topology: &Topology, frame: &Frame) {
    let plan = plan(frame, topology, states).unwrap();
    states.commit(frame, topology, &plan);
}

fn point(queue: u8, value: u64) -> TimelinePoint {
    TimelinePoint {
        queue: QueueIndex(queue),
        value,
    }
}

#[test]
fn nothing_has_happened_at_first() {
    let states = States::default();
    assert_eq!(states.base(QueueIndex(7)), 0);
    assert_eq!(states.last_uses(ResourceId(3)).count(), 0);
    assert!(!states.ever_written(ResourceId(3)));
}

#[test]
fn last_uses_are_kept_for_each_queue() {
    let topology = parse_topology("gct:2").unwrap();
    let mut states = States::default();
    run(&mut states, &topology, &frame(Access::CopyWrite, Some(0)));
    run(&mut states, &topology, &frame(Access::CopyRead, Some(1)));
    run(&mut states, &topology, &frame(Access::CopyRead, Some(1)));
    let mut uses: Vec<TimelinePoint> = states.last_uses(ResourceId(3)).collect();
    uses.sort();
    assert_eq!(uses, [point(0, 1), point(1, 2)]);
    assert_eq!(states.base(QueueIndex(1)), 2);
    assert_eq!(states.absolute(QueueIndex(1), -1), 1);
}

#[test]
fn a_frame_that_is_not_committed_leaves_no_trace() {
    let topology = parse_topology("gct:1").unwrap();
    let states = States::default();
    let frame = frame(Access::CopyWrite, None);
    let first = plan(&frame, &topology, &states).unwrap();
    assert_eq!(plan(&frame, &topology, &states).unwrap(), first);
    assert!(!states.ever_written(ResourceId(3)));
}

#[test]
fn a_removed_resource_is_fresh_again() {
    let topology = parse_topology("gct:1").unwrap();
    let mut states = States::default();
    run(&mut states, &topology, &frame(Access::CopyWrite, None));
    assert!(states.ever_written(ResourceId(3)));
    states.remove(ResourceId(3));
    states.remove(ResourceId(1000));
    assert!(!states.ever_written(ResourceId(3)));
    assert!(plan(&frame(Access::CopyRead, None), &topology, &states).is_err());
}

#[test]
fn an_imported_resource_can_be_read() {
    let topology = parse_topology("gct:1").unwrap();
    let mut states = States::default();
    let frame = frame(Access::UniformReadFragment, None);
    assert!(plan(&frame, &topology, &states).is_err());
    states.import(ResourceId(3), Layout::Undefined, None);
    let plan = plan(&frame, &topology, &states).unwrap();
    assert_eq!(
        plan.counts().barriers,
        0,
        "the host's writes need no barrier"
    );
}

#[test]
fn importing_keeps_the_points_for_retiring() {
    let topology = parse_topology("gct:1").unwrap();
    let mut states = States::default();
    run(&mut states, &topology, &frame(Access::CopyWrite, None));
    states.import(ResourceId(3), Layout::Undefined, None);
    assert_eq!(
        states.last_uses(ResourceId(3)).collect::<Vec<_>>(),
        [point(0, 1)]
    );
}

#[test]
fn progress_reaches_points_in_order() {
    let progress = Progress { values: vec![2, 0] };
    assert!(progress.reached(point(0, 1)));
    assert!(progress.reached(point(0, 2)));
    assert!(!progress.reached(point(0, 3)));
    assert!(!progress.reached(point(1, 1)));
    assert!(
        !progress.reached(point(2, 1)),
        "a queue that nobody has heard of"
    );
}

#[test]
fn states_of_more_queues_are_refused() {
    let mut states = States::default();
    run(
        &mut states,
        &parse_topology("gct:2").unwrap(),
        &frame(Access::CopyWrite, None),
    );
    let one = parse_topology("gct:1").unwrap();
    assert!(plan(&frame(Access::CopyRead, None), &one, &states).is_err());
}

#[test]
fn an_owner_outside_of_the_topology_is_refused() {
    let mut states = States::default();
    states.import(ResourceId(3), Layout::Undefined, Some(FamilyIndex(9)));
    let topology = parse_topology("gct:1,ct:1").unwrap();
    let errors = plan(&frame(Access::CopyRead, None), &topology, &states).unwrap_err();
    assert!(
        errors.to_string().contains("owned by queue family 9"),
        "{errors}"
    );
}

#[test]
fn an_imported_owner_releases() {
    let mut states = States::default();
    states.import(ResourceId(3), Layout::Undefined, Some(FamilyIndex(1)));
    let topology = parse_topology("gct:1,ct:1").unwrap();
    let plan = plan(&frame(Access::CopyRead, Some(0)), &topology, &states).unwrap();
    let counts = plan.counts();
    assert_eq!((counts.submissions, counts.ownership_transfers), (2, 1));
}

/// Frames of the test below: a usual one, one that reads its own results, and one with other resources.
const USUAL: &str = "buffer a 0 bytes 64\nbuffer b 1 bytes 64\nimage c 2 aspects COLOR mips 2 layers 1\n\
    pass write requires COMPUTE async\n  StorageWriteCompute a\n  StorageWriteCompute c aspects COLOR mips 0..1 layers 0..1\n\
    pass both requires COMPUTE\n  StorageReadCompute a\n  StorageWriteCompute b\n\
    pass draw requires GRAPHICS\n  SampledFragment c aspects COLOR mips 0..1 layers 0..1\n  StorageReadFragment b";
const ANOTHER: &str = "buffer a 0 bytes 64\nimage c 2 aspects COLOR mips 2 layers 1\n\
    pass look requires GRAPHICS\n  SampledFragment c aspects COLOR mips 0..1 layers 0..1\n\
    pass count requires COMPUTE async\n  StorageReadCompute a";
const APART: &str = "buffer d 3 bytes 64\nbuffer e 4 bytes 64 transient block 0 bytes 0..64\n\
    pass fill requires COMPUTE async\n  StorageWriteCompute d\n  StorageWriteCompute e";

/// Commits cached plans to one set of states, and new but equal plans, which are never updated in place,
/// to another.
#[test]
fn states_updated_in_place_equal_rebuilt_states() {
    for topology in ["gct:1", "gct:1,ct:1", "gct:1,ct:2,t:1"] {
        let topology = parse_topology(topology).unwrap();
        let mut planner = Planner::default();
        let (mut ours, mut fresh) = (States::default(), States::default());
        let rounds = [
            (USUAL, 9),
            (ANOTHER, 1),
            (USUAL, 5),
            (APART, 6),
            (USUAL, 4),
            (ANOTHER, 5),
        ];
        for (text, times) in rounds {
            let frame = parse_frame(text).unwrap();
            for round in 0..times {
                let known = || planner.plan_again(&topology, &ours);
                let known = (round > 0).then(known).flatten();
                let planned =
                    known.unwrap_or_else(|| planner.plan(&frame, &topology, &ours).unwrap());
                let plan = plan(&frame, &topology, &fresh).unwrap();
                assert_eq!(*planned.plan, plan, "round {round} of {text}");
                ours.commit(&frame, &topology, &planned.plan);
                fresh.commit(&frame, &topology, &plan);
                assert_are_like(&ours, &fresh, &format!("after round {round} of {text}"));
                assert!(round < 8 || ours.repeat(&planned.plan), "not steady yet");
            }
        }
        // Pending offsets are applied before other changes of the states.
        for states in [&mut ours, &mut fresh] {
            states.import(ResourceId(3), Layout::Undefined, None);
        }
        assert_are_like(&ours, &fresh, "after an import");
    }
}

/// Checks that states are equal after pending offsets are applied.
fn assert_are_like(ours: &States, fresh: &States, when: &str) {
    let mut written = ours.clone();
    written.catch_up();
    for id in (0..5).map(ResourceId) {
        assert_eq!(written.map(id), fresh.map(id), "{id:?} {when}");
        let uses = |states: &States| states.last_uses(id).collect::<Vec<_>>();
        assert_eq!(uses(&written), uses(fresh), "{id:?} {when}");
        assert_eq!(uses(ours), uses(fresh), "{id:?} {when}");
    }
    let (block, queues) = (BlockId(0), fresh.queue_count() as u8);
    assert_eq!(written.block(block), fresh.block(block), "{when}");
    for queue in (0..queues).map(QueueIndex) {
        assert_eq!(ours.base(queue), fresh.base(queue), "{when}");
    }
}
