use super::*;
use crate::coding::{ColorMatrix, PictureSize};
use crate::decoder::Planes;

/// Decoder that outputs each picture one sample later, in the order of time, with few buffers.
#[derive(Default)]
struct Fake {
    held: Vec<i64>,
    in_use: usize,
    decoded: Vec<usize>,
    broken: Option<usize>,
}

const BUFFERS: usize = 6;

fn picture(time: i64) -> Picture {
    let size = PictureSize {
        coded: [16, 16],
        origin: [0, 0],
        shown: [16, 16],
    };
    let color = ColorMatrix {
        weights: [0.299, 0.114],
        full_range: false,
        bits: 8,
    };
    Picture {
        time,
        size,
        color,
        planes: Planes::Buffer(0),
    }
}

impl Decoder for Fake {
    fn decode(&mut self, stream: &VideoStream, sample: usize) -> Result<Decoded, VideoError> {
        if self.in_use == BUFFERS {
            return Ok(Decoded::Full);
        }
        self.decoded.push(sample);
        if self.broken == Some(sample) {
            let problem = "test".to_owned();
            return Err(VideoError::Broken { sample, problem });
        }
        self.in_use += 1;
        self.held.push(stream.samples()[sample].time);
        self.held.sort_unstable();
        let ready = if self.held.len() > 2 { 1 } else { 0 };
        let pictures = self.held.drain(..ready).map(picture).collect();
        Ok(Decoded::Pictures(pictures))
    }

    fn finish(&mut self) -> Vec<Picture> {
        self.held.drain(..).map(picture).collect()
    }

    fn release(&mut self, _: Picture) {
        self.in_use -= 1;
    }
}

fn clip() -> (VideoStream, i64) {
    let clip = include_bytes!("../../assets/clock.mp4");
    let stream = VideoStream::parse(clip.as_slice()).unwrap();
    let tick = i64::from(stream.timescale()) / 24;
    (stream, tick)
}

fn shown(playback: &Playback) -> Option<i64> {
    playback.shown().map(|picture| picture.time)
}

#[test]
fn each_picture_is_shown_in_its_time() {
    let (stream, tick) = clip();
    let (mut playback, mut decoder) = (Playback::default(), Fake::default());
    for frame in 0..48 {
        // Twice in the time of each picture.
        let first = playback.advance(&stream, &mut decoder, frame * tick);
        assert!(first.has_changed && first.errors.is_empty(), "{frame}");
        assert_eq!(shown(&playback), Some(frame * tick));
        let second = playback.advance(&stream, &mut decoder, frame * tick + tick / 2);
        assert!(!second.has_changed, "{frame}");
    }
    assert_eq!(decoder.decoded, (0..48).collect::<Vec<_>>());
    assert_eq!(decoder.in_use, 1);
}

#[test]
fn fast_playback_leaves_pictures_out() {
    let (stream, tick) = clip();
    let (mut playback, mut decoder) = (Playback::default(), Fake::default());
    for frame in 0..12 {
        playback.advance(&stream, &mut decoder, 4 * frame * tick);
        assert_eq!(shown(&playback), Some(4 * frame * tick));
    }
}

#[test]
fn jump_keeps_the_picture_until_the_wanted_one_is_complete() {
    let (stream, tick) = clip();
    let (mut playback, mut decoder) = (Playback::default(), Fake::default());
    playback.advance(&stream, &mut decoder, 3 * tick);
    let target = 40 * tick;
    playback.jump(&stream, &mut decoder, target);
    let mut frames = 0;
    while shown(&playback) != Some(target) {
        assert_eq!(shown(&playback), Some(3 * tick));
        playback.advance(&stream, &mut decoder, target);
        frames += 1;
        assert!(frames < 10);
    }
    assert!(frames > 1, "16 samples take more than a frame");
    assert!(decoder.decoded.contains(&24) && !decoder.decoded.contains(&20));
    playback.jump(&stream, &mut decoder, 0);
    playback.advance(&stream, &mut decoder, 0);
    assert_eq!(shown(&playback), Some(0));
}

#[test]
fn broken_sample_keeps_the_last_picture_until_the_next_sync_sample() {
    let (stream, tick) = clip();
    let mut playback = Playback::default();
    let mut decoder = Fake {
        broken: Some(10),
        ..Fake::default()
    };
    let mut errors = Vec::new();
    let mut last = 0;
    for frame in 0..48 {
        errors.extend(playback.advance(&stream, &mut decoder, frame * tick).errors);
        let now = shown(&playback).unwrap();
        assert!(now >= last && now <= frame * tick);
        last = now;
        if (13..24).contains(&frame) {
            // The P picture of that time precedes the broken B picture.
            assert!(now <= 12 * tick, "{frame}");
        }
    }
    assert_eq!(errors.len(), 1);
    assert_eq!(last, 47 * tick);
    assert!(!decoder.decoded.contains(&11));
}
