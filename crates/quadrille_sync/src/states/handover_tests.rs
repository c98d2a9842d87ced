use crate::flags::Stages;
use crate::frame::Frame;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::resource::ResourceId;
use crate::solve::plan;
use crate::states::{States, TimelinePoint};
use crate::text::{parse_frame, parse_topology};
use crate::topology::{QueueIndex, Topology};

/// Two streams on queues 0 (graphics) and 1 (compute) of two families. The queue of one stream is foreign
/// to the other, which can only wait for it.
fn topologies() -> [Topology; 2] {
    ["gct:1,n@1:1", ":1,ctn@1:1"].map(|text| parse_topology(text).unwrap())
}

/// Plans and commits a frame.
fn run(states: &mut States, topology: &Topology, text: &str) -> (Frame, Plan) {
    let frame = parse_frame(text).unwrap();
    let plan = plan(&frame, topology, states).unwrap();
    states.commit(&frame, topology, &plan);
    (frame, plan)
}

/// The error of a frame that is refused.
fn refused(states: &States, topology: &Topology, text: &str) -> String {
    let frame = parse_frame(text).unwrap();
    plan(&frame, topology, states).unwrap_err().to_string()
}

const WRITE: &str = "
image board 0 aspects COLOR mips 1 layers 1 concurrent
pass step requires COMPUTE
  StorageWriteCompute board
pass publish requires COMPUTE
  SampledCompute board
";

const READ: &str = "
image board 0 aspects COLOR mips 1 layers 1 concurrent
pass draw requires GRAPHICS
  SampledFragment board
";

#[test]
fn lent_resource_is_waited_for_and_only_read() {
    let [main, worker] = topologies();
    let (mut drawing, mut stepping) = (States::default(), States::default());
    run(&mut stepping, &worker, WRITE);
    drawing.take(stepping.lend(ResourceId(0)).unwrap());

    let (frame, plan) = run(&mut drawing, &main, READ);
    let text = plan.display(&frame, &main).to_string();
    assert_eq!(plan.counts().semaphore_waits, 1, "{text}");
    assert_eq!(plan.counts().barriers, 0, "{text}");
    let wait = &plan.submissions[0].waits[0];
    assert_eq!(wait.point.queue, QueueIndex(1), "{text}");
    assert_eq!(drawing.absolute(wait.point.queue, wait.point.offset), 1);
    assert_eq!(wait.stages, Stages::FRAGMENT_SHADER, "{text}");

    for (states, topology, other) in [
        (&drawing, &main, "StorageWriteCompute"),
        (&drawing, &main, "StorageReadCompute"),
        (&stepping, &worker, "StorageReadCompute"),
    ] {
        let text = WRITE.replace("StorageWriteCompute", other);
        let error = refused(states, topology, &text);
        assert!(error.contains("would change `board`"), "{error}");
    }
}

#[test]
fn lender_writes_after_a_read_that_need_not_exist_yet() {
    let [_, worker] = topologies();
    let mut stepping = States::default();
    run(&mut stepping, &worker, WRITE);
    stepping.lend(ResourceId(0)).unwrap();
    assert!(stepping.lend(ResourceId(0)).is_none(), "it is lent");
    let done = TimelinePoint {
        queue: QueueIndex(0),
        value: 12,
    };
    stepping.returned(ResourceId(0), done);
    let (frame, plan) = run(&mut stepping, &worker, WRITE);
    let text = plan.display(&frame, &worker).to_string();
    assert_eq!(plan.counts().semaphore_waits, 1, "{text}");
    assert_eq!(plan.submissions[0].waits[0].point.queue, QueueIndex(0));
    let (frame, plan) = run(&mut stepping, &worker, WRITE);
    let text = plan.display(&frame, &worker).to_string();
    assert_eq!(plan.counts().semaphore_waits, 0, "known already: {text}");
}

