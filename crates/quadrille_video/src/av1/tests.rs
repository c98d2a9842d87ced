use std::collections::HashMap;

use super::*;
use crate::coding::MAX_SLOTS;
use crate::container::VideoStream;
use crate::container::tests::mutated;
use frame::motion::Motion;
use frame::references::short_signaling;

mod syntax;

const LAYERS: &[u8] = include_bytes!("../../assets/layers.mp4");
const RESTORED: &[u8] = include_bytes!("../../assets/restored.ivf");
const TILES: &[u8] = include_bytes!("../../assets/tiles.obu");
const TURNED: &[u8] = include_bytes!("../../assets/turned.obu");
const SUPERRES: &[u8] = include_bytes!("../../assets/superres.ivf");
pub(crate) const GRAIN: &[u8] = include_bytes!("../../assets/grain.mp4");
const TEN_BITS: &[u8] = include_bytes!("../../assets/ten_bits.mp4");

/// Clips, and their frame headers as ffmpeg reads them: type, shown, order hint, refreshed frames, quantizer, bytes.
const CLIPS: [(&[u8], &str); 7] = [
    (LAYERS, include_str!("../../assets/layers.headers")),
    (RESTORED, include_str!("../../assets/restored.headers")),
    (TILES, include_str!("../../assets/tiles.headers")),
    (TURNED, include_str!("../../assets/turned.headers")),
    (SUPERRES, include_str!("../../assets/superres.headers")),
    (GRAIN, include_str!("../../assets/grain.headers")),
    (TEN_BITS, include_str!("../../assets/ten_bits.headers")),
];

fn parser(stream: &VideoStream) -> Parser {
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    parser
}

/// Sequence header of a clip.
pub(crate) fn first_sequence(clip: &[u8]) -> SequenceHeader {
    let stream = VideoStream::parse(clip).unwrap();
    let mut known = parser(&stream);
    known.picture(&stream.nal_units(0), 0).unwrap();
    known.sequence_of_pictures().unwrap().clone()
}

/// Picture of a sample, or the id of an earlier one that it shows.
fn next(parser: &mut Parser, stream: &VideoStream, sample: usize) -> Result<CodedPicture, u64> {
    match parser.picture(&stream.nal_units(sample), sample).unwrap() {
        Some(picture) => Ok(picture),
        None => Err(parser.take_existing().unwrap()),
    }
}

/// Parses all samples, and returns the pictures and their ids in output order, with the samples that output them.
fn parse(stream: &VideoStream) -> (Vec<CodedPicture>, Vec<(u64, usize)>) {
    let mut parser = parser(stream);
    let (mut pictures, mut output) = (Vec::new(), Vec::new());
    for sample in 0..stream.samples().len() {
        match next(&mut parser, stream, sample) {
            Ok(picture) => {
                output.extend(picture.output.iter().map(|id| (*id, sample)));
                pictures.push(picture);
            }
            Err(existing) => output.push((existing, sample)),
        }
    }
    assert!(parser.reset().is_empty());
    (pictures, output)
}

fn syntax(picture: &CodedPicture) -> &Syntax {
    match &picture.syntax {
        coding::Syntax::Av1(syntax) => syntax,
        _ => panic!("it is of AV1"),
    }
}

