//! Binary semaphores as sync files, which another device waits for. A device without them names what is missing.

use std::os::fd::AsFd as _;

use quadrille_sync::frame::TimelineUseKind::{self, Signal, Wait};
use quadrille_vulkan::FrameError;
use quadrille_vulkan::resources::BinarySemaphore;

use crate::rig::{Rig, TIMEOUT};
use crate::timelines::declare;

/// An exportable semaphore, unless the device has none and says so.
#[expect(clippy::print_stderr, reason = "a test says that it does not run")]
fn exportable(rig: &Rig) -> Option<BinarySemaphore> {
    match rig.gpu.exportable_semaphore("drawn") {
        Ok(made) => Some(made),
        Err(error) => {
            let said = error.to_string();
            let missing = [
                "VK_KHR_external_semaphore_fd, which the device",
                "as sync files; share",
            ];
            assert!(missing.iter().any(|part| said.contains(part)), "{said}");
            assert!(rig.gpu.import_sync_fd("arrived", None).is_err());
            eprintln!("NOT RUN: {said}");
            None
        }
    }
}

/// The problem of a frame that uses a semaphore so.
fn problem(
    rig: &mut Rig,
    semaphore: &BinarySemaphore,
    uses: &[(TimelineUseKind, u64)],
) -> &'static str {
    let frame = rig.try_frame(&mut [], |frame| declare(frame, semaphore.step(), uses));
    match frame {
        Err(FrameError::BinarySemaphore { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs a device"]
fn frame_waits_for_the_sync_file_of_another_device() {
    let (mut first, mut second) = (Rig::new(), Rig::new());
    let gate = first.gpu.timeline_semaphore("gate", 0).unwrap();
    for turn in 1..4 {
        let Some(drawn) = exportable(&first) else {
            return;
        };
        gate.signal(2 * turn - 1).unwrap();
        first.frame(|frame| declare(frame, &gate, &[(Wait, 2 * turn - 1), (Signal, 2 * turn)]));
        first.frame(|frame| declare(frame, drawn.step(), &[(Signal, 1)]));
        let file = drawn.export().unwrap();
        let twice = drawn.export().unwrap_err().to_string();
        assert!(twice.contains("it was exported before"), "{twice}");
        let copy = file
            .as_ref()
            .map(|file| file.as_fd().try_clone_to_owned().unwrap());
        let arrived = second.gpu.import_sync_fd("arrived", file).unwrap();
        second.frame(|frame| declare(frame, arrived.step(), &[(Wait, 1)]));
        second.finish();
        assert!(
            gate.value().unwrap() >= 2 * turn,
            "the wait was for the signal"
        );
        // A file that is signalled can be imported again.
        let again = second.gpu.import_sync_fd("again", copy).unwrap();
        let none = second.gpu.import_sync_fd("none", None).unwrap();
        for semaphore in [again, none] {
            second.frame(|frame| declare(frame, semaphore.step(), &[(Wait, 1)]));
        }
        second.frames.drain(TIMEOUT).unwrap();
        first.finish();
    }
}

#[test]
#[ignore = "needs a device"]
fn binary_semaphore_has_one_signal_and_one_wait() {
    let mut rig = Rig::new();
    let Some(drawn) = exportable(&rig) else {
        return;
    };
    let early = drawn.export().unwrap_err().to_string();
    assert!(early.contains("no submitted frame signals it"), "{early}");
    assert!(problem(&mut rig, &drawn, &[(Wait, 1)]).contains("made to be exported"));
    assert!(problem(&mut rig, &drawn, &[(Signal, 2)]).contains("use the value 1"));
    rig.frame(|frame| declare(frame, drawn.step(), &[(Signal, 1)]));
    assert!(problem(&mut rig, &drawn, &[(Signal, 1)]).contains("an earlier frame"));
    let arrived = rig.gpu.import_sync_fd("arrived", None).unwrap();
    assert!(problem(&mut rig, &arrived, &[(Signal, 1)]).contains("it is imported"));
    let twice = problem(&mut rig, &arrived, &[(Wait, 1), (Wait, 1)]);
    assert!(twice.contains("another pass of the frame"), "{twice}");
    assert!(arrived.export().is_err());
    let host = [
        arrived.step().signal(2).unwrap_err(),
        arrived.step().wait(1, TIMEOUT).unwrap_err(),
    ];
    for error in host {
        assert!(
            error.to_string().contains("it is a binary semaphore"),
            "{error}"
        );
    }
    // Nothing of all this has used it.
    rig.frame(|frame| declare(frame, arrived.step(), &[(Wait, 1)]));
    assert!(problem(&mut rig, &arrived, &[(Wait, 1)]).contains("an earlier frame"));
    rig.finish();
    drop(drawn);
    rig.finish();
}
