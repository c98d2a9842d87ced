//! Presentation to one window.

#![expect(
    unsafe_code,
    reason = "that a window outlives its surface is known here alone"
)]

use bevy_ecs::prelude::*;
use bevy_window::{CompositeAlphaMode, PresentMode, RawHandleWrapper, Window};
use quadrille_vulkan::SurfaceError;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::present::{
    Acquired, Presented, SkipReason, Surface, SurfaceFormat, Swapchain, SwapchainSettings,
};
use quadrille_vulkan::resources::GpuImage;
use quadrille_vulkan::vk::PresentModeKHR;

use super::acquire_timeout::AcquireTimeout;
use super::{PresentSettings, SwapchainState, WindowOutcome, alpha};

/// Consecutive failures after which a window is given up.
const MAX_FAILURES: u32 = 8;

/// One window's surface and swapchain, and its recent failures.
pub(crate) struct WindowTarget {
    pub(crate) entity: Entity,
    /// `None` until it was created.
    swapchain: Option<Swapchain>,
    acquired: bool,
    pub(super) outcome: WindowOutcome,
    acquire_timeout: AcquireTimeout,
    /// Number of consecutive failures.
    failures: u32,
    /// Number of frames until the next attempt.
    pause: u32,
    settings: SwapchainSettings,
    /// Settings of the current swapchain, to detect changes.
    asked: (PresentSettings, PresentMode, u32, CompositeAlphaMode),
    /// Composite mode that was already warned about.
    warned: Option<CompositeAlphaMode>,
}

impl WindowTarget {
    /// Creates the state of a window without a surface.
    pub(crate) fn new(entity: Entity) -> Self {
        Self {
            entity,
            swapchain: None,
            acquired: false,
            outcome: WindowOutcome::Idle,
            acquire_timeout: AcquireTimeout::default(),
            failures: 0,
            pause: 0,
            settings: SwapchainSettings::default(),
            asked: (
                PresentSettings::default(),
                PresentMode::Fifo,
                0,
                CompositeAlphaMode::Auto,
            ),
            warned: None,
        }
    }

    /// Acquires an image, if the window has one available. Failures of a window do not affect others; only the loss of
    /// the device is an error. Returns the reason if the window is given up now.
    pub(crate) fn acquire(
        &mut self,
        gpu: &Gpu,
        handle: &RawHandleWrapper,
        window: &Window,
        settings: Option<&PresentSettings>,
        is_alone: bool,
    ) -> Result<Option<String>, SurfaceError> {
        self.acquired = false;
        if self.outcome == WindowOutcome::Gone {
            return Ok(None);
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(None);
        }
        self.follow(window, settings);
        match self.try_acquire(gpu, handle, window, is_alone) {
            Ok(Acquired::Image) => {
                self.acquired = true;
                self.outcome = WindowOutcome::Idle;
                self.failures = 0;
                self.acquire_timeout.hit();
                self.check_alpha(window);
            }
            Ok(Acquired::Skip(reason)) => {
                if matches!(reason, SkipReason::Timeout | SkipReason::NotReady) {
                    self.acquire_timeout.missed();
                }
                let outcome = WindowOutcome::Skipped(reason);
                if reason == SkipReason::TooLarge && self.outcome != outcome {
                    let (width, height) = (window.physical_width(), window.physical_height());
                    tracing::warn!(
                        "the window `{}` has {width}x{height} pixels, more than any image of the \
                         device; it is drawn again once it is smaller",
                        window.title
                    );
                }
                self.outcome = outcome;
            }
            Err(error @ SurfaceError::DeviceLost { .. }) => return Err(error),
            Err(error) => return Ok(self.failed(&error, &window.title)),
        }
        Ok(None)
    }

    fn try_acquire(
        &mut self,
        gpu: &Gpu,
        handle: &RawHandleWrapper,
        window: &Window,
        is_alone: bool,
    ) -> Result<Acquired, SurfaceError> {
        let extent = [window.physical_width(), window.physical_height()];
        let timeout = self.acquire_timeout.next(is_alone);
        if let Some(swapchain) = &mut self.swapchain {
            swapchain.set(&self.settings)?;
            swapchain.resize(extent)?;
            return swapchain.acquire(timeout);
        }
        let keep = Box::new(handle.clone());
        let (display, raw) = (handle.get_display_handle(), handle.get_window_handle());
        // SAFETY: bevy's wrapper holds the handles of a window, which lives as long as a clone of the wrapper; the
        // surface keeps a clone.
        let surface = unsafe { Surface::new(gpu, display, raw, keep) }?;
        let swapchain = Swapchain::new(gpu, surface, &self.settings, extent, &window.title)?;
        self.swapchain.insert(swapchain).acquire(timeout)
    }

