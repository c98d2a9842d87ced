//! [`QuadrillePlugins`]: all plugins of a Quadrille app.

use bevy_app::{App, Plugin, ScheduleRunnerPlugin, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_input::InputPlugin;
use bevy_log::LogPlugin;
use bevy_time::TimePlugin;
use bevy_window::{ExitCondition, PrimaryWindow, Window, WindowPlugin};
use quadrille_vulkan::{Gpu, Settings};

use crate::app::plugin::{QuadrillePlugin, StartError, refuse};
use crate::renderer::threads::RecordOn;
use crate::window::HeadlessWindow;

/// Everything an app needs to draw: log, task pools, time, input, windows, and the renderer.
///
/// ```no_run
/// use bevy_app::App;
/// use quadrille_ecs::QuadrillePlugins;
///
/// App::new().add_plugins(QuadrillePlugins::default()).run();
/// ```
/// Plugins that the app already has are kept, so add this last: after bevy's
/// `DefaultPlugins`, and after any plugin with other settings.
///
/// ```no_run
/// use bevy_app::{App, TaskPoolPlugin};
/// use quadrille_ecs::QuadrillePlugins;
///
/// App::new().add_plugins((TaskPoolPlugin::default(), QuadrillePlugins::default())).run();
/// ```
#[derive(Clone, Debug)]
pub struct QuadrillePlugins {
    /// The primary window or, without a display, the size of the image that replaces it. Ignored if the
    /// app already has bevy's `WindowPlugin`.
    pub window: Window,
    /// Opens no windows: frames run without pause, and
    /// [`PrimaryWindowImage`](crate::PrimaryWindowImage) is an ordinary image.
    pub headless: bool,
    /// Adds bevy's `LogPlugin`, unless the app has it. Set it to false in a program with its own `tracing`
    /// subscriber.
    pub log: bool,
    /// Device and queue settings.
    pub settings: Settings,
    /// An existing device, such as an imported one ([`Gpu::import`]), which no other renderer may use.
    /// If it is lost, another is created by `settings`; after the loss of an imported device the app exits with an
    /// error.
    pub gpu: Option<Gpu>,
    /// The threads that record.
    pub record_on: RecordOn,
}

impl Default for QuadrillePlugins {
    /// A window if there is a display, else headless.
    fn default() -> Self {
        Self {
            window: Window::default(),
            headless: !has_display(),
            log: true,
            settings: Settings::default(),
            gpu: None,
            record_on: RecordOn::default(),
        }
    }
}

impl QuadrillePlugins {
    /// No windows, and an image of `width` x `height` pixels in place of the primary one. With a width or height of 0
    /// the app exits with an error instead of running.
    pub fn headless(width: u32, height: u32) -> Self {
        let mut window = Window::default();
        window.resolution.set_physical_resolution(width, height);
        Self {
            window,
            headless: true,
            ..Self::default()
        }
    }
}

impl Plugin for QuadrillePlugins {
    fn build(&self, app: &mut App) {
        if self.log {
            add(app, LogPlugin::default());
        }
        add(app, TaskPoolPlugin::default());
        add(app, TimePlugin);
        add(app, InputPlugin);
        add(app, self.window_plugin());
        if let Err(error) = self.add_runner(app) {
            refuse(app, &error);
            return;
        }
        let headless = self.headless.then(|| self.headless_window(app.world_mut()));
        app.add_plugins(QuadrillePlugin {
            settings: self.settings.clone(),
            gpu: self.gpu.clone(),
            headless,
            record_on: self.record_on,
        });
    }
}

impl QuadrillePlugins {
    fn window_plugin(&self) -> WindowPlugin {
        // Without a display the window is still an entity, so that programs can query it, for its size for instance.
        let plugin = WindowPlugin {
            primary_window: Some(self.window.clone()),
            ..WindowPlugin::default()
        };
        if self.headless {
            WindowPlugin {
                exit_condition: ExitCondition::DontExit,
                ..plugin
            }
        } else {
            plugin
        }
    }

    /// Adds the runner of the app: bevy's event loop, or frames without pause.
    #[cfg(feature = "window")]
    fn add_runner(&self, app: &mut App) -> Result<(), StartError> {
        use bevy_winit::WinitPlugin;

        let opens_windows = app.is_plugin_added::<WinitPlugin>();
        match (self.headless, opens_windows) {
            (true, true) => return Err(StartError::HeadlessWithWindows),
            (true, false) => add(app, ScheduleRunnerPlugin::default()),
            (false, true) => {}
            (false, false) if has_display() => {
                add(app, bevy_a11y::AccessibilityPlugin);
                add(app, WinitPlugin::default());
            }
            // The plugin would panic.
            (false, false) => return Err(StartError::NoDisplay),
        }
        Ok(())
    }

    #[cfg(not(feature = "window"))]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "with windows there is what can fail"
    )]
    fn add_runner(&self, app: &mut App) -> Result<(), StartError> {
        add(app, ScheduleRunnerPlugin::default());
        Ok(())
    }

    /// The size of the app's primary window.
    fn headless_window(&self, world: &mut World) -> HeadlessWindow {
        let mut windows = world.query_filtered::<&Window, With<PrimaryWindow>>();
        let window = windows.iter(world).next().unwrap_or(&self.window);
        HeadlessWindow::new(window.physical_size())
    }
}

/// Adds a plugin that the app does not have yet.
fn add<P: Plugin>(app: &mut App, plugin: P) {
    if !app.is_plugin_added::<P>() {
        app.add_plugins(plugin);
    }
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
