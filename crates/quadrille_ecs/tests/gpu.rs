//! Whole frames on a device. `cargo test -p quadrille_ecs --test gpu -- --ignored`; without a
//! device these tests fail.

// Where the derive of `ShaderType` looks for this crate.
extern crate quadrille_ecs as quadrille;

#[path = "gpu/anything.rs"]
mod anything;
#[path = "gpu/bindings.rs"]
mod bindings;
#[path = "gpu/buffer_table.rs"]
mod buffer_table;
#[path = "gpu/bytes.rs"]
mod bytes;
#[path = "gpu/combined.rs"]
mod combined;
mod common;
#[path = "gpu/counted.rs"]
mod counted;
#[path = "gpu/culled.rs"]
mod culled;
#[path = "gpu/declared.rs"]
mod declared;
#[path = "gpu/diagnostics.rs"]
mod diagnostics;
#[path = "gpu/during.rs"]
mod during;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/exchange.rs"]
mod exchange;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/exchange_binary.rs"]
mod exchange_binary;
#[path = "gpu/extension.rs"]
mod extension;
#[path = "gpu/history.rs"]
mod history;
#[path = "gpu/host.rs"]
mod host;
#[path = "gpu/import.rs"]
mod import;
#[path = "gpu/layout.rs"]
mod layout;
#[path = "gpu/local_read.rs"]
mod local_read;
#[path = "gpu/mips.rs"]
mod mips;
#[path = "gpu/mistakes.rs"]
mod mistakes;
#[path = "gpu/multiview.rs"]
mod multiview;
#[path = "gpu/parts.rs"]
mod parts;
#[path = "gpu/query.rs"]
mod query;
#[path = "gpu/queues.rs"]
mod queues;
#[path = "gpu/recover.rs"]
mod recover;
#[cfg(feature = "hot_reload")]
#[path = "gpu/reload.rs"]
mod reload;
#[path = "gpu/resolve.rs"]
mod resolve;
#[path = "gpu/sharing.rs"]
mod sharing;
#[path = "gpu/sized.rs"]
mod sized;
#[path = "gpu/startup.rs"]
mod startup;
#[path = "gpu/state.rs"]
mod state;
#[path = "gpu/steps.rs"]
mod steps;
#[path = "gpu/stream.rs"]
mod stream;
#[path = "gpu/table.rs"]
mod table;
#[path = "gpu/table_rows.rs"]
mod table_rows;
#[cfg(feature = "textures")]
#[path = "gpu/texture.rs"]
mod texture;
#[path = "gpu/timelines.rs"]
mod timelines;
#[path = "gpu/times.rs"]
mod times;
#[path = "gpu/transient.rs"]
mod transient;
#[path = "gpu/uniform.rs"]
mod uniform;
#[path = "gpu/upload.rs"]
mod upload;
#[path = "gpu/view.rs"]
mod view;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use bevy_window::{Window, WindowResolution};
use common::{Add, Errors, Numbers, Rig, Squares, add, read, square};
use quadrille_ecs::*;
use quadrille_vulkan::resources::GpuBuffer;

#[test]
#[ignore = "needs a device"]
fn one_pass_writes_and_another_reads() {
    let mut rig = Rig::new();
    rig.app
        .add_systems(Render, (square.on_queue(QueuePreference::Async), add));
    // The order of the two is inferred: one writes numbers, the other reads them.
    rig.update(3);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    // Numbers begin as 0, 1, .. and grew by 1 in each of 4 frames: the last one read back.
    assert_eq!(squares[..4], [16, 25, 36, 49]);
}

#[test]
#[ignore = "needs a device"]
fn an_unchanged_frame_reuses_its_plan() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(20);
    rig.expect_no_errors();
    let report = rig.app.world().resource::<Renderer>().report();
    assert_eq!(report["frames"], 20);
    let reused = report["plans_reused"].as_u64().expect("it is a number");
    // The first frame uploads, the second sees the upload behind it.
    assert!(reused >= 17, "{reused} of 20 plans are reused");
}

