use std::collections::HashMap;

use super::*;
use crate::coding::MAX_SLOTS;
use crate::coding::bytes_of_bits as payload;
use crate::container::VideoStream;
use crate::container::tests::{annex_b, mutated};
use references::NO_SLOT;
use sets::lists::ScalingLists;
use sets::reference_sets::ReferenceSet;
use slice::LongTerm;

const OPEN_GOP: &[u8] = include_bytes!("../../assets/open_gop.mp4");
const RADL: &[u8] = include_bytes!("../../assets/radl.h265");
const MAIN_10: &[u8] = include_bytes!("../../assets/main10.mp4");
/// Clips, and the order counts of their pictures in the order of decoding and of output, as ffmpeg derives them.
const CLIPS: [(&[u8], &str); 2] = [
    (OPEN_GOP, include_str!("../../assets/open_gop.poc")),
    (RADL, include_str!("../../assets/radl.poc")),
];

fn parser(stream: &VideoStream) -> Parser {
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    parser
}

/// Parses samples from one on, and returns the pictures and their ids in output order.
fn parse(stream: &VideoStream, first: usize) -> (Vec<CodedPicture>, Vec<u64>) {
    let mut parser = parser(stream);
    let mut pictures = Vec::new();
    let mut output = Vec::new();
    for sample in first..stream.samples().len() {
        let units = stream.nal_units(sample);
        if let Some(picture) = parser.picture(&units, sample).unwrap() {
            output.extend(&picture.output);
            pictures.push(picture);
        }
    }
    output.extend(parser.reset());
    (pictures, output)
}

fn syntax(picture: &CodedPicture) -> Syntax {
    match picture.syntax {
        coding::Syntax::H265(syntax) => syntax,
        _ => panic!("it is of H.265"),
    }
}

#[test]
fn order_counts_and_output_order_are_those_of_ffmpeg() {
    for (clip, expected) in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, output) = parse(&stream, 0);
        let lists: Vec<Vec<i32>> = expected
            .lines()
            .map(|line| line.split(' ').map(|it| it.parse().unwrap()).collect())
            .collect();
        let counts: Vec<i32> = pictures.iter().map(|it| it.order_counts[0]).collect();
        assert_eq!(counts, lists[0]);
        let shown: Vec<i32> = output.iter().map(|&id| counts[id as usize]).collect();
        assert_eq!(shown, lists[1]);
        assert_eq!(shown.len(), stream.samples().len());
    }
}

#[test]
fn output_order_is_that_of_the_times_in_the_file() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let (_, output) = parse(&stream, 0);
    let times = output.iter().map(|&id| stream.samples()[id as usize].time);
    assert!(times.is_sorted_by(|one, next| one < next));
}

#[test]
fn leading_pictures_are_skipped_where_decoding_begins() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let (whole, _) = parse(&stream, 0);
    for (first, leading) in [(12, 4), (32, 0)] {
        let (pictures, output) = parse(&stream, first);
        assert!(pictures[0].is_refresh && pictures[0].references.is_empty());
        assert_eq!(pictures.len(), 48 - first - leading);
        assert_eq!(output.len(), pictures.len());
        // The later CRA pictures in the middle of the stream keep theirs.
        assert!(!whole[first].is_refresh && syntax(&whole[first]).is_random_access);
        // Order counts begin with the transmitted bits.
        let known = whole[first].order_counts[0];
        assert_eq!(pictures[0].order_counts[0], known);
        for (picture, other) in pictures[1..].iter().zip(&whole[first + leading + 1..]) {
            assert_eq!(picture.order_counts, other.order_counts);
        }
    }
}

#[test]
fn end_of_sequence_makes_the_next_random_access_picture_a_refresh() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let mut parser = parser(&stream);
    for sample in 0..12 {
        let mut units = stream.nal_units(sample);
        if sample == 11 {
            units.push(&[36 << 1, 1]);
        }
        parser.picture(&units, sample).unwrap();
    }
    let picture = parser.picture(&stream.nal_units(12), 12).unwrap().unwrap();
    assert!(picture.is_refresh);
    assert_eq!(parser.picture(&stream.nal_units(13), 13), Ok(None));
}

