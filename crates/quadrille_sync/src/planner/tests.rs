use super::*;
use crate::text::{parse_frame, parse_topology};

/// Plans frames one after the other, and returns which of them reused a plan.
fn reuse(topology: &str, frames: &[&str]) -> Vec<bool> {
    let topology = parse_topology(topology).unwrap();
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut reused = Vec::new();
    for text in frames {
        let frame = parse_frame(text).unwrap();
        let planned = planner.plan(&frame, &topology, &states).unwrap();
        let fresh = crate::solve::plan(&frame, &topology, &states).unwrap();
        assert_eq!(
            *planned.plan, fresh,
            "a reused plan is what would be planned"
        );
        states.commit(&frame, &topology, &planned.plan);
        reused.push(planned.reused);
    }
    reused
}

const WRITE: &str = "buffer cells 0 bytes 64\npass write\n  StorageWriteCompute cells";
const READ: &str = "buffer cells 0 bytes 64\npass read\n  UniformReadVertex cells";

#[test]
fn a_steady_frame_is_planned_twice() {
    assert_eq!(
        reuse("gct:1", &[WRITE, WRITE, WRITE, WRITE]),
        [false, false, true, true]
    );
}

#[test]
fn alternating_frames_are_recognised() {
    let frames = [WRITE, READ, WRITE, READ, WRITE, READ];
    assert_eq!(
        reuse("gct:1", &frames),
        [false, false, false, true, true, true]
    );
}

#[test]
fn another_state_is_another_plan() {
    // The write is already visible to the second read, which needs no barrier; the third is equal.
    assert_eq!(
        reuse("gct:1", &[WRITE, READ, READ, READ]),
        [false, false, false, true]
    );
}

#[test]
fn a_write_long_ago_on_another_queue_does_not_matter() {
    let upload = "buffer cells 0 bytes 64 concurrent\n\
        pass upload requires TRANSFER async\n  CopyWrite cells";
    let read = "buffer cells 0 bytes 64 concurrent\npass read\n  UniformReadVertex cells";
    let other =
        "buffer other 1 bytes 64\npass busy requires COMPUTE async\n  StorageWriteCompute other";
    // The queues' values drift apart while `read` stays the same.
    let frames = [upload, read, read, read, other, other, read, other, read];
    let expected = [false, false, false, true, false, false, true, true, true];
    assert_eq!(reuse("gct:1,ct:1,t:1", &frames), expected);
}

#[test]
fn readers_on_queues_that_know_nothing_of_each_other_reach_a_steady_state() {
    let write =
        "buffer cells 0 bytes 64 concurrent\npass write fixed 0\n  StorageWriteCompute cells";
    let left = "buffer cells 0 bytes 64 concurrent\npass left fixed 1\n  StorageReadCompute cells";
    let right =
        "buffer cells 0 bytes 64 concurrent\npass right fixed 2\n  StorageReadCompute cells";
    let frames = [write, left, right, right, right, right];
    let reused = reuse("gct:1,ct:2", &frames);
    assert!(reused[4] && reused[5], "{reused:?}");
}

#[test]
fn another_topology_is_another_plan() {
    let frame = parse_frame(WRITE).unwrap();
    let mut planner = Planner::default();
    let states = States::default();
    for (topology, reused) in [("gct:1", false), ("gct:1 precise", false), ("gct:1", true)] {
        let topology = parse_topology(topology).unwrap();
        let planned = planner.plan(&frame, &topology, &states).unwrap();
        assert_eq!(planned.reused, reused);
    }
}

#[test]
fn old_plans_are_forgotten() {
    let topology = parse_topology("gct:1").unwrap();
    let mut planner = Planner::default();
    let states = States::default();
    let frame = |id: usize| {
        parse_frame(&format!(
            "buffer cells {id} bytes 64\npass write\n  StorageWriteCompute cells"
        ))
        .unwrap()
    };
    for id in 0..CACHED_PLANS + 1 {
        assert!(!planner.plan(&frame(id), &topology, &states).unwrap().reused);
    }
    assert!(planner.plan(&frame(1), &topology, &states).unwrap().reused);
    assert!(!planner.plan(&frame(0), &topology, &states).unwrap().reused);
    assert_eq!(planner.cached.len(), CACHED_PLANS);
}

