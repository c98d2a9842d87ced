//! Buffers that an app and another side use in turns, by a binary semaphore for each direction: a library in this program,
//! or an app with a device of its own.

#![expect(unsafe_code, reason = "a library submits to the device by itself")]

use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::flags::Layout;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{BinarySemaphore, BufferDesc, MemoryHandle, PendingSignal};
use quadrille_vulkan::{ash, vk};

use crate::common::{Rig, Squares, add, read};
use crate::exchange::{Shared, gpu, read_shared, write_shared};

/// Frames of each test.
const FRAMES: u32 = 100;

/// The side that writes signals `drawn` and waits for `shown`; the other one the other way round.
#[derive(Resource, Clone)]
struct Turn {
    drawn: BinarySemaphore,
    shown: BinarySemaphore,
    owner: ExternalOwner,
    is_writer: bool,
}

/// States the exchanges of a frame. The writer has nothing to acquire before its first frame.
fn exchange(shared: Res<Shared>, turn: Res<Turn>, mut exchanges: ResMut<Exchanges>) {
    let (acquire, release) = if turn.is_writer {
        (&turn.shown, &turn.drawn)
    } else {
        (&turn.drawn, &turn.shown)
    };
    if acquire.pending() == PendingSignal::Theirs {
        let acquired = exchanges.acquire(shared.0.clone(), turn.owner, Layout::Undefined);
        acquired.with(acquire);
    }
    let released = exchanges.release(shared.0.clone(), turn.owner, Layout::Undefined);
    released.with(release);
}

/// Adds the passes that write the buffer, or read it, as long as there are turns.
fn add_passes(rig: &mut Rig, turn: Turn) {
    let is_on = resource_exists::<Turn>;
    let stated = exchange.in_set(RenderSystems::Declare).run_if(is_on);
    rig.app.add_systems(Render, stated);
    if turn.is_writer {
        let write = write_shared.after(add).run_if(is_on);
        rig.app.add_systems(Render, (add.run_if(is_on), write));
    } else {
        let read = read_shared.on_queue(QueuePreference::Async).run_if(is_on);
        rig.app.add_systems(Render, read);
    }
    rig.app.insert_resource(turn);
}

fn desc() -> BufferDesc {
    BufferDesc::storage("shared", 1024)
}

/// A semaphore of a library, which destroys it when it is free.
struct Owned(ash::Device, vk::Semaphore);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the renderer has dropped this, and the library's submissions are complete.
        unsafe { self.0.destroy_semaphore(self.1, None) };
    }
}

fn of_library(gpu: &Gpu, name: &str) -> BinarySemaphore {
    let device = gpu.device().clone();
    let info = vk::SemaphoreCreateInfo::default();
    // SAFETY: the device is alive.
    let raw = unsafe { device.create_semaphore(&info, None) }.expect("it is made");
    // SAFETY: the semaphore is of this device, and lives as long as its owner.
    unsafe { gpu.import_binary_semaphore(name, raw, Box::new(Owned(device, raw))) }
}

/// The library's work of a turn: it waits for `drawn`, and signals `shown`.
fn take_turn(gpu: &Gpu, turn: &Turn) {
    let info = |semaphore: &BinarySemaphore| {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let info = vk::SemaphoreSubmitInfo::default().semaphore(semaphore.step().raw());
        [info.stage_mask(all)]
    };
    let (waits, signals) = (info(&turn.drawn), info(&turn.shown));
    let submit = vk::SubmitInfo2::default()
        .wait_semaphore_infos(&waits)
        .signal_semaphore_infos(&signals);
    // SAFETY: the queue is this thread's for the time of the call; the frame that signals `drawn` is submitted.
    let submitted = gpu.with_queue(0, |queue| unsafe {
        gpu.device()
            .queue_submit2(queue, &[submit], vk::Fence::null())
    });
    assert_eq!(submitted, Some(Ok(())));
}

