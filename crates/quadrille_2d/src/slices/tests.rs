use bevy_sprite::BorderRect;

use super::*;

fn all(mode: &SpriteImageMode, part: Rect, size: Vec2) -> Vec<Slice> {
    let mut out = Vec::new();
    slices(mode, part, size, &mut out);
    out
}

fn part(width: f32, height: f32) -> Rect {
    Rect::new(0.0, 0.0, width, height)
}

/// The sum of the areas of all places.
fn covered(slices: &[Slice]) -> f32 {
    slices
        .iter()
        .map(|slice| slice.place.width() * slice.place.height())
        .sum()
}

#[test]
fn nine_slices_cover_the_sprite_and_corners_keep_their_size() {
    let slicer = TextureSlicer {
        border: BorderRect::all(4.0),
        ..TextureSlicer::default()
    };
    let slices = all(
        &SpriteImageMode::Sliced(slicer),
        part(16.0, 16.0),
        Vec2::new(100.0, 50.0),
    );
    assert_eq!(slices.len(), 9);
    assert!((covered(&slices) - 5000.0).abs() < 0.01);
    assert_eq!(slices[0].part, Rect::new(0.0, 0.0, 4.0, 4.0));
    assert_eq!(slices[0].place, Rect::new(-50.0, 21.0, -46.0, 25.0));
    assert_eq!(slices[8].part, Rect::new(12.0, 12.0, 16.0, 16.0));
    assert_eq!(slices[8].place, Rect::new(46.0, -25.0, 50.0, -21.0));
}

#[test]
fn borders_without_room_are_ignored() {
    let slicer = TextureSlicer {
        border: BorderRect::all(8.0),
        ..TextureSlicer::default()
    };
    let slices = all(
        &SpriteImageMode::Sliced(slicer),
        part(16.0, 16.0),
        Vec2::splat(50.0),
    );
    assert_eq!(slices.len(), 1);
}

#[test]
fn tiles_start_at_the_top_left_and_the_last_are_cut() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: false,
        stretch_value: 1.0,
    };
    let slices = all(&mode, part(10.0, 10.0), Vec2::new(25.0, 10.0));
    assert_eq!(slices.len(), 3);
    assert_eq!(slices[0].place, Rect::new(-12.5, -5.0, -2.5, 5.0));
    assert_eq!(slices[2].part, Rect::new(0.0, 0.0, 5.0, 10.0));
    assert!((covered(&slices) - 250.0).abs() < 0.01);
}

#[test]
fn a_tile_larger_than_its_room_is_cut() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: 2.0,
    };
    let slices = all(&mode, part(10.0, 10.0), Vec2::new(5.0, 30.0));
    assert_eq!(slices.len(), 2);
    assert_eq!(slices[0].part, Rect::new(0.0, 0.0, 2.5, 10.0));
    assert_eq!(slices[0].place, Rect::new(-2.5, -5.0, 2.5, 15.0));
    assert_eq!(slices[1].part, Rect::new(0.0, 0.0, 2.5, 5.0));
    assert_eq!(slices[1].place, Rect::new(-2.5, -15.0, 2.5, -5.0));
}

#[test]
fn tiles_may_be_smaller_than_a_unit() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: false,
        stretch_value: 0.02,
    };
    let slices = all(&mode, part(10.0, 10.0), Vec2::new(0.5, 1.0));
    assert_eq!(slices.len(), 3);
    assert!((slices[1].place.width() - 0.2).abs() < 1e-6);
}

#[test]
fn too_many_tiles_become_one() {
    let mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: 0.0,
    };
    assert_eq!(all(&mode, part(10.0, 10.0), Vec2::splat(1e6)).len(), 1);
    let nan = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: f32::NAN,
    };
    assert_eq!(all(&nan, part(10.0, 10.0), Vec2::splat(20.0)).len(), 4);
}

#[test]
fn fill_leaves_out_pixels_and_fit_leaves_out_room() {
    let scale = |mode| {
        all(
            &SpriteImageMode::Scale(mode),
            part(40.0, 20.0),
            Vec2::splat(10.0),
        )[0]
    };
    let fill = scale(SpriteScalingMode::FillStart);
    assert_eq!(fill.part, Rect::new(0.0, 0.0, 20.0, 20.0));
    assert_eq!(
        scale(SpriteScalingMode::FillEnd).part,
        Rect::new(20.0, 0.0, 40.0, 20.0)
    );
    let fit = scale(SpriteScalingMode::FitStart);
    assert_eq!(fit.place, Rect::new(-5.0, 0.0, 5.0, 5.0));
    assert_eq!(
        scale(SpriteScalingMode::FitCenter).place,
        Rect::new(-5.0, -2.5, 5.0, 2.5)
    );
}
