use super::*;

#[test]
fn each_pixel_of_the_viewport_has_eight_samples() {
    for (scale, count) in [(1.0, 8), (0.77, 13), (0.67, 18), (0.5, 32), (0.0, 128)] {
        assert_eq!(offset_count(scale), count, "{scale}");
    }
}

#[test]
fn jitter_covers_the_pixel() {
    let count = offset_count(0.67);
    let all: Vec<_> = (0..count).map(|frame| jitter_of(frame, 0.67)).collect();
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
    assert_eq!(jitter_of(count, 0.67), jitter_of(0, 0.67));
}
