//! Worker threads with streams of their own.

use std::time::{Duration, Instant};

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;

use crate::common::{Add, Errors, Rig, read};

/// The newest turn.
#[derive(Resource, Deref)]
struct Newest(Buffer);

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
fn passes_read_what_a_worker_wrote() {
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