#[test]
#[ignore = "needs a device"]
fn parts_run_in_the_order_of_their_calls() {
    fn chain(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
        for amount in [5_u32, 10, 20] {
            let mut part = recorder.pass("add", &[numbers.reads_and_writes()]);
            part.compute(&pass.add)
                .bind(0, &numbers)
                .push(&amount)
                .dispatch([4, 1, 1]);
        }
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, chain);
    rig.update(2);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(numbers[..2], [105, 106], "3 frames");
    let report = rig.app.world().resource::<Renderer>().report();
    assert!(
        report["barriers"].as_u64() >= Some(3),
        "each part waits for the one before"
    );
}

#[test]
#[ignore = "needs a device"]
fn unordered_writers_are_an_error_that_names_both() {
    fn also_add(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&1_u32)
            .dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, (add, also_add));
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(
        errors.contains("add") && errors.contains("also_add"),
        "{errors}"
    );
    assert!(errors.contains("numbers"), "{errors}");
}

#[test]
#[ignore = "needs a device"]
fn a_condition_leaves_a_pass_out() {
    #[derive(Resource)]
    struct On(bool);
    let mut rig = Rig::new();
    rig.app.insert_resource(On(true));
    rig.app.add_systems(Render, add.run_if(|on: Res<On>| on.0));
    rig.update(2);
    rig.app.world_mut().resource_mut::<On>().0 = false;
    rig.update(5);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(numbers[0], 2);
}

#[test]
#[ignore = "needs a device"]
fn order_passes_through_layers_of_passes_that_do_nothing() {
    #[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
    struct Layer(u32);
    fn idle(_: Recorder) {}
    fn idle_too(_: Recorder) {}
    fn add_ten(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&10_u32)
            .dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    // Paths from the last to the first: 2 to the power of 40.
    rig.app
        .add_systems(Render, (add.in_set(Layer(0)), add_ten.in_set(Layer(41))));
    for layer in 1..=40 {
        rig.app
            .add_systems(Render, (idle, idle_too).in_set(Layer(layer)));
    }
    for layer in 0..41 {
        rig.app
            .configure_sets(Render, Layer(layer).before(Layer(layer + 1)));
    }
    rig.update(2);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(numbers[0], 33, "3 frames");
}

#[test]
#[ignore = "needs a device"]
fn a_panic_costs_its_frame_and_nothing_else() {
    fn sometimes(
        mut recorder: Recorder,
        numbers: StorageReadWrite<Numbers>,
        pass: Res<Add>,
        mut count: Local<u32>,
    ) {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&100_u32)
            .dispatch([4, 1, 1]);
        *count += 1;
        assert!(*count != 2, "this pass panics in its second frame");
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, sometimes);
    rig.update(3);
    let errors = rig.app.world().resource::<Errors>().0.clone();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("sometimes") && errors[0].contains("panics in its second frame"),
        "{errors:?}"
    );
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(numbers[0], 300, "4 frames, one of them abandoned");
}

#[test]
#[ignore = "needs a device"]
fn a_pass_that_returns_an_error_costs_its_frame() {
    fn fails(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) -> Result {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&100_u32)
            .dispatch([4, 1, 1]);
        Err("no ink".into())
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, fails);
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(
        errors.contains("fails") && errors.contains("no ink"),
        "{errors}"
    );
}

#[test]
#[ignore = "needs a device"]
fn shader_access_must_be_declared() {
    fn sneaks(mut recorder: Recorder, numbers: StorageRead<Numbers>, pass: Res<Add>) {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&1_u32)
            .dispatch([4, 1, 1]);
    }
    fn forgets(mut recorder: Recorder, pass: Res<Add>) {
        recorder.compute(&pass.add).push(&1_u32).dispatch([4, 1, 1]);
    }
    fn elsewhere(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
        recorder.compute(&pass.add).bind(7, &numbers).push(&1_u32);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, (sneaks, forgets, elsewhere));
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.clone();
    let has = |parts: &[&str]| {
        errors
            .iter()
            .any(|e| parts.iter().all(|part| e.contains(part)))
    };
    assert!(
        has(&[
            "sneaks",
            "numbers",
            "storage read",
            "storage read and write"
        ]),
        "{errors:#?}"
    );
    assert!(has(&["forgets", "binding 0", "not bound"]), "{errors:#?}");
    assert!(has(&["elsewhere", "no binding 7"]), "{errors:#?}");
}

