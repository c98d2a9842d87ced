//! Worker threads with streams of their own.

use std::time::{Duration, Instant};

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::device::StreamDesc;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, Handle, Sharing};
use quadrille_vulkan::submit::{Consumer, RingEntry};

use crate::common::{Add, Errors, Rig, Squares, read};

/// The newest turn.
#[derive(Resource, Deref)]
struct Newest(GpuBuffer);

#[derive(Resource)]
struct Turns(Consumer);

/// Starts a worker whose turn `n` is full of `n`s, as many as it may.
fn start(rig: &mut Rig, turns: u64) {
    rig.update(1);
    let world = rig.app.world_mut();
    let add = world.resource::<Add>().add.clone();
    let mut renderer = world.resource_mut::<Renderer>();
    let slot = |name| {
        let desc = BufferDesc::storage(name, 1024).with_sharing(Sharing::Concurrent);
        renderer.gpu().create_buffer(&desc).expect("a slot")
    };
    let slots = [slot("even"), slot("odd")];
    let (mut producer, consumer) = renderer.ring("turns", slots).expect("a ring");
    let body = move |mut stream: Stream| {
        let mut last: Option<Handle> = None;
        for _ in 0..turns {
            let mut next = None;
            stream.turn(&mut producer, |frame, turn| {
                let Handle::Buffer(cells) = &turn.slot else {
                    return;
                };
                match &last {
                    None => frame.write_buffer(cells, 0, &[0; 1024]),
                    Some(last) => {
                        let from = AnyAccess::of(last, AccessKind::TransferRead);
                        let to = AnyAccess::of(cells, AccessKind::TransferWrite);
                        let mut pass = frame.pass("copy", &[from.as_declared(), to.as_declared()]);
                        pass.transfer().copy_buffer(&from, 0, &to, 0, 1024);
                    }
                }
                let cells = AnyAccess::of(cells, AccessKind::StorageReadWrite);
                let mut pass = frame.pass("add", &[cells.as_declared()]);
                let mut compute = pass.compute(&add);
                compute.bind(0, &cells).push(&1_u32).dispatch([4, 1, 1]);
                next = Some(turn.slot.clone());
            })?;
            last = next;
        }
        Ok(())
    };
    renderer
        .run_stream(&StreamDesc::compute("counting"), body)
        .expect("a stream");
    assert!(consumer.wait(Duration::from_secs(20)), "no turn comes");
    world.insert_resource(Turns(consumer));
}

/// Takes the next turn, if it is there, and says which it is.
fn take(rig: &mut Rig) -> Option<u64> {
    let world = rig.app.world_mut();
    let turn = world.resource_mut::<Turns>().0.take_next()?;
    if let Handle::Buffer(cells) = turn.slot {
        world.insert_resource(Newest(cells));
    }
    Some(turn.number)
}

#[test]
#[ignore = "needs a device"]
fn passes_read_output_of_a_worker() {
    const TURNS: u64 = 5;
    let mut rig = Rig::new();
    start(&mut rig, TURNS);
    for expected in 1..=TURNS {
        let waited = rig.app.world().resource::<Turns>();
        assert!(waited.0.wait(Duration::from_secs(20)), "turn {expected}");
        assert_eq!(take(&mut rig), Some(expected));
        let words = read(&mut rig, |world| world.resource::<Newest>().0.clone());
        assert!(words.iter().all(|word| u64::from(*word) == expected));
    }
    rig.expect_no_errors();
    assert_eq!(take(&mut rig), None, "there are no more");
}

#[test]
#[ignore = "needs a device"]
fn an_app_ends_in_time_while_its_worker_is_blocked() {
    for updates in [0, 3] {
        let mut rig = Rig::new();
        start(&mut rig, u64::MAX);
        rig.update(updates);
        // By now it waits for turns that nobody takes.
        std::thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        drop(rig);
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

/// Starts a worker whose second ring has a turn that the device does not reach before the returned
/// consumer of the first is dropped; the turn is taken.
fn start_behind_a_ring(rig: &mut Rig) -> Consumer {
    rig.update(1);
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    let slot = |name| {
        let desc = BufferDesc::storage(name, 1024).with_sharing(Sharing::Concurrent);
        Handle::from(renderer.gpu().create_buffer(&desc).expect("a slot"))
    };
    let held = vec![slot("held 0"), slot("held 1")];
    let slots = [slot("even"), slot("odd")];
    let (mut held, last) = renderer.gpu().ring("held", held).expect("a ring");
    let (mut producer, mut consumer) = renderer.ring("turns", slots).expect("a ring");
    let body = move |mut stream: Stream| {
        let sevens = |frame: &mut StreamFrame<'_>, turn: &RingEntry| {
            if let Handle::Buffer(cells) = &turn.slot {
                frame.write_buffer(cells, 0, &[7; 1024]);
            }
        };
        // The third waits for the first to be returned.
        for _ in 0..3 {
            stream.turn(&mut held, sevens)?;
        }
        stream.turn(&mut producer, sevens).map(drop)
    };
    let desc = StreamDesc::compute("behind");
    renderer.run_stream(&desc, body).expect("a stream");
    assert!(consumer.wait(Duration::from_secs(20)), "no turn comes");
    let turn = consumer.take_next().expect("it was waited for");
    let Handle::Buffer(cells) = turn.slot else {
        panic!("slots are buffers");
    };
    let world = rig.app.world_mut();
    world.insert_resource(Newest(cells));
    world.insert_resource(Turns(consumer));
    last
}

/// A point that the device does not reach within the timeout is an error; an app that ignores it goes on.
#[test]
#[ignore = "needs a device"]
fn whether_to_wait_on_for_the_device_is_the_apps_choice() {
    fn copy(mut recorder: Recorder, from: TransferRead<Newest>, to: TransferWrite<Squares>) {
        recorder.transfer().copy_buffer(&from, 0, &to, 0, 1024);
    }
    let mut rig = Rig::new();
    let last = start_behind_a_ring(&mut rig);
    rig.app.add_systems(Render, copy);
    let frames_in_flight = 2;
    rig.update(frames_in_flight);
    rig.expect_no_errors();
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("does not reach value"), "{errors:?}");
    drop(last);
    rig.update(3);
    let words = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    assert!(words.iter().all(|word| *word == 0x0707_0707), "{words:?}");
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn a_pass_that_would_change_a_lent_board_is_refused() {
    fn spoil(mut recorder: Recorder, cells: StorageReadWrite<Newest>, pass: Res<Add>) {
        let mut compute = recorder.compute(&pass.add);
        compute.bind(0, &cells).push(&1_u32).dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    start(&mut rig, 3);
    assert_eq!(take(&mut rig), Some(1));
    rig.app.add_systems(Render, spoil);
    rig.update(1);
    let errors = &rig.app.world().resource::<Errors>().0;
    let error = errors.first().expect("an error");
    assert!(
        error.contains("would change") && error.contains("lent"),
        "{error}"
    );
}