#[test]
fn byte_stream_has_the_pictures_of_the_mp4() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let split = VideoStream::parse(annex_b(&stream)).unwrap();
    let (mut of_mp4, output_of_mp4) = parse(&stream, 0);
    let (mut of_split, output_of_split) = parse(&split, 0);
    // Sets precede the slices of the first picture.
    for pictures in [&mut of_mp4, &mut of_split] {
        pictures.iter_mut().for_each(|it| it.slices.clear());
    }
    assert_eq!(of_split, of_mp4);
    assert_eq!(output_of_split, output_of_mp4);
}

#[test]
fn picture_is_decoded_to_a_slot_that_holds_no_reference() {
    for (clip, _) in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, _) = parse(&stream, 0);
        let mut holder = [None; MAX_SLOTS];
        let mut most = 0;
        for picture in &pictures {
            for reference in &picture.references {
                assert_ne!(reference.slot, picture.slot);
                assert_eq!(holder[reference.slot], Some(reference.order_counts));
            }
            let [before, after, long_term] = syntax(picture).references.lists;
            let count = |slot: u8| holder[usize::from(slot)].map(|it: [i32; 2]| it[0]).unwrap();
            let own = picture.order_counts[0];
            let used = |list: [u8; 8]| list.into_iter().filter(|&it| it != NO_SLOT);
            assert!(used(before).all(|slot| count(slot) < own));
            assert!(used(after).all(|slot| count(slot) > own));
            assert_eq!(used(long_term).count(), 0);
            most = most.max(used(before).count() + used(after).count());
            holder[picture.slot] = Some(picture.order_counts);
        }
        assert!(most >= 3, "{most}");
    }
}

#[test]
fn parameter_sets_are_those_of_ffprobe() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let mut known = parser(&stream);
    known.picture(&stream.nal_units(0), 0).unwrap();
    let sps = &known.sets.sps[&0];
    assert_eq!(sps.size, [192, 144]);
    assert_eq!(sps.window, None);
    assert_eq!((sps.profile.profile(), sps.profile.level_idc), (1, 60));
    assert_eq!((sps.chroma_format_idc, sps.bit_depth_luma_minus8), (1, 0));
    assert!(sps.sample_adaptive_offset_enabled && sps.strong_intra_smoothing_enabled);
    assert!(!sps.scaling_list_enabled && sps.long_term.is_none());
    assert_eq!(sps.rate(), Some(24.0));
    let sequence = known.sequence(0).unwrap();
    assert_eq!((sequence.references, sequence.reordered), (4, 2));

    let stream = VideoStream::parse(RADL).unwrap();
    let mut known = parser(&stream);
    assert!(known.format().is_none());
    let picture = known.picture(&stream.nal_units(0), 0).unwrap().unwrap();
    assert_eq!(picture.slices.len(), 2);
    let (size, color) = known.format().unwrap();
    assert_eq!((size.coded, size.shown), ([152, 152], [150, 150]));
    assert_eq!(color.weights, [0.299, 0.114]);
    assert!(!color.full_range);
    let sps = &known.sets.sps[&0];
    assert!(sps.scaling_list_enabled);
    assert_eq!(sps.blocks.log2_tree_block(), 4);
    assert_eq!(sps.size_in_tree_blocks(), [10, 10]);
}

#[test]
fn main_10_has_pictures_of_10_bits() {
    let stream = VideoStream::parse(MAIN_10).unwrap();
    let (pictures, output) = parse(&stream, 0);
    assert_eq!((pictures.len(), output.len()), (12, 12));
    let mut known = parser(&stream);
    known.picture(&stream.nal_units(0), 0).unwrap();
    let (_, color) = known.format().unwrap();
    assert_eq!(color.bits, 10);
    let sequence = known.sequence(0).unwrap();
    assert_eq!((sequence.profile_idc, sequence.bit_depth), (2, 10));
}

