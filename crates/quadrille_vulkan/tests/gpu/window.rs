//! Swapchains without a window (`VK_EXT_headless_surface`).

use std::time::Duration;

use quadrille_sync::access::Access;
use quadrille_vulkan::commands::{ColorAttachment, Load, Rendering};
use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::present::{
    Acquired, PresentCompletion, Presented, SkipReason, Surface, SurfaceFormat, Swapchain,
    SwapchainSettings,
};
use quadrille_vulkan::resources::GpuImage;
use quadrille_vulkan::vk::PresentModeKHR;

use crate::rig::{Declared, Rig, TIMEOUT, discard, graphics, window_settings};

fn swapchain(rig: &Rig, extent: [u32; 2]) -> Swapchain {
    open(rig, extent, PresentCompletion::Automatic)
}

fn open(rig: &Rig, extent: [u32; 2], completion: PresentCompletion) -> Swapchain {
    let surface = Surface::headless(&rig.gpu).unwrap_or_else(|error| panic!("{error}"));
    let settings = SwapchainSettings {
        completion,
        ..SwapchainSettings::default()
    };
    Swapchain::new(&rig.gpu, surface, &settings, extent, "window").unwrap()
}

/// Adds a pass that clears an image.
fn clear(frame: &mut Declared, image: &GpuImage, color: [f32; 4]) {
    let uses = [discard(
        frame.resource(image.clone()),
        Access::ColorAttachmentWrite,
    )];
    frame.pass("clear", graphics(), &uses, |list| {
        let colors = [ColorAttachment::new(image, Load::Clear(color))];
        list.begin_rendering(&Rendering {
            colors: &colors,
            ..Default::default()
        });
        list.end_rendering();
    });
}

/// Clears the window's image and presents it.
fn show(rig: &mut Rig, window: &mut Swapchain) -> Presented {
    let image = window.image().clone();
    let submitted = rig.try_frame(&mut [window], |frame| clear(frame, &image, [0.5; 4]));
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
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        let [width, height, _] = window.image().extent();
        assert_eq!([width, height], window.extent());
        assert_eq!(show(&mut rig, &mut window), Presented::Shown);
    }
}

/// Limit on a window's semaphores: images, frames in flight, and 2; for each old swapchain, as many as it can have
/// presents that are not known to be complete.
fn check_semaphores(rig: &Rig, window: &Swapchain) {
    let frames = rig.gpu.frames_in_flight() as usize;
    let (images, semaphores) = (window.image_count(), window.semaphore_count());
    assert!(
        semaphores <= images + frames + 2,
        "{semaphores} semaphores for {images} images and {frames} frames in flight"
    );
    let (old, retired) = (window.retired_count(), window.retired_semaphore_count());
    assert!(
        old <= 5 && retired <= old * (images + frames),
        "{retired} semaphores of {old} old swapchains"
    );
}

