//! A program may end at any point of a frame: it ends within two seconds, and without leaks.
//!
//! Points that are reached only through a fault (submitted but not presented, a fence that is never signaled) are in
//! `cargo xtask faults`; a blocked stream is in `stream`.

use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::validation_messages;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::present::{Acquired, Surface, Swapchain, SwapchainSettings};
use quadrille_vulkan::resources::BufferDesc;
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Error, FrameError};

use crate::rig::{Rig, TIMEOUT, compute, discard, window_settings};

/// Limit on the duration of the end.
const MOST: Duration = Duration::from_secs(2);

/// Runs to a point and ends there: `at` returns everything that exists then, which is dropped.
fn ends_at<T>(point: &str, at: impl FnOnce() -> T) {
    let messages = validation_messages();
    let start = Instant::now();
    let what_there_is = at();
    // On a busy machine everything takes longer, so the time of the setup is added.
    let most = MOST + start.elapsed();
    let end = Instant::now();
    drop(what_there_is);
    let took = end.elapsed();
    assert!(took < most, "{point}: the end takes {took:?}, not {most:?}");
    let messages = validation_messages() - messages;
    assert_eq!(messages, 0, "{point}: the validation layer reports errors");
}

fn gpu() -> Gpu {
    Gpu::new(&window_settings(), None).unwrap()
}

fn window(gpu: &Gpu) -> Swapchain {
    let surface = Surface::headless(gpu).unwrap();
    Swapchain::new(
        gpu,
        surface,
        &SwapchainSettings::default(),
        [32, 32],
        "window",
    )
    .unwrap()
}

/// A rig with a window that has shown some frames.
fn running() -> (Rig, Swapchain) {
    let mut rig = Rig::on(gpu()).unwrap();
    let mut window = window(&rig.gpu);
    for _ in 0..3 {
        show(&mut rig, &mut window).unwrap();
    }
    (rig, window)
}

fn show(rig: &mut Rig, window: &mut Swapchain) -> Result<(), FrameError> {
    assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
    let image = window.image().clone();
    let shown = rig.try_frame(&mut [window], |frame| {
        let uses = [discard(frame.resource(image.clone()), Access::Clear)];
        frame.pass("clear", compute(), &uses, |list| {
            list.clear_image(&image, [0.5; 4]);
        });
    });
    shown.map(|_| ())
}

#[test]
#[ignore = "needs a Vulkan device"]
fn before_the_first_frame() {
    ends_at("a device alone", gpu);
    ends_at("frames that have not begun", || Rig::on(gpu()).unwrap());
    ends_at("a window that has shown nothing", || {
        let rig = Rig::on(gpu()).unwrap();
        let window = window(&rig.gpu);
        (window, rig)
    });
    ends_at("a pipeline that is being compiled", || {
        let gpu = gpu();
        let shader = GpuShader::wgsl("idle", "@compute @workgroup_size(1) fn main() {}").unwrap();
        let desc = ComputePipelineDesc::of("idle", &shader);
        (gpu.compute_pipeline(&desc).unwrap(), gpu)
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn after_an_error_in_a_frame() {
    ends_at("a frame that cannot be recorded", || {
        let (mut rig, mut window) = running();
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        let image = window.image().clone();
        let buffer = rig.storage("undeclared", 64);
        let failed = rig.try_frame(&mut [&mut window], |frame| {
            let uses = [discard(frame.resource(image.clone()), Access::Clear)];
            frame.pass("clear", compute(), &uses, |list| {
                list.fill_buffer(&buffer, 0, 64, 0);
            });
        });
        let error = failed.unwrap_err();
        assert!(matches!(error, FrameError::Command { .. }), "{error}");
        (window, buffer, rig)
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn between_acquiring_and_submitting() {
    ends_at("an image that is acquired", || {
        let (rig, mut window) = running();
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        (window, rig)
    });
    ends_at("a frame that has begun, its window dropped last", || {
        let (mut rig, mut window) = running();
        rig.frames.begin(TIMEOUT).unwrap();
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        (rig, window)
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn with_frames_on_their_way() {
    ends_at("a frame that is presented", || {
        let (mut rig, mut window) = running();
        show(&mut rig, &mut window).unwrap();
        (rig, window)
    });
    ends_at("a swapchain that was just replaced", || {
        let (mut rig, mut window) = running();
        window.resize([48, 16]).unwrap();
        show(&mut rig, &mut window).unwrap();
        window.resize([16, 48]).unwrap();
        (window, rig)
    });
}

#[test]
#[ignore = "needs a Vulkan device"]
fn while_another_device_takes_over() {
    ends_at("the old device goes first", || {
        let (rig, window) = running();
        let new = rig.gpu.rebuild(&window_settings()).unwrap();
        (window, rig, new)
    });
    ends_at("the new device goes first", || {
        let (rig, window) = running();
        let new = Rig::on(rig.gpu.rebuild(&window_settings()).unwrap()).unwrap();
        let cells = new.storage("cells", 64);
        (new, cells, window, rig)
    });
    ends_at("the new device cannot be made", || {
        let (rig, window) = running();
        let mut settings = window_settings();
        settings.device = Some("no such device".to_owned());
        assert!(rig.gpu.rebuild(&settings).is_err());
        let impossible = rig
            .gpu
            .create_buffer(&BufferDesc::storage("impossible", 1 << 50));
        assert!(matches!(impossible, Err(Error::Invalid { .. })));
        (window, rig)
    });
}
