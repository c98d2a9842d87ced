use super::*;
use crate::coding::bytes_of_bits as bytes;

#[test]
fn codes_have_the_values_of_the_specification() {
    // ns(5): 00, 01, 10, then 110 and 111 (section 4.10.7).
    let coded = bytes("00 01 10 110 111");
    let mut bits = Bits::new(&coded);
    let values: Vec<_> = (0..5).map(|_| bits.ns(5).unwrap()).collect();
    assert_eq!(values, [0, 1, 2, 3, 4]);
    assert_eq!(Bits::new(&[]).ns(1), Ok(0));
    assert!(Bits::new(&[0; 4]).ns(0).is_err());
    // su(4): 0111 is 7, 1000 is -8.
    let coded = bytes("0111 1000");
    let mut bits = Bits::new(&coded);
    assert_eq!((bits.su(4), bits.su(4)), (Ok(7), Ok(-8)));
    // uvlc: 1, 010, 00100.
    let coded = bytes("1 010 00100");
    let mut bits = Bits::new(&coded);
    let values: Vec<_> = (0..3).map(|_| bits.uvlc().unwrap()).collect();
    assert_eq!(values, [0, 1, 3]);
    assert_eq!(obu::leb128(&[0xe5, 0x8e, 0x26]), Some((624_485, 3)));
    assert_eq!(obu::leb128(&[0xff; 9]), None);
    assert!(Bits::new(&[1]).f(9).is_err());
}

#[test]
fn units_end_at_broken_sizes() {
    // A delimiter, a padding of two bytes with an extension, and one that is cut off.
    let stream = [0x12, 0, 0x7e, 0x28, 2, 5, 5, 0x32, 9, 1];
    let found: Vec<_> = obus(&stream).collect();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].kind, found[1].kind),
        (obu::TEMPORAL_DELIMITER, 15)
    );
    assert_eq!(found[1].layer, Some([1, 1]));
    assert_eq!(found[1].payload, 5..7);
    // Without a size it takes the rest; the forbidden bit ends the list.
    assert_eq!(obus(&[0x30, 1, 2]).next().unwrap().payload, 1..3);
    assert_eq!(obus(&[0x80, 0]).next(), None);
}

#[test]
fn global_motion_is_relative_to_the_primary_reference() {
    let one = 1 << 16;
    // LAST: translation whose parameters are 1 and -1 steps of 1/8 pixel from those before; all others none.
    // decode_subexp of 3 bits: 0 (no more), then the value; the reference is in the middle, so values alternate.
    let coded = bytes("1 0 1  0 010  0 001  0 0 0 0 0 0");
    let motion = Motion::parse(&mut Bits::new(&coded), &Motion::default(), true).unwrap();
    assert_eq!(motion.types, [0, 1, 0, 0, 0, 0, 0, 0]);
    let step = 1 << 13;
    assert_eq!(motion.params[1], [step, -step, one, 0, 0, one]);
    // LAST: rotation and zoom; 2 alpha steps of 2^-15 up, 1 down.
    let coded = bytes("1 1  0 100  0 001  0 000  0 000  0 0 0 0 0 0");
    let motion = Motion::parse(&mut Bits::new(&coded), &Motion::default(), true).unwrap();
    assert_eq!(motion.types[1], 2);
    assert_eq!(motion.params[1], [0, 0, one + 4, -2, 2, one + 4]);
    // The same code, relative to these parameters: in the upper half of the range codes count down (section 5.9.28).
    let again = Motion::parse(&mut Bits::new(&coded), &motion, true).unwrap();
    assert_eq!(again.params[1], [0, 0, one, -4, 4, one]);
}

#[test]
fn short_signaling_finds_the_nearest_frames_of_each_direction() {
    let sequence = SequenceHeader {
        order_hint_bits: 7,
        ..SequenceHeader::default()
    };
    let with_hints = |hints: [u8; 8]| -> StoredFrames {
        hints.map(|order_hint| {
            let info = ReferenceInfo {
                order_hint,
                ..ReferenceInfo::default()
            };
            Some(Arc::new(Stored {
                id: 0,
                slot: 0,
                info,
                size: frame::FrameSize::default(),
                motion: Motion::default(),
                deltas: frame::filters::Deltas::default(),
                features: frame::quantization::Features::default(),
                grain: None,
                is_showable: false,
            }))
        })
    };
    let derive = |hints: [u8; 8], chosen: [u8; 2], order_hint: u8| {
        let stored = with_hints(hints);
        let context = Context {
            sequence: &sequence,
            stored: &stored,
            layer: [0; 2],
        };
        short_signaling(&context, chosen, order_hint)
    };
    // Current frame 20. Earlier: 8, 16, 18, 12, 4; later: 32, 24, 28.
    let hints = [8, 16, 18, 12, 4, 32, 24, 28];
    // LAST 18, LAST2 16, LAST3 12, GOLDEN 8, BWDREF 24, ALTREF2 28, ALTREF 32.
    assert_eq!(derive(hints, [2, 0], 20), Ok([2, 1, 3, 0, 6, 7, 5]));
    // Without later frames the rest is filled by the latest earlier ones, then by the first of all.
    let hints = [8, 16, 18, 12, 4, 6, 10, 14];
    assert_eq!(derive(hints, [2, 0], 20), Ok([2, 1, 7, 0, 3, 6, 5]));
    let few = [8, 18, 8, 8, 8, 8, 8, 8];
    assert_eq!(derive(few, [1, 0], 20), Ok([1, 7, 6, 0, 5, 4, 3]));
    assert!(derive(hints, [2, 0], 5).is_err(), "LAST is later");
    // Order hints wrap around.
    assert_eq!(sequence.distance(1, 127), 2);
    assert_eq!(sequence.distance(127, 1), -2);
}
