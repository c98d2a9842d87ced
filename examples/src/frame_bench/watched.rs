//! An app whose frames are timed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bevy_app::{App, ScheduleRunnerPlugin, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use quadrille::ecs::{Phase, RecordOn, RenderErrorHandler, RenderErrorPolicy, Renderer};
use quadrille::prelude::*;
use quadrille::vulkan::instance::Settings;
use quadrille_bench::{FrameTimes, Stopwatch};

use super::{Counts, Outcome};

/// Observations of a frame.
#[derive(Default)]
struct Seen {
    times: FrameTimes,
    declaring: Option<Stopwatch>,
    submitted: bool,
}

/// Why a frame failed.
#[derive(Resource)]
struct Failure(String);

/// An app without a window, which says what the parts of each frame take.
pub(super) struct Watched {
    pub(super) app: App,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    /// An app to which passes can be added; it has no device if there is none.
    pub(super) fn new(settings: Settings, record_on: RecordOn) -> Self {
        let mut app = App::new();
        app.add_plugins((
            TaskPoolPlugin::default(),
            ScheduleRunnerPlugin::default(),
            QuadrillePlugin {
                settings,
                gpu: None,
                record_on,
            },
        ));
        app.insert_resource(RenderErrorHandler(|error, world| {
            world.insert_resource(Failure(error.to_string()));
            RenderErrorPolicy::StopRendering
        }));
        Self {
            app,
            seen: Arc::default(),
        }
    }

    /// All passes are added: frames may follow.
    pub(super) fn begin(&mut self) {
        self.app.finish();
        self.app.cleanup();
        observe(&mut self.app, &self.seen);
    }

    /// Runs a frame.
    pub(super) fn frame(&mut self) -> Outcome<FrameTimes> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
        let watch = Stopwatch::start();
        self.app.update();
        let (frame, frame_process_cpu) = (watch.wall(), watch.process());
        if let Some(failure) = self.app.world().get_resource::<Failure>() {
            return Err(failure.0.clone().into());
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.submitted {
            return Err("a frame was not submitted".into());
        }
        Ok(FrameTimes {
            frame,
            frame_process_cpu,
            ..seen.times
        })
    }

    /// Returns the counts of the last frame.
    pub(super) fn counts(&self) -> Option<Counts> {
        let report = self.app.world().get_resource::<Renderer>()?.report();
        let number = |key: &str| report.get(key)?.as_u64().map(|value| value as u32);
        Some(Counts {
            barrier_calls: number("barrier_calls")?,
            barriers: number("barriers")?,
            submissions: number("submissions")?,
            command_buffers: number("command_buffers")?,
        })
    }
}

/// Notes the phases of each frame.
fn observe(app: &mut App, seen: &Arc<Mutex<Seen>>) {
    let Some(mut renderer) = app.world_mut().get_resource_mut::<Renderer>() else {
        return;
    };
    let seen = Arc::clone(seen);
    renderer.observe_phases(Box::new(move |phase, start: Instant, end: Instant| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let time = end - start;
        match phase {
            Phase::Wait => {
                seen.times.wait += time;
                seen.declaring = Some(Stopwatch::start());
            }
            Phase::Run | Phase::Collect => seen.times.build += time,
            Phase::Plan => seen.times.compile += time,
            Phase::Record => {
                seen.times.record += time;
                if let Some(watch) = seen.declaring {
                    seen.times.pre_submit = watch.wall();
                    seen.times.pre_submit_cpu = watch.thread();
                }
            }
            Phase::Submit => {
                seen.times.submit += time;
                seen.submitted = true;
            }
        }
    }));
}
