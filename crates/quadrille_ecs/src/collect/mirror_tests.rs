use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{Schedule, SingleThreadedExecutor};
use quadrille_vulkan::resources::GpuBuffer;

use super::*;
use crate::{
    AccessKind, Accesses, AlwaysRunExt, OnQueue, Pass, Recorder, Render, StorageRead, StorageWrite,
};

#[derive(Resource, Deref)]
struct Cells(GpuBuffer);

#[derive(Resource, Default)]
struct Order(Vec<&'static str>);

fn writes(_: Recorder, _: StorageWrite<Cells>) {}
fn reads(_: Recorder, _: StorageRead<Cells>) {}
fn free(_: Recorder) {}
fn other(_: Recorder) {}
fn plain() {}

fn schedule() -> Schedule {
    let mut schedule = Schedule::new(Render);
    schedule.add_build_pass(MirrorPasses::default());
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule
}

fn build(schedule: &mut Schedule) -> World {
    let mut world = World::new();
    schedule
        .initialize(&mut world)
        .expect("the schedule builds");
    world
}

fn names(world: &World) -> Vec<String> {
    let graph = world.resource::<PassGraph>();
    let name = |node: &PassNode| world.get::<Name>(node.entity).expect("named").to_string();
    graph.passes.iter().map(name).collect()
}

fn after(world: &World) -> Vec<Vec<u32>> {
    world
        .resource::<PassGraph>()
        .passes
        .iter()
        .map(|node| node.after.clone())
        .collect()
}

#[test]
fn passes_are_mirrored_with_their_accesses() {
    let mut schedule = schedule();
    schedule.add_systems((writes.on_queue(QueuePreference::Async), plain, reads));
    let mut world = build(&mut schedule);
    assert_eq!(names(&world), ["writes", "reads"]);
    let entity = world.resource::<PassGraph>().passes[0].entity;
    assert!(world.get::<Pass>(entity).is_some());
    assert_eq!(
        world.get::<QueuePreference>(entity),
        Some(&QueuePreference::Async)
    );
    let accesses: Vec<Entity> = world.get::<Accesses>(entity).expect("one").iter().collect();
    let access = world.get::<DeclaredAccess>(accesses[0]).expect("declared");
    assert_eq!((accesses.len(), access.kind), (1, AccessKind::StorageWrite));
    let cells = crate::resource_entity::<Cells>(&mut world);
    assert_eq!(
        world.get::<AccessTo>(accesses[0]).map(|to| to.0),
        Some(cells)
    );
    assert_eq!(world.get::<Name>(cells).map(Name::as_str), Some("Cells"));
}

#[test]
fn passes_that_always_run_are_marked() {
    let mut schedule = schedule();
    schedule.add_systems((writes.always_run(), reads, (free, other).always_run()));
    let world = build(&mut schedule);
    let passes = &world.resource::<PassGraph>().passes;
    let is_marked = |node: &PassNode| world.get::<AlwaysRun>(node.entity).is_some();
    let marked: Vec<bool> = passes.iter().map(is_marked).collect();
    assert_eq!(marked, [true, false, true, true]);
}

#[test]
fn order_is_kept_for_the_device_also_through_other_systems() {
    let mut schedule = schedule();
    schedule.add_systems((reads.after(plain), plain.after(writes), writes, free));
    let world = build(&mut schedule);
    assert_eq!(names(&world), ["reads", "writes", "free"]);
    assert_eq!(after(&world), [vec![1], vec![], vec![]]);
}

#[test]
fn sets_carry_order_and_queue() {
    #[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
    struct Early;
    let mut schedule = schedule();
    schedule.add_systems((free.after(Early), (writes, reads).chain().in_set(Early)));
    let world = build(&mut schedule);
    assert_eq!(after(&world), [vec![1, 2], vec![], vec![1]]);
}

#[test]
fn passes_with_equal_short_names_get_their_paths() {
    mod other {
        use super::*;
        pub(super) fn free(_: Recorder) {}
    }
    let mut schedule = schedule();
    schedule.add_systems((free, other::free, reads));
    let names = names(&build(&mut schedule));
    assert!(
        names[0].ends_with("::free") && names[1].ends_with("other::free"),
        "{names:?}"
    );
    assert_eq!(names[2], "reads");
}

#[test]
fn a_system_that_is_added_twice_has_no_path_that_would_tell_more() {
    let mut schedule = schedule();
    schedule.add_systems((free, free));
    assert_eq!(names(&build(&mut schedule)), ["free", "free"]);
}

#[test]
fn a_pass_added_later_leaves_the_others_alone() {
    let mut schedule = schedule();
    schedule.add_systems(writes);
    let mut world = build(&mut schedule);
    let first = world.resource::<PassGraph>().passes[0].entity;
    let access = world
        .get::<Accesses>(first)
        .expect("one")
        .iter()
        .next()
        .expect("one");
    world.despawn(access);
    schedule.add_systems(free.after(writes));
    schedule
        .initialize(&mut world)
        .expect("the schedule builds");
    assert_eq!(names(&world), ["writes", "free"]);
    assert_eq!(world.resource::<PassGraph>().passes[0].entity, first);
    assert!(
        world.get::<Accesses>(first).is_none(),
        "what was changed at run time stays"
    );
}

/// Runs systems that note their names, and returns the names in order.
fn run_chained(order: impl FnOnce(&mut Schedule)) -> Vec<&'static str> {
    let mut schedule = schedule();
    order(&mut schedule);
    let mut world = World::new();
    world.init_resource::<Order>();
    schedule.run(&mut world);
    std::mem::take(&mut world.resource_mut::<Order>().0)
}

