//! Video streams of files: samples in decoding order, with times.

mod annex_b;
mod mp4;
pub(crate) mod nal;
mod obu;

use std::ops::Range;
use std::sync::Arc;

use crate::error::VideoError;

/// Video codec of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// ITU-T H.264 (AVC).
    H264,
    /// ITU-T H.265 (HEVC).
    H265,
    /// AV1 of the Alliance for Open Media.
    Av1,
}

impl std::fmt::Display for Codec {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::H264 => "H.264",
            Self::H265 => "H.265",
            Self::Av1 => "AV1",
        })
    }
}

/// Coded video: parameter sets and samples in decoding order.
///
/// ```
/// # use quadrille_video::VideoStream;
/// let clip = include_bytes!("../assets/clock.mp4");
/// let stream = VideoStream::parse(clip.as_slice())?;
/// assert_eq!(stream.samples().len(), 48);
/// assert_eq!(stream.duration(), 2.0);
/// # Ok::<(), quadrille_video::VideoError>(())
/// ```
#[derive(Clone, Debug)]
pub struct VideoStream {
    codec: Codec,
    bytes: Arc<[u8]>,
    samples: Vec<Sample>,
    parameter_sets: Vec<Vec<u8>>,
    framing: Framing,
    /// Ticks per second.
    timescale: u32,
    /// Ticks.
    duration: u64,
}

/// Coded picture of a stream. A picture of AV1 that is not shown has the time of the next one that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Bytes in the file.
    pub range: Range<usize>,
    /// Time of presentation in ticks; in byte streams that of a constant rate, in decoding order.
    pub time: i64,
    /// Whether decoding can begin here.
    pub is_sync: bool,
}

/// Separation of units within a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Big-endian lengths of so many bytes, 1 to 4 (ISO/IEC 14496-15).
    Lengths(u8),
    /// Start codes (ITU-T H.264 and H.265, annex B).
    StartCodes,
    /// Units with sizes of their own, which the codec divides (AV1).
    Units,
}

/// Frame rate of byte streams whose parameter sets state none.
pub(crate) const DEFAULT_RATE: u32 = 25;

impl VideoStream {
    /// Reads the structure of an MP4 or IVF file, or splits a byte stream (Annex B of H.264 and H.265, or units of AV1
    /// with sizes) into pictures.
    ///
    /// # Errors
    /// The bytes are neither, or have no track of H.264, H.265 or AV1.
    pub fn parse(bytes: impl Into<Arc<[u8]>>) -> Result<Self, VideoError> {
        let bytes = bytes.into();
        if obu::is_ivf(&bytes) {
            obu::parse_ivf(bytes)
        } else if obu::is_byte_stream(&bytes) {
            obu::parse_byte_stream(bytes)
        } else if nal::starts_with_start_code(&bytes) {
            annex_b::parse(bytes)
        } else {
            mp4::parse(bytes)
        }
    }

    /// Codec of the samples.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Samples in decoding order.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Ticks per second of [`Sample::time`].
    pub fn timescale(&self) -> u32 {
        self.timescale
    }

    /// Length in seconds.
    pub fn duration(&self) -> f64 {
        self.duration as f64 / f64::from(self.timescale)
    }

    /// Length in ticks.
    pub(crate) fn duration_ticks(&self) -> i64 {
        i64::try_from(self.duration).unwrap_or(i64::MAX)
    }

    /// Parameter sets that hold before the first sample, so that decoding can begin at each sync sample.
    pub(crate) fn parameter_sets(&self) -> &[Vec<u8>] {
        &self.parameter_sets
    }

    /// NAL units of a sample; of AV1, all of its bytes. A broken length ends the list.
    pub(crate) fn nal_units(&self, sample: usize) -> Vec<&[u8]> {
        let range = self.samples.get(sample).map(|it| it.range.clone());
        let bytes = range.and_then(|range| self.bytes.get(range)).unwrap_or(&[]);
        match self.framing {
            Framing::Lengths(size) => nal::by_lengths(bytes, size).collect(),
            Framing::StartCodes => nal::by_start_codes(bytes)
                .map(|range| &bytes[range])
                .collect(),
            Framing::Units => vec![bytes],
        }
    }

    /// The last sample at or before a time, in ticks, where decoding can begin; the first sample if there is none.
    pub(crate) fn sync_before(&self, time: i64) -> usize {
        let is_before = |sample: &Sample| sample.is_sync && sample.time <= time;
        self.samples.iter().rposition(is_before).unwrap_or(0)
    }

    /// The first sample from an index on where decoding can begin.
    pub(crate) fn sync_from(&self, index: usize) -> Option<usize> {
        let rest = self.samples.get(index..)?;
        rest.iter()
            .position(|sample| sample.is_sync)
            .map(|at| index + at)
    }
}

#[cfg(test)]
pub(crate) mod tests;
