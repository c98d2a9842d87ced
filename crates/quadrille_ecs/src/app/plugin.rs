//! Plugin that adds the renderer to an app.

use bevy_app::{
    App, AppExit, First, MainScheduleOrder, Plugin, PostUpdate, ScheduleRunnerPlugin, Startup,
};
use bevy_ecs::error::{FallbackErrorHandler, debug};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{ScheduleBuildSettings, ScheduleLabel};
use bevy_log::LogPlugin;
use bevy_window::{PrimaryWindow, Window, WindowDestroyed};
use quadrille_vulkan::SetupError;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::Settings;

use crate::app::content;
use crate::app::group::has_display;
use crate::app::reload;
use crate::collect::Collector;
use crate::collect::mirror::{MirrorPasses, PassGraph};
use crate::collect::tables::Tables;
use crate::data::exchange::Exchanges;
use crate::data::readback::Readbacks;
use crate::data::upload::Uploads;
use crate::declare::declaration::{
    AlwaysRun, DeclarationVersion, Pass, QueuePreference, observe_disabling,
};
use crate::declare::registry::Registry;
use crate::declare::window_image::AddWindowImage as _;
use crate::error::RenderError;
use crate::frame::drive::run_frame;
use crate::frame::policy::RenderErrorHandler;
use crate::frame::recover::Recovery;
use crate::frame::startup;
use crate::frame::windows::WindowQuery;
use crate::gpu_device::GpuDevice;
use crate::record::recording::Recordings;
use crate::renderer::Renderer;
use crate::renderer::frame_start::FrameStart;
use crate::renderer::threads::{RecordOn, Threads};
use crate::schedule::{Render, RenderStartup};
use crate::window::{HeadlessWindow, PresentSettings, despawn_destroyed};

/// The renderer. Add it to bevy's `DefaultPlugins`; [`QuadrillePlugins`](crate::QuadrillePlugins) contain it.
///
/// Add it after bevy's `WindowPlugin` and after the plugin that runs the app, which decides where frames go.
/// `WinitPlugin` presents to windows. `ScheduleRunnerPlugin` presents to none:
/// [`PrimaryWindowImage`](crate::PrimaryWindowImage) is then an ordinary image with the size of the primary window. An
/// app with neither gets `WinitPlugin` if there is a display ([`has_display`]), else `ScheduleRunnerPlugin`.
///
/// `build` inserts the [`GpuDevice`] resource, with which systems in [`RenderStartup`] create buffers and pipelines.
/// The [`Render`] schedule runs once per frame, after `PostUpdate`.
#[derive(Clone, Debug, Default)]
pub struct QuadrillePlugin {
    /// Device and queue settings.
    pub settings: Settings,
    /// An existing device of the app, such as one from [`Gpu::import`]; nothing else may draw with it. If it is lost,
    /// `settings` describe its replacement. An imported device is not replaced: the app ends with an error.
    pub gpu: Option<Gpu>,
    /// The threads that record.
    pub record_on: RecordOn,
}

/// Schedule that runs the frame. Private, so that no other system can be added to it.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RunFrame;

/// Schedule that runs [`RenderStartup`]. Private, so that no other system can be added to it.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RunStartup;

/// Exit code for errors that a user can fix, such as a missing device or driver.
const SETUP_FAILED: u8 = 2;

impl Plugin for QuadrillePlugin {
    fn build(&self, app: &mut App) {
        if has_other_renderer(app.world()) {
            refuse(app, &StartError::OtherRenderer);
            return;
        }
        add_schedules(app);
        register_types(app);
        app.init_resource::<Collector>()
            .init_resource::<Tables>()
            .init_resource::<Recordings>()
            .init_resource::<Registry>()
            .init_resource::<PassGraph>()
            .init_resource::<DeclarationVersion>()
            .init_resource::<Uploads>()
            .init_resource::<Readbacks>()
            .init_resource::<Exchanges>()
            .init_resource::<RenderErrorHandler>()
            .init_resource::<FrameStart>()
            .init_resource::<WindowQuery>()
            .insert_resource(Threads::new(self.record_on));
        app.add_window_image::<PrimaryWindow>();
        observe_disabling(app.world_mut());
        content::add_warnings(app);
        add_missing_runner(app);
        let headless = (!has_event_loop(app)).then(|| headless_window(app.world_mut()));
        if let Some(window) = headless {
            app.insert_resource(window);
        }
        let settings = Settings {
            windows: headless.is_none(),
            ..self.settings.clone()
        };
        let display = display_handle(app);
        match setup(&settings, self.gpu.as_ref(), display, headless) {
            Ok(renderer) => {
                if let Some(window) = headless {
                    log_headless(window);
                }
                app.insert_resource(GpuDevice::of(renderer.gpu()))
                    .insert_resource(renderer)
                    .insert_resource(Recovery::new(settings));
            }
            Err(error) => refuse(app, &error),
        }
    }

