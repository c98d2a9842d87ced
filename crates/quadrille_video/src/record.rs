//! [`VideoRecorder`]: pictures of a window or an image as an MP4 file.
//!
//! ```text
//! First             asks for the picture of the frame that begins, as a readback
//! when it arrives   the picture and its time go to a thread
//! thread            encoder  OpenH264 (H.264)
//!                   mp4      samples as they come, their table at the end
//! ```
//!
//! The file has another name until it is complete.

mod encoder;
mod mp4;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bevy_app::{App, First, Plugin};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time, TimePlugin, TimeSystems};
use quadrille::ecs::ReadbackFailed;
use quadrille::prelude::{PrimaryWindowImage, Readback, ReadbackComplete};
use quadrille_content::add_plugin_if_missing;

use crate::error::VideoError;
use writer::{Shot, write_video};

/// Pictures that wait for the encoder: 64 MiB at 1920 x 1080.
const MAX_WAITING: usize = 8;

/// Readbacks on their way: frames in flight are fewer.
const MAX_PENDING: usize = 8;

/// Rates in pictures per second.
const FRAME_RATES: std::ops::RangeInclusive<f64> = 0.01..=1000.0;

/// Records pictures of the primary window or of an image to an MP4 file with H.264, encoded on the CPU by OpenH264 in a
/// thread: one picture for each frame from the next one on. Needs [`VideoRecorderPlugin`].
///
/// [`stop`](Self::stop) ends the recording; once it [is complete](Self::is_complete), [`finish`](Self::finish) waits for the
/// encoder. Where the component is removed or the app ends before, the file is completed without the pictures of the last
/// frames, which have not arrived.
///
/// The video has the size of its first picture, without an odd last row or column: 16 to 3840 pixels wide and 16 to 2160 high,
/// or upright. Later pictures of other sizes are cropped, or black at the right and bottom. Formats are `RGBA8` and `BGRA8`,
/// with sRGB or without. Windows that are minimized have no pictures. An error ends the recording and is logged;
/// `finish` returns it, and the file has the pictures before it. Two recorders need two files.
///
/// ```no_run
/// use bevy_app::{App, Startup};
/// use bevy_ecs::prelude::*;
/// use quadrille::prelude::{QuadrillePlugins, Readback};
/// use quadrille_video::{VideoRecorder, VideoRecorderPlugin};
///
/// fn record(mut commands: Commands) {
///     commands.spawn(VideoRecorder::new("race.mp4", Readback::primary_window()));
/// }
///
/// App::new()
///     .add_plugins((QuadrillePlugins, VideoRecorderPlugin))
///     .add_systems(Startup, record)
///     .run();
/// ```
#[derive(Component, Debug)]
pub struct VideoRecorder {
    file: PathBuf,
    source: Readback,
    frame_rate: Option<f64>,
    is_stopped: bool,
    /// Readbacks that have neither arrived nor failed.
    pending: Vec<Entity>,
    skipped: u64,
    /// Reason why a readback failed.
    failure: Option<String>,
    state: Recording,
}

type Written = Result<(u64, Duration), VideoError>;

#[derive(Debug)]
enum Recording {
    NotBegun,
    Running {
        /// `None` once all pictures have arrived.
        shots: Option<SyncSender<Shot>>,
        writer: JoinHandle<Written>,
    },
    Ended(Result<RecordedVideo, VideoError>),
}

/// Contents of a complete file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedVideo {
    /// Number of pictures.
    pub pictures: u64,
    /// Number of pictures that are missing because the encoder was busy. The one before is shown instead.
    pub skipped: u64,
    /// Duration, with that of the last picture.
    pub duration: Duration,
}

impl VideoRecorder {
    /// Records to a file. Pictures have the times of their frames ([`Time<Real>`]), and those that the encoder has no time
    /// for are left out, so that no frame waits for it.
    pub fn new(file: impl Into<PathBuf>, source: Readback) -> Self {
        Self {
            file: file.into(),
            source,
            frame_rate: None,
            is_stopped: false,
            pending: Vec::new(),
            skipped: 0,
            failure: None,
            state: Recording::NotBegun,
        }
    }

    /// Shows so many pictures per second, from 0.01 to 1000, whatever time a frame takes. Frames wait for the encoder, so
    /// that no picture is left out. Other rates are 60.
    #[must_use]
    pub fn with_frame_rate(mut self, pictures_per_second: f64) -> Self {
        let is_valid = FRAME_RATES.contains(&pictures_per_second);
        self.frame_rate = Some(if is_valid { pictures_per_second } else { 60.0 });
        self
    }

    /// Path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Records no later frames. Pictures of earlier ones still arrive.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Whether all pictures that were asked for have arrived.
    pub fn is_complete(&self) -> bool {
        self.pending.is_empty()
    }