#[test]
fn picture_without_its_references_is_broken() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let error = parser(&stream)
        .picture(&stream.nal_units(1), 1)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("broken at sample 1"), "{text}");
    assert!(text.contains("reference pictures are missing"), "{text}");
    // One is lost.
    let mut known = parser(&stream);
    known.picture(&stream.nal_units(0), 0).unwrap();
    let error = known.picture(&stream.nal_units(2), 2).unwrap_err();
    assert!(error.to_string().contains("are missing"), "{error}");
    assert!(known.picture(&stream.nal_units(1), 1).is_ok(), "its state");
}

#[test]
fn other_formats_are_refused() {
    let stream = VideoStream::parse(OPEN_GOP).unwrap();
    let refused = |change: fn(&mut Sps, &mut Pps)| {
        let mut known = parser(&stream);
        let Sets { sps, pps, .. } = &mut known.sets;
        change(sps.get_mut(&0).unwrap(), pps.get_mut(&0).unwrap());
        let units = stream.nal_units(0);
        let slices: Vec<_> = units
            .into_iter()
            .filter(|unit| Kind::split(unit).is_some_and(|(kind, _)| kind.is_slice()))
            .collect();
        known.picture(&slices, 0).unwrap_err().to_string()
    };
    let text = refused(|sps, _| sps.bit_depth_luma_minus8 = 2);
    assert!(text.contains("10 bits of luma and 8 of chroma"), "{text}");
    let text = refused(|sps, _| sps.chroma_format_idc = 2);
    assert!(text.contains("chroma format 4:2:2"), "{text}");
    let text = refused(|sps, _| sps.has_extension = true);
    assert!(text.contains("extension"), "{text}");
    let text = refused(|_, pps| pps.has_extension = true);
    assert!(text.contains("extension"), "{text}");
    let text = refused(|sps, _| sps.usability.as_mut().unwrap().interlaced = true);
    assert!(text.contains("interlaced"), "{text}");
}

#[test]
fn codes_are_read_without_emulation_prevention() {
    let mut bits = Bits::new(&[0, 0, 3, 1, 0x80]);
    assert_eq!(bits.u(24), Ok(1));
    assert_eq!(bits.position(), 24);
    assert_eq!(bits.flag(), Ok(true));
    // 1, 010, 011, 00100: 0 to 3; as signed codes 0, 1, -1, 2.
    let bytes = payload("1 010 011 00100");
    let mut unsigned = Bits::new(&bytes);
    let codes: Vec<_> = (0..4).map(|_| unsigned.ue("it", 9).unwrap()).collect();
    assert_eq!(codes, [0, 1, 2, 3]);
    let mut signed = Bits::new(&bytes);
    let codes: Vec<_> = (0..4).map(|_| signed.se("it", -9..=9).unwrap()).collect();
    assert_eq!(codes, [0, 1, -1, 2]);
    assert!(Bits::new(&payload("00100")).ue("it", 2).is_err());
    assert!(Bits::new(&[0; 8]).ue("it", 2).is_err(), "a code of 64 bits");
    assert!(Bits::new(&[]).flag().is_err());
}

#[test]
fn predicted_reference_set_is_derived() {
    let known = [ReferenceSet {
        before: vec![(-1, true), (-3, true)],
        after: vec![(2, true)],
    }];
    // Predicted, one less; of the pictures -2, -4, 1 and -1 the second is not used, and the third is left out.
    let bits = payload("1 1 1  1 01 00 1");
    let (set, from) = ReferenceSet::parse(&mut Bits::new(&bits), &known, false, 15).unwrap();
    assert_eq!(set.before, [(-1, true), (-2, true), (-4, false)]);
    assert_eq!(set.after, []);
    assert_eq!(from, Some(&known[0]));
    // The limit of the sequence holds for derived sets too.
    let error = ReferenceSet::parse(&mut Bits::new(&bits), &known, false, 2).unwrap_err();
    assert!(error.contains("limit of 2"), "{error}");
}

