//! The thread of a [`VideoRecorder`](super::VideoRecorder).

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use quadrille::vulkan::Format;

use super::encoder::Encoder;
use super::mp4::Mp4Writer;
use crate::error::VideoError;

/// Picture on its way to the encoder.
#[derive(Debug)]
pub(super) struct Shot {
    /// Texels, row by row.
    pub(super) bytes: Vec<u8>,
    /// Width and height in pixels, and the format; `None` for what is not an image.
    pub(super) image: Option<([u32; 2], Format)>,
    /// Time of its frame.
    pub(super) time: Duration,
}

/// Rate that encoders assume where pictures have times of their own.
const USUAL_RATE: f64 = 60.0;

/// Writes all pictures, and renames the file when it is complete. Logs errors: the pictures before one remain. Returns the
/// number of pictures and the duration.
pub(super) fn write_video(
    file: &Path,
    frame_rate: Option<f64>,
    shots: &Receiver<Shot>,
) -> Result<(u64, Duration), VideoError> {
    let mut film = Film::new(file, frame_rate);
    let encoded = shots.iter().try_for_each(|shot| film.add(&shot));
    let count = film.count;
    let written = match (encoded, film.end()) {
        (Ok(()), ended) => ended,
        (Err(problem), Ok(_)) => Err(format!(
            "{problem}; the file has the {count} pictures before"
        )),
        (Err(problem), Err(_)) => Err(problem),
    };
    written.map_err(|problem| {
        let file = file.display().to_string();
        let error = VideoError::Recording { file, problem };
        tracing::error!("{error}");
        error
    })
}

/// Name of the file until it is complete.
fn unfinished(file: &Path) -> PathBuf {
    file.with_added_extension("part")
}

/// A file that is written.
struct Film<'f> {
    file: &'f Path,
    frame_rate: Option<f64>,
    parts: Option<(Encoder, Mp4Writer<BufWriter<File>>)>,
    /// Time of the first frame.
    first: Duration,
    /// Pictures that are in the file.
    count: u64,
}

impl<'f> Film<'f> {
    fn new(file: &'f Path, frame_rate: Option<f64>) -> Self {
        Self {
            file,
            frame_rate,
            parts: None,
            first: Duration::ZERO,
            count: 0,
        }
    }

    /// Rate of the encoder.
    fn rate(&self) -> f64 {
        self.frame_rate.unwrap_or(USUAL_RATE)
    }

    fn add(&mut self, shot: &Shot) -> Result<(), String> {
        let rate = self.rate();
        let (encoder, mp4) = match &mut self.parts {
            Some(parts) => parts,
            None => {
                let encoder = Encoder::new(shot, rate)?;
                if let Some(folder) = self.file.parent() {
                    fs::create_dir_all(folder).map_err(to_text)?;
                }
                let out = File::create(unfinished(self.file)).map_err(to_text)?;
                let mp4 = Mp4Writer::begin(BufWriter::new(out), encoder.size()).map_err(to_text)?;
                self.first = shot.time;
                self.parts.insert((encoder, mp4))
            }
        };
        let time = match self.frame_rate {
            Some(rate) => Duration::from_secs_f64(self.count as f64 / rate),
            None => shot.time.saturating_sub(self.first),
        };
        mp4.add(encoder.encode(shot, time)?, time)
            .map_err(to_text)?;
        self.count += 1;
        Ok(())
    }

    /// Completes the file. Returns the number of pictures and the duration.
    fn end(self) -> Result<(u64, Duration), String> {
        let unfinished = unfinished(self.file);
        let last = Duration::from_secs_f64(1.0 / self.rate());
        let Some((_, mp4)) = self.parts else {
            return Err("no picture has arrived".to_owned());
        };
        let ended = match self.count {
            0 => Err("no picture has arrived".to_owned()),
            _ => mp4.end(last).map_err(to_text),
        };
        let duration = ended.inspect_err(|_| {
            // Without its table it cannot be played.
            let _ = fs::remove_file(&unfinished);
        })?;
        fs::rename(&unfinished, self.file).map_err(|error| {
            format!(
                "it is complete in `{}`, but cannot be renamed: {error}",
                unfinished.display()
            )
        })?;
        Ok((self.count, duration))
    }
}

fn to_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
