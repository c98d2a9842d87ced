//! GPU and CPU times of passes as bevy diagnostics.

use std::time::Instant;

use bevy_app::{App, Last, Plugin};
use bevy_diagnostic::{Diagnostic, DiagnosticMeasurement, DiagnosticPath, DiagnosticsStore};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille_vulkan::record::DeviceTimes;

use crate::collect::mirror::PassGraph;
use crate::record::recording::Recordings;
use crate::renderer::Renderer;

/// Measures passes and publishes their times in milliseconds to bevy's [`DiagnosticsStore`]:
///
/// - `render/<pass>/elapsed_gpu`: time that the pass adds to its queue, including the barriers before it,
/// - `render/<pass>/elapsed_cpu`: time its system took to record it.
///
/// Passes with equal names are summed. Costs a timestamp per pass on the device and two clock reads per pass on the
/// CPU; without the plugin there is no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderDiagnosticsPlugin;

impl Plugin for RenderDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<DiagnosticsStore>()
            .init_resource::<Paths>()
            .add_systems(Last, (begin, publish).chain());
    }
}

/// Diagnostic paths by pass name.
#[derive(Resource, Default)]
struct Paths {
    gpu: HashMap<String, DiagnosticPath>,
    cpu: HashMap<String, DiagnosticPath>,
    /// The frame that was published last.
    frame: Option<u64>,
}

/// Enables measurements once the renderer exists.
fn begin(renderer: Option<ResMut<Renderer>>, recordings: Option<ResMut<Recordings>>) {
    let (Some(mut renderer), Some(mut recordings)) = (renderer, recordings) else {
        return;
    };
    if renderer.is_added() || !recordings.is_timed() {
        renderer.measure(true);
        recordings.time_systems(true);
    }
}

fn publish(
    mut store: ResMut<DiagnosticsStore>,
    mut paths: ResMut<Paths>,
    renderer: Option<Res<Renderer>>,
    passes: (Option<Res<PassGraph>>, Option<ResMut<Recordings>>),
    names: Query<&Name>,
) {
    let time = Instant::now();
    let times = renderer
        .as_ref()
        .and_then(|renderer| renderer.device_times());
    if let Some(times) = times.filter(|times| paths.frame != Some(times.frame)) {
        paths.frame = Some(times.frame);
        for (name, elapsed) in by_name(times) {
            add(
                &mut store,
                &mut paths.gpu,
                &name,
                "elapsed_gpu",
                (time, elapsed),
            );
        }
    }
    let (Some(graph), Some(mut recordings)) = passes else {
        return;
    };
    let recorded = recordings.read();
    for node in &graph.passes {
        let took = recorded
            .get(node.slot)
            .and_then(|recording| recording.took());
        if let (Some(took), Ok(name)) = (took, names.get(node.entity)) {
            let elapsed = took.as_secs_f64() * 1e3;
            add(
                &mut store,
                &mut paths.cpu,
                name,
                "elapsed_cpu",
                (time, elapsed),
            );
        }
    }
}

/// Sums the milliseconds of passes with equal names.
fn by_name(times: &DeviceTimes) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for pass in &times.passes {
        let elapsed = pass.end.saturating_duration_since(pass.begin).as_secs_f64() * 1e3;
        match sums.iter_mut().find(|(name, _)| *name == *pass.name) {
            Some((_, sum)) => *sum += elapsed,
            None => sums.push((pass.name.to_string(), elapsed)),
        }
    }
    sums
}

fn add(
    store: &mut DiagnosticsStore,
    paths: &mut HashMap<String, DiagnosticPath>,
    pass: &str,
    what: &str,
    (time, value): (Instant, f64),
) {
    if !paths.contains_key(pass) {
        // Empty components are invalid in a diagnostic path.
        let name: Vec<&str> = pass.split('/').filter(|part| !part.is_empty()).collect();
        let path = DiagnosticPath::new(format!("render/{}/{what}", name.join("/")));
        store.add(Diagnostic::new(path.clone()).with_suffix("ms"));
        paths.insert(pass.to_owned(), path);
    }
    let diagnostic = paths.get(pass).and_then(|path| store.get_mut(path));
    if let Some(diagnostic) = diagnostic {
        diagnostic.add_measurement(DiagnosticMeasurement { time, value });
    }
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;