    fn finish(&self, app: &mut App) {
        let is_late = has_event_loop(app) && app.world().contains_resource::<HeadlessWindow>();
        let world = app.world_mut();
        let error = match has_other_renderer(world) {
            true => StartError::OtherRenderer,
            false if is_late => StartError::LateEventLoop,
            false => return,
        };
        // The conflicting plugin was added later, and the app already runs: it exits after this frame.
        if world.remove_resource::<Renderer>().is_some() {
            tracing::error!("{error}");
            world.insert_resource(FallbackErrorHandler(debug));
            world.write_message(AppExit::from_code(SETUP_FAILED));
        }
    }
}

/// Adds a runner to an app without one: bevy's event loop, or frames without pause.
fn add_missing_runner(app: &mut App) {
    if has_event_loop(app) || app.is_plugin_added::<ScheduleRunnerPlugin>() {
        return;
    }
    #[cfg(feature = "window")]
    if has_display() {
        if !app.is_plugin_added::<bevy_a11y::AccessibilityPlugin>() {
            app.add_plugins(bevy_a11y::AccessibilityPlugin);
        }
        app.add_plugins(bevy_winit::WinitPlugin::default());
        return;
    }
    app.add_plugins(ScheduleRunnerPlugin::default());
}

/// Whether bevy's event loop was added, with which the app can open windows.
fn has_event_loop(app: &App) -> bool {
    #[cfg(feature = "window")]
    return app.is_plugin_added::<bevy_winit::WinitPlugin>();
    #[cfg(not(feature = "window"))]
    {
        let _ = app;
        false
    }
}

/// Returns the image that replaces the app's primary window.
fn headless_window(world: &mut World) -> HeadlessWindow {
    let mut windows = world.query_filtered::<&Window, With<PrimaryWindow>>();
    let extent = match windows.iter(world).next() {
        Some(window) => window.physical_size(),
        None => Window::default().physical_size(),
    };
    HeadlessWindow {
        extent: extent.into(),
    }
}

/// Type name of a resource that bevy_render's `RenderPlugin` inserts into the main world. A name, since no crate here
/// depends on bevy_render.
const OTHER_RENDERER: &str = "bevy_render::error_handler::RenderErrorHandler";

fn has_other_renderer(world: &World) -> bool {
    has_resource(world, OTHER_RENDERER)
}

/// Whether the world has a resource with this type name.
fn has_resource(world: &World, type_name: &str) -> bool {
    let mut components = world.components().iter_registered();
    components.any(|(id, component)| {
        *component.name() == *type_name && world.get_resource_by_id(id).is_some()
    })
}

/// Registers the components of programs: those without objects of a device, or state of a frame.
fn register_types(app: &mut App) {
    app.register_type::<PresentSettings>()
        .register_type::<Pass>()
        .register_type::<QueuePreference>()
        .register_type::<AlwaysRun>();
}

fn add_schedules(app: &mut App) {
    // Earlier plugins may have added systems, so the schedule is edited, not replaced.
    app.edit_schedule(Render, |render| {
        render.set_build_settings(ScheduleBuildSettings {
            // Recordings are handed over at the end of the schedule, so automatic sync points would only serialize
            // recording. `MirrorPasses` adds the one sync point that may be needed, after `RenderSystems::Declare`.
            auto_insert_apply_deferred: false,
            ..ScheduleBuildSettings::default()
        });
        render.add_build_pass(MirrorPasses::default());
    });
    app.init_schedule(RunFrame);
    app.init_schedule(RunStartup);
    app.init_schedule(RenderStartup);
    app.add_systems(RunFrame, run_frame);
    app.add_systems(RunStartup, startup::run_first);
    app.add_systems(First, reload::apply);
    app.add_systems(
        First,
        despawn_destroyed.run_if(resource_exists::<Messages<WindowDestroyed>>),
    );
    let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
    order.insert_after(PostUpdate, RunFrame);
    order.insert_startup_after(Startup, RunStartup);
}

