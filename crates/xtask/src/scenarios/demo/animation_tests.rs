use std::io::Cursor;

use super::*;

const SIZE: [u32; 2] = [24, 16];

/// Frames of a moving square before a gradient with noise of at most `noise`.
fn frames(count: usize, noise: u8) -> Vec<Vec<Color>> {
    let frame = |number: usize| {
        let pixel = |at: usize| {
            let (x, y) = (at % 24, at / 24);
            let is_square = (number..number + 4).contains(&x) && (4..8).contains(&y);
            let gray = u8::try_from(5 * y).expect("small")
                + u8::try_from(at * 7 + number).unwrap_or(3) % (noise + 1);
            if is_square {
                [255, 40, 0]
            } else {
                [gray, gray, 90]
            }
        };
        (0..24 * 16).map(pixel).collect()
    };
    (0..count).map(frame).collect()
}

/// Decodes a file to the frames that a viewer shows, and its delay in frames a second.
fn decode(file: &[u8]) -> (Vec<Vec<Color>>, u16) {
    let mut reader = png::Decoder::new(Cursor::new(file))
        .read_info()
        .expect("PNG");
    let animation = *reader.info().animation_control().expect("animated");
    assert_eq!(animation.num_plays, 0, "endless");
    let mut canvas = vec![[0; 3]; 24 * 16];
    let mut shown = Vec::new();
    let mut rate = 0;
    for _ in 0..animation.num_frames {
        let mut pixels = vec![0; 24 * 16 * 4];
        reader.next_frame(&mut pixels).expect("frame");
        let control = *reader.info().frame_control().expect("animated");
        assert_eq!(control.delay_num, 1);
        rate = control.delay_den;
        let (width, left) = (control.width as usize, control.x_offset as usize);
        let area = width * control.height as usize;
        for (at, pixel) in pixels.chunks_exact(4).take(area).enumerate() {
            let place = (at / width + control.y_offset as usize) * 24 + left + at % width;
            match (control.blend_op, pixel[3]) {
                (BlendOp::Over, 0) => {}
                (_, alpha) => {
                    assert_eq!(alpha, 255);
                    canvas[place] = [pixel[0], pixel[1], pixel[2]];
                }
            }
        }
        shown.push(canvas.clone());
    }
    (shown, rate)
}

fn largest_difference(a: &[Vec<Color>], b: &[Vec<Color>]) -> u8 {
    let pairs = a
        .iter()
        .flatten()
        .flatten()
        .zip(b.iter().flatten().flatten());
    pairs.map(|(a, b)| a.abs_diff(*b)).max().expect("pixels")
}

#[test]
fn decoded_frames_are_those_encoded() {
    for noise in [0, 1, 2, 3, 40] {
        let frames = frames(12, noise);
        let file = encode(SIZE, &frames, 10).expect("encoded");
        let (shown, rate) = decode(&file);
        assert_eq!((shown.len(), rate), (12, 10));
        let difference = largest_difference(&frames, &shown);
        assert!(difference <= TOLERANCE, "noise {noise}: {difference}");
        assert_eq!(frames[0], shown[0], "the first frame is exact");
    }
}

#[test]
fn unchanged_frames_cost_little() {
    let one = encode(SIZE, &frames(1, 40), 10).expect("encoded").len();
    let still = vec![frames(1, 40).remove(0); 11];
    let file = encode(SIZE, &still, 10).expect("encoded");
    assert!(file.len() < one + 10 * 80, "{} of {one}", file.len());
    assert_eq!(decode(&file).0, still);
}

#[test]
fn moving_square_costs_less_than_whole_frames() {
    let one = encode(SIZE, &frames(1, 2), 10).expect("encoded").len();
    let twelve = encode(SIZE, &frames(12, 2), 10).expect("encoded").len();
    assert!(twelve < 12 * one / 2, "{twelve} of {one} each");
}

#[test]
fn wrong_frames_are_refused() {
    assert!(encode(SIZE, &[], 10).is_err());
    let mut wrong = frames(2, 0);
    wrong[1].pop();
    assert!(encode(SIZE, &wrong, 10).is_err());
}
