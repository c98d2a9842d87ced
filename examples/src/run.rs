//! A run of an example: when it ends, and what it leaves behind.
//!
//! A run ends after so many frames, when the example says so ([`Run::finish`]), or when the window
//! is closed. Before it ends, the picture, the report and the plan that were asked for are
//! written, of the last frame.

use std::path::Path;

use bevy_app::{App, AppExit, First, Last, Plugin, PluginGroup as _, PluginGroupBuilder};
use bevy_ecs::prelude::*;
use bevy_window::{ExitSystems, Window, WindowPlugin};
use quadrille::ecs::{DeviceRebuilt, ReadbackFailed, RenderErrorHandler, encode_png, has_display};
use quadrille::prelude::*;
use quadrille::vulkan::file::write_file;
use quadrille::vulkan::instance::Settings;
use serde_json::{Map, Value};

use crate::args::{CommonArgs, is_film};
use crate::film::{self, Films};
use crate::record::Recording;

/// How many frames are captured: half of them the first, half the last.
const CAPTURED: usize = 10;

/// The state of a run, and what it adds to its report.
#[derive(Resource, Default)]
pub struct Run {
    /// More keys and values for the report.
    pub report: Map<String, Value>,
    args: CommonArgs,
    /// Frames drawn so far.
    frames: u64,
    stage: Stage,
    /// The plan of the frame that stands for the run, if that is not the last.
    plan: PlanTexts,
    /// Frames as text: the first ones and the last ones.
    cases: Vec<String>,
    /// The example ends the run, not a number of frames.
    open_end: bool,
    failed: bool,
    /// Pictures of all frames, for `--record`.
    recording: Option<Recording>,
}

/// A plan as text and as a diagram.
#[derive(Default)]
enum PlanTexts {
    /// The text of the last frame will do.
    #[default]
    OfLastFrame,
    /// The text of this frame is wanted.
    Wanted,
    /// The text of an earlier frame.
    Kept([Option<String>; 2]),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Running,
    /// The next frame to begin is the last.
    Finishing,
    /// The last frame is being drawn.
    LastFrame,
    /// The last frame is drawn; its picture is on its way.
    Picture,
    Ended,
}

impl Run {
    /// A run that lasts until [`Run::finish`] is called, whatever number of frames that takes.
    pub fn until_finished(mut self) -> Self {
        self.open_end = true;
        self
    }

    /// A run as the command line wants it.
    pub fn new(args: &CommonArgs) -> Self {
        Self {
            args: args.clone(),
            ..Self::default()
        }
    }

    /// Makes the next frame to begin the last.
    pub fn finish(&mut self) {
        if self.stage == Stage::Running {
            self.stage = Stage::Finishing;
        }
    }

    /// Writes this frame's plan in the end, not the last one's: for runs whose last frames only
    /// wait for results.
    pub fn keep_plan(&mut self) {
        self.plan = PlanTexts::Wanted;
    }

    /// The pictures of all frames, if they are recorded.
    pub(crate) fn recording(&mut self) -> Option<&mut Recording> {
        self.recording.as_mut()
    }

    /// Waits until the recorded pictures are written.
    fn end_recording(&mut self, films: &mut Films) {
        let Some(path) = self.args.record.clone() else {
            return;
        };
        if let Some(recording) = self.recording.take() {
            self.wrote("pictures of all frames in", &path, recording.end());
        }
        if let Some(ended) = film::end(films) {
            self.wrote("film", &path, ended);
        }
    }

    /// Whether the last frame is drawn: nothing should move any more.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Picture | Stage::Ended)
    }

    /// The number of frames after which it ends; `None` if something else ends it.
    pub fn frame_limit(&self) -> Option<u64> {
        self.args.frame_limit().filter(|_| !self.open_end)
    }
}

impl CommonArgs {
    /// The plugins of an example: a window of so many pixels, or none.
    pub fn plugins(&self, title: &str, [width, height]: [u32; 2]) -> PluginGroupBuilder {
        self.plugins_with(Window {
            title: title.to_owned(),
            resolution: (width, height).into(),
            ..Window::default()
        })
    }