    /// Applies changed settings of the window to the swapchain.
    fn follow(&mut self, window: &Window, settings: Option<&PresentSettings>) {
        let latency = window.desired_maximum_frame_latency;
        let latency = latency.map_or(0, std::num::NonZeroU32::get);
        let (known, mode, known_latency, alpha) = &self.asked;
        let is_same = match settings {
            Some(settings) => known == settings,
            None => *known == PresentSettings::default(),
        };
        if is_same
            && *mode == window.present_mode
            && *known_latency == latency
            && *alpha == window.composite_alpha_mode
        {
            return;
        }
        let settings = settings.cloned().unwrap_or_default();
        self.settings = swapchain_settings(&settings, window, latency);
        self.asked = (
            settings,
            window.present_mode,
            latency,
            window.composite_alpha_mode,
        );
    }

    /// Warns once about each mode that the surface does not support, and about a transparent window that is opaque.
    fn check_alpha(&mut self, window: &Window) {
        let mode = window.composite_alpha_mode;
        if self.warned == Some(mode) {
            return;
        }
        let swapchain = self.swapchain.as_ref();
        let chosen = swapchain.and_then(Swapchain::composite_alpha);
        if let Some(problem) = chosen.and_then(|chosen| alpha::problem(window, chosen)) {
            tracing::warn!("{problem}");
            self.warned = Some(mode);
        }
    }

    fn failed(&mut self, error: &SurfaceError, title: &str) -> Option<String> {
        self.failures += 1;
        self.pause = 1 << self.failures.min(6);
        if self.failures < MAX_FAILURES {
            tracing::warn!("the window `{title}` shows no frame: {error}; trying again");
            self.outcome = WindowOutcome::Failed;
            return None;
        }
        self.outcome = WindowOutcome::Gone;
        self.swapchain = None;
        let reason = format!("the window `{title}` is drawn no more: {error}");
        tracing::error!("{reason}");
        Some(reason)
    }

    /// The acquired image.
    pub(crate) fn image(&self) -> Option<&GpuImage> {
        self.swapchain
            .as_ref()
            .filter(|_| self.acquired)
            .map(Swapchain::image)
    }

    /// The swapchain, for presenting its image.
    pub(crate) fn swapchain(&mut self) -> Option<&mut Swapchain> {
        self.swapchain.as_mut()
    }

    /// Handles the result of presenting this image, if it belongs to the window.
    pub(crate) fn presented(&mut self, presented: Presented) {
        self.acquired = false;
        self.outcome = match presented {
            Presented::Shown => WindowOutcome::Shown,
            Presented::Suboptimal => WindowOutcome::Suboptimal,
            Presented::OutOfDate | Presented::SurfaceLost => WindowOutcome::OutOfDate,
        };
    }

    /// Returns the state for the window's entity.
    pub(crate) fn state(&self) -> Option<SwapchainState> {
        let Some(swapchain) = &self.swapchain else {
            return (self.outcome != WindowOutcome::Idle).then(|| SwapchainState {
                extent: [0, 0],
                format: SurfaceFormat::STANDARD[0],
                present_mode: PresentMode::Fifo,
                image_count: 0,
                retired: 0,
                made: 0,
                semaphores: 0,
                retired_semaphores: 0,
                last: self.outcome,
            });
        };
        Some(SwapchainState {
            extent: swapchain.extent(),
            format: swapchain.format(),
            present_mode: match swapchain.present_mode() {
                PresentModeKHR::IMMEDIATE => PresentMode::Immediate,
                PresentModeKHR::MAILBOX => PresentMode::Mailbox,
                PresentModeKHR::FIFO_RELAXED => PresentMode::FifoRelaxed,
                _ => PresentMode::Fifo,
            },
            image_count: swapchain.image_count(),
            retired: swapchain.retired_count(),
            made: swapchain.chains_made(),
            semaphores: swapchain.semaphore_count(),
            retired_semaphores: swapchain.retired_semaphore_count(),
            last: self.outcome,
        })
    }
}

/// Converts the settings of a window to those of the swapchain.
fn swapchain_settings(
    settings: &PresentSettings,
    window: &Window,
    latency: u32,
) -> SwapchainSettings {
    let (immediate, mailbox) = (PresentModeKHR::IMMEDIATE, PresentModeKHR::MAILBOX);
    SwapchainSettings {
        present_modes: match settings.present_mode.unwrap_or(window.present_mode) {
            PresentMode::Fifo => vec![PresentModeKHR::FIFO],
            PresentMode::AutoVsync | PresentMode::FifoRelaxed => {
                vec![PresentModeKHR::FIFO_RELAXED]
            }
            PresentMode::AutoNoVsync => vec![immediate, mailbox],
            PresentMode::Mailbox => vec![mailbox],
            PresentMode::Immediate => vec![immediate],
        },
        formats: [&settings.formats[..], &SurfaceFormat::STANDARD].concat(),
        composite_alpha: alpha::flags(window.composite_alpha_mode),
        image_count: settings.image_count,
        frames_in_flight: match settings.frames_in_flight {
            0 => latency,
            frames => frames,
        },
        completion: settings.completion,
        pace_by_display: settings.pace_by_display,
    }
}
