//! Times of passes: in diagnostics, traces and reports.

use std::time::Duration;

use bevy_app::Plugin as _;
use bevy_diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy_ecs::prelude::*;
use quadrille_ecs::*;

use crate::common::{Add, Numbers, Rig, add, square};

#[test]
#[ignore = "needs a device"]
fn passes_are_measured_on_both_sides() {
    let mut rig = Rig::new();
    // The app is finished, and takes no plugins any more.
    RenderDiagnosticsPlugin.build(&mut rig.app);
    rig.app
        .add_systems(Render, (square.on_queue(QueuePreference::Async), add));
    rig.update(10);
    rig.expect_no_errors();
    let store = rig.app.world().resource::<DiagnosticsStore>();
    for path in [
        "render/add/elapsed_gpu",
        "render/add/elapsed_cpu",
        "render/square/elapsed_gpu",
        "render/square/elapsed_cpu",
    ] {
        let diagnostic = store.get(&DiagnosticPath::new(path));
        let diagnostic = diagnostic.unwrap_or_else(|| panic!("there is no {path}"));
        let values: Vec<f64> = diagnostic.values().copied().collect();
        assert!(values.len() > 3, "{path} has {values:?} after 10 frames");
        assert!(
            values.iter().all(|value| *value >= 0.0),
            "{path}: {values:?}"
        );
        // A device may be faster than its clock ticks, but systems take some time.
        let is_cpu = path.ends_with("cpu");
        assert!(!is_cpu || values.iter().any(|value| *value > 0.0), "{path}");
    }
    let renderer = rig.app.world().resource::<Renderer>();
    let times = renderer.device_times().expect("frames are measured");
    assert!(times.passes.len() >= 2, "{:?}", times.passes);
    assert!(times.passes.iter().all(|pass| pass.begin <= pass.end));
    assert!(renderer.report()["gpu_us"]["add"].is_number());
}

#[test]
#[ignore = "needs a device"]
fn a_trace_has_cpu_and_queues() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, (square, add));
    rig.app.world_mut().resource_mut::<Renderer>().trace();
    rig.update(8);
    rig.expect_no_errors();
    let text = rig.app.world().resource::<Renderer>().trace_json();
    let text = text.expect("frames are traced");
    for name in [
        "\"plan\"",
        "\"submit\"",
        "\"submission\"",
        "\"add\"",
        "\"square\"",
    ] {
        assert!(text.contains(name), "the trace has no {name}");
    }
}

#[test]
#[ignore = "needs a device"]
fn nothing_is_measured_unless_asked_for() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(3);
    let renderer = rig.app.world().resource::<Renderer>();
    assert!(renderer.device_times().is_none());
    assert!(renderer.trace_json().is_none());
    assert!(renderer.report().get("gpu_us").is_none());
}

#[test]
#[ignore = "needs a device"]
fn frames_begin_late_if_that_is_wanted() {
    let late = |rig: &Rig| {
        let report = rig.app.world().resource::<Renderer>().report();
        report["begins_late_us"].as_u64()
    };
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(40);
    assert_eq!(late(&rig), Some(0));
    // A frame of the device that takes some milliseconds, so that the CPU has to wait for it.
    rig.app
        .add_systems(Render, heavy.after(add))
        .insert_resource(FrameStart::Late {
            margin: Duration::ZERO,
        });
    rig.update(40);
    rig.expect_no_errors();
    assert!(late(&rig) > Some(0), "{:?}", late(&rig));
    rig.app.insert_resource(FrameStart::NoDelay);
    rig.update(1);
    assert_eq!(late(&rig), Some(0));
}

fn heavy(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
    for _ in 0..100 {
        let mut part = recorder.pass("heavy", &[numbers.reads_and_writes()]);
        let mut compute = part.compute(&pass.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    }
}