#[test]
fn frame_headers_are_those_of_ffmpeg() {
    for (clip, expected) in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let mut parser = parser(&stream);
        let mut lines = expected.lines();
        for sample in 0..stream.samples().len() {
            let line = lines.next().unwrap();
            let picture = match next(&mut parser, &stream, sample) {
                Ok(picture) => picture,
                Err(_) => {
                    assert!(line.starts_with("existing"), "{line}");
                    continue;
                }
            };
            let syntax = syntax(&picture);
            let header = &syntax.header;
            let known = [
                usize::from(header.frame_type),
                usize::from(header.show_frame),
                usize::from(header.order_hint),
                usize::from(header.refresh_frame_flags),
                usize::from(header.quantization.base_q_idx),
            ];
            let wanted: Vec<usize> = line.split(' ').map(|it| it.parse().unwrap()).collect();
            assert_eq!(known, wanted[..5], "{line}");
            // The first tile begins behind the header; of several, behind a flag and its size.
            let before = match syntax.tiles.len() {
                1 => 0,
                _ => 1 + usize::from(header.tiles.tile_size_bytes_minus_1) + 1,
            };
            assert_eq!(syntax.tiles[0].start, wanted[5] + before, "{line}");
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn pictures_are_shown_in_the_order_of_their_hints_once_in_each_temporal_unit() {
    let stream = VideoStream::parse(LAYERS).unwrap();
    let (pictures, output) = parse(&stream);
    assert_eq!((pictures.len(), output.len()), (52, 48));
    assert_eq!(stream.duration(), 2.0);
    let hints = output
        .iter()
        .map(|&(id, _)| pictures[id as usize].order_counts[0]);
    let expected: Vec<_> = (0..24).chain(0..24).collect();
    assert_eq!(hints.collect::<Vec<_>>(), expected);
    let tick = i64::from(stream.timescale()) / 24;
    let times = output
        .iter()
        .map(|&(_, sample)| stream.samples()[sample].time / tick);
    assert_eq!(times.collect::<Vec<_>>(), (0..48).collect::<Vec<_>>());
    let sync = stream.samples().iter().filter(|it| it.is_sync);
    assert_eq!(sync.map(|it| it.time / tick).collect::<Vec<_>>(), [0, 24]);
}

#[test]
fn hidden_frames_are_kept_until_no_sample_can_show_them() {
    let stream = VideoStream::parse(LAYERS).unwrap();
    let mut parser = parser(&stream);
    let mut shown: HashMap<u64, u32> = HashMap::new();
    for sample in 0..stream.samples().len() {
        match next(&mut parser, &stream, sample) {
            Ok(picture) => {
                let is_stored = syntax(&picture).header.refresh_frame_flags != 0;
                let is_showable = syntax(&picture).header.showable_frame;
                assert_eq!(parser.keeps(picture.id), is_stored && is_showable);
                assert!(picture.is_shown || picture.is_showable());
                shown.insert(picture.id, u32::from(picture.is_shown));
            }
            Err(existing) => {
                assert!(parser.keeps(existing), "it is no key frame");
                *shown.get_mut(&existing).unwrap() += 1;
            }
        }
    }
    let unseen = shown.values().filter(|it| **it == 0).count();
    let again = shown.values().filter(|it| **it > 1).count();
    assert_eq!(unseen + 48, 52 + again);
}

#[test]
fn byte_stream_has_the_pictures_of_the_mp4() {
    let stream = VideoStream::parse(LAYERS).unwrap();
    let mut bytes = Vec::new();
    let mut time = None;
    for (index, sample) in stream.samples().iter().enumerate() {
        if time.replace(sample.time) != Some(sample.time) {
            bytes.extend([0x12, 0]);
        }
        bytes.extend(stream.nal_units(index).concat());
    }
    let split = VideoStream::parse(bytes).unwrap();
    assert_eq!(split.samples().len(), stream.samples().len());
    let sync = |stream: &VideoStream| -> Vec<bool> {
        stream.samples().iter().map(|it| it.is_sync).collect()
    };
    assert_eq!(sync(&split), sync(&stream));
    let (of_mp4, output_of_mp4) = parse(&stream);
    let (of_split, output_of_split) = parse(&split);
    assert_eq!(output_of_split, output_of_mp4);
    for (one, other) in of_split.iter().zip(&of_mp4) {
        assert_eq!(syntax(one).header, syntax(other).header);
        assert_eq!(syntax(one).tiles, syntax(other).tiles);
    }
    // 48 pictures at the default rate.
    assert!((split.duration() - 48.0 / 25.0).abs() < 1e-3);
}

#[test]
fn ivf_has_its_times_and_sync_samples() {
    let stream = VideoStream::parse(RESTORED).unwrap();
    assert_eq!(stream.codec(), crate::container::Codec::Av1);
    assert!(
        (stream.duration() - 1.0).abs() < 1e-3,
        "{}",
        stream.duration()
    );
    let (pictures, output) = parse(&stream);
    assert_eq!((pictures.len(), output.len()), (24, 24));
    let (size, color) = {
        let mut known = parser(&stream);
        known.picture(&stream.nal_units(0), 0).unwrap();
        known.format().unwrap()
    };
    assert_eq!((size.coded, size.shown), ([150, 130], [150, 130]));
    assert_eq!(color.bits, 8);
    let seconds =
        |sample: usize| stream.samples()[sample].time as f64 / f64::from(stream.timescale());
    for (at, &(_, sample)) in output.iter().enumerate() {
        assert!((seconds(sample) - at as f64 / 24.0).abs() < 1e-3, "{at}");
    }
    assert!(stream.samples()[0].is_sync);
    assert!(pictures[0].is_refresh && pictures[0].references.is_empty());
}

#[test]
fn picture_is_decoded_to_a_slot_that_holds_no_reference() {
    for (clip, _) in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, _) = parse(&stream);
        let mut holder = [None; MAX_SLOTS];
        for picture in &pictures {
            let syntax = syntax(picture);
            assert!(picture.slot < state::SLOTS);
            assert_eq!(picture.references.len(), syntax.references.len());
            for (reference, info) in picture.references.iter().zip(&syntax.references) {
                assert_ne!(reference.slot, picture.slot);
                assert_eq!(holder[reference.slot], Some(info.order_hint));
            }
            for (name, slot) in syntax.slots.into_iter().enumerate() {
                let is_inter = !picture.is_intra;
                assert_eq!(slot >= 0, is_inter);
                if is_inter {
                    let hint = syntax.header.order_hints[name + 1];
                    assert_eq!(holder[slot as usize], Some(hint));
                }
            }
            holder[picture.slot] = Some(syntax.header.order_hint);
        }
    }
}

