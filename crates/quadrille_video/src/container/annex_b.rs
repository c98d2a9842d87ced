//! Byte streams without a container (ITU-T H.264 and H.265, annex B).

use std::sync::Arc;

use super::{Codec, DEFAULT_RATE, Framing, Sample, VideoStream, nal};
use crate::error::VideoError;
use crate::{h264, h265};

pub(super) fn parse(bytes: Arc<[u8]>) -> Result<VideoStream, VideoError> {
    let units = nal::by_start_codes(&bytes);
    let mut slices = nal::by_start_codes(&bytes).map(|range| &bytes[range]);
    let (codec, units) = match h265::access_units::is_h265(&mut slices) {
        true => (Codec::H265, h265::access_units::split(&bytes, units)),
        false => (Codec::H264, h264::access_units::split(&bytes, units)),
    };
    if units.pictures.is_empty() {
        return Err(VideoError::Container {
            problem: "the byte stream has no complete picture".to_owned(),
        });
    }
    let timescale = 1_000_000;
    let rate = units.rate.unwrap_or(f64::from(DEFAULT_RATE));
    // Rounded down, as positions of players are.
    let time = |index: usize| (index as f64 * f64::from(timescale) / rate) as i64;
    let duration = time(units.pictures.len()).max(1);
    let pictures = units.pictures.into_iter().enumerate();
    let samples = pictures
        .map(|(index, (range, is_sync))| Sample {
            range,
            time: time(index),
            is_sync,
        })
        .collect();
    Ok(VideoStream {
        codec,
        bytes: Arc::clone(&bytes),
        duration: duration.unsigned_abs(),
        samples,
        parameter_sets: units.sets,
        framing: Framing::StartCodes,
        timescale,
    })
}
