use super::*;
use crate::container::tests::{annex_b, mutated};

/// Adler-32 that begins with 0, as of ffmpeg's `framecrc`.
fn checksum(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (0_u32, 0_u32);
    for &byte in bytes {
        low = (low + u32::from(byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    (high << 16) | low
}

#[test]
fn pictures_are_those_of_ffmpeg() {
    let clips: [(&[u8], &str); 4] = [
        (
            include_bytes!("../../assets/clock.mp4"),
            include_str!("../../assets/clock.crc"),
        ),
        (
            include_bytes!("../../assets/faded.mp4"),
            include_str!("../../assets/faded.crc"),
        ),
        (
            include_bytes!("../../assets/cropped.mp4"),
            include_str!("../../assets/cropped.crc"),
        ),
        // Its size changes in the middle.
        (
            include_bytes!("../../assets/resized.h264"),
            include_str!("../../assets/resized.crc"),
        ),
    ];
    for (clip, expected) in clips {
        let stream = VideoStream::parse(clip).unwrap();
        let mut decoder = SoftwareDecoder::new();
        let mut pictures = Vec::new();
        for sample in 0..stream.samples().len() {
            match decoder.decode(&stream, sample).unwrap() {
                Decoded::Pictures(more) => pictures.extend(more),
                Decoded::Full => panic!("it has no buffers"),
            }
        }
        pictures.extend(decoder.finish());
        let times: Vec<_> = pictures.iter().map(|it| it.time).collect();
        assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
        let sums: Vec<u32> = pictures
            .iter()
            .map(|picture| {
                let [width, height] = picture.size.shown.map(|it| it as usize);
                let Planes::Bytes(bytes) = &picture.planes else {
                    panic!("the CPU has bytes");
                };
                checksum(&bytes[..width * height * 3 / 2])
            })
            .collect();
        let expected: Vec<u32> = expected
            .lines()
            .map(|line| u32::from_str_radix(line.trim_start_matches("0x"), 16).unwrap())
            .collect();
        assert_eq!(sums.len(), expected.len());
        let others = sums
            .iter()
            .zip(&expected)
            .filter(|(one, other)| one != other);
        let others: Vec<_> = others.collect();
        // OpenH264 2.6 decodes some B pictures with weighted prediction with small differences; the low half of the
        // checksum is the sum of all bytes.
        assert!(others.len() <= expected.len() / 8, "{others:x?}");
        for (one, other) in others {
            let [one, other] = [one, other].map(|sum| (sum & 0xffff) as i32);
            assert!((one - other).abs() <= 16, "{one} instead of {other}");
        }
    }
}

#[test]
fn byte_stream_is_decoded_from_a_later_sync_sample() {
    let clip = include_bytes!("../../assets/clock.mp4");
    let clip = VideoStream::parse(clip.as_slice()).unwrap();
    // Its parameter sets are at its begin only.
    let stream = VideoStream::parse(annex_b(&clip)).unwrap();
    let mut decoder = SoftwareDecoder::new();
    let mut pictures = Vec::new();
    for sample in 24..48 {
        match decoder.decode(&stream, sample).unwrap() {
            Decoded::Pictures(more) => pictures.extend(more),
            Decoded::Full => panic!("it has no buffers"),
        }
    }
    pictures.extend(decoder.finish());
    assert_eq!(pictures.len(), 24);
}

/// After an error decoding goes on with the next sample: harder than with the next sync sample, to which a player jumps.
#[test]
fn mutated_streams_end_in_errors_or_pictures() {
    let rounds = std::env::var("QUADRILLE_VIDEO_DECODES");
    let rounds = rounds.ok().and_then(|it| it.parse().ok()).unwrap_or(500);
    let clips: [&[u8]; 3] = [
        include_bytes!("../../assets/clock.mp4"),
        include_bytes!("../../assets/cropped.mp4"),
        include_bytes!("../../assets/resized.h264"),
    ];
    let mut random = fastrand::Rng::with_seed(11);
    let (mut errors, mut shown) = (0_u32, 0_u32);
    for round in 0..rounds {
        let Ok(stream) = VideoStream::parse(mutated(clips[round % clips.len()], &mut random))
        else {
            errors += 1;
            continue;
        };
        let mut decoder = SoftwareDecoder::new();
        let mut pictures = Vec::new();
        for sample in 0..stream.samples().len() {
            match decoder.decode(&stream, sample) {
                Ok(Decoded::Pictures(more)) => pictures.extend(more),
                Ok(Decoded::Full) => panic!("it has no buffers"),
                Err(_) => {
                    errors += 1;
                    pictures.extend(decoder.finish());
                }
            }
        }
        pictures.extend(decoder.finish());
        for picture in &pictures {
            let [width, height] = picture.size.shown.map(|it| it as usize);
            let Planes::Bytes(bytes) = &picture.planes else {
                panic!("the CPU has bytes");
            };
            assert!(width > 0 && height > 0, "{:?}", picture.size);
            assert_eq!(bytes.len(), (width * height * 3 / 2).next_multiple_of(4));
            shown += 1;
        }
    }
    assert!(errors > 0 && shown > 0, "{errors} errors, {shown} pictures");
}
