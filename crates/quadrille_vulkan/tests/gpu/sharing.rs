//! Changing how queue families share a resource with contents.

use quadrille_sync::access::Access;
use quadrille_sync::resource::Sharing as Mode;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{BufferDesc, Handle, ImageDesc, ImageRegion, Memory, Sharing};
use quadrille_vulkan::submit::SharingChanged;

use crate::rig::{Declared, Rig, compute, discard, graphics};

/// Copies what was taken out of a resource back into it, as the next frame has to.
fn carry_over(frame: &mut Declared, from: &Handle, to: &Handle) {
    let uses = [
        quadrille_sync::frame::Use::whole(frame.resource(from.clone()), Access::CopyRead),
        discard(frame.resource(to.clone()), Access::CopyWrite),
    ];
    frame.pass("carry over", graphics(), &uses, |list| match (from, to) {
        (Handle::Buffer(from), Handle::Buffer(to)) => {
            list.copy_buffer(from, 0, to, 0, from.bytes());
        }
        (Handle::Image(from), Handle::Image(to)) => {
            for mip in 0..from.desc().mip_levels {
                let regions = (ImageRegion::mip(from, mip), ImageRegion::mip(to, mip));
                list.copy_image(from, regions.0, to, regions.1);
            }
        }
        _ => unreachable!("both are of one kind"),
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_buffer_changes_with_its_contents_and_back() {
    let mut rig = Rig::new();
    let desc = BufferDesc::storage("numbers", 1024).with_sharing(Sharing::Auto);
    let buffer = rig.gpu.create_buffer(&desc).unwrap();
    let handle = Handle::Buffer(buffer.clone());
    let kept = rig.readback(1024);
    rig.frame(|frame| {
        let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
        frame.pass("fill", compute(), &uses, |list| {
            list.fill_buffer(&buffer, 0, 0, 7);
        });
    });
    for mode in [Mode::Concurrent, Mode::Exclusive] {
        let before = buffer.raw();
        let changed = rig.frames.change_sharing(&handle, mode, &mut rig.states);
        let SharingChanged::Moved(old) = changed.unwrap() else {
            panic!("it has contents");
        };
        assert_eq!(handle.declare().sharing, mode);
        assert_ne!(old.declare().sharing, mode);
        assert_ne!(buffer.raw(), before, "another object takes over");
        assert_ne!(old.id(), handle.id());
        rig.frame(|frame| {
            carry_over(frame, &old, &handle);
            frame.read_back(&buffer, &kept);
        });
        assert_eq!(rig.words(&kept), [7; 256]);
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_image_changes_with_all_its_levels_and_layers() {
    let mut rig = Rig::new();
    let desc = ImageDesc::storage("picture", [8, 4], Format::R8G8B8A8_UNORM);
    let desc = desc.with_mips(2).with_layers(3);
    let desc = desc.with_sharing(Sharing::Auto);
    let image = rig.gpu.create_image(&desc).unwrap();
    let handle = Handle::Image(image.clone());
    rig.frame(|frame| {
        let uses = [discard(frame.resource(image.clone()), Access::Clear)];
        frame.pass("clear", graphics(), &uses, |list| {
            list.clear_image(&image, [1.0, 0.0, 0.0, 1.0]);
        });
    });
    let changed = rig
        .frames
        .change_sharing(&handle, Mode::Concurrent, &mut rig.states);
    let SharingChanged::Moved(old) = changed.unwrap() else {
        panic!("it has contents");
    };
    rig.frame(|frame| carry_over(frame, &old, &handle));
    drop(old);
    for mip in 0..2_u32 {
        let region = ImageRegion::mip(&image, mip);
        let bytes = region.bytes(image.format()).unwrap();
        let kept = rig.readback(bytes);
        rig.frame(|frame| {
            let uses = [
                quadrille_sync::frame::Use::whole(frame.resource(image.clone()), Access::CopyRead),
                discard(frame.resource(kept.clone()), Access::CopyWrite),
            ];
            frame.pass("read", graphics(), &uses, |list| {
                list.copy_image_to_buffer(&image, region, &kept, 0);
            });
        });
        let red = u32::from_le_bytes([255, 0, 0, 255]);
        let words = rig.words(&kept);
        assert_eq!(words.len() as u32, (8 >> mip) * (4 >> mip) * 3);
        assert!(words.iter().all(|&word| word == red), "{words:x?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn unwritten_resources_change_without_a_copy() {
    let mut rig = Rig::new();
    let desc = BufferDesc::storage("numbers", 1024).with_sharing(Sharing::Auto);
    for desc in [desc.clone(), desc.transient()] {
        let handle = Handle::Buffer(rig.gpu.create_buffer(&desc).unwrap());
        let changed = rig
            .frames
            .change_sharing(&handle, Mode::Concurrent, &mut rig.states);
        assert_eq!(changed.unwrap(), SharingChanged::Empty);
        assert_eq!(handle.declare().sharing, Mode::Concurrent);
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_transient_image_is_another_in_the_next_frame() {
    let mut rig = Rig::new();
    let desc = ImageDesc::color_target("glow", [8, 8], Format::R8G8B8A8_UNORM).transient();
    let desc = desc.with_sharing(Sharing::Auto);
    let image = rig.gpu.create_image(&desc).unwrap();
    let handle = Handle::Image(image.clone());
    let kept = rig.image_readback(&image);
    let draw = |rig: &mut Rig| {
        rig.frame(|frame| {
            let uses = [discard(frame.resource(image.clone()), Access::Clear)];
            frame.pass("clear", graphics(), &uses, |list| {
                list.clear_image(&image, [0.0, 1.0, 0.0, 1.0]);
            });
            frame.read_image(&image, &kept);
        });
        let green = u32::from_le_bytes([0, 255, 0, 255]);
        assert_eq!(rig.words(&kept), [green; 64]);
        image.raw()
    };
    let before = draw(&mut rig);
    let changed = rig
        .frames
        .change_sharing(&handle, Mode::Concurrent, &mut rig.states);
    assert_eq!(changed.unwrap(), SharingChanged::Empty);
    assert_ne!(draw(&mut rig), before);
    assert_eq!(handle.declare().sharing, Mode::Concurrent);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn resources_that_cannot_change_stay_exclusive() {
    let mut rig = Rig::new();
    let make = |desc: BufferDesc| Handle::Buffer(rig.gpu.create_buffer(&desc).unwrap());
    let settled = make(BufferDesc::storage("settled", 1024).with_sharing(Sharing::Exclusive));
    let host = make(BufferDesc::upload("host", 1024));
    assert_eq!(host_memory(&host), Memory::Upload);
    for handle in [settled, host] {
        let changed = rig
            .frames
            .change_sharing(&handle, Mode::Concurrent, &mut rig.states);
        let name = handle.name();
        assert_eq!(changed.unwrap(), SharingChanged::Refused, "{name}");
        assert_eq!(handle.declare().sharing, Mode::Exclusive, "{name}");
    }
}

fn host_memory(handle: &Handle) -> Memory {
    match handle {
        Handle::Buffer(buffer) => buffer.desc().memory,
        Handle::Image(_) => unreachable!("it is a buffer"),
    }
}
