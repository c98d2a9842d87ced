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

/// Writes all pictures, and renames the file when it is complete. Logs errors. Returns the number of pictures and the
/// duration.
pub(super) fn write_video(
    file: &Path,
    frame_rate: Option<f64>,
    shots: &Receiver<Shot>,
) -> Result<(u64, Duration), VideoError> {
    let unfinished = unfinished(file);
    let written = encode_all(&unfinished, frame_rate, shots)
        .and_then(|done| Ok((done, fs::rename(&unfinished, file).map_err(to_text)?)))
        .map(|(done, ())| done);
    written.map_err(|problem| {
        // An incomplete file is of no use to anybody.
        let _ = fs::remove_file(&unfinished);
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

fn encode_all(
    file: &Path,
    frame_rate: Option<f64>,
    shots: &Receiver<Shot>,
) -> Result<(u64, Duration), String> {
    let rate = frame_rate.unwrap_or(USUAL_RATE);
    let mut parts: Option<(Encoder, Mp4Writer<BufWriter<File>>)> = None;
    let mut first = None;
    let mut count = 0_u64;
    for shot in shots {
        let (encoder, mp4) = match &mut parts {
            Some(parts) => parts,
            None => {
                let encoder = Encoder::new(&shot, rate)?;
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder).map_err(to_text)?;
                }
                let out = BufWriter::new(File::create(file).map_err(to_text)?);
                let mp4 = Mp4Writer::begin(out, encoder.size()).map_err(to_text)?;
                parts.insert((encoder, mp4))
            }
        };
        let first = *first.get_or_insert(shot.time);
        let time = match frame_rate {
            Some(rate) => Duration::from_secs_f64(count as f64 / rate),
            None => shot.time.saturating_sub(first),
        };
        mp4.add(encoder.encode(&shot, time)?, time)
            .map_err(to_text)?;
        count += 1;
    }
    let (_, mp4) = parts.ok_or("no picture has arrived")?;
    let duration = mp4
        .end(Duration::from_secs_f64(1.0 / rate))
        .map_err(to_text)?;
    Ok((count, duration))
}

fn to_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
