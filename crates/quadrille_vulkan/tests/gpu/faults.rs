//! A program under faults: whatever a call returns, it does not panic or hang, reports the error, leaks nothing, and
//! continues if the device is not lost.
//!
//! Without help no fault occurs. The test layer (`quadrille_layer`) makes calls fail by a script:
//!
//! ```text
//! QUADRILLE_LAYER_SCRIPT=faults.txt   # vkQueuePresentKHR nth=3 -> VK_ERROR_OUT_OF_DATE_KHR
//! QUADRILLE_FAULT_FRAMES=3            # fewer frames than usual
//! QUADRILLE_FAULT_PACE_BY_DISPLAY=1   # frames wait until others were seen
//! QUADRILLE_FAULT_WINDOWS=2           # more windows than one
//! QUADRILLE_FAULT_RESIZE_EVERY=1      # the first changes its size more often than each tenth frame
//! QUADRILLE_FAULT_MODE_EVERY=3        # all change their present mode each third frame
//! QUADRILLE_FAULT_CLOSE_EVERY=4       # the first is closed in each fourth, with an image acquired
//! ```
//!
//! A window never has more than 6 swapchains, and the one in use never more semaphores
//! than images, frames in flight and 2, after any failure; `cargo xtask faults` runs the program with every fault that it can think of.

use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_vulkan::commands::{ColorAttachment, Load, Rendering};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::present::{Acquired, Presented, Surface, Swapchain, SwapchainSettings};
use quadrille_vulkan::resources::{BufferDesc, GpuImage};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::vk::PresentModeKHR;
use quadrille_vulkan::{FrameError, SurfaceError};

use crate::rig::{Declared, Rig, async_compute, discard, graphics, window_settings};

/// Longer than any wait in the program, shorter than a hang.
const MOST: Duration = Duration::from_secs(60);
const FRAMES: u32 = 40;
/// The end of a program, at any point.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_secs(2);
/// Swapchains of a window that exist at a time.
const MAX_SWAPCHAINS: usize = 6;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { cells[id.x] = id.x; }
";

