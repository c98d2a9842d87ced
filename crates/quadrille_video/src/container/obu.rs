//! AV1 without MP4: IVF files, and byte streams of units with sizes (AV1 specification, section 5.2).

use std::sync::Arc;

use super::{Codec, DEFAULT_RATE, Framing, Sample, VideoStream};
use crate::av1::obu::{self, FrameUnits};
use crate::av1::sequence::SequenceHeader;
use crate::error::VideoError;

/// Bytes of the headers of an IVF file and of each of its frames.
const FILE_HEADER: usize = 32;
const FRAME_HEADER: usize = 12;

/// Whether the bytes are an IVF file.
pub(super) fn is_ivf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"DKIF")
}

/// Whether the bytes begin with a temporal delimiter that has a size.
pub(super) fn is_byte_stream(bytes: &[u8]) -> bool {
    bytes.starts_with(&[obu::TEMPORAL_DELIMITER << 3 | 2, 0])
}

fn problem(problem: &str) -> VideoError {
    VideoError::Container {
        problem: problem.to_owned(),
    }
}

/// Frames of a temporal unit at an offset, as samples with its time.
pub(super) fn samples(
    unit: &[u8],
    offset: usize,
    time: i64,
    is_sync: bool,
) -> impl Iterator<Item = Sample> {
    let mut frames = obu::frames(unit);
    if frames.is_empty() {
        // Its decoding tells that it is broken.
        frames.push(FrameUnits {
            range: 0..unit.len(),
            is_key: false,
            is_shown: false,
        });
    }
    frames
        .into_iter()
        .map(move |FrameUnits { range, is_key, .. }| Sample {
            range: offset + range.start..offset + range.end,
            time,
            is_sync: is_sync && is_key,
        })
}

/// Reads an IVF file. A frame that is cut off ends it.
pub(super) fn parse_ivf(bytes: Arc<[u8]>) -> Result<VideoStream, VideoError> {
    let number = |at: usize| {
        let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
        four.map(|four| u32::from_le_bytes(*four))
    };
    let name = bytes.get(8..12).unwrap_or(&[]);
    if name != b"AV01" {
        return Err(VideoError::Codec {
            found: name.escape_ascii().to_string(),
        });
    }
    let (rate, scale) = (number(16).unwrap_or(0), number(20).unwrap_or(0));
    if rate == 0 || scale == 0 {
        return Err(problem("the IVF file has no time scale"));
    }
    let mut all = Vec::new();
    let (mut at, mut last, mut step) = (FILE_HEADER, 0, i64::from(scale));
    while let (Some(size), Some(low), Some(high)) = (number(at), number(at + 4), number(at + 8)) {
        let begin = at + FRAME_HEADER;
        let Some(unit) = bytes.get(begin..begin.saturating_add(size as usize)) else {
            break;
        };
        // No film has more ticks than 32 bits: other numbers are broken.
        let stamp = i64::from(low) * i64::from(scale);
        let time = if high == 0 { stamp } else { last + step };
        if time > last {
            step = time - last;
        }
        last = time;
        all.extend(samples(unit, begin, time, true));
        at = begin + size as usize;
    }
    let first = all.first().map(|it: &Sample| it.time);
    let Some(first) = first else {
        return Err(problem("the IVF file has no complete picture"));
    };
    for sample in &mut all {
        sample.time -= first;
    }
    let duration = (last - first).saturating_add(step).max(1);
    Ok(stream(bytes, all, rate, duration.unsigned_abs()))
}

/// Divides a byte stream.
pub(super) fn parse_byte_stream(bytes: Arc<[u8]>) -> Result<VideoStream, VideoError> {
    let frames = obu::frames(&bytes);
    if frames.is_empty() {
        return Err(problem("the byte stream has no complete picture"));
    }
    let headers = obu::obus(&bytes).filter(|it| it.kind == obu::SEQUENCE_HEADER);
    let mut rates = headers.filter_map(|it| SequenceHeader::parse(&bytes[it.payload]).ok()?.rate());
    let rate = rates.next().unwrap_or(f64::from(DEFAULT_RATE));
    let timescale = 1_000_000;
    // Rounded down, as positions of players are.
    let time = |index: usize| (index as f64 * f64::from(timescale) / rate) as i64;
    let mut shown = 0;
    let mut all = Vec::with_capacity(frames.len());
    for FrameUnits {
        range,
        is_key,
        is_shown,
    } in frames
    {
        all.push(Sample {
            range,
            time: time(shown),
            is_sync: is_key,
        });
        shown += usize::from(is_shown);
    }
    let duration = time(shown).max(1).unsigned_abs();
    drop(rates);
    Ok(stream(bytes, all, timescale, duration))
}

fn stream(bytes: Arc<[u8]>, samples: Vec<Sample>, timescale: u32, duration: u64) -> VideoStream {
    // The first sequence header holds at each sync sample that has none of its own.
    let mut headers = obu::obus(samples.first().map_or(&[], |it| &bytes[it.range.clone()]))
        .filter(|it| it.kind == obu::SEQUENCE_HEADER);
    let begin = samples.first().map_or(0, |it| it.range.start);
    let parameter_sets = headers
        .next()
        .map(|it| bytes[begin + it.range.start..begin + it.range.end].to_vec());
    let parameter_sets = parameter_sets.into_iter().collect();
    drop(headers);
    VideoStream {
        codec: Codec::Av1,
        bytes,
        samples,
        parameter_sets,
        framing: Framing::Units,
        timescale,
        duration,
    }
}
