//! Timeline semaphores of the program.

use std::sync::Arc;
use std::time::Duration;

use quadrille_sync::frame::{QueueRequest, TimelineUse, TimelineUseKind, UserTimeline};
use quadrille_vulkan::resources::TimelineSemaphore;
use quadrille_vulkan::{FrameError, vk};

use crate::rig::{Declared, Rig, TIMEOUT};

/// Declares a pass that waits for or signals a value.
pub(crate) fn declare(
    declared: &mut Declared,
    timeline: &TimelineSemaphore,
    uses: &[(TimelineUseKind, u64)],
) {
    let pass = declared.pass("waits", QueueRequest::default(), &[], |_| {});
    let (name, base) = (timeline.name().clone(), 0);
    declared.frame.timelines.push(UserTimeline { name, base });
    declared.timelines.push(timeline.clone());
    let uses = uses.iter().map(|&(kind, value)| TimelineUse {
        pass,
        timeline: 0,
        kind,
        value,
    });
    declared.frame.timeline_uses.extend(uses);
}

#[test]
#[ignore = "needs a device"]
fn late_signal_is_reported_with_the_value_reached() {
    let mut rig = Rig::new();
    let timeline = rig.gpu.timeline_semaphore("outside", 3).unwrap();
    rig.frame(|declared| {
        let uses = [(TimelineUseKind::Wait, 5), (TimelineUseKind::Signal, 6)];
        declare(declared, &timeline, &uses);
    });
    timeline.signal(4).unwrap();
    let waited = rig.frames.drain(Duration::from_millis(50));
    let Err(FrameError::TimelineWait {
        pass,
        timeline: name,
        wanted,
        reached,
        ..
    }) = waited
    else {
        panic!("{waited:?}");
    };
    assert_eq!((&*pass, &*name), ("waits", "outside"));
    assert_eq!((wanted, reached), (5, 4));
    assert!(timeline.signal(6).is_err(), "a frame signals it");
    timeline.signal(5).unwrap();
    rig.frames.drain(TIMEOUT).unwrap();
    assert_eq!(timeline.value().unwrap(), 6);
    rig.finish();
}

#[test]
#[ignore = "needs a device"]
fn semaphore_of_the_program_is_used_and_kept() {
    let mut rig = Rig::new();
    // SAFETY: a semaphore is made from the device, and destroyed once Quadrille has dropped `keep`.
    let (device, raw) = unsafe {
        let device = rig.gpu.device().clone();
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let raw = device.create_semaphore(&info, None).unwrap();
        (device, raw)
    };
    let keep = Arc::new(());
    // SAFETY: as above.
    let timeline = unsafe {
        let keep = Box::new(Arc::clone(&keep));
        rig.gpu.import_timeline_semaphore("library's", raw, keep)
    };
    rig.frame(|declared| declare(declared, &timeline, &[(TimelineUseKind::Wait, 1)]));
    drop(timeline);
    assert_eq!(Arc::strong_count(&keep), 2, "a submission uses it");
    let info = vk::SemaphoreSignalInfo::default().semaphore(raw).value(1);
    // SAFETY: as above; the value rises.
    unsafe { device.signal_semaphore(&info) }.unwrap();
    for _ in 0..4 {
        rig.frame(|_| {});
        rig.finish();
    }
    assert_eq!(Arc::strong_count(&keep), 1, "nobody does any more");
    // SAFETY: as above.
    unsafe { device.destroy_semaphore(raw, None) };
}
