//! The plugins of a Quadrille app in one group.

use bevy_app::{PluginGroup, PluginGroupBuilder, ScheduleRunnerPlugin, TaskPoolPlugin};
use bevy_input::InputPlugin;
use bevy_log::LogPlugin;
use bevy_time::TimePlugin;
use bevy_window::{ExitCondition, Window, WindowPlugin};
use quadrille_vulkan::Settings;

use crate::plugin::{NoDisplay, QuadrillePlugin};
use crate::threads::RecordOn;
use crate::window::HeadlessWindow;

/// Everything an app needs to draw: task pools, log, time, input, windows, and the renderer.
///
/// ```no_run
/// use bevy_app::App;
/// use quadrille_ecs::QuadrillePlugins;
///
/// App::new().add_plugins(QuadrillePlugins::default()).run();
/// ```
/// Single plugins can be replaced with `.set(..)` as in any bevy plugin group.
#[derive(Clone, Debug)]
pub struct QuadrillePlugins {
    /// The primary window, or, without a display, the size of the image that stands for it.
    pub window: Window,
    /// No windows: frames follow one another without pause, and
    /// [`PrimaryWindowImage`](crate::PrimaryWindowImage) is an ordinary image.
    pub headless: bool,
    /// Which device and queues to use, and how.
    pub settings: Settings,
    /// On how many threads to record.
    pub record_on: RecordOn,
}

impl Default for QuadrillePlugins {
    /// A window where there is a display, else headless.
    fn default() -> Self {
        Self {
            window: Window::default(),
            headless: !has_display(),
            settings: Settings::default(),
            record_on: RecordOn::default(),
        }
    }
}

impl QuadrillePlugins {
    /// No windows, and an image of `width` x `height` pixels that stands for the primary one. Less
    /// than one pixel is an error: the app exits with it instead of running.
    pub fn headless(width: u32, height: u32) -> Self {
        let mut window = Window::default();
        window.resolution.set_physical_resolution(width, height);
        Self {
            window,
            headless: true,
            ..Self::default()
        }
    }

    fn headless_window(&self) -> HeadlessWindow {
        let size = &self.window.resolution;
        HeadlessWindow {
            extent: [size.physical_width(), size.physical_height()],
        }
    }
}

impl PluginGroup for QuadrillePlugins {
    fn build(self) -> PluginGroupBuilder {
        let headless = self.headless.then(|| self.headless_window());
        let mut group = PluginGroupBuilder::start::<Self>()
            .add(LogPlugin::default())
            .add(TaskPoolPlugin::default())
            .add(TimePlugin)
            .add(InputPlugin);
        group = if self.headless {
            // The window is an entity without a surface: what programs ask of their window, its
            // size for instance, they find as they do with a display.
            group
                .add(WindowPlugin {
                    primary_window: Some(self.window),
                    exit_condition: ExitCondition::DontExit,
                    ..WindowPlugin::default()
                })
                .add(ScheduleRunnerPlugin::default())
        } else {
            add_windows(group, self.window)
        };
        group = group.add(QuadrillePlugin {
            settings: self.settings,
            headless,
            record_on: self.record_on,
        });
        match self.headless || has_display() || cfg!(not(feature = "window")) {
            true => group,
            // It has the last word on how the app runs.
            false => group.add(NoDisplay),
        }
    }
}

#[cfg(feature = "window")]
fn add_windows(group: PluginGroupBuilder, window: Window) -> PluginGroupBuilder {
    let group = group
        .add(WindowPlugin {
            primary_window: Some(window),
            ..WindowPlugin::default()
        })
        .add(bevy_a11y::AccessibilityPlugin);
    match has_display() {
        true => group.add(bevy_winit::WinitPlugin::default()),
        false => group,
    }
}

#[cfg(not(feature = "window"))]
fn add_windows(group: PluginGroupBuilder, window: Window) -> PluginGroupBuilder {
    group
        .add(WindowPlugin {
            primary_window: Some(window),
            ..WindowPlugin::default()
        })
        .add(ScheduleRunnerPlugin::default())
}

/// Whether windows can be opened: always, but on Unix without a display server.
pub(crate) fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let unix = cfg!(all(
        unix,
        not(any(
            target_os = "macos",
            target_os = "ios",
            target_os = "android"
        ))
    ));
    let display = !unix || set("DISPLAY") || set("WAYLAND_DISPLAY") || set("WAYLAND_SOCKET");
    cfg!(feature = "window") && display
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