#[test]
fn clips_use_the_tools_that_they_are_for() {
    let headers = |clip: &[u8]| -> Vec<FrameHeader> {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, _) = parse(&stream);
        pictures
            .iter()
            .map(|it| syntax(it).header.clone())
            .collect()
    };
    assert!(headers(LAYERS).iter().any(|it| it.skip_mode.is_some()));
    let restored = headers(RESTORED);
    assert!(restored.iter().any(|it| it.restoration.types != [0; 3]));
    let tiles = headers(TILES);
    assert!(tiles.iter().all(|it| it.tiles.count() == 4));
    assert_eq!(tiles[0].tiles.starts, [vec![0, 48, 80], vec![0, 32, 48]]);
    let turned = headers(TURNED);
    assert!(turned.iter().all(|it| it.segmentation.is_enabled));
    let scaled = headers(SUPERRES);
    // 192 * 8 / 12 pixels.
    assert!(scaled.iter().all(|it| it.size.width == 128));
    let grain = headers(GRAIN);
    assert!(
        grain
            .iter()
            .all(|it| it.grain.is_some_and(|grain| grain.y.count == 2))
    );
    assert_eq!(first_sequence(TEN_BITS).color.bit_depth, 10);
}

#[test]
fn picture_without_its_references_is_broken() {
    let stream = VideoStream::parse(LAYERS).unwrap();
    let mut known = parser(&stream);
    let error = known.picture(&stream.nal_units(1), 1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("broken at sample 1"), "{text}");
    assert!(text.contains("reference pictures are missing"), "{text}");
    let existing = (0..stream.samples().len()).find(|&sample| {
        let units = stream.nal_units(sample);
        obus(units[0]).any(|it| it.kind == FRAME_HEADER)
    });
    let error = known
        .picture(&stream.nal_units(existing.unwrap()), 0)
        .unwrap_err();
    assert!(error.to_string().contains("it shows is missing"), "{error}");
}