    /// Encodes what has arrived, and completes the file. Later pictures are ignored.
    ///
    /// # Errors
    /// Nothing has arrived, a picture cannot be read back or encoded, or the file cannot be written.
    pub fn finish(&mut self) -> Result<RecordedVideo, VideoError> {
        self.is_stopped = true;
        let result = match std::mem::replace(&mut self.state, Recording::NotBegun) {
            Recording::NotBegun => {
                let failure = self.failure.as_deref();
                Err(self.error(failure.unwrap_or("no picture has arrived")))
            }
            Recording::Running { shots, writer } => {
                drop(shots);
                self.written(writer.join())
            }
            Recording::Ended(result) => result,
        };
        self.state = Recording::Ended(result.clone());
        result
    }

    /// Result of a thread that has ended.
    fn written(&self, written: std::thread::Result<Written>) -> Result<RecordedVideo, VideoError> {
        let Ok(written) = written else {
            let error = self.error("the encoder panicked");
            tracing::error!("{error}");
            return Err(error);
        };
        let (pictures, duration) = written?;
        if self.skipped > 0 {
            tracing::warn!(
                "the video `{}` has {pictures} pictures; {} were left out, since the encoder was busy",
                self.file.display(),
                self.skipped
            );
        }
        match &self.failure {
            Some(failure) => Err(self.error(&format!(
                "{failure}; the file has the {pictures} pictures before"
            ))),
            None => Ok(RecordedVideo {
                pictures,
                skipped: self.skipped,
                duration,
            }),
        }
    }

    fn error(&self, problem: &str) -> VideoError {
        VideoError::Recording {
            file: self.file.display().to_string(),
            problem: problem.to_owned(),
        }
    }

    /// Passes a picture to the thread.
    fn add(&mut self, shot: Shot) {
        if let Recording::NotBegun = self.state {
            let (shots, received) = sync_channel(MAX_WAITING);
            let (file, frame_rate) = (self.file.clone(), self.frame_rate);
            let writer = std::thread::spawn(move || write_video(&file, frame_rate, &received));
            let shots = Some(shots);
            self.state = Recording::Running { shots, writer };
        }
        let Recording::Running {
            shots: Some(shots), ..
        } = &self.state
        else {
            return;
        };
        let sent = match self.frame_rate {
            Some(_) => shots
                .send(shot)
                .map_err(|error| TrySendError::Disconnected(error.0)),
            None => shots.try_send(shot),
        };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.skipped += 1,
            // The thread has logged why it ended.
            Err(TrySendError::Disconnected(_)) => self.is_stopped = true,
        }
    }

    /// Whether the next frame is recorded. Lets the thread end once all pictures are with it.
    fn goes_on(&mut self) -> bool {
        if let Recording::Running { shots, writer } = &mut self.state {
            self.is_stopped |= writer.is_finished();
            if self.is_stopped && self.pending.is_empty() {
                *shots = None;
            }
        }
        !self.is_stopped
    }
}

impl Drop for VideoRecorder {
    fn drop(&mut self) {
        if matches!(self.state, Recording::Running { .. }) {
            let _ = self.finish();
        }
    }
}

/// Adds the system that records [`VideoRecorder`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct VideoRecorderPlugin;

impl Plugin for VideoRecorderPlugin {
    fn build(&self, app: &mut App) {
        add_plugin_if_missing(app, TimePlugin);
        app.add_systems(First, record_videos.after(TimeSystems));
    }
}

/// Asks for the pictures of the frame that begins.
fn record_videos(
    mut commands: Commands,
    mut recorders: Query<(Entity, &mut VideoRecorder)>,
    time: Res<Time<Real>>,
    window: Option<Res<PrimaryWindowImage>>,
) {
    let time = time.elapsed();
    for (entity, mut recorder) in &mut recorders {
        let is_hidden = window.is_none() && recorder.source.is_of_primary_window();
        // Readbacks of a window wait until it has an image. One is kept, since the first frame is asked for before it has.
        if is_hidden && (recorder.is_stopped || recorder.pending.len() > 1) {
            for asked in recorder.pending.drain(..) {
                commands.entity(asked).try_despawn();
            }
        }
        if !recorder.goes_on() {
            continue;
        }
        if recorder.pending.len() == MAX_PENDING {
            recorder.skipped += 1;
            continue;
        }
        let mut asked = commands.spawn(recorder.source.clone());
        recorder.pending.push(asked.id());
        asked.observe(
            move |done: On<ReadbackComplete>, mut recorders: Query<&mut VideoRecorder>| {
                if let Ok(mut recorder) = recorders.get_mut(entity) {
                    recorder.pending.retain(|&asked| asked != done.entity);
                    let (bytes, image) = (done.bytes.clone(), done.image);
                    recorder.add(Shot { bytes, image, time });
                }
            },
        );
        asked.observe(
            move |failed: On<ReadbackFailed>, mut recorders: Query<&mut VideoRecorder>| {
                if let Ok(mut recorder) = recorders.get_mut(entity) {
                    recorder.pending.retain(|&asked| asked != failed.entity);
                    recorder.failure = Some(failed.problem.clone());
                    recorder.is_stopped = true;
                }
            },
        );
    }
}

#[cfg(test)]
mod tests;