    /// The same with a window that is set up.
    pub fn plugins_with(&self, window: Window) -> PluginGroupBuilder {
        let settings = Settings {
            app_name: window.title.clone(),
            ..Settings::default()
        };
        let size = window.physical_size();
        let plugins = match self.is_headless() {
            true => QuadrillePlugins::headless(size.x, size.y),
            false => QuadrillePlugins.set(WindowPlugin {
                primary_window: Some(window),
                ..WindowPlugin::default()
            }),
        };
        plugins.set(QuadrillePlugin {
            settings,
            ..QuadrillePlugin::default()
        })
    }

    /// Whether the example runs without windows, as asked for or for want of a display.
    pub fn is_headless(&self) -> bool {
        self.headless || !has_display()
    }
}

impl Plugin for CommonArgs {
    /// Ends the run in time and writes what was asked for.
    fn build(&self, app: &mut App) {
        if !app.world().contains_resource::<Run>() {
            app.insert_resource(Run::new(self));
        }
        app.insert_resource(RenderErrorHandler::recovering());
        app.add_observer(note_rebuilt);
        if let Some(file) = self.record.as_ref().filter(|path| is_film(path)) {
            film::begin(app, file, self.is_headless());
        }
        app.add_systems(First, (count_frames, record, ask_for_picture).chain())
            .add_systems(Last, (closed, end).chain().after(ExitSystems));
    }
}

/// Finds out whether the frame that begins is the last.
fn count_frames(mut run: ResMut<Run>, renderer: Option<ResMut<Renderer>>) {
    if let Some(mut renderer) = renderer.filter(|_| run.frames == 0) {
        let args = &run.args;
        let wanted = [&args.plan, &args.dot, &args.trace, &args.case];
        renderer.keep_frames(wanted.iter().any(|path| path.is_some()));
        if run.args.trace.is_some() {
            renderer.trace();
        }
    }
    run.frames += 1;
    if run.frame_limit() == Some(run.frames) {
        run.finish();
    }
    if run.stage == Stage::Finishing {
        run.stage = Stage::LastFrame;
    }
}

/// Asks for the picture of each frame, for `--record`.
fn record(mut commands: Commands, mut run: ResMut<Run>) {
    if run.is_over() {
        return;
    }
    if run.frames == 1
        && let Some(path) = run.args.record.clone().filter(|path| !is_film(path))
    {
        match Recording::begin(path.clone()) {
            Ok(recording) => run.recording = Some(recording),
            Err(error) => run.wrote("pictures of all frames in", &path, Err(error)),
        }
    }
    if let Some(recording) = run.recording() {
        recording.ask(&mut commands);
    }
}

/// Notes the frame in which the device was lost and recreated: the first that shows something
/// again is the one after it.
fn note_rebuilt(_: On<DeviceRebuilt>, mut run: ResMut<Run>) {
    let frame = run.frames;
    run.report.insert("rebuilt_at_frame".into(), frame.into());
}

fn ask_for_picture(mut commands: Commands, run: Res<Run>) {
    if run.stage != Stage::LastFrame || run.args.screenshot.is_none() {
        return;
    }
    let save = |done: On<ReadbackComplete>, mut run: ResMut<Run>| {
        if let Some(path) = run.args.screenshot.clone() {
            let written = encode_png(&done).and_then(|png| write_file(&path, &png));
            run.wrote("picture", &path, written);
        }
        run.stage = Stage::Ended;
    };
    let fail = |failed: On<ReadbackFailed>, mut run: ResMut<Run>| {
        if let Some(path) = run.args.screenshot.clone() {
            let problem = std::io::Error::other(failed.problem.clone());
            run.wrote("picture", &path, Err(problem));
        }
        run.stage = Stage::Ended;
    };
    let mut asked = commands.spawn(Readback::primary_window());
    asked.observe(save).observe(fail);
}

