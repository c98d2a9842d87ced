//! Decoding on the CPU by OpenH264.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use openh264::OpenH264API;
use openh264::decoder::{DecodeOptions, DecodedYUV, Decoder as OpenH264, DecoderConfig, Flush};
use openh264::formats::YUVSource as _;

use crate::coding::{ColorMatrix, PictureSize};
use crate::container::VideoStream;
use crate::decoder::{Decoded, Decoder, Picture, Planes};
use crate::error::VideoError;
use crate::h264::Parser;

/// Decoder on the CPU. OpenH264 orders the pictures; their times are those of the samples in ascending order.
pub(crate) struct SoftwareDecoder {
    decoder: Option<OpenH264>,
    /// Refuses what OpenH264 should not be given, and finds the size.
    parser: Parser,
    has_sets: bool,
    times: BinaryHeap<Reverse<i64>>,
}

impl SoftwareDecoder {
    pub(crate) fn new() -> Self {
        Self {
            decoder: None,
            parser: Parser::default(),
            has_sets: false,
            times: BinaryHeap::new(),
        }
    }

    fn color(&self) -> Option<ColorMatrix> {
        self.parser.format().map(|(_, color)| color)
    }

    fn decoder(&mut self) -> Result<&mut OpenH264, VideoError> {
        if self.decoder.is_none() {
            let config = DecoderConfig::new().flush_after_decode(Flush::NoFlush);
            let decoder = OpenH264::with_api_config(OpenH264API::from_source(), config);
            let decoder = decoder.map_err(|error| VideoError::Unsupported {
                feature: format!("OpenH264, which does not start ({error})"),
            })?;
            self.decoder = Some(decoder);
        }
        self.decoder.as_mut().ok_or(VideoError::Unsupported {
            feature: "OpenH264, which does not start".to_owned(),
        })
    }

    /// Ends the decoder and returns the pictures that it has not output: one that has flushed them does not go on.
    fn flush(&mut self, color: ColorMatrix) -> Vec<Picture> {
        let mut times: Vec<_> = self.times.drain().map(|Reverse(time)| time).collect();
        times.sort_unstable();
        let Some(mut decoder) = self.decoder.take() else {
            return Vec::new();
        };
        let rest = decoder.flush_remaining().unwrap_or_default();
        let rest = rest.iter().map(planes).zip(times);
        rest.map(|((size, bytes), time)| Picture {
            time,
            size,
            color,
            planes: Planes::Bytes(bytes),
        })
        .collect()
    }
}

impl Decoder for SoftwareDecoder {
    fn decode(&mut self, stream: &VideoStream, sample: usize) -> Result<Decoded, VideoError> {
        if !self.has_sets {
            self.parser.add_sets(stream.parameter_sets())?;
            self.has_sets = true;
        }
        let units = stream.nal_units(sample);
        let before = self.parser.format();
        if self.parser.picture(&units, sample)?.is_none() {
            return Ok(Decoded::Pictures(Vec::new()));
        }
        // At a change of size OpenH264 drops the pictures that it has not output.
        let mut pictures = match before.zip(self.parser.format()) {
            Some(((old, color), (new, _))) if old != new => self.flush(color),
            _ => Vec::new(),
        };
        let is_first = self.decoder.is_none();
        let mut packet = Vec::new();
        let sets = stream.parameter_sets().iter().map(Vec::as_slice);
        for unit in sets.filter(|_| is_first).chain(units) {
            packet.extend([0, 0, 0, 1]);
            packet.extend(unit);
        }
        let time = stream.samples().get(sample).map_or(0, |it| it.time);
        self.times.push(Reverse(time));
        let decoder = self.decoder()?;
        let decoded = decoder.decode_with_options(&packet, DecodeOptions::new());
        let decoded = decoded.map_err(|error| VideoError::Broken {
            sample,
            problem: error.to_string(),
        })?;
        let picture = decoded.as_ref().map(planes);
        let Some(((size, bytes), color)) = picture.zip(self.color()) else {
            return Ok(Decoded::Pictures(pictures));
        };
        let time = self.times.pop().map_or(time, |Reverse(time)| time);
        pictures.push(Picture {
            time,
            size,
            color,
            planes: Planes::Bytes(bytes),
        });
        Ok(Decoded::Pictures(pictures))
    }

    fn finish(&mut self) -> Vec<Picture> {
        let color = self.color();
        self.parser.reset();
        match color {
            Some(color) => self.flush(color),
            None => Vec::new(),
        }
    }

    fn release(&mut self, _: Picture) {}
}

/// Planes of a picture, without padding.
fn planes(picture: &DecodedYUV<'_>) -> (PictureSize, Vec<u8>) {
    let (width, height) = picture.dimensions();
    // Cropping is by 2 x 2 pixels, so both are even.
    let (width, height) = (width & !1, height & !1);
    let (luma, blue, red) = picture.strides();
    let mut bytes = Vec::with_capacity(width * height * 3 / 2 + 3);
    for row in 0..height {
        let at = row * luma;
        bytes.extend(picture.y().get(at..at + width).unwrap_or(&[]));
    }
    for row in 0..height / 2 {
        let from = |plane: &'_ [u8], stride: usize| {
            let at = row * stride;
            plane.get(at..at + width / 2).unwrap_or(&[]).to_vec()
        };
        let pairs = from(picture.u(), blue)
            .into_iter()
            .zip(from(picture.v(), red));
        bytes.extend(pairs.flat_map(|(blue, red)| [blue, red]));
    }
    bytes.resize((width * height * 3 / 2).next_multiple_of(4), 0);
    let size = [width as u32, height as u32];
    let size = PictureSize {
        coded: size,
        origin: [0, 0],
        shown: size,
    };
    (size, bytes)
}

#[cfg(test)]
mod tests;
