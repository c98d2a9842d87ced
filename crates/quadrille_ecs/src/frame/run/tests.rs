use bevy_ecs::error::{FallbackErrorHandler, panic};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{Schedules, SingleThreadedExecutor};

use super::{run_order, run_render};
use crate::collect::mirror::MirrorPasses;
use crate::record::recording::Recordings;
use crate::{Recorder, Render, RenderSystems};

#[derive(Resource)]
struct Left;

fn first(_: Recorder) {}
fn second(_: Recorder) {}
fn leaves(mut commands: Commands) {
    commands.insert_resource(Left);
}

fn world(add: impl FnOnce(&mut Schedule)) -> World {
    let mut schedule = Schedule::new(Render);
    schedule.add_build_pass(MirrorPasses::default());
    schedule.set_executor(SingleThreadedExecutor::new());
    add(&mut schedule);
    let mut world = World::new();
    world.init_resource::<Recordings>();
    world.add_schedule(schedule);
    world
}

#[test]
fn deferred_commands_are_applied() {
    let mut world = world(|schedule| {
        schedule.add_systems((first, leaves));
    });
    run_render(&mut world);
    assert!(world.contains_resource::<Left>());
}

#[test]
fn a_system_that_comes_later_is_noticed() {
    let mut world = world(|schedule| {
        schedule.add_systems(first);
    });
    run_render(&mut world);
    let mut schedules = world.resource_mut::<Schedules>();
    let schedule = schedules.get_mut(Render).expect("it was added");
    schedule.add_systems(leaves);
    run_render(&mut world);
    assert!(
        world.contains_resource::<Left>(),
        "in the frame that it runs in"
    );
}

#[test]
fn each_pass_knows_the_next() {
    let mut world = world(|schedule| {
        schedule.add_systems((first, second).chain());
    });
    run_render(&mut world);
    let order = world.schedule_scope(Render, |world, schedule| run_order(world, schedule));
    assert_eq!(order.len(), 2, "both are passes");
    let recordings = world.resource::<Recordings>();
    let [next, none] = [0, 1].map(|at| recordings.next_of(order[at]));
    assert_eq!(next, recordings.memory_of(order[1]));
    assert!(next.iter().all(|memory| !memory.is_null()), "it ran");
    assert!(none.iter().all(|memory| memory.is_null()), "the last one");
}

#[test]
fn passes_follow_deferred_commands_of_declare() {
    fn sees(_: Recorder, _: Res<Left>) {}
    let mut world = world(|schedule| {
        schedule.add_systems((sees, leaves.in_set(RenderSystems::Declare)));
    });
    world.insert_resource(FallbackErrorHandler(panic));
    run_render(&mut world);
}
