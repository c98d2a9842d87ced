//! Swapchains without a window (`VK_EXT_headless_surface`).

use std::time::Duration;

use quadrille_sync::Access;
use quadrille_vulkan::{
    Acquired, ColorAttachment, Load, Presented, Rendering, SkipReason, Surface, Swapchain,
    SwapchainSettings,
};

use crate::rig::{PATIENCE, Rig, discard, graphics, window_settings};

fn swapchain(rig: &Rig, extent: [u32; 2]) -> Swapchain {
    let surface = Surface::headless(&rig.gpu).unwrap_or_else(|error| panic!("{error}"));
    Swapchain::new(
        &rig.gpu,
        surface,
        &SwapchainSettings::default(),
        extent,
        "window",
    )
    .unwrap()
}

/// Clears the window's image and presents it.
fn show(rig: &mut Rig, window: &mut Swapchain) -> Presented {
    let image = window.image().clone();
    let submitted = rig.try_frame(&mut [window], |frame| {
        let uses = [discard(
            frame.resource(image.clone()),
            Access::ColorAttachmentWrite,
        )];
        frame.pass("clear", graphics(), &uses, |list| {
            let colors = [ColorAttachment::new(&image, Load::Clear([0.5; 4]))];
            list.begin_rendering(&Rendering {
                colors: &colors,
                ..Default::default()
            });
            list.end_rendering();
        });
    });
    submitted
        .unwrap_or_else(|error| panic!("{error}"))
        .presented[0]
        .1
}

#[test]
#[ignore = "needs a Vulkan device"]
fn frames_are_presented_while_the_size_changes() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [64, 48]);
    for step in 0..50u32 {
        if step % 5 == 4 {
            window.resize([64 + step, 48 + step]).unwrap();
            assert_eq!(window.extent(), [64 + step, 48 + step]);
        }
        assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
        let [width, height, _] = window.image().extent();
        assert_eq!([width, height], window.extent());
        assert_eq!(show(&mut rig, &mut window), Presented::Shown);
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn hundreds_of_frames_need_few_semaphores() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    for _ in 0..300 {
        assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
        assert_eq!(show(&mut rig, &mut window), Presented::Shown);
        let most = window.image_count() + rig.gpu.frames_in_flight() as usize + 2;
        assert!(
            window.semaphore_count() <= most,
            "{}",
            window.semaphore_count()
        );
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_abandoned_image_is_used_by_the_next_frame() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    for _ in 0..3 {
        // More often than there are images: each time it is the same.
        assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
        assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
        rig.frames.begin(PATIENCE).unwrap();
    }
    window.resize([32, 32]).unwrap();
    assert_eq!(
        window.extent(),
        [16, 16],
        "an acquired image is not taken away"
    );
    show(&mut rig, &mut window);
    assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
    assert_eq!(window.extent(), [32, 32]);
    show(&mut rig, &mut window);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn windows_close_at_any_point() {
    let mut rig = Rig::with(&window_settings());
    drop(swapchain(&rig, [16, 16]));
    let mut acquired = swapchain(&rig, [16, 16]);
    assert_eq!(acquired.acquire(PATIENCE).unwrap(), Acquired::Image);
    drop(acquired);
    let mut presented = swapchain(&rig, [16, 16]);
    assert_eq!(presented.acquire(PATIENCE).unwrap(), Acquired::Image);
    show(&mut rig, &mut presented);
    drop(presented);
    let mut resized = swapchain(&rig, [16, 16]);
    for size in 1..20 {
        assert_eq!(resized.acquire(PATIENCE).unwrap(), Acquired::Image);
        show(&mut rig, &mut resized);
        resized.resize([size, size]).unwrap();
    }
    drop(rig);
    drop(resized);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_window_without_area_is_skipped() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    assert_eq!(window.acquire(PATIENCE).unwrap(), Acquired::Image);
    show(&mut rig, &mut window);
    // Headless surfaces have any extent, so a size of 0 becomes the least there is.
    window.resize([0, 0]).unwrap();
    match window.acquire(Duration::from_secs(1)).unwrap() {
        Acquired::Image => assert!(!window.extent().contains(&0)),
        Acquired::Skip(reason) => assert_eq!(reason, SkipReason::ZeroExtent),
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn two_windows_in_one_frame() {
    let mut rig = Rig::with(&window_settings());
    let (mut left, mut right) = (swapchain(&rig, [16, 16]), swapchain(&rig, [24, 8]));
    for _ in 0..20 {
        assert_eq!(left.acquire(PATIENCE).unwrap(), Acquired::Image);
        assert_eq!(right.acquire(PATIENCE).unwrap(), Acquired::Image);
        let images = [left.image().clone(), right.image().clone()];
        let submitted = rig.try_frame(&mut [&mut left, &mut right], |frame| {
            for image in &images {
                let uses = [discard(
                    frame.resource(image.clone()),
                    Access::ColorAttachmentWrite,
                )];
                frame.pass("clear", graphics(), &uses, |list| {
                    let colors = [ColorAttachment::new(image, Load::Clear([0.5; 4]))];
                    list.begin_rendering(&Rendering {
                        colors: &colors,
                        ..Default::default()
                    });
                    list.end_rendering();
                });
            }
        });
        assert_eq!(submitted.unwrap().presented.len(), 2);
    }
}