#[test]
#[ignore = "needs a device"]
fn a_missing_resource_is_an_error_that_says_how_to_insert_it() {
    #[derive(Resource, bevy_derive::Deref)]
    struct Lost(GpuBuffer);
    fn reads(_: Recorder, _: StorageRead<Lost>) {}
    let mut rig = Rig::new();
    rig.app.add_systems(Render, reads);
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(
        errors.contains("`Lost`") && errors.contains("insert_resource"),
        "{errors}"
    );
}

#[test]
#[ignore = "needs a device"]
fn a_handle_known_only_at_run_time_is_declared_by_a_builder() {
    fn late(mut recorder: Recorder, numbers: AnyAccess, pass: Res<Add>) {
        recorder
            .compute(&pass.add)
            .bind(0, &numbers)
            .push(&7_u32)
            .dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.update(1);
    let buffer = rig.app.world().resource::<Numbers>().0.clone();
    let parameters = (
        ParamBuilder,
        declared(AccessKind::StorageReadWrite, &buffer),
        ParamBuilder,
    );
    rig.app.add_systems(Render, parameters.build_system(late));
    rig.update(2);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert!(numbers[0] >= 14 && numbers[0] % 7 == 0, "{}", numbers[0]);
}

#[test]
#[ignore = "needs a device"]
fn accesses_and_passes_change_at_run_time() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(1);
    let world = rig.app.world_mut();
    let pass = world
        .query_filtered::<Entity, With<Pass>>()
        .single(world)
        .expect("one pass");
    let squares = resource_entity::<Squares>(world);
    let access = DeclaredAccess::new(AccessKind::StorageWrite);
    world.spawn((AccessOf(pass), AccessTo(squares), access));
    world.resource_mut::<Renderer>().keep_frames(true);
    rig.update(1);
    let plan = rig
        .app
        .world()
        .resource::<Renderer>()
        .plan_text()
        .expect("it was kept");
    assert!(plan.contains("add"), "{plan}");
    let case = rig.app.world().resource::<Renderer>().case_text();
    let case = case.expect("it was kept");
    assert!(case.starts_with("topology "), "{case}");
    assert!(
        case.contains("\n=== frame\n") && case.contains("\npass add"),
        "{case}"
    );
    // The frame reads what an earlier one wrote.
    let (head, states) = case
        .split_once("\n=== states\n")
        .expect("what it began with");
    let (states, kept) = states.split_once("\n=== plan\n").expect("its plan");
    let (topology, frame) = head.split_once("\n\n=== frame\n").expect("its frame");
    let topology = topology.trim_start_matches("topology ");
    let topology = quadrille_sync::text::parse_topology(topology).expect("the queues");
    let frame = quadrille_sync::text::parse_frame(frame).expect("the frame");
    let states = quadrille_sync::text::parse_snapshot(states, &frame).expect("the states");
    let again = quadrille_sync::solve::plan(&frame, &topology, &states.restore(&frame));
    let again = again
        .expect("a plan again")
        .display(&frame, &topology)
        .to_string();
    assert_eq!(again.trim_end(), kept.trim_end(), "{case}");
    rig.app.world_mut().despawn(pass);
    rig.update(2);
    rig.expect_no_errors();
    let plan = rig
        .app
        .world()
        .resource::<Renderer>()
        .plan_text()
        .expect("it was kept");
    assert!(!plan.contains("add"), "the despawned pass is gone:\n{plan}");
}

#[test]
#[ignore = "needs a device"]
fn a_disabled_pass_is_left_out_until_it_is_enabled() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(2);
    let world = rig.app.world_mut();
    let pass = world
        .query_filtered::<Entity, With<Pass>>()
        .single(world)
        .expect("one pass");
    world.entity_mut(pass).insert(Disabled);
    rig.update(3);
    rig.app.world_mut().entity_mut(pass).remove::<Disabled>();
    rig.update(1);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(
        numbers[0], 4,
        "two frames, three without the pass, and two more"
    );
}

