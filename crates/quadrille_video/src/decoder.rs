//! Decoders: from samples to pictures in the order of presentation.

use crate::coding::{ColorMatrix, PictureSize};
use crate::container::VideoStream;
use crate::error::VideoError;

/// Complete picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    /// Time of presentation in ticks of the stream.
    pub time: i64,
    pub size: PictureSize,
    pub color: ColorMatrix,
    pub planes: Planes,
}

/// Location of the planes of a picture (NV12: luma, then interleaved chroma).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Planes {
    /// Bytes of the coded size.
    #[cfg_attr(
        not(feature = "openh264"),
        expect(dead_code, reason = "only the CPU's decoder has bytes")
    )]
    Bytes(Vec<u8>),
    /// Buffer of the device, by its index in the decoder.
    Buffer(usize),
}

/// Result of decoding one sample.
pub(crate) enum Decoded {
    /// Pictures that are complete now, in the order of presentation.
    Pictures(Vec<Picture>),
    /// No buffer is free for another picture: the sample is to be decoded in a later frame.
    Full,
}

/// Decoder of a stream.
pub(crate) trait Decoder: Send + Sync {
    /// Decodes the next sample.
    ///
    /// # Errors
    /// The sample is broken, or the stream cannot be decoded at all.
    fn decode(&mut self, stream: &VideoStream, sample: usize) -> Result<Decoded, VideoError>;

    /// Completes the pictures that are left, at the end of the stream or before another begin.
    fn finish(&mut self) -> Vec<Picture>;

    /// Takes a picture back that is not needed any more.
    fn release(&mut self, picture: Picture);
}
