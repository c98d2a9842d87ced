//! Windows: what a program may ask of them, what it can read, and the image that passes draw to.
//!
//! Each window has its own surface, swapchain and proofs, so each fails, waits and closes alone.

mod acquire_timeout;
mod alpha;
mod sized;
mod target;

use bevy_ecs::prelude::*;
use bevy_window::{PresentMode, WindowDestroyed};
use quadrille_vulkan::{PresentCompletion, SkipReason, SurfaceFormat};

pub use sized::WindowSized;
pub(crate) use sized::WindowSizedImages;
pub(crate) use target::WindowTarget;

/// How a window presents. Put it on the window's entity, or leave it out for the defaults; it may
/// change at any time.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use bevy_window::Window;
/// # use quadrille_ecs::PresentSettings;
/// fn open(mut commands: Commands) {
///     commands.spawn((Window::default(), PresentSettings::high_dynamic_range()));
/// }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct PresentSettings {
    /// Presentation mode; `None` for that of the `Window`. A mode that the
    /// display does not have falls back to FIFO.
    pub present_mode: Option<PresentMode>,
    /// Formats in order of preference; behind them come those that every display shows.
    pub formats: Vec<SurfaceFormat>,
    /// How many images to ask for; 0 for one more than the least.
    pub image_count: u32,
    /// How many frames of this window may be on their way to the device; 0 for what the `Window`
    /// says (`desired_maximum_frame_latency`), else as many as the device's.
    pub frames_in_flight: u32,
    /// How it is known that a present is done. A window keeps the proof that it begins with.
    pub completion: PresentCompletion,
    /// Count frames as on their way until the display has shown them, where the device reports it
    /// (`VK_KHR_present_wait`). With `frames_in_flight: 1`, the displayed frame is as fresh as it can be.
    pub pace_by_display: bool,
}

impl PresentSettings {
    /// More than standard brightness, where the display has it. [`SwapchainState::format`] says
    /// what was granted, and so how the last pass has to encode its colours.
    pub fn high_dynamic_range() -> Self {
        Self {
            formats: SurfaceFormat::HIGH_DYNAMIC_RANGE.to_vec(),
            ..Self::default()
        }
    }
}

/// Outcome of a window in the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowOutcome {
    /// The window was not drawn to yet, or no pass drew to it in this frame.
    #[default]
    Idle,
    /// Its image was presented.
    Shown,
    /// Its image was presented, and the swapchain is replaced for the next one.
    Suboptimal,
    /// Its image was not shown, and the swapchain is replaced for the next one.
    OutOfDate,
    /// The window had no image to give.
    Skipped(SkipReason),
    /// Something failed; it is tried again after some frames.
    Failed,
    /// The window failed too often, or its surface is lost for good: it is drawn no more.
    Gone,
}

/// The state of a window's swapchain: a component of the window's entity, written after each frame
/// and only when it changed.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct SwapchainState {
    /// Width and height in pixels; zeros while the window has no area.
    pub extent: [u32; 2],
    /// The format and colour space.
    pub format: SurfaceFormat,
    /// The present mode in use.
    pub present_mode: PresentMode,
    /// How many images there are.
    pub image_count: usize,
    /// How many older swapchains are not given back yet; at most 5.
    pub retired: usize,
    /// How many swapchains the window has had.
    pub made: u64,
    /// How many binary semaphores exist for the swapchain in use; at most its images, the frames in
    /// flight and 2.
    pub semaphores: usize,
    /// How many binary semaphores wait with older swapchains until they are given back.
    pub retired_semaphores: usize,
    /// Outcome of the last frame.
    pub last: WindowOutcome,
}

/// A window is drawn no more: its surface is lost for good, or it failed many times in a row.
/// Other windows go on. Triggered on the window's entity, once.
#[derive(EntityEvent, Clone, Debug)]
pub struct WindowFailed {
    /// The window.
    pub entity: Entity,
    /// Why, in a sentence.
    pub reason: String,
}

/// The size in pixels of the image that stands for the primary window where there is none.
#[derive(Resource, Clone, Copy, Debug)]
pub struct HeadlessWindow {
    /// Width and height in pixels; at least 1.
    pub extent: [u32; 2],
}

impl HeadlessWindow {
    /// An image of this width and height: an array, a tuple or a `UVec2`.
    pub fn new(extent: impl Into<[u32; 2]>) -> Self {
        let extent = extent.into();
        Self { extent }
    }
}

/// Despawns windows that were destroyed from outside, by a killed display connection for
/// instance, so that the app ends with its last window as it does when one is closed.
pub(crate) fn despawn_destroyed(
    mut commands: Commands,
    mut destroyed: MessageReader<WindowDestroyed>,
) {
    for &WindowDestroyed { window } in destroyed.read() {
        commands.entity(window).try_despawn();
    }
}
