use bevy_app::{App, AppExit};

use super::*;

/// Runs an app without a log and returns its exit.
fn run(plugins: PluginGroupBuilder) -> AppExit {
    let mut app = App::new();
    app.add_plugins(plugins.disable::<LogPlugin>());
    app.run()
}

fn window(width: u32, height: u32) -> WindowPlugin {
    let mut window = Window::default();
    window.resolution.set_physical_resolution(width, height);
    WindowPlugin {
        primary_window: Some(window),
        ..WindowPlugin::default()
    }
}

#[test]
fn window_without_pixels_is_refused() {
    for (width, height) in [(0, 16), (16, 0)] {
        let plugins = QuadrillePlugins::headless(width, height);
        assert_eq!(run(plugins), AppExit::from_code(2), "{width}x{height}");
    }
}

#[test]
fn headless_size_is_that_of_the_window_plugin() {
    let plugins = QuadrillePlugins::headless(16, 16).set(window(0, 7));
    assert_eq!(run(plugins), AppExit::from_code(2), "refused for its size");
}

#[test]
fn renderer_uses_plugins_of_the_app() {
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        TimePlugin,
        InputPlugin,
        window(0, 7),
        ScheduleRunnerPlugin::default(),
        QuadrillePlugin::default(),
    ));
    let mut windows = app.world_mut().query::<&Window>();
    assert_eq!(windows.iter(app.world()).count(), 1, "one window");
    let code = AppExit::from_code(2);
    assert_eq!(app.run(), code, "refused for the app's window");
}

#[cfg(feature = "window")]
#[test]
fn event_loop_comes_with_a_display() {
    let has_event_loop = |group: PluginGroupBuilder| group.contains::<bevy_winit::WinitPlugin>();
    assert_eq!(has_event_loop(QuadrillePlugins.build()), has_display());
    assert!(!has_event_loop(QuadrillePlugins::headless(16, 16)));
}
