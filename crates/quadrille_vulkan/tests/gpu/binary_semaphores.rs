//! Binary semaphores that frames and others signal and wait for in turns: a library with submissions of its own on this
//! device, or another device. A device that shares none by descriptors names what is missing.

use std::sync::Arc;

use quadrille_sync::frame::TimelineUseKind::{self, Signal, Wait};
use quadrille_sync::frame::{QueueRequest, TimelineUse, UserTimeline};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{BinarySemaphore, PendingSignal, TimelineSemaphore};
use quadrille_vulkan::{FrameError, ash, vk};

use crate::rig::{Declared, Rig, TIMEOUT, async_compute};

/// Frames of each test.
const TURNS: u64 = 100;

/// A semaphore of a library, which destroys it when it is free.
struct Owned {
    device: ash::Device,
    raw: vk::Semaphore,
    _alive: Arc<()>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the renderer has dropped this, and the library's submissions are complete.
        unsafe { self.device.destroy_semaphore(self.raw, None) };
    }
}

/// A semaphore that a library has made from the device. The counter is 1 once it is destroyed.
fn of_library(gpu: &Gpu, name: &str) -> (BinarySemaphore, Arc<()>) {
    let (device, alive) = (gpu.device().clone(), Arc::new(()));
    // SAFETY: the device is alive.
    let raw = unsafe { device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) };
    let raw = raw.unwrap();
    let owned = Owned {
        device,
        raw,
        _alive: Arc::clone(&alive),
    };
    // SAFETY: the semaphore is of this device, and lives as long as its owner.
    let made = unsafe { gpu.import_binary_semaphore(name, raw, Box::new(owned)) };
    (made, alive)
}

/// The library's work of a turn, on the last queue: it waits for one semaphore, then signals another and a value.
fn take_turn(
    gpu: &Gpu,
    (wait, signal): (&BinarySemaphore, &BinarySemaphore),
    (done, value): (&TimelineSemaphore, u64),
) {
    let info = |raw| {
        vk::SemaphoreSubmitInfo::default()
            .semaphore(raw)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
    };
    let waits = [info(wait.step().raw())];
    let signals = [info(signal.step().raw()), info(done.raw()).value(value)];
    let first = vk::SubmitInfo2::default().wait_semaphore_infos(&waits);
    let second = vk::SubmitInfo2::default().signal_semaphore_infos(&signals);
    let queue = gpu.topology().queues.len() - 1;
    // SAFETY: the queue is this thread's for the time of the call; the frame that signals `wait` is submitted.
    let submitted = gpu.with_queue(queue, |queue| unsafe {
        let batches = [first, second];
        let device = gpu.device();
        device.queue_submit2(queue, &batches, vk::Fence::null())
    });
    assert_eq!(submitted, Some(Ok(())));
}

/// Declares a pass that waits for or signals a semaphore.
fn declare(
    declared: &mut Declared,
    semaphore: &BinarySemaphore,
    (kind, value): (TimelineUseKind, u64),
    queue: QueueRequest,
) {
    let pass = declared.pass("turn", queue, &[], |_| {});
    let timeline = declared.timelines.len() as u32;
    let name = semaphore.step().name().clone();
    declared
        .frame
        .timelines
        .push(UserTimeline { name, base: 0 });
    declared.timelines.push(semaphore.step().clone());
    declared.frame.timeline_uses.push(TimelineUse {
        pass,
        timeline,
        kind,
        value,
    });
}

/// A frame of one pass that waits for or signals a semaphore.
fn frame(rig: &mut Rig, semaphore: &BinarySemaphore, kind: TimelineUseKind, queue: QueueRequest) {
    rig.frame(|frame| declare(frame, semaphore, (kind, 1), queue));
}