#[test]
#[ignore = "needs a device"]
fn recording_on_all_threads_gives_the_same() {
    let run = |record_on| {
        let mut rig = Rig::recording_on(record_on);
        rig.app.add_systems(Render, add);
        rig.update(4);
        rig.expect_no_errors();
        read(&mut rig, |world| world.resource::<Numbers>().0.clone())
    };
    let (one, all) = (run(RecordOn::OneThread), run(RecordOn::AllThreads));
    assert_eq!(one[1] - one[0], all[1] - all[0]);
    assert!(one[0] >= 4 && all[0] >= 4);
}

#[test]
#[ignore = "needs a device"]
fn the_window_image_is_drawn_and_read_back() {
    fn clear(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>) {
        recorder.render(window.clear([1.0, 0.0, 0.0, 1.0]));
    }
    #[derive(Resource, Default)]
    struct Picture(Option<ReadbackComplete>);
    let mut rig = Rig::new();
    rig.app
        .init_resource::<Picture>()
        .add_systems(Render, clear);
    rig.update(1);
    let take = |done: On<ReadbackComplete>, mut picture: ResMut<Picture>| {
        picture.0 = Some(done.event().clone());
    };
    rig.app
        .world_mut()
        .spawn(Readback::primary_window())
        .observe(take);
    rig.update(6);
    rig.expect_no_errors();
    let picture = rig
        .app
        .world_mut()
        .resource_mut::<Picture>()
        .0
        .take()
        .expect("it was read");
    assert_eq!(picture.image.map(|(extent, _)| extent), Some([64, 48]));
    assert_eq!(
        picture.bytes[..4],
        [0, 0, 255, 255],
        "blue, green, red, alpha"
    );
    assert!(encode_png(&picture).is_ok());
}

#[test]
#[ignore = "needs a device"]
fn windows_are_named_by_marker_and_by_entity_and_closed_alone() {
    #[derive(Component)]
    struct Map;
    #[derive(Resource, Default)]
    struct Drawn([u32; 2]);
    fn draw_map(
        mut recorder: Recorder,
        window: ColorTarget<WindowImageOf<Map>>,
        mut drawn: ResMut<Drawn>,
    ) {
        assert_eq!(window.size(), [40, 30]);
        recorder.render(window.clear([0.0; 4]));
        drawn.0[0] += 1;
    }
    fn draw_other(mut recorder: Recorder, window: AnyAccess, mut drawn: ResMut<Drawn>) {
        recorder.render(window.clear([1.0; 4]));
        drawn.0[1] += 1;
    }
    let mut rig = Rig::new();
    rig.app.init_resource::<Drawn>().add_window_image::<Map>();
    let window = |width, height| Window {
        resolution: WindowResolution::new(width, height),
        ..Window::default()
    };
    let map = rig.app.world_mut().spawn((window(40, 30), Map)).id();
    let other = rig.app.world_mut().spawn(window(16, 16)).id();
    let by_entity = declared_window(AccessKind::ColorTarget, other);
    let draw_other = (ParamBuilder, by_entity, ParamBuilder).build_system(draw_other);
    rig.app.add_systems(Render, (draw_map, draw_other));
    rig.update(3);
    rig.expect_no_errors();
    assert_eq!(rig.app.world().resource::<Drawn>().0, [3, 3]);
    rig.app.world_mut().despawn(map);
    rig.update(2);
    rig.expect_no_errors();
    assert_eq!(rig.app.world().resource::<Drawn>().0, [3, 5]);
    rig.app.world_mut().despawn(other);
    rig.update(2);
    rig.expect_no_errors();
    assert_eq!(rig.app.world().resource::<Drawn>().0, [3, 5]);
}

#[test]
#[ignore = "needs a device"]
fn of_bytes_written_twice_in_a_frame_the_later_ones_count() {
    let mut rig = Rig::new();
    rig.update(1);
    let world = rig.app.world_mut();
    let numbers = world.resource::<Numbers>().0.clone();
    let mut uploads = world.resource_mut::<Uploads>();
    let words = |word: u32, count: usize| vec![word; count];
    uploads.write_buffer(&numbers, 0, bytemuck::cast_slice(&words(7, 256)));
    uploads.write_buffer(&numbers, 40, bytemuck::cast_slice(&words(8, 10)));
    uploads.write_buffer(&numbers, 60, bytemuck::cast_slice(&words(9, 1)));
    rig.update(1);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(numbers[9..21], [7, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 7]);
}