/// Writes the texts when the user ends the run, by closing the window. There is no picture then:
/// what it would show has no window any more.
fn closed(
    mut run: ResMut<Run>,
    renderer: Option<Res<Renderer>>,
    mut exits: MessageReader<AppExit>,
    mut films: Films,
) {
    let running = matches!(run.stage, Stage::Running | Stage::Finishing);
    if exits.read().count() == 0 || !running {
        return;
    }
    run.stage = Stage::Ended;
    run.end_recording(&mut films);
    if let Some(renderer) = &renderer {
        run.write_texts(renderer);
    }
    if run.args.screenshot.is_some() {
        bevy_log::warn!("no picture is written: the window was closed before the last frame");
    }
}

/// Writes the texts of the last frame, and exits when its picture is there.
fn end(
    mut run: ResMut<Run>,
    renderer: Option<Res<Renderer>>,
    mut exit: MessageWriter<AppExit>,
    mut films: Films,
) {
    if let Some(renderer) = renderer
        .as_ref()
        .filter(|_| matches!(run.plan, PlanTexts::Wanted))
    {
        run.plan = PlanTexts::Kept([renderer.plan_text(), renderer.plan_dot()]);
    }
    if let Some(renderer) = renderer.as_ref().filter(|_| run.args.case.is_some()) {
        run.capture(renderer);
    }
    if run.stage == Stage::LastFrame {
        if let Some(renderer) = &renderer {
            run.write_texts(renderer);
        }
        let picture = run.args.screenshot.is_some();
        run.stage = if picture {
            Stage::Picture
        } else {
            Stage::Ended
        };
    }
    if !run.is_over() {
        return;
    }
    // The last pictures come some frames later.
    let is_recorded =
        film::stop(&mut films) && run.recording.as_ref().is_none_or(Recording::is_complete);
    if run.stage == Stage::Ended && is_recorded {
        run.end_recording(&mut films);
        exit.write(if run.failed {
            AppExit::error()
        } else {
            AppExit::Success
        });
    }
}

impl Run {
    /// Keeps the frame that was drawn as text, if it is one of the first or the last so far.
    fn capture(&mut self, renderer: &Renderer) {
        if matches!(self.stage, Stage::Picture | Stage::Ended) {
            return;
        }
        let Some(case) = renderer.case_text() else {
            return;
        };
        if self.cases.len() == CAPTURED {
            self.cases.remove(CAPTURED / 2);
        }
        self.cases.push(case);
    }

    /// The captured frames as one text, which says once which queues there are.
    fn captured(&self) -> String {
        const FRAME: &str = "=== frame";
        let mut text = String::new();
        for case in &self.cases {
            let frame = if text.is_empty() {
                0
            } else {
                case.find(FRAME).unwrap_or(0)
            };
            text += &case[frame..];
        }
        text
    }

    fn write_texts(&mut self, renderer: &Renderer) {
        let mut report = renderer.report();
        report.append(&mut self.report.clone());
        let report = Value::Object(report);
        let [plan, dot] = match std::mem::take(&mut self.plan) {
            PlanTexts::Kept(texts) => texts,
            _ => [renderer.plan_text(), renderer.plan_dot()],
        };
        let texts = [
            (
                "report",
                self.args.report.clone(),
                Some(format!("{report:#}\n")),
            ),
            ("plan", self.args.plan.clone(), plan),
            ("trace", self.args.trace.clone(), renderer.trace_json()),
            ("diagram", self.args.dot.clone(), dot),
            ("frames", self.args.case.clone(), Some(self.captured())),
        ];
        for (what, path, text) in texts {
            if let (Some(path), Some(text)) = (path, text) {
                let written = write_file(&path, text.as_bytes());
                self.wrote(what, &path, written);
            }
        }
    }

    /// Logs that a file was written, or fails the run if it was not.
    pub fn wrote(&mut self, what: &str, path: &Path, written: std::io::Result<()>) {
        match written {
            Ok(()) => bevy_log::info!("wrote the {what} {}", path.display()),
            Err(error) => {
                self.failed = true;
                bevy_log::error!("cannot write the {what} {}: {error}", path.display());
            }
        }
    }
}