/// Outcome of a run.
#[derive(Debug, Default)]
struct Outcome {
    shown: u32,
    skipped: u32,
    out_of_date: u32,
    errors: Vec<String>,
    lost: bool,
    /// The reports of work when the device was lost.
    work: Vec<String>,
    most_old: usize,
    /// Old swapchains after the last frame, in all windows.
    old: usize,
    made: u64,
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_program_survives_faults() {
    let start = Instant::now();
    let mut outcome = Outcome::default();
    let gpu = match Gpu::new(&window_settings(), None) {
        Ok(gpu) => gpu,
        // A fault during setup is reported, and the program ends.
        Err(error) => return println!("no device: {error}"),
    };
    let setup = start.elapsed();
    println!("device extensions: {}", gpu.info().extensions.join(" "));
    let mut teardown = Duration::ZERO;
    match Rig::on(gpu) {
        Ok(mut rig) => {
            let windows = run(&mut rig, &mut outcome);
            let end = Instant::now();
            drop(windows);
            drop(rig);
            teardown = end.elapsed();
        }
        Err(error) => outcome.errors.push(error.to_string()),
    }
    println!("{outcome:#?}, ended within {teardown:?}");
    // Counts for `cargo xtask faults`, which knows the effects of its faults.
    println!(
        "counted: shown={} skipped={} out_of_date={} errors={} most_old={} old={} made={}",
        outcome.shown,
        outcome.skipped,
        outcome.out_of_date,
        outcome.errors.len(),
        outcome.most_old,
        outcome.old,
        outcome.made
    );
    // On a busy machine everything takes longer, so the time of the setup is added.
    let most = MAX_SHUTDOWN_TIME + 3 * setup;
    assert!(teardown < most, "the end took {teardown:?}, not {most:?}");
    assert!(start.elapsed() < MOST, "it took {:?}", start.elapsed());
    if std::env::var_os("QUADRILLE_LAYER_SCRIPT").is_none() {
        assert_eq!(
            (outcome.shown, outcome.errors.len()),
            (frames() * env_or("WINDOWS", 1), 0),
            "{outcome:?}"
        );
    }
}

/// Forty frames with windows of which the first changes its size, a pipeline, and short-lived
/// buffers. The windows are left as they are.
fn run(rig: &mut Rig, outcome: &mut Outcome) -> Vec<Option<Swapchain>> {
    let mut windows: Vec<_> = (0..env_or("WINDOWS", 1)).map(|_| None).collect();
    for step in 0..frames() {
        for window in &mut windows {
            if window.is_none() {
                *window = open(rig, outcome);
            }
        }
        // So that waits are among the calls that fail, however fast the device is.
        rig.waits = step % 2 == 1;
        let drawn = frame(rig, &mut windows, step, outcome);
        outcome.old = 0;
        for open in windows.iter().flatten() {
            outcome.old += open.retired_count();
            check_bounds(rig, open);
            outcome.most_old = outcome.most_old.max(open.retired_count());
            outcome.made = outcome.made.max(open.chains_made());
        }
        if let Err(error) = drawn {
            let is_gone = is_lost(&error);
            outcome.errors.push(format!("frame {step}: {error}"));
            if is_gone {
                outcome.lost = true;
                outcome.work = rig.frames.describe_work();
                break;
            }
        }
    }
    windows
}

/// Whether the device is lost.
fn is_lost(error: &Fault) -> bool {
    matches!(
        error,
        Fault::Frame(FrameError::DeviceLost { .. } | FrameError::PartlySubmitted { .. })
            | Fault::Surface(SurfaceError::DeviceLost { .. })
    )
}

/// Number of frames to draw.
fn frames() -> u32 {
    env_or("FRAMES", FRAMES)
}

/// A number from the environment.
fn env_or(name: &str, default: u32) -> u32 {
    let value = std::env::var(format!("QUADRILLE_FAULT_{name}")).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Checks the limits of a window that hold after any fault.
fn check_bounds(rig: &Rig, window: &Swapchain) {
    let old = window.retired_count();
    assert!(old < MAX_SWAPCHAINS, "{old} old swapchains");
    // Between two swapchains, work in flight still belongs to the previous one.
    let images = window.image_count().max(4);
    let frames = rig.gpu.frames_in_flight() as usize;
    let semaphores = window.semaphore_count();
    assert!(
        semaphores <= images + frames + 2,
        "{semaphores} semaphores for {images} images"
    );
    let retired = window.retired_semaphore_count();
    assert!(
        retired <= old * (images + frames),
        "{retired} semaphores of {old} old swapchains with {images} images"
    );
}

#[derive(Debug)]
enum Fault {
    Frame(FrameError),
    Surface(SurfaceError),
    Other(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frame(error) => error.fmt(formatter),
            Self::Surface(error) => error.fmt(formatter),
            Self::Other(error) => error.fmt(formatter),
        }
    }
}

fn open(rig: &Rig, outcome: &mut Outcome) -> Option<Swapchain> {
    let settings = settings(0);
    let window = Surface::headless(&rig.gpu)
        .and_then(|surface| Swapchain::new(&rig.gpu, surface, &settings, [32, 32], "window"));
    window
        .map_err(|error| outcome.errors.push(format!("window: {error}")))
        .ok()
}

/// Changes sizes and modes, and acquires an image of each window; none of those that are closed. A
/// window that fails does so alone: it is left out, and closed if its surface is lost.
fn acquire(
    windows: &mut [Option<Swapchain>],
    step: u32,
    outcome: &mut Outcome,
) -> Result<Vec<Option<Acquired>>, Fault> {
    let (resize, mode) = (env_or("RESIZE_EVERY", 10), env_or("MODE_EVERY", u32::MAX));
    let mut acquired = Vec::new();
    for (at, slot) in windows.iter_mut().enumerate() {
        let Some(window) = slot else {
            acquired.push(None);
            continue;
        };
        let mut prepare = || {
            if step % mode == mode - 1 {
                window.set(&settings(step / mode + 1))?;
            }
            if at == 0 && step % resize == resize - 1 {
                window.resize([32 + step, 32])?;
            }
            window.acquire(Duration::from_secs(1))
        };
        match prepare() {
            Ok(known) => acquired.push(Some(known)),
            Err(error) => {
                acquired.push(None);
                if matches!(error, SurfaceError::Lost) {
                    *slot = None;
                }
                let fault = Fault::Surface(error);
                if is_lost(&fault) {
                    return Err(fault);
                }
                outcome.errors.push(format!("frame {step}: {fault}"));
            }
        }
    }
    Ok(acquired)
}

/// Present modes of windows, used in turn.
fn settings(turn: u32) -> SwapchainSettings {
    let modes = [PresentModeKHR::FIFO, PresentModeKHR::MAILBOX];
    SwapchainSettings {
        present_modes: vec![modes[turn as usize % modes.len()]],
        pace_by_display: std::env::var_os("QUADRILLE_FAULT_PACE_BY_DISPLAY").is_some(),
        ..SwapchainSettings::default()
    }
}

fn frame(
    rig: &mut Rig,
    windows: &mut [Option<Swapchain>],
    step: u32,
    outcome: &mut Outcome,
) -> Result<(), Fault> {
    let acquired = acquire(windows, step, outcome)?;
    let close = env_or("CLOSE_EVERY", u32::MAX);
    if step % close == close - 1 {
        windows[0] = None;
    }
    let other = |error: &dyn std::fmt::Display| Fault::Other(error.to_string());
    let shader = GpuShader::wgsl("fill", SHADER).map_err(|error| other(&error))?;
    let desc = ComputePipelineDesc::of("fill", &shader).entry("main");
    let fill = rig
        .gpu
        .compute_pipeline(&desc)
        .map_err(|error| other(&error))?;
    let cells = BufferDesc::storage("short-lived", 64);
    let cells = rig
        .gpu
        .create_buffer(&cells)
        .map_err(|error| other(&error))?;
    let is_skipped = |known: &&Option<Acquired>| matches!(known, Some(Acquired::Skip(_)));
    outcome.skipped += acquired.iter().filter(is_skipped).count() as u32;
    let all = windows.iter_mut().zip(&acquired);
    let mut shown: Vec<_> = all
        .filter(|(_, known)| **known == Some(Acquired::Image))
        .filter_map(|(window, _)| window.as_mut())
        .collect();
    let images: Vec<_> = shown.iter().map(|window| window.image().clone()).collect();
    let declare = |frame: &mut Declared| {
        let uses = [discard(
            frame.resource(cells.clone()),
            Access::StorageWriteCompute,
        )];
        frame.pass("fill", async_compute(), &uses, |list| {
            list.bind_compute(&fill);
            list.bind_buffer(0, &cells, 0, 0);
            list.dispatch([1, 1, 1]);
        });
        for image in &images {
            clear(frame, image);
        }
    };
    let submitted = rig.try_frame(&mut shown, declare).map_err(Fault::Frame)?;
    for (_, presented) in &submitted.presented {
        match presented {
            Presented::OutOfDate => outcome.out_of_date += 1,
            _ => outcome.shown += 1,
        }
    }
    Ok(())
}

fn clear(frame: &mut Declared, image: &GpuImage) {
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