#[test]
fn truncated_frame_is_broken_and_the_next_key_frame_is_not() {
    let stream = VideoStream::parse(TILES).unwrap();
    let mut known = parser(&stream);
    let units = stream.nal_units(0);
    let cut = &units[0][..units[0].len() - 10];
    let error = known.picture(&[cut], 0).unwrap_err();
    assert!(error.to_string().contains("cut off"), "{error}");
    let error = known.picture(&[&[0x12, 0]], 0).unwrap_err();
    assert!(error.to_string().contains("no complete picture"), "{error}");
    assert!(known.picture(&stream.nal_units(1), 1).is_err());
    assert!(known.picture(&units, 0).unwrap().is_some());
    assert!(known.picture(&stream.nal_units(1), 1).is_ok());
}

#[test]
fn other_formats_are_refused() {
    let stream = VideoStream::parse(LAYERS).unwrap();
    let units = stream.nal_units(0);
    let frame = obus(units[0]).find(|it| it.kind == FRAME).unwrap();
    let frame = &units[0][frame.range];
    let refused = |change: fn(&mut SequenceHeader)| {
        let mut known = parser(&stream);
        let mut sequence = first_sequence(LAYERS);
        change(&mut sequence);
        known.sequence = Some(Arc::new(sequence));
        known.picture(&[frame], 0).unwrap_err().to_string()
    };
    let text = refused(|it| it.color.bit_depth = 12);
    assert!(text.contains("12 bits per channel"), "{text}");
    let text = refused(|it| it.color.subsampling = [false; 2]);
    assert!(text.contains("than 4:2:0"), "{text}");
    let text = refused(|it| it.operating_points[0].idc = 0x301);
    assert!(text.contains("spatial layers"), "{text}");
    let mut known = parser(&stream);
    known.sequence = None;
    let text = known.picture(&[frame], 0).unwrap_err().to_string();
    assert!(text.contains("sequence header is missing"), "{text}");
}

#[test]
fn mutated_streams_end_in_errors_and_never_in_panics() {
    let dose = std::env::var("QUADRILLE_VIDEO_MUTATIONS");
    let dose = dose.ok().and_then(|it| it.parse().ok()).unwrap_or(10_000);
    let mut random = fastrand::Rng::with_seed(11);
    let (mut errors, mut pictures, mut shown) = (0_u32, 0_u32, 0_u32);
    for round in 0..dose {
        let (clip, _) = CLIPS[round % CLIPS.len()];
        let Ok(stream) = VideoStream::parse(mutated(clip, &mut random)) else {
            errors += 1;
            continue;
        };
        let mut parser = coding::Parser::new(stream.codec());
        errors += u32::from(parser.add_sets(stream.parameter_sets()).is_err());
        for sample in 0..stream.samples().len() {
            let units = stream.nal_units(sample);
            match parser.picture(&units, sample) {
                Ok(Some(picture)) => {
                    pictures += 1;
                    check_picture(&picture, units[0].len());
                }
                Ok(None) => shown += u32::from(parser.take_existing().is_some()),
                Err(_) => {
                    errors += 1;
                    parser.reset();
                }
            }
        }
    }
    assert!(
        errors > 0 && pictures > 0 && (shown > 0 || dose < 100),
        "{errors} errors, {pictures} pictures, {shown} shown again"
    );
}

/// Checks that a picture is within the limits of its session and its bytes.
fn check_picture(picture: &CodedPicture, bytes: usize) {
    let coding::Syntax::Av1(syntax) = &picture.syntax else {
        return;
    };
    assert!(picture.slot < state::SLOTS && picture.references.len() <= 7);
    assert!(picture.references.iter().all(|it| it.slot != picture.slot));
    for slot in syntax.slots.into_iter().filter(|it| *it >= 0) {
        let mut references = picture.references.iter();
        assert!(references.any(|it| it.slot as i32 == slot));
    }
    assert!(syntax.range.end <= bytes);
    let tiles = &syntax.header.tiles;
    assert_eq!(syntax.tiles.len(), tiles.count());
    let all = syntax.range.len();
    assert!(
        syntax
            .tiles
            .iter()
            .all(|it| it.start < it.end && it.end <= all)
    );
    for axis in 0..2 {
        assert_eq!(
            tiles.starts[axis].len(),
            tiles.sizes_minus_1[axis].len() + 1
        );
    }
}
