use std::collections::HashMap;

use super::*;
use crate::coding::Reference;
use crate::container::VideoStream;
use crate::container::tests::{annex_b, mutated};

const CLIPS: [&[u8]; 3] = [
    include_bytes!("../../assets/clock.mp4"),
    include_bytes!("../../assets/faded.mp4"),
    include_bytes!("../../assets/cropped.mp4"),
];

/// Parses all samples, and returns the pictures and their ids in output order.
fn parse(stream: &VideoStream) -> (Vec<CodedPicture>, Vec<u64>) {
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    let mut pictures = Vec::new();
    let mut output = Vec::new();
    for sample in 0..stream.samples().len() {
        let units = stream.nal_units(sample);
        let picture = parser.picture(&units, sample).unwrap().unwrap();
        output.extend(&picture.output);
        pictures.push(picture);
    }
    output.extend(parser.reset());
    (pictures, output)
}

#[test]
fn output_order_is_that_of_the_times_in_the_file() {
    for clip in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, output) = parse(&stream);
        let times: HashMap<u64, i64> = pictures
            .iter()
            .zip(stream.samples())
            .map(|(picture, sample)| (picture.id, sample.time))
            .collect();
        let shown: Vec<_> = output.iter().map(|id| times[id]).collect();
        assert_eq!(shown.len(), stream.samples().len());
        assert!(shown.is_sorted_by(|one, next| one < next), "{shown:?}");
    }
}

#[test]
fn byte_stream_has_the_pictures_of_the_mp4() {
    for clip in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let split = VideoStream::parse(annex_b(&stream)).unwrap();
        let (mut of_mp4, output_of_mp4) = parse(&stream);
        let (mut of_split, output_of_split) = parse(&split);
        // Sets precede the slices of the first picture.
        for pictures in [&mut of_mp4, &mut of_split] {
            pictures.iter_mut().for_each(|it| it.slices.clear());
        }
        assert_eq!(of_split, of_mp4);
        assert_eq!(output_of_split, output_of_mp4);
    }
}

#[test]
fn picture_is_decoded_to_a_slot_that_holds_no_reference() {
    for clip in CLIPS {
        let stream = VideoStream::parse(clip).unwrap();
        let (pictures, _) = parse(&stream);
        let mut holder = [None; MAX_SLOTS];
        for picture in &pictures {
            for reference in &picture.references {
                assert_ne!(reference.slot, picture.slot);
                assert_eq!(holder[reference.slot], Some(reference.order_counts));
            }
            holder[picture.slot] = Some(picture.order_counts);
        }
        let most = pictures.iter().map(|it| it.references.len()).max();
        assert!(most > Some(0));
    }
}

#[test]
fn size_is_cropped_and_colors_follow_the_size() {
    let stream = VideoStream::parse(CLIPS[2]).unwrap();
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    assert!(parser.format().is_none());
    parser.picture(&stream.nal_units(0), 0).unwrap();
    let (size, color) = parser.format().unwrap();
    assert_eq!(size.coded, [160, 96]);
    assert_eq!((size.origin, size.shown), ([0, 0], [150, 90]));
    assert_eq!(color.weights, [0.299, 0.114]);
    assert!(!color.full_range);
}

#[test]
fn picture_without_its_references_is_broken() {
    let stream = VideoStream::parse(CLIPS[0]).unwrap();
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    let error = parser.picture(&stream.nal_units(1), 1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("broken at sample 1"), "{text}");
    assert!(text.contains("reference pictures are missing"), "{text}");
}

#[test]
fn picture_whose_slices_disagree_on_being_a_reference_is_broken() {
    // Four slices a picture; the second one is a P picture.
    let stream = VideoStream::parse(CLIPS[1]).unwrap();
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    parser.picture(&stream.nal_units(0), 0).unwrap();
    let units = stream.nal_units(1);
    let mut last = units.last().unwrap().to_vec();
    assert_ne!(last[0] & 0x60, 0, "it is a slice of a reference picture");
    last[0] &= !0x60;
    let mut changed = units.clone();
    *changed.last_mut().unwrap() = last.as_slice();
    let error = parser.picture(&changed, 1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("others are not"), "{text}");
    assert!(parser.picture(&units, 1).is_ok(), "its state is unchanged");
}

#[test]
fn mutated_streams_end_in_errors_and_never_in_panics() {
    let dose = std::env::var("QUADRILLE_VIDEO_MUTATIONS");
    let dose = dose.ok().and_then(|it| it.parse().ok()).unwrap_or(10_000);
    let mut random = fastrand::Rng::with_seed(7);
    let mut files: Vec<Vec<u8>> = CLIPS.iter().map(|clip| clip.to_vec()).collect();
    for clip in CLIPS {
        files.push(annex_b(&VideoStream::parse(clip).unwrap()));
    }
    let (mut errors, mut pictures) = (0_u32, 0_u32);
    for round in 0..dose {
        let bytes = mutated(&files[round % files.len()], &mut random);
        let Ok(stream) = VideoStream::parse(bytes) else {
            errors += 1;
            continue;
        };
        let mut parser = Parser::default();
        errors += u32::from(parser.add_sets(stream.parameter_sets()).is_err());
        // Sets of the last refresh, as long as they are in use.
        let mut sequence = None;
        for sample in 0..stream.samples().len() {
            match parser.picture(&stream.nal_units(sample), sample) {
                Ok(Some(picture)) => {
                    pictures += 1;
                    assert!(picture.slot < MAX_SLOTS);
                    assert!(picture.references.len() < MAX_SLOTS);
                    let free = |it: &Reference| it.slot != picture.slot;
                    assert!(picture.references.iter().all(free));
                    let sets = Some((parser.version(), picture.sps));
                    if picture.is_refresh {
                        sequence = sets;
                    }
                    if sequence == sets {
                        let mut known = parser.context().sps();
                        let sps = known.find(|it| it.seq_parameter_set_id.id() == picture.sps);
                        let most = sps.unwrap().max_num_ref_frames.max(1) as usize;
                        assert!(picture.slot <= most && picture.references.len() <= most);
                    }
                }
                Ok(None) => {}
                Err(_) => {
                    errors += 1;
                    sequence = None;
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