#[test]
#[ignore = "needs a Vulkan device"]
fn hundreds_of_frames_need_few_semaphores() {
    for frames_in_flight in [1, 2, 3, 6] {
        for completion in [PresentCompletion::Automatic, PresentCompletion::History] {
            let mut rig = Rig::with(&Settings {
                frames_in_flight,
                ..window_settings()
            });
            let mut window = open(&rig, [16, 16], completion);
            for step in 0..200 {
                if step % 50 == 49 {
                    window.resize([16 + step, 16]).unwrap();
                }
                assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
                check_semaphores(&rig, &window);
                assert_eq!(show(&mut rig, &mut window), Presented::Shown);
                check_semaphores(&rig, &window);
            }
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_thousand_sizes_leave_nothing_behind() {
    for completion in [PresentCompletion::Automatic, PresentCompletion::History] {
        let mut rig = Rig::with(&window_settings());
        let mut window = open(&rig, [64, 48], completion);
        // A linear congruential generator, so that sizes are the same in each run.
        let mut state = 1_u32;
        let mut size = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            1 + (state >> 16) % 96
        };
        for _ in 0..1000 {
            window.resize([size(), size()]).unwrap();
            assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
            assert_eq!(show(&mut rig, &mut window), Presented::Shown);
            check_semaphores(&rig, &window);
        }
        if completion == PresentCompletion::Automatic {
            assert!(
                window.has_present_fences(),
                "this device has present fences"
            );
            assert_eq!(rig.gpu.idle_waits(), 0, "no queue was waited for");
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn two_hundred_windows_open_and_close() {
    let mut rig = Rig::with(&window_settings());
    let mut other = swapchain(&rig, [8, 8]);
    for cycle in 0..200u32 {
        let completion = match cycle % 2 {
            0 => PresentCompletion::Automatic,
            _ => PresentCompletion::History,
        };
        let mut window = open(&rig, [16 + cycle % 7, 16], completion);
        for _ in 0..cycle % 4 {
            assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
            show(&mut rig, &mut window);
        }
        if cycle % 3 == 0 {
            assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        }
        drop(window);
        assert_eq!(other.acquire(TIMEOUT).unwrap(), Acquired::Image);
        assert_eq!(show(&mut rig, &mut other), Presented::Shown);
    }
    assert_eq!(other.chains_made(), 1, "the other window noticed nothing");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn both_proofs_give_the_same_frames() {
    // The images shown: the clear color of each frame, read back from the presented image.
    let frames = |completion| {
        let mut rig = Rig::with(&window_settings());
        let mut window = open(&rig, [8, 8], completion);
        let mut words = Vec::new();
        for frame in 0..20u32 {
            if frame % 6 == 5 {
                window.resize([8 + frame, 8]).unwrap();
            }
            assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
            let image = window.image().clone();
            let readback = rig.image_readback(&image);
            let submitted = rig.try_frame(&mut [&mut window], |declared| {
                clear(declared, &image, [frame as f32 / 20.0; 4]);
                declared.read_image(&image, &readback);
            });
            assert_eq!(submitted.unwrap().presented[0].1, Presented::Shown);
            words.push(rig.words(&readback));
        }
        words
    };
    let (fences, history) = (
        frames(PresentCompletion::Automatic),
        frames(PresentCompletion::History),
    );
    assert!(fences.iter().any(|frame| frame != &fences[0]));
    assert_eq!(fences, history);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn settings_change_live() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    let mut settings = SwapchainSettings::default();
    for frame in 0..40usize {
        // Unsupported modes and formats fall back to others.
        let modes = [
            PresentModeKHR::FIFO,
            PresentModeKHR::MAILBOX,
            PresentModeKHR::IMMEDIATE,
        ];
        settings.present_modes = vec![modes[frame / 3 % 3]];
        settings.image_count = (frame / 5 % 3) as u32 * 2;
        settings.frames_in_flight = (frame / 7 % 3) as u32;
        settings.formats = SurfaceFormat::STANDARD[frame / 11 % 2..].to_vec();
        window.set(&settings).unwrap();
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        assert_eq!(window.image().format(), window.format().format);
        assert_eq!(show(&mut rig, &mut window), Presented::Shown);
    }
    assert!(window.chains_made() > 5, "{}", window.chains_made());
    let none = SwapchainSettings {
        formats: Vec::new(),
        ..settings
    };
    let error = window.set(&none).unwrap_err();
    assert!(error.to_string().contains("none of the formats"), "{error}");
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    show(&mut rig, &mut window);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn compatible_modes_change_without_another_swapchain() {
    let mut rig = Rig::with(&window_settings());
    for completion in [PresentCompletion::Automatic, PresentCompletion::History] {
        let mut window = open(&rig, [16, 16], completion);
        let compatible = window.compatible_present_modes().to_vec();
        println!("compatible with FIFO: {compatible:?}");
        let mut made = 1;
        let mut last = window.present_mode();
        let all = [
            PresentModeKHR::MAILBOX,
            PresentModeKHR::FIFO,
            PresentModeKHR::IMMEDIATE,
        ];
        for mode in all.into_iter().cycle().take(12) {
            let is_compatible = window.compatible_present_modes().contains(&mode);
            let settings = SwapchainSettings {
                present_modes: vec![mode],
                completion,
                ..SwapchainSettings::default()
            };
            window.set(&settings).unwrap();
            for _ in 0..3 {
                assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
                assert_eq!(show(&mut rig, &mut window), Presented::Shown);
            }
            let now = window.present_mode();
            made += u64::from(now != last && !is_compatible);
            assert_eq!(window.chains_made(), made, "from {last:?} to {now:?}");
            last = now;
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_abandoned_image_is_used_by_the_next_frame() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    for _ in 0..3 {
        // More often than there are images, with the same result each time.
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        rig.frames.begin(TIMEOUT).unwrap();
    }
    window.resize([32, 32]).unwrap();
    assert_eq!(
        window.extent(),
        [16, 16],
        "an acquired image is not taken away"
    );
    show(&mut rig, &mut window);
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    assert_eq!(window.extent(), [32, 32]);
    show(&mut rig, &mut window);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn windows_close_at_any_point() {
    let mut rig = Rig::with(&window_settings());
    drop(swapchain(&rig, [16, 16]));
    let mut acquired = swapchain(&rig, [16, 16]);
    assert_eq!(acquired.acquire(TIMEOUT).unwrap(), Acquired::Image);
    drop(acquired);
    let mut presented = swapchain(&rig, [16, 16]);
    assert_eq!(presented.acquire(TIMEOUT).unwrap(), Acquired::Image);
    show(&mut rig, &mut presented);
    drop(presented);
    let mut resized = swapchain(&rig, [16, 16]);
    for size in 1..20 {
        assert_eq!(resized.acquire(TIMEOUT).unwrap(), Acquired::Image);
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
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    show(&mut rig, &mut window);
    // Headless surfaces have any extent, so a size of 0 becomes the minimum.
    window.resize([0, 0]).unwrap();
    match window.acquire(Duration::from_secs(1)).unwrap() {
        Acquired::Image => assert!(!window.extent().contains(&0)),
        Acquired::Skip(reason) => assert_eq!(reason, SkipReason::ZeroExtent),
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_window_larger_than_any_image_is_skipped_or_cut() {
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    show(&mut rig, &mut window);
    // Headless surfaces leave the extent to the program.
    window.resize([1 << 24, 2]).unwrap();
    match window.acquire(TIMEOUT).unwrap() {
        Acquired::Image => assert!(window.extent()[0] < 1 << 24, "{window:?}"),
        Acquired::Skip(reason) => assert_eq!(reason, SkipReason::TooLarge),
    }
    window.resize([16, 16]).unwrap();
    if window.acquire(TIMEOUT).unwrap() == Acquired::Image {
        show(&mut rig, &mut window);
    }
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    assert_eq!(window.extent(), [16, 16], "as before");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn two_windows_in_one_frame() {
    let mut rig = Rig::with(&window_settings());
    let (mut left, mut right) = (swapchain(&rig, [16, 16]), swapchain(&rig, [24, 8]));
    for _ in 0..20 {
        assert_eq!(left.acquire(TIMEOUT).unwrap(), Acquired::Image);
        assert_eq!(right.acquire(TIMEOUT).unwrap(), Acquired::Image);
        let images = [left.image().clone(), right.image().clone()];
        let submitted = rig.try_frame(&mut [&mut left, &mut right], |frame| {
            for image in &images {
                clear(frame, image, [0.5; 4]);
            }
        });
        assert_eq!(submitted.unwrap().presented.len(), 2);
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn composite_alpha_is_asked_of_the_swapchain() {
    use quadrille_vulkan::vk::CompositeAlphaFlagsKHR as Alpha;
    let mut rig = Rig::with(&window_settings());
    let mut window = swapchain(&rig, [16, 16]);
    let first = window.composite_alpha().unwrap();
    assert!(first.supported.contains(first.mode), "{first:?}");
    for wanted in [
        Alpha::PRE_MULTIPLIED,
        Alpha::POST_MULTIPLIED,
        Alpha::INHERIT,
        Alpha::OPAQUE,
    ] {
        let settings = SwapchainSettings {
            composite_alpha: wanted,
            ..SwapchainSettings::default()
        };
        window.set(&settings).unwrap();
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        assert_eq!(show(&mut rig, &mut window), Presented::Shown);
        let chosen = window.composite_alpha().unwrap();
        let expected = if first.supported.contains(wanted) {
            wanted
        } else {
            first.mode
        };
        assert_eq!((chosen.mode, chosen.supported), (expected, first.supported));
    }
}
