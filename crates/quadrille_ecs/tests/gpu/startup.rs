//! A failure to create something in `RenderStartup` ends the app with one message and an exit code.

use bevy_app::{App, AppExit, Update};
use bevy_ecs::error::{ResultSeverityExt, Severity};
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::shader::GpuShader;

/// Errors that the handler received; each test has its own world.
#[derive(Resource, Default)]
struct ReportedErrors(Vec<String>);

fn app() -> App {
    let plugins = QuadrillePlugins::headless(16, 16).disable::<LogPlugin>();
    let mut app = App::new();
    app.add_plugins(plugins).init_resource::<ReportedErrors>();
    app
}

/// The same app, which notes what goes wrong and stops as the default does.
fn noting() -> App {
    let mut app = app();
    app.insert_resource(RenderErrorHandler(|error, world| {
        world
            .resource_mut::<ReportedErrors>()
            .0
            .push(error.to_string());
        RenderErrorPolicy::StopRendering
    }));
    app
}

/// Marks the pipeline of a shader with a mistake, so it is never inserted.
#[derive(Resource)]
struct Made;

fn misspell(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = "@compute @workgroup_size(1)\nfn main() {\n    let a = nothing;\n}";
    let shader = GpuShader::wgsl("typo.wgsl", source)?;
    gpu.compute_pipeline(&ComputePipelineDesc::of("typo", &shader))?;
    commands.insert_resource(Made);
    Ok(())
}

fn need(_: Res<Made>) {}

#[test]
#[ignore = "needs a device"]
fn an_error_is_an_exit_code_and_no_panic() {
    let mut app = app();
    app.add_systems(RenderStartup, misspell)
        .add_systems(Update, need);
    assert_eq!(app.run(), AppExit::error());
}

#[test]
#[ignore = "needs a device"]
fn a_mistake_in_a_shader_is_shown_in_its_line() {
    let mut app = noting();
    app.add_systems(RenderStartup, misspell)
        .add_systems(Update, need);
    app.update();
    let reported = &app.world().resource::<ReportedErrors>().0;
    assert_eq!(reported.len(), 1, "{reported:#?}");
    for words in [
        "misspell` failed",
        "typo.wgsl:3:13",
        "    let a = nothing;",
        "            ^^^^^^^",
    ] {
        assert!(
            reported[0].contains(words),
            "no {words:?} in {}",
            reported[0]
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn missing_or_misnamed_shader_is_one_message() {
    fn load() -> Result {
        GpuShader::load("no such folder/waves.wgsl")?;
        Ok(())
    }
    fn enter(gpu: Res<GpuDevice>) -> Result {
        let shader = GpuShader::wgsl("idle.wgsl", "@compute @workgroup_size(1) fn idle() {}")?;
        gpu.compute_pipeline(&ComputePipelineDesc::of("idle", &shader).entry("main"))?;
        Ok(())
    }
    fn panic() {
        panic!("there is no such thing");
    }
    let mut app = noting();
    app.add_systems(RenderStartup, (load, enter, panic).chain());
    app.update();
    let reported = &app.world().resource::<ReportedErrors>().0;
    assert_eq!(reported.len(), 3, "{reported:#?}");
    assert!(
        reported[0].contains("no such folder/waves.wgsl"),
        "{reported:#?}"
    );
    assert!(
        reported[1].contains("main") && reported[1].contains("compute idle"),
        "{reported:#?}"
    );
    assert!(
        reported[2].contains("there is no such thing"),
        "{reported:#?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn warnings_do_not_end_the_app() {
    fn warn() -> Result {
        Err("no matter").with_severity(Severity::Warning)
    }
    let mut app = noting();
    app.add_systems(RenderStartup, warn);
    app.update();
    assert!(app.should_exit().is_none());
    assert!(app.world().resource::<ReportedErrors>().0.is_empty());
}

#[test]
#[ignore = "needs a device"]
fn an_app_keeps_its_own_error_handler() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static HANDLED: AtomicU32 = AtomicU32::new(0);

    let mut app = noting();
    app.set_error_handler(|_, _| {
        HANDLED.fetch_add(1, Ordering::Relaxed);
    });
    app.add_systems(RenderStartup, misspell);
    app.update();
    assert_eq!(HANDLED.load(Ordering::Relaxed), 1);
    assert!(
        app.should_exit().is_none(),
        "it ends the app only if it wants"
    );
    assert!(app.world().resource::<ReportedErrors>().0.is_empty());
}
