use bevy_sprite::BorderRect;

use super::*;

fn all(mode: &SpriteImageMode, source_rect: Rect, size: Vec2) -> Vec<TextureSlice> {
    let mut out = Vec::new();
    slices(mode, source_rect, size, &mut out);
    out
}

fn source_rect(width: f32, height: f32) -> Rect {
    Rect::new(0.0, 0.0, width, height)
}

/// Total area of all destination rects.
fn covered(slices: &[TextureSlice]) -> f32 {
    slices
        .iter()
        .map(|slice| slice.dest_rect.width() * slice.dest_rect.height())
        .sum()
}

#[test]
fn nine_slices_cover_sprite_with_unscaled_corners() {
    let slicer = TextureSlicer {
        border: BorderRect::all(4.0),
        ..TextureSlicer::default()
    };
    let slices = all(
        &SpriteImageMode::Sliced(slicer),
        source_rect(16.0, 16.0),
        Vec2::new(100.0, 50.0),
    );
    assert_eq!(slices.len(), 9);
    assert!((covered(&slices) - 5000.0).abs() < 0.01);
    assert_eq!(slices[0].source_rect, Rect::new(0.0, 0.0, 4.0, 4.0));
    assert_eq!(slices[0].dest_rect, Rect::new(-50.0, 21.0, -46.0, 25.0));
    assert_eq!(slices[8].source_rect, Rect::new(12.0, 12.0, 16.0, 16.0));
    assert_eq!(slices[8].dest_rect, Rect::new(46.0, -25.0, 50.0, -21.0));
}

#[test]
fn oversized_slice_borders_are_ignored() {
    let slicer = TextureSlicer {
        border: BorderRect::all(8.0),
        ..TextureSlicer::default()
    };
    let slices = all(
        &SpriteImageMode::Sliced(slicer),
        source_rect(16.0, 16.0),
        Vec2::splat(50.0),
    );
    assert_eq!(slices.len(), 1);
}

#[test]
fn tiles_start_top_left_and_last_tile_is_clipped() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: false,
        stretch_value: 1.0,
    };
    let slices = all(&mode, source_rect(10.0, 10.0), Vec2::new(25.0, 10.0));
    assert_eq!(slices.len(), 3);
    assert_eq!(slices[0].dest_rect, Rect::new(-12.5, -5.0, -2.5, 5.0));
    assert_eq!(slices[2].source_rect, Rect::new(0.0, 0.0, 5.0, 10.0));
    assert!((covered(&slices) - 250.0).abs() < 0.01);
}

#[test]
fn oversized_tile_is_clipped() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: 2.0,
    };
    let slices = all(&mode, source_rect(10.0, 10.0), Vec2::new(5.0, 30.0));
    assert_eq!(slices.len(), 2);
    assert_eq!(slices[0].source_rect, Rect::new(0.0, 0.0, 2.5, 10.0));
    assert_eq!(slices[0].dest_rect, Rect::new(-2.5, -5.0, 2.5, 15.0));
    assert_eq!(slices[1].source_rect, Rect::new(0.0, 0.0, 2.5, 5.0));
    assert_eq!(slices[1].dest_rect, Rect::new(-2.5, -15.0, 2.5, -5.0));
}

#[test]
fn tiles_smaller_than_one_unit_are_drawn() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: false,
        stretch_value: 0.02,
    };
    let slices = all(&mode, source_rect(10.0, 10.0), Vec2::new(0.5, 1.0));
    assert_eq!(slices.len(), 3);
    assert!((slices[1].dest_rect.width() - 0.2).abs() < 1e-6);
}

#[test]
fn tile_count_limit_falls_back_to_stretch() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: 0.0,
    };
    assert_eq!(
        all(&mode, source_rect(10.0, 10.0), Vec2::splat(1e6)).len(),
        1
    );
    let nan = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: f32::NAN,
    };
    assert_eq!(
        all(&nan, source_rect(10.0, 10.0), Vec2::splat(20.0)).len(),
        4
    );
}

#[test]
fn fill_crops_image_and_fit_letterboxes() {
    let scale = |mode| {
        all(
            &SpriteImageMode::Scale(mode),
            source_rect(40.0, 20.0),
            Vec2::splat(10.0),
        )[0]
    };
    let fill = scale(SpriteScalingMode::FillStart);
    assert_eq!(fill.source_rect, Rect::new(0.0, 0.0, 20.0, 20.0));
    assert_eq!(
        scale(SpriteScalingMode::FillEnd).source_rect,
        Rect::new(20.0, 0.0, 40.0, 20.0)
    );
    let fit = scale(SpriteScalingMode::FitStart);
    assert_eq!(fit.dest_rect, Rect::new(-5.0, 0.0, 5.0, 5.0));
    assert_eq!(
        scale(SpriteScalingMode::FitCenter).dest_rect,
        Rect::new(-5.0, -2.5, 5.0, 2.5)
    );
}
