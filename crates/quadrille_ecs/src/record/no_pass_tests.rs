use bevy_derive::Deref;
use bevy_ecs::schedule::{Schedule, ScheduleLabel};
use quadrille_vulkan::resources::GpuBuffer;

use super::*;
use crate::collect::mirror::MirrorPasses;
use crate::{Recorder, Render, StorageRead};

#[derive(Resource, Deref)]
struct Cells(GpuBuffer);

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Elsewhere;

fn pass(_: Recorder) {}
fn looks(_: StorageRead<Cells>) {}
fn twice(_: Recorder, _: Recorder) {}
fn plain() {}

/// Returns a world whose `Render` schedule was built.
fn build(schedule: &mut Schedule) -> World {
    schedule.add_build_pass(MirrorPasses::default());
    let mut world = World::new();
    schedule
        .initialize(&mut world)
        .expect("the schedule builds");
    world
}

fn reported(world: &mut World) -> Vec<String> {
    take(world).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(world: &mut World, system: &str, words: &str) {
    let reported = reported(world);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].contains(system) && reported[0].contains(words),
        "{reported:?}"
    );
}

#[test]
fn passes_and_plain_systems_are_none() {
    let mut schedule = Schedule::new(Render);
    schedule.add_systems((pass, plain));
    let mut world = build(&mut schedule);
    schedule.run(&mut world);
    assert!(reported(&mut world).is_empty());
}

#[test]
fn declaration_without_recorder_is_reported_once() {
    let mut schedule = Schedule::new(Render);
    schedule.add_systems(looks);
    let mut world = build(&mut schedule);
    check(&mut world, "looks", "takes no `Recorder`");
    assert!(reported(&mut world).is_empty());
}

#[test]
fn one_recorder_is_enough() {
    let mut schedule = Schedule::new(Render);
    schedule.add_systems(twice);
    let mut world = build(&mut schedule);
    schedule.run(&mut world);
    check(&mut world, "twice", "takes more than one `Recorder`");
}

#[test]
fn pass_in_another_schedule_is_reported_when_it_runs() {
    let mut world = build(&mut Schedule::new(Render));
    let mut elsewhere = Schedule::new(Elsewhere);
    elsewhere.add_systems(pass);
    elsewhere.initialize(&mut world).expect("it builds");
    assert!(reported(&mut world).is_empty(), "it has not run");
    elsewhere.run(&mut world);
    check(&mut world, "pass", "outside of the `Render` schedule");
    // The beginning of the next frame.
    world.resource_mut::<Recordings>().begin();
    assert!(reported(&mut world).is_empty());
}
