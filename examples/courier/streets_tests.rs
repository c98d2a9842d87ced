use super::{next_rain, puddle_shift};

#[test]
fn puddles_depend_on_the_seed() {
    let shifts: Vec<f32> = (1..=20).map(puddle_shift).collect();
    for (at, shift) in shifts.iter().enumerate() {
        assert!((0.0..4096.0).contains(shift));
        assert!(!shifts[..at].contains(shift), "{shift}");
    }
    assert_eq!(puddle_shift(7), puddle_shift(7));
}

#[test]
fn rain_begins_and_ends_slowly() {
    let mut rain = 0.0;
    let frames = |rain: &mut f32, is_raining| {
        (1..1000).find(|_| {
            let next = next_rain(*rain, is_raining);
            std::mem::replace(rain, next) == next
        })
    };
    let begun = frames(&mut rain, true);
    assert!(begun.is_some_and(|frames| (100..=102).contains(&frames)));
    assert_eq!(rain, 1.0);
    let ended = frames(&mut rain, false);
    assert!(ended.is_some_and(|frames| (100..=102).contains(&frames)));
    assert_eq!(rain, 0.0);
}