#[test]
fn resource_given_to_another_family_is_released_and_acquired() {
    let [main, worker] = topologies();
    let (mut drawing, mut stepping) = (States::default(), States::default());
    let given = "
image board 0 aspects COLOR mips 1 layers 1
give board to 0 layout ShaderReadOnlyOptimal
pass step requires COMPUTE
  StorageWriteCompute board
";
    let (frame, plan) = run(&mut stepping, &worker, given);
    let text = plan.display(&frame, &worker).to_string();
    assert!(text.contains("release"), "{text}");
    let handover = stepping.give(ResourceId(0)).unwrap();
    assert!(stepping.give(ResourceId(0)).is_none(), "it is gone");
    let error = refused(&stepping, &worker, given);
    assert!(error.contains("given to another"), "{error}");
    drawing.take(handover);
    let (frame, plan) = run(&mut drawing, &main, &READ.replace(" concurrent", ""));
    let text = plan.display(&frame, &main).to_string();
    assert_eq!(plan.counts().ownership_transfers, 1, "{text}");
    assert_eq!(plan.counts().semaphore_waits, 1, "{text}");
}

#[test]
fn a_resource_that_nobody_released_to_this_stream_is_refused_by_name() {
    let [main, worker] = topologies();
    let (mut drawing, mut stepping) = (States::default(), States::default());
    run(&mut stepping, &worker, &WRITE.replace(" concurrent", ""));
    drawing.take(stepping.give(ResourceId(0)).unwrap());
    let error = refused(&drawing, &main, &READ.replace(" concurrent", ""));
    assert!(
        error.contains("`board` is owned by queue family 1"),
        "{error}"
    );
}

#[test]
fn taking_the_next_value_each_frame_keeps_the_plan() {
    let [main, worker] = topologies();
    let (mut drawing, mut stepping) = (States::default(), States::default());
    let (mut draws, mut steps) = (Planner::default(), Planner::default());
    let (write, read) = (parse_frame(WRITE).unwrap(), parse_frame(READ).unwrap());
    let mut reused = 0;
    for turn in 1..12 {
        let planned = steps.plan(&write, &worker, &stepping).unwrap();
        stepping.commit(&write, &worker, &planned.plan);
        reused += u32::from(planned.reused);
        drawing.take(stepping.lend(ResourceId(0)).unwrap());
        let planned = draws.plan(&read, &main, &drawing).unwrap();
        drawing.commit(&read, &main, &planned.plan);
        reused += u32::from(planned.reused);
        let done = TimelinePoint {
            queue: QueueIndex(0),
            value: turn,
        };
        stepping.returned(ResourceId(0), done);
    }
    assert!(reused >= 16, "{reused} of 22 plans are used again");
}

#[test]
fn no_pass_is_put_on_a_foreign_timeline() {
    let [main, _] = topologies();
    let frame =
        parse_frame("buffer cells 0 bytes 4\npass any async\n  StorageWriteCompute cells\n");
    let frame = frame.unwrap();
    let planned = plan(&frame, &main, &States::default()).unwrap();
    assert_eq!(planned.submissions[0].queue, QueueIndex(0));
}

/// An image that is written first and sampled before the last barrier call, which could take a
/// look-ahead barrier for it.
const WRITE_AND_MORE: &str = "
image board 0 aspects COLOR mips 1 layers 1 concurrent
buffer seen 1 bytes 64 concurrent
buffer log 2 bytes 64 concurrent
pass step requires COMPUTE
  StorageWriteCompute board
pass publish requires COMPUTE
  SampledCompute board
  StorageWriteCompute seen
pass log requires COMPUTE
  StorageReadCompute seen
  StorageWriteCompute log
";

#[test]
fn resource_about_to_be_lent_stays_in_its_last_layout() {
    let [_, worker] = topologies();
    let predicted = |is_lent: bool| {
        let mut states = States::default();
        run(&mut states, &worker, WRITE_AND_MORE);
        if is_lent {
            states.prepare_to_lend(ResourceId(0));
        }
        let (frame, plan) = run(&mut states, &worker, WRITE_AND_MORE);
        let text = plan.display(&frame, &worker).to_string();
        text.contains("-> next step")
    };
    assert!(predicted(false), "or this says nothing");
    assert!(!predicted(true), "the layout changes");
}
