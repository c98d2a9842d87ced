use bevy_app::{App, AppExit};

use super::*;

/// What an app exits with that has only the plugins which need no log of their own.
fn run(plugins: PluginGroupBuilder) -> AppExit {
    let mut app = App::new();
    app.add_plugins(plugins.disable::<LogPlugin>());
    app.run()
}

#[test]
fn a_window_without_pixels_is_refused() {
    for (width, height) in [(0, 16), (16, 0)] {
        let plugins = QuadrillePlugins::headless(width, height).build();
        assert_eq!(run(plugins), AppExit::from_code(2), "{width}x{height}");
    }
}

#[cfg(feature = "window")]
#[test]
fn windows_without_a_display_are_refused() {
    let plugins = QuadrillePlugins {
        headless: false,
        ..QuadrillePlugins::default()
    };
    let plugins = plugins.build();
    assert_eq!(plugins.enabled::<NoDisplay>(), !has_display());
    assert_eq!(
        plugins.enabled::<bevy_winit::WinitPlugin>(),
        has_display(),
        "it panics without"
    );
    let mut app = App::new();
    app.add_plugins(NoDisplay);
    assert_eq!(app.run(), AppExit::from_code(2));
}