#[test]
fn long_term_references_are_found_by_low_bits_or_in_full() {
    let mut references = References::default();
    for (slot, count) in [(0, 0), (1, 300), (2, 310)] {
        references.add(slot, count);
    }
    let entry = |lsb: i32, cycle: Option<i64>, is_used: bool| LongTerm {
        lsb,
        cycle,
        is_used,
    };
    let mut header = SliceHeader {
        // 300 is 44 beyond 256.
        long_term: vec![entry(44, None, true), entry(0, Some(1), false)],
        ..SliceHeader::default()
    };
    let selected = references.clone().select(&header, 320, 8).unwrap();
    assert_eq!(selected.lists[2][..2], [1, NO_SLOT]);
    header.long_term[1].is_used = true;
    let mut known = references.clone();
    let selected = known.select(&header, 320, 8).unwrap();
    assert_eq!(selected.lists[2][..3], [1, 0, NO_SLOT]);
    let kept: Vec<_> = known
        .list()
        .iter()
        .map(|it| (it.slot, it.is_long_term))
        .collect();
    assert_eq!(kept, [(0, true), (1, true)]);
    header.long_term[1].cycle = Some(0);
    assert!(references.select(&header, 320, 8).is_err(), "no 256");
}

#[test]
fn scaling_lists_fall_back_to_default_ones() {
    let lists = ScalingLists::default();
    assert_eq!(lists.of_4, [[16; 16]; 6]);
    for size in lists.larger {
        assert_eq!((size[0][63], size[3][63]), (115, 91));
        assert_eq!(size[5][0], 16);
    }
}

#[test]
fn mutated_streams_end_in_errors_and_never_in_panics() {
    let dose = std::env::var("QUADRILLE_VIDEO_MUTATIONS");
    let dose = dose.ok().and_then(|it| it.parse().ok()).unwrap_or(10_000);
    let mut random = fastrand::Rng::with_seed(7);
    let split = annex_b(&VideoStream::parse(OPEN_GOP).unwrap());
    let files = [OPEN_GOP, split.as_slice(), RADL];
    let (mut errors, mut pictures) = (0_u32, 0_u32);
    for round in 0..dose {
        let Ok(stream) = VideoStream::parse(mutated(files[round % files.len()], &mut random))
        else {
            errors += 1;
            continue;
        };
        let mut parser = coding::Parser::new(stream.codec());
        errors += u32::from(parser.add_sets(stream.parameter_sets()).is_err());
        let mut formats: HashMap<u64, u8> = HashMap::new();
        for sample in 0..stream.samples().len() {
            match parser.picture(&stream.nal_units(sample), sample) {
                Ok(Some(picture)) => {
                    pictures += 1;
                    check_picture(&parser, &picture, &mut formats);
                }
                Ok(None) => {}
                Err(_) => {
                    errors += 1;
                    formats.clear();
                    parser.reset();
                }
            }
        }
    }
    assert!(
        errors > 0 && pictures > 0,
        "{errors} errors, {pictures} pictures"
    );
}

/// Checks that a picture is within the limits of its session.
fn check_picture(parser: &coding::Parser, picture: &CodedPicture, known: &mut HashMap<u64, u8>) {
    assert!(picture.slot < MAX_SLOTS && picture.references.len() < MAX_SLOTS);
    let is_free = |slot: usize| slot != picture.slot;
    assert!(picture.references.iter().all(|it| is_free(it.slot)));
    if let coding::Syntax::H265(syntax) = picture.syntax {
        let listed = syntax.references.lists.as_flattened().iter();
        for &slot in listed.filter(|&&slot| slot != NO_SLOT) {
            let mut slots = picture.references.iter();
            assert!(slots.any(|it| it.slot == usize::from(slot)));
        }
    }
    if picture.is_refresh {
        known.clear();
        known.insert(parser.version(), picture.sps);
    }
    // Sets of the last refresh, as long as they are in use.
    if known.get(&parser.version()) == Some(&picture.sps) {
        let most = parser.sequence(picture.sps).unwrap().references as usize;
        assert!(picture.slot <= most.max(1) && picture.references.len() <= most.max(1));
    }
}
