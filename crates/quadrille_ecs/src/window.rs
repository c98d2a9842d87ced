//! Windows: present settings, swapchain state, and images to draw to.
//!
//! Each window has its own surface and swapchain, so windows fail, wait and close independently.

mod acquire_timeout;
mod alpha;
mod sized;
mod target;

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use bevy_window::{PresentMode, WindowDestroyed};
use quadrille_vulkan::present::{PresentCompletion, SkipReason, SurfaceFormat};

pub use sized::WindowSized;
pub(crate) use sized::WindowSizedImages;
pub(crate) use target::WindowTarget;

/// Present settings of a window: an optional component of the window's entity, which may
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
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(opaque)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct PresentSettings {
    /// Present mode; `None` for that of the `Window`. A mode that the surface does not support falls back to FIFO.
    pub present_mode: Option<PresentMode>,
    /// Formats in order of preference, before the default ones.
    pub formats: Vec<SurfaceFormat>,
    /// Requested number of swapchain images; 0 for one more than the minimum.
    pub image_count: u32,
    /// Maximum number of this window's frames in flight; 0 for the window's
    /// `desired_maximum_frame_latency`, or else that of the device.
    pub frames_in_flight: u32,
    /// Proof of completion of presents; fixed when the window opens.
    pub completion: PresentCompletion,
    /// Counts frames as in flight until they are displayed, if the device reports that
    /// (`VK_KHR_present_wait`). With `frames_in_flight: 1` the latency is minimal.
    pub pace_by_display: bool,
}

impl PresentSettings {
    /// High dynamic range, if the display supports it. [`SwapchainState::format`] is
    /// the actual format, which determines how the last pass has to encode colors.
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
    /// No pass drew to the window in this frame.
    #[default]
    Idle,
    /// Its image was presented.
    Shown,
    /// Its image was presented, and the swapchain is recreated for the next frame.
    Suboptimal,
    /// Its image was not presented, and the swapchain is recreated for the next frame.
    OutOfDate,
    /// No image was acquired.
    Skipped(SkipReason),
    /// An error occurred; the window is retried after some frames.
    Failed,
    /// The window failed too often, or its surface is permanently lost: it is no longer rendered.
    Gone,
}

/// The state of a window's swapchain: a component of the window's entity, written after each frame
/// and only when it changed.
#[derive(Component, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SwapchainState {
    /// Width and height in pixels; zeros while the window has no area.
    pub extent: [u32; 2],
    /// The format and color space.
    pub format: SurfaceFormat,
    /// The present mode in use.
    pub present_mode: PresentMode,
    /// The number of images.
    pub image_count: usize,
    /// The number of replaced swapchains that are not destroyed yet; at most 5.
    pub retired: usize,
    /// The number of swapchains created so far.
    pub made: u64,
    /// Number of binary semaphores of the current swapchain; at most images + frames in flight + 2.
    pub semaphores: usize,
    /// The number of binary semaphores of replaced swapchains.
    pub retired_semaphores: usize,
    /// Outcome of the last frame.
    pub last: WindowOutcome,
}

/// Event: a window is no longer rendered, because its surface is permanently lost or it failed many times in a row.
/// Other windows continue. Triggered on the window's entity, once.
#[derive(EntityEvent, Clone, Debug)]
#[non_exhaustive]
pub struct WindowFailed {
    /// The window.
    pub entity: Entity,
    /// The reason, as a sentence.
    pub reason: String,
}

/// Size of the image that replaces the primary window in apps without one.
#[derive(Resource, Clone, Copy, Debug)]
pub struct HeadlessWindow {
    /// Width and height in pixels; at least 1.
    pub extent: [u32; 2],
}

/// Despawns windows that were destroyed externally, for instance by a lost display connection, so that the app exits
/// with its last window as if that was closed.
pub(crate) fn despawn_destroyed(
    mut commands: Commands,
    mut destroyed: MessageReader<WindowDestroyed>,
) {
    for &WindowDestroyed { window } in destroyed.read() {
        commands.entity(window).try_despawn();
    }
}
