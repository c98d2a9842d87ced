//! Passes that wait for timeline semaphores of the program, and signal them.

use std::time::Duration;

use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::TimelineSemaphore;

use crate::common::{Add, Errors, Numbers, Rig, Squares, add, record_square};

/// Longer than any of this takes.
const LONG: Duration = Duration::from_secs(60);

/// A timeline, and the values that passes use in this frame.
#[derive(Resource, Clone)]
struct Outside {
    timeline: TimelineSemaphore,
    /// `first` signals it.
    begin: u64,
    /// `second` waits for it.
    end: u64,
}

/// Adds 1 to all numbers, and signals that.
fn first(
    mut recorder: Recorder,
    numbers: StorageReadWrite<Numbers>,
    pass: Res<Add>,
    outside: Res<Outside>,
) {
    let mut compute = recorder.compute(&pass.add);
    compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    recorder.signal(&outside.timeline, outside.begin);
}

/// Squares all numbers after a signal from outside, and signals that.
fn second(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Squares>,
    pass: Res<Add>,
    outside: Res<Outside>,
) {
    record_square(&mut recorder, &pass, &from, &to);
    recorder.wait_for(&outside.timeline, outside.end);
    recorder.signal(&outside.timeline, outside.end + 1);
}

fn rig() -> (Rig, TimelineSemaphore) {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let made = gpu.timeline_semaphore("outside", 0);
    let timeline = made.expect("a semaphore can be made");
    rig.app.insert_resource(Outside {
        timeline: timeline.clone(),
        begin: 1,
        end: 2,
    });
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    (rig, timeline)
}

fn last_errors(rig: &mut Rig) -> Vec<String> {
    std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0)
}

fn plan_text(rig: &Rig) -> String {
    let renderer = rig.app.world().resource::<Renderer>();
    renderer.plan_text().expect("the frame is kept")
}

#[test]
#[ignore = "needs a device"]
fn pass_waits_for_a_value_that_the_host_signals() {
    let (mut rig, timeline) = rig();
    rig.app.add_systems(Render, (first, second.after(first)));
    for frame in 0..4 {
        let mut outside = rig.app.world_mut().resource_mut::<Outside>();
        (outside.begin, outside.end) = (3 * frame + 1, 3 * frame + 2);
        rig.update(1);
        rig.expect_no_errors();
        let begun = timeline.wait(3 * frame + 1, LONG);
        assert!(begun.expect("the device is there"), "`first` has run");
        let value = timeline.value().expect("the device is there");
        assert_eq!(value, 3 * frame + 1, "`second` has not");
        timeline.signal(3 * frame + 2).expect("it rises");
        let done = timeline.wait(3 * frame + 3, LONG);
        assert!(done.expect("the device is there"), "`second` has run");
    }
    let plan = plan_text(&rig);
    for line in [
        "// pass first signals outside value 10",
        "// pass second waits for outside value 11",
        "// pass second signals outside value 12",
    ] {
        assert!(plan.contains(line), "{plan}");
    }
    let report = rig.app.world().resource::<Renderer>().report();
    let reused = report["plans_reused"].as_u64();
    assert!(
        reused >= Some(1),
        "values rise, and plans repeat: {reused:?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn thread_takes_turns_with_passes() {
    let (mut rig, timeline) = rig();
    rig.app.add_systems(Render, (first, second.after(first)));
    let outside = std::thread::spawn(move || {
        (0..20).all(|frame| {
            let begun = timeline.wait(3 * frame + 1, LONG);
            begun.is_ok_and(|begun| begun) && timeline.signal(3 * frame + 2).is_ok()
        })
    });
    for frame in 0..20 {
        let mut outside = rig.app.world_mut().resource_mut::<Outside>();
        (outside.begin, outside.end) = (3 * frame + 1, 3 * frame + 2);
        rig.update(1);
    }
    rig.expect_no_errors();
    assert!(outside.join().expect("the thread ends"));
}

#[test]
#[ignore = "needs a device"]
fn value_that_one_pass_signals_orders_another() {
    fn late(
        mut recorder: Recorder,
        to: StorageWrite<Squares>,
        pass: Res<Add>,
        outside: Res<Outside>,
    ) {
        let mut compute = recorder.compute(&pass.add);
        compute.bind(0, &to).push(&1_u32).dispatch([4, 1, 1]);
        recorder.wait_for(&outside.timeline, outside.begin);
    }
    let (mut rig, timeline) = rig();
    let beside = QueuePreference::Exactly(1);
    rig.app.add_systems(Render, (late, first.on_queue(beside)));
    for frame in 1..4 {
        rig.app.world_mut().resource_mut::<Outside>().begin = frame;
        rig.update(1);
    }
    rig.expect_no_errors();
    assert!(timeline.wait(3, LONG).expect("the device is there"));
    let plan = plan_text(&rig);
    let place = |name: &str| plan.find(&format!("  pass {name}")).expect("it runs");
    assert!(place("first") < place("late"), "{plan}");
}

#[test]
#[ignore = "needs a device"]
fn wait_before_the_signal_in_the_same_frame_is_refused() {
    let (mut rig, timeline) = rig();
    rig.app.add_systems(Render, (second, first.after(second)));
    rig.app.world_mut().resource_mut::<Outside>().begin = 2;
    rig.update(1);
    let errors = last_errors(&mut rig);
    assert_eq!(
        errors,
        [
            "the frame cannot be planned:\nPass `second` waits for value 2 of the timeline `outside`, before which pass `first` \
             signals value 2; but `first` is not before `second`. Order `second` after `first`, or use \
             values that rise in the order of the passes."
        ]
    );
    assert_eq!(timeline.value().ok(), Some(0), "nothing is submitted");
}

#[test]
#[ignore = "needs a device"]
fn value_that_does_not_rise_is_refused() {
    let (mut rig, timeline) = rig();
    rig.app.add_systems(Render, first);
    rig.update(1);
    rig.expect_no_errors();
    rig.update(1);
    let errors = last_errors(&mut rig);
    assert_eq!(
        errors,
        [
            "the pass `first` signals value 1 of the timeline `outside`, which is signalled up to 1 \
             already. Signal a higher one"
        ]
    );
    assert!(timeline.wait(1, LONG).expect("the device is there"));
    assert!(timeline.signal(1).is_err(), "nor by the host");
    rig.app.world_mut().resource_mut::<Outside>().begin = 1 << 40;
    rig.update(1);
    let errors = last_errors(&mut rig);
    assert!(
        errors[0].contains("is more than 2147483647 above"),
        "{errors:?}"
    );
    rig.app.world_mut().resource_mut::<Outside>().begin = 2;
    rig.update(1);
    rig.expect_no_errors();
    assert!(timeline.wait(2, LONG).expect("the device is there"));
}

#[test]
#[ignore = "needs a device"]
fn app_ends_though_nobody_signals() {
    let (mut rig, timeline) = rig();
    rig.app.add_systems(Render, (add, second.after(add)));
    rig.update(1);
    rig.expect_no_errors();
    drop(rig);
    assert_eq!(timeline.value().ok(), Some(3), "the end has signalled it");
}
