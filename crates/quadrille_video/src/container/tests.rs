use super::*;

const CLOCK: &[u8] = include_bytes!("../../assets/clock.mp4");
const FADED: &[u8] = include_bytes!("../../assets/faded.mp4");
const CROPPED: &[u8] = include_bytes!("../../assets/cropped.mp4");
const OPEN_GOP: &[u8] = include_bytes!("../../assets/open_gop.mp4");
const RADL: &[u8] = include_bytes!("../../assets/radl.h265");

/// The byte stream of a file: parameter sets and units behind start codes.
pub(crate) fn annex_b(stream: &VideoStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |unit: &[u8]| {
        bytes.extend([0, 0, 0, 1]);
        bytes.extend(unit);
    };
    stream.parameter_sets().iter().for_each(|unit| add(unit));
    for sample in 0..stream.samples().len() {
        stream.nal_units(sample).into_iter().for_each(&mut add);
    }
    bytes
}

/// Changes bytes, cuts, or repeats a part.
fn mutate(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..8) {
        let at = random.usize(..bytes.len());
        match random.u8(..8) {
            0 => bytes.truncate(at.max(64)),
            1 => {
                let end = (at + random.usize(1..64)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let end = (at + random.usize(1..64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.usize(..5)],
            _ => bytes[at] ^= 1 << random.u8(..8),
        }
    }
}

/// A file with errors. Half of them hit the headers, which are a small part.
pub(crate) fn mutated(file: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let tail = match random.bool() {
        true => bytes.split_off(bytes.len().min(2048)),
        false => Vec::new(),
    };
    mutate(&mut bytes, random);
    bytes.extend(tail);
    bytes
}

#[test]
fn mp4_has_its_samples_times_and_sync_samples() {
    let stream = VideoStream::parse(CLOCK).unwrap();
    assert_eq!(stream.samples().len(), 48);
    assert_eq!(stream.duration(), 2.0);
    let sync = (0..48).filter(|&at| stream.samples()[at].is_sync);
    assert_eq!(sync.collect::<Vec<_>>(), [0, 24]);
    let tick = i64::from(stream.timescale()) / 24;
    let mut times: Vec<_> = stream.samples().iter().map(|it| it.time).collect();
    assert!(!times.is_sorted(), "the clip has B frames");
    times.sort_unstable();
    let expected: Vec<_> = (0..48).map(|at| at * tick).collect();
    assert_eq!(times, expected);
    assert_eq!(stream.sync_before(30 * tick), 24);
    assert_eq!(stream.sync_before(-1), 0);
    assert_eq!(stream.sync_from(1), Some(24));
    assert_eq!(stream.sync_from(25), None);
}

#[test]
fn byte_stream_splits_into_the_samples_of_the_mp4() {
    for file in [CLOCK, FADED, CROPPED, OPEN_GOP] {
        let stream = VideoStream::parse(file).unwrap();
        let bytes = annex_b(&stream);
        let split = VideoStream::parse(bytes).unwrap();
        assert_eq!(split.samples().len(), stream.samples().len());
        assert_eq!(split.parameter_sets(), stream.parameter_sets());
        for index in 1..stream.samples().len() {
            assert_eq!(split.nal_units(index), stream.nal_units(index), "{index}");
        }
        assert!((split.duration() - stream.duration()).abs() < 1e-3);
        assert!(split.samples()[0].is_sync && !split.samples()[1].is_sync);
    }
}

#[test]
fn codec_is_that_of_the_track_or_of_the_first_parameter_set() {
    let codec = |file: &[u8]| VideoStream::parse(file).unwrap().codec();
    assert_eq!(codec(CLOCK), Codec::H264);
    assert_eq!(codec(OPEN_GOP), Codec::H265);
    assert_eq!(codec(RADL), Codec::H265);
    for (file, expected) in [(CLOCK, Codec::H264), (OPEN_GOP, Codec::H265)] {
        let bytes = annex_b(&VideoStream::parse(file).unwrap());
        assert_eq!(codec(&bytes), expected);
    }
    // Sample entries whose parameter sets may be in the samples too.
    let mut renamed = OPEN_GOP.to_vec();
    let at = renamed.windows(4).position(|it| it == b"hvc1").unwrap();
    renamed[at..][..4].copy_from_slice(b"hev1");
    assert_eq!(codec(&renamed), Codec::H265);
}

#[test]
fn files_of_h265_have_their_samples_and_parameter_sets() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    assert_eq!((stream.samples().len(), stream.duration()), (48, 2.0));
    let sync = |stream: &VideoStream| -> Vec<usize> {
        let samples = stream.samples().iter().enumerate();
        let sync = samples.filter(|(_, sample)| sample.is_sync);
        sync.map(|(at, _)| at).collect()
    };
    // An IDR picture and two CRA pictures.
    assert_eq!(sync(&stream), [0, 12, 32]);
    let kinds = stream.parameter_sets().iter().map(|unit| unit[0] >> 1);
    assert_eq!(kinds.collect::<Vec<_>>(), [32, 33, 34]);
    let stream = VideoStream::parse(RADL).unwrap();
    assert_eq!((stream.samples().len(), stream.duration()), (24, 1.0));
    assert_eq!(sync(&stream), [0, 10]);
    assert_eq!(stream.parameter_sets().len(), 3);
}

#[test]
fn units_end_before_zeros_and_at_broken_lengths() {
    let stream = [0, 0, 0, 1, 7, 8, 0, 0, 0, 1, 9, 0, 0, 1];
    assert!(nal::starts_with_start_code(&stream));
    assert!(!nal::starts_with_start_code(&[0, 1, 2]));
    let units: Vec<_> = nal::by_start_codes(&stream).collect();
    assert_eq!(units, [4..6, 10..11]);
    let lengths = [0, 2, 1, 2, 0, 0, 0, 9, 3];
    assert_eq!(nal::by_lengths(&lengths, 2).collect::<Vec<_>>(), [[1, 2]]);
}

#[test]
fn truncated_files_keep_their_complete_samples() {
    let whole = VideoStream::parse(CLOCK).unwrap();
    let end = whole.samples()[19].range.end;
    let cut = VideoStream::parse(&CLOCK[..end]).unwrap();
    assert_eq!(cut.samples().len(), 20);
    assert_eq!(cut.samples()[19].range, whole.samples()[19].range);
}

#[test]
fn other_files_are_refused_with_advice() {
    let error = VideoStream::parse(b"GIF89a..".as_slice()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no complete box `moov`"), "{text}");
    assert!(text.contains("Use an MP4 file"), "{text}");
    // An IVF file of another codec.
    let mut ivf = b"DKIF\0\0\x20\0VP90".to_vec();
    ivf.resize(64, 0);
    let error = VideoStream::parse(ivf).unwrap_err();
    assert!(error.to_string().contains("VP90"), "{error}");
    let mut renamed = CLOCK.to_vec();
    let at = renamed.windows(4).position(|it| it == b"avc1").unwrap();
    // The first is a brand, the second the sample entry.
    let next = renamed[at + 4..]
        .windows(4)
        .position(|it| it == b"avc1")
        .unwrap();
    renamed[at + 4 + next..][..4].copy_from_slice(b"vp09");
    let error = VideoStream::parse(renamed).unwrap_err();
    assert_eq!(
        error,
        VideoError::Codec {
            found: "VP9".to_owned()
        }
    );
}