#[test]
fn the_same_frame_again_is_not_compared_with_others() {
    let topology = parse_topology("gct:1").unwrap();
    let (mut planner, mut states) = (Planner::default(), States::default());
    assert!(
        planner.plan_again(&topology, &states).is_none(),
        "there is no last frame"
    );
    let frame = parse_frame(WRITE).unwrap();
    for expected in [false, false, true, true] {
        let again = planner.plan_again(&topology, &states);
        let planned = planner.plan(&frame, &topology, &states).unwrap();
        assert_eq!(again.is_some(), expected, "from the states that `plan` has");
        assert!(again.is_none_or(|again| again.plan == planned.plan));
        states.commit(&frame, &topology, &planned.plan);
    }
    // Another frame, and one that cannot be planned.
    let read = parse_frame(READ).unwrap();
    let planned = planner.plan(&read, &topology, &states).unwrap();
    states.commit(&read, &topology, &planned.plan);
    assert!(
        planner.plan_again(&topology, &states).is_none(),
        "after the write it was another plan"
    );
    let race = "buffer cells 0 bytes 64\npass one\n  StorageWriteCompute cells\npass two\n  StorageWriteCompute cells";
    let race = parse_frame(race).unwrap();
    assert!(planner.plan(&race, &topology, &states).is_err());
    assert!(
        planner.plan_again(&topology, &states).is_none(),
        "the last frame has no plan"
    );
}

#[test]
fn an_id_is_used_again_only_once_it_is_free() {
    let topology = parse_topology("gct:1").unwrap();
    let (mut planner, mut states) = (Planner::default(), States::default());
    let frame = parse_frame(WRITE).unwrap();
    let longer = parse_frame(&WRITE.replace("bytes 64", "bytes 128")).unwrap();
    let mut run = |states: &mut States, frame| {
        let planned = planner.plan(frame, &topology, states)?;
        states.commit(frame, &topology, &planned.plan);
        Ok::<_, PlanErrors>(())
    };
    run(&mut states, &frame).unwrap();
    run(&mut states, &frame).unwrap();
    assert!(run(&mut states, &longer).is_err(), "64 bytes are there");
    states.remove(crate::resource::ResourceId(0));
    run(&mut states, &longer).unwrap();
    run(&mut states, &longer).unwrap();
    // The states fit a cached plan, except for the size of the resource.
    assert!(run(&mut states, &frame).is_err(), "128 bytes are there");
}

#[test]
fn frames_that_never_come_again_are_not_kept_for_long() {
    let topology = parse_topology("gct:1").unwrap();
    let (mut planner, states) = (Planner::default(), States::default());
    let frame = |id: usize| {
        parse_frame(&format!(
            "buffer cells {id} bytes 64\npass write\n  StorageWriteCompute cells\n\
             pass read\n  StorageReadCompute cells\n  after write"
        ))
        .unwrap()
    };
    let mut plan = |id: usize| {
        let cost = |mut frame: Frame| {
            frame.passes[0].cost_us = id as u32;
            frame
        };
        let planned = planner.plan(&cost(frame(id)), &topology, &states).unwrap();
        (planned.reused, planner.last.is_some())
    };
    for id in 0..2 * CACHED_PLANS {
        assert_eq!(plan(id), (false, true), "frame {id} is kept at once");
    }
    for id in 100..150 {
        assert_eq!(plan(id), (false, false), "frame {id} has not come twice");
    }
    // One that comes again is kept, and with it those that come next.
    assert_eq!([plan(149), plan(149)], [(false, true), (true, true)]);
    assert_eq!([plan(200), plan(200)], [(false, true), (true, true)]);
}
