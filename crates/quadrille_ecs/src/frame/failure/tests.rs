use std::sync::Barrier;

use bevy_ecs::prelude::*;

use super::{LISTS, catch};
use crate::error::RenderError;

#[derive(Resource)]
struct Number(usize);

fn fail(number: Res<Number>) -> Result {
    Err(format!("failure {}", number.0).into())
}

/// Returns the failures caught in a world with a failing system.
fn caught(number: usize, meet: &Barrier) -> Vec<String> {
    let mut world = World::new();
    world.insert_resource(Number(number));
    let mut schedule = Schedule::default();
    schedule.add_systems(fail);
    let failures = catch(&mut world, |world| {
        meet.wait();
        schedule.run(world);
        meet.wait();
    });
    let message = |failure: RenderError| match failure {
        RenderError::System { message, .. } => message.lines().next().unwrap_or("").to_owned(),
        other => panic!("{other}"),
    };
    failures.into_iter().map(message).collect()
}

#[test]
fn apps_that_record_at_once_do_not_see_each_others_failures() {
    let meet = Barrier::new(LISTS);
    std::thread::scope(|scope| {
        let meet = &meet;
        let threads: Vec<_> = (0..LISTS)
            .map(|number| scope.spawn(move || caught(number, meet)))
            .collect();
        for (number, thread) in threads.into_iter().enumerate() {
            let failures = thread.join().expect("it does not panic");
            assert_eq!(failures, [format!("failure {number}")]);
        }
    });
}

#[test]
fn more_apps_than_lists_take_turns() {
    std::thread::scope(|scope| {
        for number in 0..4 * LISTS {
            scope.spawn(move || {
                let failures = caught(number, &Barrier::new(1));
                assert_eq!(failures, [format!("failure {number}")]);
            });
        }
    });
}