#[test]
#[ignore = "needs a device"]
fn library_takes_turns_by_two_binary_semaphores() {
    let mut rig = Rig::new();
    let gpu = gpu(&rig);
    let turn = Turn {
        drawn: of_library(&gpu, "drawn"),
        shown: of_library(&gpu, "shown"),
        owner: ExternalOwner::Program,
        is_writer: true,
    };
    let shared = gpu.create_buffer(&desc()).expect("it is made");
    rig.app.insert_resource(Shared(shared.clone()));
    add_passes(&mut rig, turn.clone());
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    for _ in 0..FRAMES {
        rig.update(1);
        rig.expect_no_errors();
        assert_eq!(turn.drawn.pending(), PendingSignal::Ours);
        take_turn(&gpu, &turn);
        turn.drawn.taken().expect("the library waits");
        turn.shown.arrived().expect("the library signals");
    }
    let renderer = rig.app.world().resource::<Renderer>();
    let plan = renderer.plan_text().expect("it is kept");
    for part in [" waits for shown value 1", " signals drawn value 1"] {
        assert!(plan.contains(part), "{plan}");
    }
    let reused = renderer.report()["plans_reused"].as_u64();
    assert!(reused >= Some(90), "frames repeat: {reused:?}");
    rig.app.world_mut().remove_resource::<Turn>();
    let mut exchanges = rig.app.world_mut().resource_mut::<Exchanges>();
    let acquired = exchanges.acquire(shared, turn.owner, Layout::Undefined);
    acquired.with(&turn.shown);
    let squares = read(&mut rig, |world| world.resource::<Shared>().0.clone());
    assert_eq!(squares[..3], [100 * 100, 101 * 101, 102 * 102]);
    rig.expect_no_errors();
}

/// Two apps, each with an instance and a device of its own, as two processes have.
#[test]
#[ignore = "needs a device"]
fn two_devices_take_turns_by_two_binary_semaphores() {
    let (mut first, mut second) = (Rig::new(), Rig::new());
    let (one, other) = (gpu(&first), gpu(&second));
    let drawn = match one.create_exportable_binary_semaphore("drawn") {
        Ok(made) => made,
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("semaphore"), "{said}");
            eprintln!("NOT RUN: {said}");
            return;
        }
    };
    let shown = other.create_exportable_binary_semaphore("shown");
    let shown = shown.expect("the other device is the same");
    let import = |gpu: &Gpu, semaphore: &BinarySemaphore| {
        let fd = semaphore.export_opaque().expect("it is exportable");
        let name = semaphore.step().name();
        gpu.import_binary_semaphore_fd(name, fd)
            .expect("it is imported")
    };
    let made = one.create_exportable_buffer(&desc(), MemoryHandle::OpaqueFd);
    let made = made.expect("the device exports buffers");
    let memory = made.export().expect("it is exportable");
    first.app.insert_resource(Shared(made));
    let imported = other.import_buffer(&desc(), memory);
    let imported = imported.expect("it is imported");
    second.app.insert_resource(Shared(imported));
    let writer = Turn {
        shown: import(&one, &shown),
        drawn: drawn.clone(),
        owner: ExternalOwner::External,
        is_writer: true,
    };
    let reader = Turn {
        drawn: import(&other, &drawn),
        shown,
        owner: ExternalOwner::External,
        is_writer: false,
    };
    add_passes(&mut first, writer.clone());
    add_passes(&mut second, reader.clone());
    for frame in 0..FRAMES {
        first.update(1);
        first.expect_no_errors();
        if frame > 0 {
            reader.shown.taken().expect("the writer waits");
        }
        reader.drawn.arrived().expect("the writer signals");
        second.update(1);
        second.expect_no_errors();
        writer.drawn.taken().expect("the reader waits");
        writer.shown.arrived().expect("the reader signals");
    }
    second.app.world_mut().remove_resource::<Turn>();
    let squares = read(&mut second, |world| world.resource::<Squares>().0.clone());
    assert_eq!(squares[..2], [100_u32.pow(4), 101_u32.pow(4)]);
    second.expect_no_errors();
}