#[test]
fn order_stays_on_the_cpu_where_systems_share_data() {
    fn first(_: Recorder, mut order: ResMut<Order>) {
        order.0.push("first");
    }
    fn second(_: Recorder, mut order: ResMut<Order>) {
        order.0.push("second");
    }
    fn third(_: Recorder, mut order: ResMut<Order>) {
        order.0.push("third");
    }
    // The pass between first and third shares no data with them.
    let order = run_chained(|schedule| {
        schedule.add_systems((
            third.after(free),
            free.after(second),
            second.after(first),
            first,
        ));
    });
    assert_eq!(order, ["first", "second", "third"]);
}

#[test]
fn order_around_passes_stays_for_other_systems() {
    fn before(mut order: ResMut<Order>) {
        order.0.push("before");
    }
    fn behind(mut order: ResMut<Order>) {
        order.0.push("behind");
    }
    let order = run_chained(|schedule| {
        schedule.add_systems((
            behind.after(other),
            other.after(free),
            free.after(before),
            before,
        ));
    });
    assert_eq!(order, ["before", "behind"]);
}

#[test]
fn declaring_systems_come_before_all_passes() {
    fn declares(mut order: ResMut<Order>) {
        order.0.push("declares");
    }
    fn pass(_: Recorder, mut order: ResMut<Order>) {
        order.0.push("pass");
    }
    // In either order of addition.
    let first = run_chained(|schedule| {
        schedule.add_systems((pass, declares.in_set(RenderSystems::Declare)));
    });
    let second = run_chained(|schedule| {
        schedule.add_systems((declares.in_set(RenderSystems::Declare), pass));
    });
    assert_eq!(
        [first, second],
        [["declares", "pass"], ["declares", "pass"]]
    );
}

/// The number of sync points that apply commands in the schedule.
fn sync_points(schedule: &Schedule) -> usize {
    let systems = schedule.systems().expect("it is built");
    let is_sync_point = |name: &str| name.contains("apply_deferred");
    systems
        .filter(|(_, it)| is_sync_point(&it.name().to_string()))
        .count()
}

#[test]
fn commands_are_applied_before_passes_where_there_are_any() {
    fn leaves(_: Commands) {}
    let mut schedule = schedule();
    schedule.add_systems((writes, plain.in_set(RenderSystems::Declare), leaves));
    let mut world = build(&mut schedule);
    assert_eq!(sync_points(&schedule), 0, "nothing to apply before passes");
    schedule.add_systems((leaves.in_set(RenderSystems::Declare), reads.after(writes)));
    schedule.initialize(&mut world).expect("it builds");
    assert_eq!(sync_points(&schedule), 1);
    schedule.add_systems(free);
    schedule.initialize(&mut world).expect("it builds");
    assert_eq!(sync_points(&schedule), 1, "the same one, built again");
    assert_eq!(after(&world), [vec![], vec![0], vec![]]);
}
