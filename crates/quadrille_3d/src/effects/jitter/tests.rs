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
fn offsets_of_antialiasing_cover_the_pixel_evenly() {
    let all: Vec<_> = (0..OFFSETS).map(antialiasing_offset).collect();
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
    assert_eq!(antialiasing_offset(OFFSETS), antialiasing_offset(0));
}

#[test]
fn each_pixel_of_the_viewport_has_eight_samples() {
    for (scale, count) in [(1.0, 8), (0.77, 13), (0.67, 18), (0.5, 32), (0.0, 128)] {
        assert_eq!(upscaling_offsets(scale), count, "{scale}");
    }
}

#[test]
fn offsets_of_upscaling_cover_the_pixel() {
    let count = upscaling_offsets(0.67);
    let all: Vec<_> = (0..count)
        .map(|frame| upscaling_offset(frame, 0.67))
        .collect();
    let limit = Vec2::splat(0.5);
    assert!(all.iter().all(|offset| offset.abs().cmple(limit).all()));
    // Each cell of 3 x 3 has a sample.
    for cell in 0..9_u8 {
        let corner = Vec2::new(f32::from(cell % 3), f32::from(cell / 3)) / 3.0 - 0.5;
        let is_inside = |offset: &&Vec2| {
            let from_corner = **offset - corner;
            from_corner.cmpge(Vec2::ZERO).all() && from_corner.cmplt(Vec2::splat(1.0 / 3.0)).all()
        };
        assert!(all.iter().find(is_inside).is_some(), "{cell}");
    }
    assert_eq!(upscaling_offset(count, 0.67), upscaling_offset(0, 0.67));
}
