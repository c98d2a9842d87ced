//! Resources that come and go while frames are made, and passes that can do without them.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::{BufferDesc, BufferUsage, GpuBuffer};

use crate::common::{Add, Errors, Numbers, Rig, Squares, read, record_square, square};

/// Frames since the start, and in which of them a buffer is made.
#[derive(Resource, Default)]
struct Made(u32);

/// A buffer that is recreated in every third frame, as one of a window's size would be.
#[derive(Resource, Deref)]
struct Resized(GpuBuffer);

fn resize(mut commands: Commands, gpu: Res<GpuDevice>, mut made: ResMut<Made>) -> Result {
    if made.0.is_multiple_of(3) {
        let name = format!("resized {}", made.0);
        let usage = BufferUsage::STORAGE | BufferUsage::TRANSFER_SRC;
        let desc = BufferDesc::new(&name, 1024 + u64::from(made.0) * 4, usage);
        commands.insert_resource(Resized(gpu.create_buffer(&desc)?));
    }
    made.0 += 1;
    Ok(())
}

fn square_resized(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Resized>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

fn resources_inserted_in_declare_reach_passes(record_on: RecordOn) {
    let mut rig = Rig::recording_on(record_on);
    rig.app
        .init_resource::<Made>()
        .add_systems(Render, resize.in_set(RenderSystems::Declare))
        .add_systems(Render, square_resized);
    rig.update(8);
    rig.expect_no_errors();
    let name = rig.app.world().resource::<Resized>().0.name().to_owned();
    assert_eq!(name, "resized 6");
    let squares = read(&mut rig, |world| world.resource::<Resized>().0.clone());
    assert_eq!(squares[..3], [0, 1, 4]);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn resources_inserted_in_declare_reach_passes_on_one_thread() {
    resources_inserted_in_declare_reach_passes(RecordOn::OneThread);
}

#[test]
#[ignore = "needs a device"]
fn resources_inserted_in_declare_reach_passes_on_all_threads() {
    resources_inserted_in_declare_reach_passes(RecordOn::AllThreads);
}

/// Whether a pass had an optional resource, frame by frame.
#[derive(Resource, Default)]
struct Had(Vec<bool>);

#[derive(Resource, Deref)]
struct Lists(Vec<GpuBuffer>);

#[derive(Component)]
struct Absent;

type Optional<'w> = (
    Option<StorageWrite<'w, Squares>>,
    Option<AccessList<'w, Lists, access_kind::StorageRead>>,
    Option<ColorTarget<'w, WindowImageOf<Absent>>>,
);

fn maybe_square(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    (to, list, window): Optional,
    pass: Res<Add>,
    mut had: ResMut<Had>,
) {
    had.0.push(to.is_some());
    assert!(list.is_none() && window.is_none(), "there are none");
    if let Some(to) = to {
        record_square(&mut recorder, &pass, &from, &to);
    }
}

#[test]
#[ignore = "needs a device"]
fn pass_runs_without_optional_resources() {
    let mut rig = Rig::with_more(
        |_| {},
        |app| {
            app.add_window_image::<Absent>()
                .init_resource::<Had>()
                .add_systems(Render, maybe_square);
        },
    );
    rig.update(1);
    let squares = rig.app.world_mut().remove_resource::<Squares>();
    rig.update(3);
    rig.expect_no_errors();
    let report = rig.app.world().resource::<Renderer>().report();
    assert_eq!(report["frames"], 4, "no frame is lost");
    rig.app.world_mut().insert_resource(squares.expect("made"));
    rig.update(2);
    rig.expect_no_errors();
    let had = &rig.app.world().resource::<Had>().0;
    assert_eq!(had[..], [true, false, false, false, true, true]);
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    assert_eq!(squares[..3], [0, 1, 4]);
}

#[test]
#[ignore = "needs a device"]
fn a_pass_is_left_out_for_want_of_a_resource() {
    fn only_if(
        mut recorder: Recorder,
        from: StorageRead<Numbers>,
        to: If<StorageWrite<Squares>>,
        pass: Res<Add>,
    ) {
        record_square(&mut recorder, &pass, &from, &*to);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(
        Render,
        (
            only_if,
            square
                .run_if(resource_exists::<Squares>)
                .after(only_if)
                .on_queue(QueuePreference::Async),
        ),
    );
    rig.update(2);
    rig.app.world_mut().remove_resource::<Squares>();
    rig.update(2);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn resource_removed_while_passes_run_is_reported() {
    fn remove(mut commands: Commands) {
        commands.remove_resource::<Squares>();
    }
    let mut rig = Rig::with_more(
        |_| {},
        |app| {
            app.add_window_image::<Absent>()
                .init_resource::<Had>()
                .add_systems(Render, (maybe_square, remove).chain());
        },
    );
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.clone();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    for words in ["maybe_square", "`Squares`", "does not exist once"] {
        assert!(errors[0].contains(words), "no {words:?} in {errors:#?}");
    }
    rig.update(1);
    let errors = &rig.app.world().resource::<Errors>().0;
    assert_eq!(errors.len(), 1, "from then on it does without: {errors:#?}");
}
