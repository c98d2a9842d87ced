//! Clears of attachments between draws.

use quadrille_sync::access::Access;
use quadrille_sync::frame::Frame;
use quadrille_sync::planner::Planner;
use quadrille_vulkan::commands::{ColorAttachment, CommandList, DepthAttachment, Load, Rendering};
use quadrille_vulkan::resources::{GpuImage, Handle, ImageDesc, ImageUsage};
use quadrille_vulkan::{CommandError, Format, FrameError};

use crate::rig::{Rig, TIMEOUT, discard, graphics};

const SIDE: u32 = 8;
const RED: u32 = u32::from_le_bytes([255, 0, 0, 255]);
const BLUE: u32 = u32::from_le_bytes([0, 0, 255, 255]);

fn color_image(rig: &Rig) -> GpuImage {
    let desc = ImageDesc::color_target("picture", [SIDE, SIDE], Format::R8G8B8A8_UNORM);
    rig.gpu.create_image(&desc).unwrap()
}

fn depth_image(rig: &Rig) -> GpuImage {
    let usage = ImageUsage::DEPTH_STENCIL_ATTACHMENT | ImageUsage::TRANSFER_SRC;
    let desc = ImageDesc::new("depths", [SIDE, SIDE], Format::D32_SFLOAT, usage);
    rig.gpu.create_image(&desc).unwrap()
}

/// A red picture with a part cleared to blue.
fn write(list: &mut CommandList, picture: &GpuImage, area: [u32; 4]) {
    let colors = [ColorAttachment::new(
        picture,
        Load::Clear([1.0, 0.0, 0.0, 1.0]),
    )];
    list.begin_rendering(&Rendering {
        colors: &colors,
        ..Rendering::default()
    });
    list.clear_color(0, area, [0.0, 0.0, 1.0, 1.0]);
    list.end_rendering();
}

/// Texels with one color inside the area, and the other color outside.
fn expected([left, top, width, height]: [u32; 4], inside: u32, outside: u32) -> Vec<u32> {
    let texel = |at: u32| {
        let (x, y) = (at % SIDE, at / SIDE);
        let is_inside = (left..left.saturating_add(width)).contains(&x)
            && (top..top.saturating_add(height)).contains(&y);
        if is_inside { inside } else { outside }
    };
    (0..SIDE * SIDE).map(texel).collect()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_part_of_a_picture_is_cleared() {
    let mut rig = Rig::new();
    let picture = color_image(&rig);
    let back = rig.image_readback(&picture);
    let areas = [
        [2, 1, 3, 4],
        [0, 0, u32::MAX, u32::MAX],
        [5, 6, 100_000, 1],
        [8, 0, 1, 1],
        [0, 0, 0, 5],
    ];
    for area in areas {
        rig.frame(|frame| {
            let target = discard(
                frame.resource(picture.clone()),
                Access::ColorAttachmentWrite,
            );
            frame.pass("clear", graphics(), &[target], |list| {
                write(list, &picture, area);
            });
            frame.read_image(&picture, &back);
        });
        assert_eq!(rig.words(&back), expected(area, BLUE, RED), "{area:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_part_of_the_depth_is_cleared() {
    let mut rig = Rig::new();
    let depths = depth_image(&rig);
    let back = rig.readback(u64::from(4 * SIDE * SIDE));
    let area = [4, 0, 4, 8];
    rig.frame(|frame| {
        let target = discard(
            frame.resource(depths.clone()),
            Access::DepthAttachmentReadWrite,
        );
        frame.pass("clear", graphics(), &[target], |list| {
            list.begin_rendering(&Rendering {
                depth: Some(DepthAttachment::new(&depths, Load::Clear(0.25))),
                ..Rendering::default()
            });
            list.clear_depth(area, 7.0);
            list.end_rendering();
        });
        frame.read_image(&depths, &back);
    });
    let (one, quarter) = (1f32.to_bits(), 0.25f32.to_bits());
    assert_eq!(rig.words(&back), expected(area, one, quarter));
}

/// A pass with the same clears is replayed; a changed area takes effect.
#[test]
#[ignore = "needs a Vulkan device"]
fn clears_are_replayed() {
    let mut rig = Rig::new();
    let picture = color_image(&rig);
    let mut frame = Frame::default();
    let target = frame.add_resource(Handle::from(picture.clone()).declare());
    let uses = [discard(target, Access::ColorAttachmentWrite)];
    frame.add_pass("clear", graphics(), &uses, &[]);
    let handles = [Handle::from(picture.clone())];
    let mut lists = [CommandList::default()];
    let mut planner = Planner::default();
    let back = rig.image_readback(&picture);
    for area in [[0, 0, 4, 4], [1, 2, 3, 3]] {
        let mut repeated = 0;
        for _ in 0..4 {
            lists[0].clear();
            write(&mut lists[0], &picture, area);
            rig.frames.begin(TIMEOUT).unwrap();
            let done = rig.planned_frame(&mut planner, &frame, (&lists, &handles), &mut []);
            repeated = done.passes;
        }
        assert_eq!(repeated, 1, "the last frame repeats");
        rig.frame(|frame| frame.read_image(&picture, &back));
        assert_eq!(rig.words(&back), expected(area, BLUE, RED), "{area:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn invalid_clears_are_reported() {
    let mut rig = Rig::new();
    let (picture, depths) = (color_image(&rig), depth_image(&rig));
    let mut error_of = |read_only, write: &dyn Fn(&mut CommandList)| {
        let result = rig.try_frame(&mut [], |frame| {
            let color = discard(
                frame.resource(picture.clone()),
                Access::ColorAttachmentReadWrite,
            );
            let depth = discard(
                frame.resource(depths.clone()),
                Access::DepthAttachmentReadWrite,
            );
            frame.pass("wrong", graphics(), &[color, depth], |list| {
                let depth = DepthAttachment {
                    read_only,
                    ..DepthAttachment::new(&depths, Load::Keep)
                };
                list.begin_rendering(&Rendering {
                    colors: &[ColorAttachment::new(&picture, Load::Keep)],
                    depth: Some(depth),
                    ..Rendering::default()
                });
                write(list);
                list.end_rendering();
            });
        });
        match result {
            Err(FrameError::Command { error, .. }) => error,
            other => panic!("{other:?}"),
        }
    };
    let area = [0, 0, 1, 1];
    for attachment in [1, 255, u32::MAX] {
        let error = error_of(false, &|list| list.clear_color(attachment, area, [0.0; 4]));
        assert!(matches!(error, CommandError::Attachments { .. }), "{error}");
    }
    let error = error_of(true, &|list| list.clear_depth(area, 1.0));
    assert!(matches!(error, CommandError::Attachments { .. }), "{error}");
    let error = error_of(false, &|list| {
        list.end_rendering();
        list.clear_color(0, area, [0.0; 4]);
    });
    assert!(
        matches!(error, CommandError::Rendering { inside: true }),
        "{error}"
    );
}