/// The problem of a frame that uses a semaphore so. Nothing of it is submitted.
fn problem(
    rig: &mut Rig,
    semaphore: &BinarySemaphore,
    used: (TimelineUseKind, u64),
) -> &'static str {
    let frame = rig.try_frame(&mut [], |frame| {
        declare(frame, semaphore, used, QueueRequest::default());
    });
    match frame {
        Err(FrameError::BinarySemaphore { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs a device"]
fn library_and_frames_hand_one_semaphore_back_and_forth() {
    let mut rig = Rig::new();
    let gpu = rig.gpu.clone();
    let (ball, alive) = of_library(&gpu, "ball");
    let done = gpu.timeline_semaphore("done", 0).unwrap();
    for turn in 1..=TURNS {
        assert_eq!(ball.pending(), PendingSignal::None);
        frame(&mut rig, &ball, Signal, QueueRequest::default());
        assert_eq!(ball.pending(), PendingSignal::Ours);
        take_turn(&gpu, (&ball, &ball), (&done, turn));
        ball.arrived().unwrap();
        assert_eq!(ball.pending(), PendingSignal::Theirs);
        // On another queue than the next signal, which is executed after this wait all the same.
        frame(&mut rig, &ball, Wait, async_compute());
    }
    rig.finish();
    assert_eq!(done.value().unwrap(), TURNS);
    drop(ball);
    for _ in 0..4 {
        rig.frame(|_| {});
        rig.finish();
    }
    assert_eq!(Arc::strong_count(&alive), 1, "it is given back");
}

#[test]
#[ignore = "needs a device"]
fn each_direction_has_a_semaphore_of_its_own() {
    let mut rig = Rig::new();
    let gpu = rig.gpu.clone();
    let ((drawn, _), (shown, _)) = (of_library(&gpu, "drawn"), of_library(&gpu, "shown"));
    let done = gpu.timeline_semaphore("done", 0).unwrap();
    for turn in 1..=TURNS {
        rig.frame(|frame| {
            if turn > 1 {
                declare(frame, &shown, (Wait, 1), QueueRequest::default());
            }
            declare(frame, &drawn, (Signal, 1), QueueRequest::default());
        });
        take_turn(&gpu, (&drawn, &shown), (&done, turn));
        drawn.taken().unwrap();
        shown.arrived().unwrap();
    }
    frame(&mut rig, &shown, Wait, QueueRequest::default());
    rig.finish();
    assert_eq!(done.value().unwrap(), TURNS);
    assert_eq!(shown.pending(), PendingSignal::None);
}

#[test]
#[ignore = "needs a device"]
fn frames_out_of_turn_are_refused_and_hold_nothing_up() {
    let mut rig = Rig::new();
    let (ball, alive) = of_library(&rig.gpu.clone(), "ball");
    // The other side never signals.
    let said = problem(&mut rig, &ball, (Wait, 1));
    assert!(
        said.contains("no signal of the other side is pending"),
        "{said}"
    );
    let said = problem(&mut rig, &ball, (Signal, 2));
    assert!(said.contains("use the value 1"), "{said}");
    let said = ball.taken().unwrap_err().to_string();
    assert!(
        said.contains("`ball` is out of turn: no signal of a frame"),
        "{said}"
    );
    rig.finish();
    frame(&mut rig, &ball, Signal, QueueRequest::default());
    // The other side never waits.
    let said = problem(&mut rig, &ball, (Signal, 1));
    assert!(
        said.contains("nobody has waited for its last signal"),
        "{said}"
    );
    let said = problem(&mut rig, &ball, (Wait, 1));
    assert!(said.contains("an earlier frame signals it"), "{said}");
    for error in [ball.export_opaque().map(|_| ()), ball.export().map(|_| ())] {
        assert!(error.is_err());
    }
    // One use in a frame.
    ball.arrived().unwrap();
    let twice = rig.try_frame(&mut [], |frame| {
        declare(frame, &ball, (Wait, 1), QueueRequest::default());
        let pass = frame.pass("again", QueueRequest::default(), &[], |_| {});
        let first = frame.frame.timeline_uses[0];
        frame
            .frame
            .timeline_uses
            .push(TimelineUse { pass, ..first });
    });
    let Err(FrameError::BinarySemaphore { pass, problem, .. }) = twice else {
        panic!("{twice:?}");
    };
    assert_eq!(pass, "again");
    assert!(problem.contains("another pass of the frame"), "{problem}");
    drop(ball);
    for _ in 0..4 {
        rig.frame(|_| {});
        rig.finish();
    }
    assert_eq!(Arc::strong_count(&alive), 1, "its frame is complete");
}

/// A semaphore that can leave the device, unless it exports none and says so.
#[expect(clippy::print_stderr, reason = "a test says that it does not run")]
fn exportable(rig: &Rig) -> Option<BinarySemaphore> {
    let fd = std::os::fd::OwnedFd::from(std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    match rig.gpu.create_exportable_binary_semaphore("ball") {
        Ok(made) => Some(made),
        Err(error) => {
            let said = error.to_string();
            let missing = [
                "VK_KHR_external_semaphore_fd, which the device",
                "does not share binary semaphores by opaque descriptors; share a sync file",
            ];
            assert!(missing.iter().any(|part| said.contains(part)), "{said}");
            assert!(rig.gpu.import_binary_semaphore_fd("ball", fd).is_err());
            eprintln!("NOT RUN: {said}");
            None
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn two_devices_hand_one_semaphore_back_and_forth() {
    let (mut first, mut second) = (Rig::new(), Rig::new());
    let Some(own) = exportable(&first) else {
        return;
    };
    let fd = own.export_opaque().unwrap();
    let other = second.gpu.import_binary_semaphore_fd("ball", fd).unwrap();
    let said = other.export_opaque().unwrap_err().to_string();
    assert!(
        said.contains("`Gpu::create_exportable_binary_semaphore`"),
        "{said}"
    );
    for _ in 0..TURNS {
        frame(&mut first, &own, Signal, QueueRequest::default());
        assert_eq!(own.pending(), PendingSignal::Ours);
        other.arrived().unwrap();
        frame(&mut second, &other, Wait, QueueRequest::default());
        frame(&mut second, &other, Signal, QueueRequest::default());
        assert_eq!(other.pending(), PendingSignal::Ours);
        own.arrived().unwrap();
        frame(&mut first, &own, Wait, QueueRequest::default());
        other.taken().unwrap();
    }
    first.frames.drain(TIMEOUT).unwrap();
    frame(&mut first, &own, Signal, QueueRequest::default());
    other.arrived().unwrap();
    // The other side ends, and leaves the signal behind.
    second.finish();
    drop((other, second));
    let said = problem(&mut first, &own, (Wait, 1));
    assert!(said.contains("an earlier frame signals it"), "{said}");
    first.finish();
}
