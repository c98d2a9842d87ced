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
use quadrille::prelude::{Readback, ReadbackComplete};
use quadrille_content::add_plugin_if_missing;

use crate::error::VideoError;
use writer::{Shot, write_video};

/// Pictures that wait for the encoder: 64 MiB at 1920 x 1080.
const MAX_WAITING: usize = 8;

/// Records pictures of the primary window or of an image to an MP4 file with H.264, encoded on the CPU by OpenH264 in a
/// thread: one picture for each frame from the next one on, until the component is removed or the app ends. Needs
/// [`VideoRecorderPlugin`].
///
/// The video has the size of its first picture, without an odd last row or column. Later pictures of other sizes are cropped,
/// or black at the right and bottom. Formats are `RGBA8` and `BGRA8`, with sRGB or without. Errors are logged, and
/// [`finish`](Self::finish) returns them.
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
    /// Pictures that were asked for.
    asked: u64,
    /// Pictures that have arrived or failed.
    arrived: u64,
    skipped: u64,
    state: Recording,
}

#[derive(Debug)]
enum Recording {
    NotBegun,
    Running {
        shots: SyncSender<Shot>,
        writer: JoinHandle<Result<(u64, Duration), VideoError>>,
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
            asked: 0,
            arrived: 0,
            skipped: 0,
            state: Recording::NotBegun,
        }
    }

    /// Shows so many pictures per second, whatever time a frame takes. Frames wait for the encoder, so that no picture
    /// is left out. Rates that are not finite or not positive are 60.
    #[must_use]
    pub fn with_frame_rate(mut self, pictures_per_second: f64) -> Self {
        let is_valid = pictures_per_second.is_finite() && pictures_per_second > 0.0;
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
        self.asked == self.arrived
    }

    /// Encodes what has arrived, and completes the file. Later pictures are ignored.
    ///
    /// # Errors
    /// Nothing has arrived, a picture cannot be encoded, or the file cannot be written.
    pub fn finish(&mut self) -> Result<RecordedVideo, VideoError> {
        let result = match std::mem::replace(&mut self.state, Recording::NotBegun) {
            Recording::NotBegun => Err(self.error("no picture has arrived")),
            Recording::Running { shots, writer } => {
                drop(shots);
                let written = writer.join();
                let written = written.unwrap_or_else(|_| Err(self.error("the encoder panicked")));
                written.map(|(pictures, duration)| RecordedVideo {
                    pictures,
                    skipped: self.skipped,
                    duration,
                })
            }
            Recording::Ended(result) => result,
        };
        self.state = Recording::Ended(result.clone());
        result
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
            self.state = Recording::Running { shots, writer };
        }
        let Recording::Running { shots, .. } = &self.state else {
            return;
        };
        // A thread that has ended has logged why.
        if self.frame_rate.is_some() {
            let _ = shots.send(shot);
        } else if let Err(TrySendError::Full(_)) = shots.try_send(shot) {
            self.skipped += 1;
        }
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
) {
    let time = time.elapsed();
    for (entity, mut recorder) in &mut recorders {
        if recorder.is_stopped || matches!(recorder.state, Recording::Ended(_)) {
            continue;
        }
        recorder.asked += 1;
        let mut asked = commands.spawn(recorder.source.clone());
        asked.observe(
            move |done: On<ReadbackComplete>, mut recorders: Query<&mut VideoRecorder>| {
                if let Ok(mut recorder) = recorders.get_mut(entity) {
                    recorder.arrived += 1;
                    let (bytes, image) = (done.bytes.clone(), done.image);
                    recorder.add(Shot { bytes, image, time });
                }
            },
        );
        asked.observe(
            move |_: On<ReadbackFailed>, mut recorders: Query<&mut VideoRecorder>| {
                if let Ok(mut recorder) = recorders.get_mut(entity) {
                    recorder.arrived += 1;
                }
            },
        );
    }
}

#[cfg(test)]
mod tests;