/// Error at the start of the renderer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(
        "the image that stands for the window has {}x{} pixels; ask for at least one each way",
        extent[0], extent[1]
    )]
    NoPixels { extent: [u32; 2] },
    #[error(
        "`QuadrillePlugin` comes before bevy's `WinitPlugin`, so it was set up for frames without windows; add it \
         after `DefaultPlugins`"
    )]
    LateEventLoop,
    #[error(
        "bevy_render's `RenderPlugin` draws to the same windows; leave it out: depend on bevy with \
         `default-features = false` and features that do not bring it, such as `2d_api`, `3d_api` and `ui_api`; \
         `2d`, `3d`, `ui`, `dev`, `free_camera`, `bevy_pbr` and `bevy_core_pipeline` do (`cargo tree -i bevy_render` \
         finds out)"
    )]
    OtherRenderer,
    #[cfg(feature = "textures")]
    #[error(
        "`TexturePlugin` comes after a plugin that loads images already, such as `Quadrille2dPlugin` or \
         `Quadrille3dPlugin`, and its settings come too late; add it before that plugin"
    )]
    LateTextures,
}

fn setup(
    settings: &Settings,
    gpu: Option<&Gpu>,
    display: Option<raw_window_handle::RawDisplayHandle>,
    headless: Option<HeadlessWindow>,
) -> Result<Renderer, StartError> {
    if let Some(HeadlessWindow { extent }) = headless
        && extent.contains(&0)
    {
        return Err(StartError::NoPixels { extent });
    }
    let gpu = match gpu {
        Some(gpu) => gpu.clone(),
        None => Gpu::new(settings, display)?,
    };
    Ok(Renderer::new(gpu)?)
}

/// Logs that a headless app draws to an image, with its size and a line of code that saves a frame.
fn log_headless(
    HeadlessWindow {
        extent: [width, height],
    }: HeadlessWindow,
) {
    let why = match has_display() {
        true => "headless: the app has a `ScheduleRunnerPlugin`",
        false if cfg!(not(feature = "window")) => "headless, for want of the feature `window`",
        false => "headless: neither DISPLAY nor WAYLAND_DISPLAY names a display",
    };
    tracing::info!(
        "{why}. Frames go to an image of {width}x{height} pixels, until a system writes `AppExit`; \
         `commands.spawn(Readback::primary_window()).observe(save_to_disk(\"frame.png\"));` saves one"
    );
}

/// Returns the display handle of the windows, which determines the instance extensions.
fn display_handle(app: &App) -> Option<raw_window_handle::RawDisplayHandle> {
    #[cfg(feature = "window")]
    {
        use raw_window_handle::HasDisplayHandle as _;
        let wrapper = app
            .world()
            .get_resource::<bevy_winit::DisplayHandleWrapper>()?;
        wrapper
            .0
            .display_handle()
            .ok()
            .map(|handle| handle.as_raw())
    }
    #[cfg(not(feature = "window"))]
    {
        let _ = app;
        None
    }
}

/// Ends the app with an error if it has no [`QuadrillePlugin`], without which `plugin` draws nothing. For
/// [`Plugin::finish`] of plugins that draw. No system runs after that: bevy's own would panic without the plugins for
/// windows and input that `QuadrillePlugins` contain.
///
/// `QuadrillePlugins` set up the log, so a program without them may have none. In that case bevy's log is set up here.
pub fn expect_renderer(app: &mut App, plugin: &str) {
    let is_reported = app.main().update_schedule.is_none();
    if app.is_plugin_added::<QuadrillePlugin>() || is_reported {
        return;
    }
    app.main_mut().update_schedule = None;
    app.world_mut()
        .write_message(AppExit::from_code(SETUP_FAILED));
    if !app.is_plugin_added::<LogPlugin>() && !tracing::dispatcher::has_been_set() {
        LogPlugin::default().build(app);
    }
    tracing::error!(
        "`{plugin}` draws nothing: the app has no renderer. Add `QuadrillePlugins` of the crate `quadrille` before it, or \
         `QuadrillePlugin` where the app has bevy's `DefaultPlugins`"
    );
}

/// Logs why there is no renderer, and makes the app exit.
pub(crate) fn refuse(app: &mut App, error: &StartError) {
    tracing::error!("{error}");
    app.set_runner(|_| AppExit::from_code(SETUP_FAILED));
}

#[cfg(test)]
#[path = "plugin_tests.rs"]
mod tests;
