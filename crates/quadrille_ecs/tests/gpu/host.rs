//! Host passes on a device.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, Memory};

use super::common::{Add, Errors, Rig};

/// 256 numbers that device and host can reach.
#[derive(Resource, Deref)]
struct Shared(GpuBuffer);

/// First number as the host read it, frame by frame.
#[derive(Resource, Default)]
struct Seen(Vec<u32>);

fn rig() -> Rig {
    let mut rig = Rig::new();
    // The device is there after the plugins, the pipelines after the first update.
    rig.update(1);
    let world = rig.app.world_mut();
    let desc = BufferDesc::storage("shared", 1024).in_memory(Memory::Readback);
    let shared = world.resource::<GpuDevice>().create_buffer(&desc);
    let shared = shared.expect("a buffer can be made");
    world.insert_resource(Shared(shared));
    world.init_resource::<Seen>();
    rig
}

fn zero(mut recorder: Recorder, numbers: TransferWrite<Shared>) {
    recorder.transfer().fill_buffer(&numbers, 0, 1024, 0);
}

fn add_one(mut recorder: Recorder, numbers: StorageReadWrite<Shared>, pass: Res<Add>) {
    recorder
        .compute(&pass.add)
        .bind(0, &numbers)
        .push(&1_u32)
        .dispatch([4, 1, 1]);
}

fn add_ten(mut recorder: Recorder, numbers: StorageReadWrite<Shared>, pass: Res<Add>) {
    recorder
        .compute(&pass.add)
        .bind(0, &numbers)
        .push(&10_u32)
        .dispatch([4, 1, 1]);
}

fn double(mut recorder: Recorder, numbers: HostReadWrite<Shared>) {
    let numbers = numbers.memory();
    recorder.host(move |host| {
        let mut values: Vec<u32> = numbers.read(host)?;
        values.iter_mut().for_each(|value| *value *= 2);
        numbers.write(host, 0, &values)?;
        Ok(())
    });
}

fn look(mut recorder: Recorder, numbers: HostRead<Shared>) {
    let numbers = numbers.memory();
    recorder.host(move |host| {
        let values: Vec<u32> = numbers.read(host)?;
        let uniform = values.iter().all(|value| *value == values[0]);
        let seen = if uniform { values[0] } else { u32::MAX };
        host.queue(move |world: &mut World| world.resource_mut::<Seen>().0.push(seen));
        Ok(())
    });
}

#[test]
#[ignore = "needs a device"]
fn the_host_works_between_two_passes_of_one_frame() {
    let mut rig = rig();
    rig.app.add_systems(
        Render,
        (
            zero,
            add_one.on_queue(QueuePreference::Async),
            double,
            add_ten,
            look,
        )
            .chain(),
    );
    rig.update(6);
    rig.expect_no_errors();
    // The last frame's look may still be on its way.
    let seen = &rig.app.world().resource::<Seen>().0;
    assert!(seen.len() >= 4, "{seen:?}");
    assert!(seen.iter().all(|seen| *seen == 12), "{seen:?}");
}

#[test]
#[ignore = "needs a device"]
fn a_host_pass_that_nothing_follows_is_over_before_its_memory_is_touched_again() {
    let mut rig = rig();
    rig.app.add_systems(Render, zero.run_if(run_once));
    rig.app
        .add_systems(Render, (add_one.after(zero), look.after(add_one)));
    rig.update(8);
    rig.expect_no_errors();
    let seen = &rig.app.world().resource::<Seen>().0;
    // Each frame's look had to be over before the next frame's pass.
    let expected: Vec<u32> = (1..=seen.len() as u32).collect();
    assert!(seen.len() >= 7, "{seen:?}");
    assert_eq!(*seen, expected);
}

fn run_once(mut ran: Local<bool>) -> bool {
    !std::mem::replace(&mut *ran, true)
}

#[test]
#[ignore = "needs a device"]
fn a_host_pass_that_fails_or_panics_costs_nothing_else() {
    fn fails(mut recorder: Recorder, _numbers: HostRead<Shared>) {
        recorder.host(|_| Err("the moon is full".into()));
    }
    fn panics(mut recorder: Recorder, _numbers: HostRead<Shared>) {
        recorder.host(|_| panic!("a wolf"));
    }
    let mut rig = rig();
    rig.app.add_systems(
        Render,
        (zero, add_one, fails, panics, add_ten, look).chain(),
    );
    rig.update(4);
    let seen = &rig.app.world().resource::<Seen>().0;
    assert!(!seen.is_empty(), "frames go on");
    assert!(seen.iter().all(|seen| *seen == 11), "{seen:?}");
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    let expected = [
        "the host pass `fails` failed: the moon is full",
        "the host pass `panics` failed: a wolf",
    ];
    for expected in expected {
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
#[ignore = "needs a device"]
fn memory_that_the_host_cannot_reach_is_an_error() {
    #[derive(Resource, Deref)]
    struct Far(GpuBuffer);
    fn peek(mut recorder: Recorder, far: HostRead<Far>) {
        let far = far.memory();
        recorder.host(move |host| far.read::<u32>(host).map(|_| ()).map_err(Into::into));
    }
    let mut rig = rig();
    let far = BufferDesc::storage("far", 64);
    let far = rig.app.world().resource::<GpuDevice>().create_buffer(&far);
    rig.app
        .insert_resource(Far(far.expect("a buffer can be made")));
    rig.app.add_systems(Render, peek);
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    let expected = "the host cannot reach the memory of `far`; make it with \
                    `.in_memory(Memory::Readback)`";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
#[ignore = "needs a device"]
fn a_pass_on_the_host_and_on_the_device_is_an_error() {
    fn both(mut recorder: Recorder, numbers: TransferWrite<Shared>) {
        recorder.transfer().fill_buffer(&numbers, 0, 1024, 0);
        recorder.host(|_| Ok(()));
    }
    let mut rig = rig();
    rig.app.add_systems(Render, both);
    rig.update(1);
    let errors = rig.app.world().resource::<Errors>().0.join("\n");
    assert!(errors.contains("make two passes of it"), "{errors}");
}
