//! Another device in place of one that failed.
//!
//! A pass fails here, and the handler wants another device for it: recovery is the
//! same as from a device that is really lost.

use bevy_app::AppExit;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::ComputePipeline;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};

use crate::common::{Add, Errors, Numbers, Rig, Squares, add, read};

/// 64 sevens.
#[derive(Resource, Deref)]
struct Sevens(GpuBuffer);

#[derive(Resource, Default)]
struct Rebuilt(Vec<u32>);

/// Frames in which the pass `fail` fails.
#[derive(Resource)]
struct FailIn(Vec<u32>);

fn make_sevens(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let sevens = gpu.create_buffer(&BufferDesc::storage("sevens", 256))?;
    let words: Vec<u8> = [7_u32; 64].into_iter().flat_map(u32::to_ne_bytes).collect();
    uploads.write_buffer(&sevens, 0, &words);
    commands.insert_resource(Sevens(sevens));
    Ok(())
}

fn fail(_: Recorder, mut frame: Local<u32>, fail_in: Res<FailIn>) -> Result {
    *frame += 1;
    if fail_in.0.contains(&*frame) {
        Err("refused by the test".into())
    } else {
        Ok(())
    }
}

/// A rig whose device is rebuilt when a pass fails.
fn rig(fail_in: &[u32]) -> Rig {
    let mut rig = Rig::new();
    rig.app
        .insert_resource(RenderErrorHandler(|error, world| {
            world.resource_mut::<Errors>().0.push(error.to_string());
            match error {
                RenderError::System { .. } => RenderErrorPolicy::Recover,
                _ => RenderErrorPolicy::Ignore,
            }
        }))
        .insert_resource(FailIn(fail_in.to_vec()))
        .init_resource::<Rebuilt>()
        .add_observer(|on: On<DeviceRebuilt>, mut rebuilt: ResMut<Rebuilt>| {
            rebuilt.0.push(on.event().times);
        })
        .add_systems(RenderStartup, make_sevens)
        .add_systems(Render, fail);
    rig
}

#[test]
#[ignore = "needs a device"]
fn render_startup_resources_are_recreated() {
    let mut rig = rig(&[3]);
    rig.update(1);
    rig.expect_no_errors();
    let before = (**rig.app.world().resource::<GpuDevice>()).clone();
    rig.update(2);
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, [1]);
    assert_eq!(rig.app.world().resource::<Errors>().0.len(), 1);
    assert!(before != **rig.app.world().resource::<GpuDevice>());
    let sevens = read(&mut rig, |world| world.resource::<Sevens>().0.clone());
    assert_eq!(sevens, [7; 64]);
}

#[test]
#[ignore = "needs a device"]
fn resources_of_the_old_device_are_named() {
    let mut rig = rig(&[2]);
    // Numbers and their pipeline are made in `Startup`, which does not run again.
    rig.app.add_systems(Render, add);
    rig.update(2);
    rig.app.world_mut().resource_mut::<Errors>().0.clear();
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(errors.contains("numbers"), "{errors}");
    assert!(errors.contains("RenderStartup"), "{errors}");

    // The pipeline too, once the buffer is a new one.
    rig.app.world_mut().resource_mut::<Errors>().0.clear();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let numbers = BufferDesc::storage("numbers", 1024);
    let numbers = gpu.create_buffer(&numbers).expect("there is memory");
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(&numbers, 0, &[0; 1024]);
    rig.app.world_mut().insert_resource(Numbers(numbers));
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(errors.contains("add"), "{errors}");
    assert!(errors.contains("another device"), "{errors}");
    rig.app.world_mut().remove_resource::<Add>();
}

#[test]
#[ignore = "needs a device"]
fn a_device_that_fails_again_at_once_is_the_end() {
    let mut rig = rig(&[2, 20]);
    // Asked after each frame, as a runner does: messages are gone after two steps of bevy's fixed
    // clock, which are few frames of a slow machine.
    let exit = (0..25).find_map(|_| {
        rig.update(1);
        rig.app.should_exit()
    });
    assert_eq!(exit, Some(AppExit::error()));
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, [1]);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(errors.contains("cannot recover"), "{errors}");
}

#[test]
#[ignore = "needs a device"]
fn device_that_fails_later_is_rebuilt_again() {
    let mut rig = rig(&[2, 80, 150]);
    rig.update(160);
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, [1, 2, 3]);
    let sevens = read(&mut rig, |world| world.resource::<Sevens>().0.clone());
    assert_eq!(sevens, [7; 64]);
}

/// A pass that holds a buffer of the old device by its handle, and so does the entity that stands
/// for it, drops it after a notification; then nothing of the old device is left.
#[test]
#[ignore = "needs a device"]
fn nothing_of_the_old_device_stays() {
    #[derive(Resource)]
    struct Fill(ComputePipeline);
    let fill = |mut recorder: Recorder, cells: AnyAccess, fill: Res<Fill>| {
        let mut compute = recorder.compute(&fill.0);
        compute.bind(0, &cells).push(&1_u32).dispatch([1, 1, 1]);
    };
    let mut rig = rig(&[4]);
    rig.update(1);
    let world = rig.app.world_mut();
    let gpu = world.resource::<GpuDevice>().clone();
    let old = gpu.downgrade();
    let cells = BufferDesc::storage("cells", 256);
    let cells = gpu.create_buffer(&cells).expect("there is memory");
    let add = world.resource::<Add>().add.clone();
    world.insert_resource(Fill(add));
    let kind = AccessKind::StorageReadWrite;
    let parameters = (ParamBuilder, declared(kind, &cells), ParamBuilder);
    let pass = parameters.build_system(fill);
    world.schedule_scope(Render, |_, schedule| {
        schedule.add_systems(pass);
    });
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_buffer(&cells, 0, &[0; 256]);
    drop((gpu, cells));
    rig.update(2);
    rig.expect_no_errors();
    assert!(old.exists());

    // Handles of the app itself are dropped with the loss, as in a program that creates them again.
    rig.app
        .add_observer(|_: On<DeviceRebuilt>, mut commands: Commands| {
            commands.remove_resource::<Numbers>();
            commands.remove_resource::<Squares>();
            commands.remove_resource::<Add>();
        });
    rig.update(1);
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, [1]);
    rig.app.world_mut().remove_resource::<Fill>();
    rig.app.world_mut().resource_mut::<Errors>().0.clear();
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(
        errors.contains("cells was made from a device that is gone"),
        "{errors}"
    );
    assert!(!old.exists(), "something keeps the old device");
}

#[test]
#[ignore = "needs a device"]
fn a_trace_goes_on_with_another_device() {
    let mut rig = rig(&[10]);
    rig.app.world_mut().resource_mut::<Renderer>().trace();
    rig.update(30);
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, [1]);
    let trace = rig.app.world().resource::<Renderer>().trace_json();
    let trace = trace.expect("it is traced still");
    for device in ["device 0 queue", "device 1 queue"] {
        assert!(trace.contains(device), "the times of {device} are there");
    }
}
