use bevy_app::AppExit;

use super::*;

/// Runs an app without a log and returns its exit.
fn run(plugins: QuadrillePlugins) -> AppExit {
    let mut app = App::new();
    app.add_plugins(QuadrillePlugins {
        log: false,
        ..plugins
    });
    app.run()
}

#[test]
fn a_window_without_pixels_is_refused() {
    for (width, height) in [(0, 16), (16, 0)] {
        let plugins = QuadrillePlugins::headless(width, height);
        assert_eq!(run(plugins), AppExit::from_code(2), "{width}x{height}");
    }
}

#[test]
fn existing_plugins_and_window_are_kept() {
    let mut window = Window::default();
    window.resolution.set_physical_resolution(0, 7);
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        TimePlugin,
        InputPlugin,
        WindowPlugin {
            primary_window: Some(window),
            ..WindowPlugin::default()
        },
        ScheduleRunnerPlugin::default(),
    ));
    app.add_plugins(QuadrillePlugins {
        log: false,
        ..QuadrillePlugins::headless(16, 16)
    });
    let mut windows = app.world_mut().query::<&Window>();
    assert_eq!(windows.iter(app.world()).count(), 1, "one window");
    let code = AppExit::from_code(2);
    assert_eq!(app.run(), code, "refused for the app's window, not ours");
}

#[cfg(feature = "window")]
#[test]
fn windows_without_a_display_are_refused() {
    let plugins = QuadrillePlugins {
        headless: false,
        ..QuadrillePlugins::default()
    };
    if has_display() {
        let mut app = App::new();
        plugins.add_runner(&mut app).expect("there is a display");
        assert!(app.is_plugin_added::<bevy_winit::WinitPlugin>());
    } else {
        assert_eq!(run(plugins), AppExit::from_code(2));
    }
}
