use super::*;

#[test]
fn halton_sequence_is_that_of_the_literature() {
    let base_2 = [0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875, 0.0625];
    let base_3 = [1.0, 2.0, 1.0 / 3.0, 4.0 / 3.0, 7.0 / 3.0].map(|thirds| thirds / 3.0);
    for (at, value) in (1..).zip(base_2) {
        assert_eq!(halton(at, 2), value);
    }
    for (at, value) in (1..).zip(base_3) {
        assert!((halton(at, 3) - value).abs() < 1e-6, "{at}");
    }
}

#[test]
fn jitter_covers_the_pixel_evenly() {
    let all: Vec<_> = (0..OFFSETS).map(jitter_of).collect();
    let limit = Vec2::splat(0.5);
    assert!(all.iter().all(|offset| offset.abs().cmple(limit).all()));
    let mean = all.iter().sum::<Vec2>() / OFFSETS as f32;
    assert!(mean.length() < 1e-6, "{mean}");
    // One offset in each sixteenth of the width.
    let mut columns: Vec<_> = all
        .iter()
        .map(|offset| ((offset.x + MEAN.x) * 16.0 + 1e-3) as u32)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    assert_eq!(columns.len(), 16, "{all:?}");
    assert_eq!(jitter_of(OFFSETS), jitter_of(0));
}
