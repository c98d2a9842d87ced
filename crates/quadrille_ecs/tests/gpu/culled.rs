//! Passes whose results no pass reads do not run.

use bevy_derive::Deref;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
use serde_json::{Value, json};

use crate::common::{Add, Numbers, Rig, Squares, add, read, record_square};

/// Squares of numbers, for one frame.
#[derive(Resource, Deref)]
struct Brief(GpuBuffer);

/// Squares of these, for one frame.
#[derive(Resource, Deref)]
struct Briefer(GpuBuffer);

/// How often the system of a pass ran.
#[derive(Resource, Default)]
struct Runs(u32);

/// Whether the pass runs that reads [`Brief`].
#[derive(Resource, Default)]
struct Wanted(bool);

fn first(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Brief>,
    pass: Res<Add>,
    mut runs: ResMut<Runs>,
) {
    runs.0 += 1;
    record_square(&mut recorder, &pass, &from, &to);
}

fn second(
    mut recorder: Recorder,
    from: StorageRead<Brief>,
    to: StorageWrite<Briefer>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

fn keep(
    mut recorder: Recorder,
    from: StorageRead<Brief>,
    to: StorageWrite<Squares>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

fn wanted(wanted: Res<Wanted>) -> bool {
    wanted.0
}

/// Two passes of transient results on a queue of their own, which one pass may want.
fn rig(cull_passes: bool) -> Rig {
    let mut rig = Rig::with(|plugins| plugins.settings.cull_passes = cull_passes);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let make = |name| {
        let desc = BufferDesc::storage(name, 1024).transient();
        gpu.create_buffer(&desc).expect("a buffer can be made")
    };
    let beside = QueuePreference::Exactly(1);
    rig.app
        .insert_resource(Brief(make("brief")))
        .insert_resource(Briefer(make("briefer")))
        .init_resource::<Runs>()
        .init_resource::<Wanted>()
        .add_systems(
            Render,
            (
                add,
                first.on_queue(beside).after(add),
                second.on_queue(beside),
                keep.run_if(wanted),
            ),
        );
    rig.app
        .world_mut()
        .resource_mut::<Renderer>()
        .keep_frames(true);
    rig
}

/// The passes of the last frame that are on the device, in the order of the plan.
fn ran(rig: &Rig) -> Vec<String> {
    let renderer = rig.app.world().resource::<Renderer>();
    let plan = renderer.plan_text().expect("the frame is kept");
    let names = plan
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pass "));
    names.map(str::to_owned).collect()
}

fn culled(rig: &Rig) -> Value {
    let renderer = rig.app.world().resource::<Renderer>();
    renderer.report()["culled"].clone()
}

fn want(rig: &mut Rig, wanted: bool) {
    rig.app.insert_resource(Wanted(wanted));
    rig.update(2);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn pass_whose_results_nothing_reads_does_not_run() {
    let mut rig = rig(true);
    rig.update(3);
    rig.expect_no_errors();
    assert_eq!(ran(&rig), ["add"]);
    assert_eq!(
        culled(&rig),
        json!([
            { "pass": "first", "unread": [{ "resource": "brief", "culled_readers": ["second"] }] },
            { "pass": "second", "unread": [{ "resource": "briefer", "culled_readers": [] }] },
        ])
    );
    assert_eq!(
        rig.app.world().resource::<Runs>().0,
        3,
        "its system is a system as any"
    );
}

#[test]
#[ignore = "needs a device"]
fn pass_runs_in_the_frames_where_another_reads_its_results() {
    let mut rig = rig(true);
    rig.update(3);
    for _ in 0..2 {
        want(&mut rig, true);
        let ran = ran(&rig);
        assert!(ran.contains(&"first".to_owned()), "{ran:?}");
        assert!(!ran.contains(&"second".to_owned()), "{ran:?}");
        let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
        let powers = read(&mut rig, |world| world.resource::<Squares>().0.clone());
        // Each reading took frames, in which all numbers grew by the same.
        let grown = (0..32).find(|grown| {
            let mut pairs = numbers.iter().zip(&powers);
            pairs.all(|(number, power)| {
                number.wrapping_add(*grown).wrapping_pow(4) == *power
                    || number.wrapping_sub(*grown).wrapping_pow(4) == *power
            })
        });
        assert!(grown.is_some(), "{numbers:?} {powers:?}");
        want(&mut rig, false);
        assert_eq!(self::ran(&rig), ["add"]);
    }
}

#[test]
#[ignore = "needs a device"]
fn marked_pass_runs_though_nothing_reads_its_results() {
    let mut rig = rig(true);
    rig.update(2);
    let world = rig.app.world_mut();
    let mut passes = world.query_filtered::<(Entity, &Name), With<Pass>>();
    let found = passes
        .iter(world)
        .find(|(_, name)| name.as_str() == "second");
    let (second, _) = found.expect("it is a pass");
    world.entity_mut(second).insert(AlwaysRun);
    rig.update(2);
    rig.expect_no_errors();
    assert_eq!(ran(&rig), ["add", "first", "second"], "with what it reads");
    assert_eq!(culled(&rig), json!([]));
    rig.app.world_mut().entity_mut(second).insert(Disabled);
    rig.update(2);
    assert_eq!(ran(&rig), ["add"], "disabled is disabled");
    rig.app
        .world_mut()
        .entity_mut(second)
        .remove::<(Disabled, AlwaysRun)>();
    rig.update(2);
    assert_eq!(culled(&rig).as_array().map(Vec::len), Some(2));
}

#[test]
#[ignore = "needs a device"]
fn no_pass_is_culled_where_settings_say_so() {
    let mut rig = rig(false);
    rig.update(3);
    rig.expect_no_errors();
    assert_eq!(ran(&rig), ["add", "first", "second"]);
    assert_eq!(culled(&rig), json!([]));
}

#[test]
#[ignore = "needs a device"]
fn readback_of_a_transient_buffer_keeps_its_writer() {
    let mut rig = rig(true);
    rig.update(2);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    let squares = read(&mut rig, |world| world.resource::<Brief>().0.clone());
    // The numbers grew by 1 in each frame since.
    let roots = numbers.iter().zip(&squares);
    let grown = (0..32).find(|grown| {
        let is_square = |(number, square): (&u32, &u32)| (number + grown).pow(2) == *square;
        roots.clone().all(is_square)
    });
    assert!(grown.is_some(), "{numbers:?} {squares:?}");
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn result_that_only_later_frames_read_is_written() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(5);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    let amount = numbers[0];
    assert!(amount >= 5, "{amount} frames have added to it");
    assert_eq!(numbers[255], 255 + amount);
}
