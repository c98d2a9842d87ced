use std::fs;

use quadrille::vulkan::Format;

use super::*;
use crate::container::{Codec, VideoStream};
use crate::decoder::{Decoded, Decoder as _, Picture, Planes};
use crate::software::SoftwareDecoder;

const SIZE: [u32; 2] = [96, 64];

fn path(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("quadrille-record-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// A picture whose left half has a gray and whose right half another.
fn shot([width, height]: [u32; 2], grays: [u8; 2], time: Duration) -> Shot {
    let texel = |index: u32| {
        let is_right = index % width >= width / 2;
        let gray = grays[usize::from(is_right)];
        [gray, gray, gray, 255]
    };
    Shot {
        bytes: (0..width * height).flat_map(texel).collect(),
        image: Some(([width, height], Format::R8G8B8A8_SRGB)),
        time,
    }
}

fn write(file: &Path, rate: Option<f64>, shots: Vec<Shot>) -> Result<(u64, Duration), VideoError> {
    let (sender, shots_of_thread) = sync_channel(shots.len().max(1));
    for shot in shots {
        sender.send(shot).unwrap();
    }
    drop(sender);
    write_video(file, rate, &shots_of_thread)
}

fn pictures(stream: &VideoStream) -> Vec<Picture> {
    let mut decoder = SoftwareDecoder::new();
    let mut pictures = Vec::new();
    for sample in 0..stream.samples().len() {
        match decoder.decode(stream, sample).unwrap() {
            Decoded::Pictures(more) => pictures.extend(more),
            Decoded::Full => panic!("it has no buffers"),
        }
    }
    pictures.extend(decoder.finish());
    pictures
}

/// Luma of a gray in the limited range.
fn luma(gray: u8) -> i32 {
    16 + i32::from(gray) * 219 / 255
}

fn assert_luma(picture: &Picture, [x, y]: [usize; 2], gray: u8) {
    let Planes::Bytes(bytes) = &picture.planes else {
        panic!("the CPU has bytes");
    };
    let found = i32::from(bytes[y * picture.size.shown[0] as usize + x]);
    let wanted = luma(gray);
    assert!(
        (found - wanted).abs() <= 4,
        "{found} for {wanted} at {x}, {y}"
    );
}

#[test]
fn pictures_are_found_again_in_the_file_at_their_rate() {
    let file = path("rate.mp4");
    let grays = |at: u8| [10 + 5 * at, 250 - 5 * at];
    let shots = (0..40)
        .map(|at| shot(SIZE, grays(at), Duration::ZERO))
        .collect();
    let (count, duration) = write(&file, Some(10.0), shots).unwrap();
    assert_eq!((count, duration), (40, Duration::from_secs(4)));
    let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
    assert_eq!(stream.codec(), Codec::H264);
    assert_eq!(stream.samples().len(), 40);
    assert!(
        (stream.duration() - 4.0).abs() < 1e-6,
        "{}",
        stream.duration()
    );
    let keys = stream.samples().iter().filter(|sample| sample.is_sync);
    assert!((2..=4).contains(&keys.count()), "one each 2 seconds");
    let pictures = pictures(&stream);
    assert_eq!(pictures.len(), 40);
    for (at, picture) in (0..).zip(&pictures) {
        assert_eq!(picture.size.shown, SIZE);
        assert_eq!(
            picture.time,
            i64::from(at) * i64::from(stream.timescale()) / 10
        );
        let [left, right] = grays(at);
        assert_luma(picture, [20, 30], left);
        assert_luma(picture, [70, 30], right);
    }
    assert!(!file.with_added_extension("part").exists());
}

#[test]
fn pictures_have_the_times_of_their_frames() {
    let file = path("times.mp4");
    let at = |millis: u64| shot(SIZE, [90, 160], Duration::from_millis(5000 + millis));
    write(&file, None, vec![at(0), at(100), at(100), at(350)]).unwrap();
    let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
    let times: Vec<_> = stream.samples().iter().map(|it| it.time).collect();
    // Two frames at one time are a tick apart.
    assert_eq!(times, [0, 9_000, 9_001, 31_500]);
}

#[test]
fn pictures_of_other_sizes_are_cropped_or_filled() {
    let file = path("sizes.mp4");
    let sizes = [[97, 65], [160, 40], [40, 90], SIZE];
    let shots = sizes.map(|size| shot(size, [120, 120], Duration::ZERO));
    write(&file, Some(30.0), shots.into()).unwrap();
    let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
    let pictures = pictures(&stream);
    assert!(
        pictures.iter().all(|it| it.size.shown == SIZE),
        "odd sides lose a pixel"
    );
    assert_luma(&pictures[1], [90, 20], 120);
    assert_luma(&pictures[1], [90, 60], 0);
    assert_luma(&pictures[2], [20, 60], 120);
    assert_luma(&pictures[2], [80, 30], 0);
    assert_luma(&pictures[3], [90, 60], 120);
}

#[test]
fn channels_of_both_orders_are_encoded() {
    for (format, texel) in [
        (Format::R8G8B8A8_UNORM, [200, 0, 0, 255]),
        (Format::B8G8R8A8_SRGB, [0, 0, 200, 255]),
    ] {
        let file = path("red.mp4");
        let red = Shot {
            bytes: texel.repeat((SIZE[0] * SIZE[1]) as usize),
            image: Some((SIZE, format)),
            time: Duration::ZERO,
        };
        write(&file, None, vec![red]).unwrap();
        let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
        let picture = pictures(&stream).pop().unwrap();
        let Planes::Bytes(bytes) = &picture.planes else {
            panic!("the CPU has bytes");
        };
        // BT.601 in the limited range: 16 + 0.257 R, 128 - 0.148 R, 128 + 0.439 R.
        let chroma = (SIZE[0] * SIZE[1]) as usize;
        let found = [bytes[0], bytes[chroma], bytes[chroma + 1]];
        let is_near = found
            .iter()
            .zip([67_u8, 98, 216])
            .all(|(a, b)| a.abs_diff(b) <= 4);
        assert!(is_near, "{found:?}");
    }
}

#[test]
fn what_cannot_be_recorded_is_an_error_that_names_the_file() {
    let message = |file: &Path, shots| write(file, None, shots).unwrap_err().to_string();
    let file = path("wrong.mp4");
    let name = file.display();
    let small = vec![shot([8, 64], [0, 0], Duration::ZERO)];
    assert_eq!(
        message(&file, small),
        format!(
            "the video `{name}` is not recorded: pictures of 8 x 64 pixels are smaller than 16 x 16"
        )
    );
    let mut halves = shot(SIZE, [0, 0], Duration::ZERO);
    halves.image = Some((SIZE, Format::R16G16B16A16_SFLOAT));
    assert!(message(&file, vec![halves]).contains("R16G16B16A16_SFLOAT"));
    let mut short = shot(SIZE, [0, 0], Duration::ZERO);
    short.bytes.pop();
    assert!(message(&file, vec![short]).contains("are not [96, 64] pixels"));
    assert!(message(&file, Vec::new()).ends_with("no picture has arrived"));
    assert!(!file.exists() && !file.with_added_extension("part").exists());
    // Its own error, not that of the file, which is complete.
    let blocked = path("folder.mp4");
    fs::create_dir_all(&blocked).unwrap();
    let good = vec![shot(SIZE, [0, 0], Duration::ZERO)];
    let blocked_message = message(&blocked, good);
    let part = blocked.with_added_extension("part");
    let named = format!(
        "it is complete in `{}`, but cannot be renamed",
        part.display()
    );
    assert!(blocked_message.contains(&named), "{blocked_message}");
    assert!(VideoStream::parse(fs::read(part).unwrap()).is_ok());
}

#[test]
fn pictures_before_an_error_are_kept() {
    let file = path("broken.mp4");
    let mut buffer = shot(SIZE, [0, 0], Duration::ZERO);
    buffer.image = None;
    let mut shots: Vec<_> = (0..5)
        .map(|_| shot(SIZE, [9, 200], Duration::ZERO))
        .collect();
    shots.push(buffer);
    let error = write(&file, Some(10.0), shots).unwrap_err().to_string();
    assert!(
        error.ends_with("a buffer is not a picture; the file has the 5 pictures before"),
        "{error}"
    );
    let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
    assert_eq!(stream.samples().len(), 5);
}

#[test]
fn a_recorder_whose_thread_has_ended_stops() {
    let mut recorder = VideoRecorder::new(path("small.mp4"), Readback::primary_window());
    recorder.add(shot([8, 8], [0, 0], Duration::ZERO));
    while recorder.goes_on() {
        std::thread::yield_now();
    }
    let error = recorder.finish().unwrap_err().to_string();
    assert!(error.contains("smaller than 16 x 16"), "{error}");
}

#[test]
fn a_removed_recorder_completes_its_file() {
    let file = path("removed.mp4");
    let mut recorder = VideoRecorder::new(&file, Readback::primary_window()).with_frame_rate(30.0);
    for _ in 0..20 {
        recorder.add(shot(SIZE, [50, 60], Duration::ZERO));
    }
    drop(recorder);
    let stream = VideoStream::parse(fs::read(&file).unwrap()).unwrap();
    assert_eq!(stream.samples().len(), 20);
}

#[test]
fn a_failed_readback_is_the_error_of_the_recorder() {
    let file = path("failed.mp4");
    let mut recorder = VideoRecorder::new(&file, Readback::primary_window());
    recorder.failure = Some("`target` is not read back: it is lost".to_owned());
    let error = recorder.finish().unwrap_err().to_string();
    assert!(
        error.ends_with("`target` is not read back: it is lost"),
        "{error}"
    );
    let mut recorder = VideoRecorder::new(&file, Readback::primary_window());
    recorder.add(shot(SIZE, [50, 60], Duration::ZERO));
    recorder.failure = Some("it is lost".to_owned());
    let error = recorder.finish().unwrap_err().to_string();
    assert!(
        error.ends_with("it is lost; the file has the 1 pictures before"),
        "{error}"
    );
    assert!(file.exists());
}

#[test]
fn a_recorder_without_pictures_says_so_each_time() {
    let mut recorder = VideoRecorder::new(path("none.mp4"), Readback::primary_window());
    for _ in 0..2 {
        let error = recorder.finish().unwrap_err().to_string();
        assert!(error.ends_with("no picture has arrived"), "{error}");
    }
}

#[test]
fn rates_that_make_no_sense_are_60() {
    for rate in [0.0, -1.0, 1e-20, 1e9, f64::NAN, f64::INFINITY] {
        let recorder = VideoRecorder::new("a.mp4", Readback::primary_window());
        assert_eq!(recorder.with_frame_rate(rate).frame_rate, Some(60.0));
    }
}
