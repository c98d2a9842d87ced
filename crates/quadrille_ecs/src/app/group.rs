//! Plugin group for apps without bevy's `DefaultPlugins`.

use bevy_app::{PluginGroup, PluginGroupBuilder, ScheduleRunnerPlugin, TaskPoolPlugin};
use bevy_input::InputPlugin;
use bevy_log::LogPlugin;
use bevy_time::TimePlugin;
use bevy_window::{ExitCondition, Window, WindowPlugin};

use crate::app::plugin::QuadrillePlugin;

/// Everything an app needs to draw: log, task pools, time, input, windows, and the renderer.
///
/// ```no_run
/// use bevy_app::App;
/// use quadrille_ecs::QuadrillePlugins;
///
/// App::new().add_plugins(QuadrillePlugins).run();
/// ```
///
/// | plugin | set it for |
/// | --- | --- |
/// | `LogPlugin` | the log's level; disable it where the program has a `tracing` subscriber of its own |
/// | `TaskPoolPlugin`, `TimePlugin`, `InputPlugin` | |
/// | `WindowPlugin` | the primary window; headless, the size of the image that replaces it |
/// | `AccessibilityPlugin`, `WinitPlugin` | the event loop, with feature `window` and a display ([`has_display`]) |
/// | `ScheduleRunnerPlugin` | otherwise: frames run without pause |
/// | [`QuadrillePlugin`] | device and queue settings |
///
/// bevy's `DefaultPlugins` contain all but the last. An app with those adds [`QuadrillePlugin`] alone, because bevy
/// refuses to add a plugin twice.
///
/// ```no_run
/// use bevy_app::{App, PluginGroup as _};
/// use bevy_log::LogPlugin;
/// use bevy_window::{Window, WindowPlugin};
/// use quadrille_ecs::{QuadrillePlugin, QuadrillePlugins, RecordOn};
///
/// let window = Window { title: "waves".into(), resolution: (1600, 900).into(), ..Window::default() };
/// let plugins = QuadrillePlugins
///     .set(WindowPlugin { primary_window: Some(window), ..WindowPlugin::default() })
///     .set(QuadrillePlugin { record_on: RecordOn::OneThread, ..QuadrillePlugin::default() })
///     .disable::<LogPlugin>();
/// App::new().add_plugins(plugins).run();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QuadrillePlugins;

impl PluginGroup for QuadrillePlugins {
    /// Windowed if there is a display, else headless.
    fn build(self) -> PluginGroupBuilder {
        if !has_display() {
            return headless(Window::default());
        }
        let group = start().add(WindowPlugin::default());
        #[cfg(feature = "window")]
        let group = group
            .add(bevy_a11y::AccessibilityPlugin)
            .add(bevy_winit::WinitPlugin::default());
        group.add(QuadrillePlugin::default())
    }
}

impl QuadrillePlugins {
    /// Returns the group without an event loop, even where there is a display: frames run without pause. The primary
    /// window is an image of `width` x `height` pixels. A size of zero is an error that ends the app.
    pub fn headless(width: u32, height: u32) -> PluginGroupBuilder {
        let mut window = Window::default();
        window.resolution.set_physical_resolution(width, height);
        headless(window)
    }
}

fn start() -> PluginGroupBuilder {
    PluginGroupBuilder::start::<QuadrillePlugins>()
        .add(LogPlugin::default())
        .add(TaskPoolPlugin::default())
        .add(TimePlugin)
        .add(InputPlugin)
}

/// Headless apps have a window entity too, so that code that queries its size works unchanged.
fn headless(window: Window) -> PluginGroupBuilder {
    start()
        .add(WindowPlugin {
            primary_window: Some(window),
            exit_condition: ExitCondition::DontExit,
            ..WindowPlugin::default()
        })
        .add(ScheduleRunnerPlugin::default())
        .add(QuadrillePlugin::default())
}

/// Returns whether windows can be opened: with feature `window`, unless the system is Unix without a display server.
pub fn has_display() -> bool {
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
