//! Transient buffers: allocation and release of their memory.

use quadrille_sync::access::Access;
use quadrille_vulkan::device::StreamDesc;
use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};

use crate::rig::{Declared, Rig, compute, discard, settings};

/// A rig whose transient resources share memory, also under the validation layer.
fn sharing() -> Rig {
    Rig::with(&Settings {
        aliasing: Some(true),
        ..settings()
    })
}

fn transient(rig: &Rig, name: &str, bytes: u64) -> GpuBuffer {
    let desc = BufferDesc::storage(name, bytes).transient();
    rig.gpu.create_buffer(&desc).unwrap()
}

/// Fills a buffer and copies all of it to the beginning of another.
fn fill_and_keep(frame: &mut Declared, buffer: &GpuBuffer, value: u32, kept: &GpuBuffer) {
    let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
    frame.pass("fill", compute(), &uses, |list| {
        list.fill_buffer(buffer, 0, 0, value);
    });
    let uses = [
        quadrille_sync::frame::Use::whole(frame.resource(buffer.clone()), Access::CopyRead),
        discard(frame.resource(kept.clone()), Access::CopyWrite),
    ];
    frame.pass("keep", compute(), &uses, |list| {
        list.copy_buffer(buffer, 0, kept, 0, buffer.bytes());
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_chain_of_buffers_takes_the_memory_of_one() {
    let mut rig = sharing();
    let buffers: Vec<GpuBuffer> = (0..8).map(|_| transient(&rig, "link", 16384)).collect();
    let kept: Vec<GpuBuffer> = (0..8).map(|_| rig.readback(16384)).collect();
    for start in [0, 100] {
        rig.frame(|frame| {
            for (value, (buffer, kept)) in (start..).zip(buffers.iter().zip(&kept)) {
                fill_and_keep(frame, buffer, value, kept);
            }
        });
        for (value, kept) in (start..).zip(&kept) {
            assert_eq!(rig.words(kept), [value; 4096]);
        }
    }
    let memory = rig.frames.transient_memory();
    assert_eq!(memory.bytes * 8, memory.unshared_bytes);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn without_aliasing_nothing_is_shared() {
    let mut rig = Rig::with(&Settings {
        aliasing: Some(false),
        ..settings()
    });
    let (one, two) = (transient(&rig, "one", 4096), transient(&rig, "two", 4096));
    let kept = rig.readback(4096);
    rig.frame(|frame| {
        fill_and_keep(frame, &one, 1, &kept);
        fill_and_keep(frame, &two, 2, &kept);
    });
    assert_eq!(rig.words(&kept), [2; 1024]);
    let memory = rig.frames.transient_memory();
    assert_eq!(memory.bytes, memory.unshared_bytes);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn buffers_of_all_sizes_come_and_go() {
    let mut rig = sharing();
    let kept = rig.readback(1 << 18);
    let (mut highest, mut largest) = (0, 0);
    for step in 0..200_u32 {
        let bytes = |salt: u32| 256 + u64::from((step * 7919 + salt) % 61) * 4096;
        let (one, two) = (
            transient(&rig, "one", bytes(0)),
            transient(&rig, "two", bytes(31)),
        );
        highest = highest.max(two.id().0);
        rig.frame(|frame| {
            fill_and_keep(frame, &one, step, &kept);
            fill_and_keep(frame, &two, step + 1, &kept);
        });
        let memory = rig.frames.transient_memory();
        largest = largest.max(memory.bytes);
        assert!(
            memory.bytes < 1 << 20,
            "no more than what is needed at once"
        );
        if step % 20 == 0 {
            assert_eq!(rig.words(&kept)[..64], [step + 1; 64]);
        }
    }
    assert!(highest < 32, "{highest} buffers were alive at once");
    assert_eq!(rig.frames.transient_memory().bytes, largest, "kept");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_buffer_goes_where_it_is_used() {
    let mut main = sharing();
    let mut stream = Rig::stream(&main.gpu, &StreamDesc::compute("stream"));
    let buffer = transient(&main, "wanderer", 4096);
    for value in 0..6 {
        let rig = if value % 2 == 0 {
            &mut main
        } else {
            &mut stream
        };
        let kept = rig.readback(4096);
        rig.frame(|frame| fill_and_keep(frame, &buffer, value, &kept));
        assert_eq!(rig.words(&kept), [value; 1024]);
    }
}

/// More frames than unused memory is kept for.
const LONG: u32 = 600;

#[test]
#[ignore = "needs a Vulkan device"]
fn a_block_shrinks_once_frames_have_needed_little_for_long() {
    let mut rig = sharing();
    // The large one stays alive, but no later frame uses it.
    let large = transient(&rig, "large", 8 << 20);
    let small = transient(&rig, "small", 4096);
    let large_kept = rig.readback(8 << 20);
    let kept = rig.readback(4096);
    rig.frame(|frame| fill_and_keep(frame, &large, 1, &large_kept));
    let before = rig.frames.transient_memory().bytes;
    assert!(before >= 8 << 20);
    for value in 0..LONG {
        rig.frame(|frame| fill_and_keep(frame, &small, value, &kept));
        if value == 100 {
            assert_eq!(rig.frames.transient_memory().bytes, before, "not at once");
        }
    }
    assert_eq!(rig.words(&kept), [LONG - 1; 1024]);
    let after = rig.frames.transient_memory().bytes;
    assert!(after <= 8192, "{before} become {after}");
    assert_eq!(large.raw(), quadrille_vulkan::vk::Buffer::null(), "it left");
    rig.frame(|frame| fill_and_keep(frame, &large, 7, &large_kept));
    assert_eq!(rig.words(&large_kept), [7; 2 << 20]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_block_that_nobody_needs_goes() {
    let mut rig = sharing();
    let large = transient(&rig, "large", 8 << 20);
    let kept = rig.readback(8 << 20);
    rig.frame(|frame| fill_and_keep(frame, &large, 1, &kept));
    for _ in 0..LONG {
        rig.frame(|_| {});
    }
    assert_eq!(rig.frames.transient_memory().bytes, 0);
}
