use super::*;

fn map(tile: u32, side: u32) -> ShadowMapDraw {
    ShadowMapDraw::new(ShadowMapKind::Atlas, (tile, side))
}

#[test]
fn tiles_are_row_major() {
    let tiles = grid(4, 2);
    assert_eq!(tiles.rect(&map(0, 8)), Some([0, 0, 8, 8]));
    assert_eq!(tiles.rect(&map(5, 8)), Some([8, 8, 8, 8]));
    assert_eq!(tiles.uv_rect(&map(5, 8)), [0.25, 0.5, 0.25, 0.5]);
}

#[test]
fn smaller_maps_are_in_the_corner_of_their_tile() {
    let tiles = grid(4, 2);
    assert_eq!(tiles.rect(&map(5, 2)), Some([8, 8, 2, 2]));
    assert_eq!(tiles.uv_rect(&map(5, 2)), [0.25, 0.5, 0.0625, 0.125]);
    // An older image of smaller tiles remains if there is no memory for another.
    assert_eq!(tiles.rect(&map(5, 16)), Some([8, 8, 8, 8]));
}

#[test]
fn tiles_outside_image_are_none() {
    let tiles = grid(4, 2);
    assert_eq!(tiles.rect(&map(8, 8)), None);
    assert_eq!(tiles.uv_rect(&map(8, 8)), [0.0; 4]);
    assert_eq!(TileGrid::default().rect(&map(0, 8)), None);
}

fn grid(columns: u32, rows: u32) -> TileGrid {
    TileGrid {
        side: 8,
        columns,
        rows,
    }
}

#[test]
fn images_grow_and_become_more_precise_but_not_back() {
    let [short, long] = SHADOW_FORMATS;
    let none = TileGrid::default();
    let first = resized(none, Format::UNDEFINED, (4, 8, short));
    assert_eq!(first, Some((grid(2, 2), short)));
    assert_eq!(resized(grid(2, 2), short, (3, 8, short)), None);
    assert_eq!(resized(grid(2, 2), short, (0, 8, long)), None);
    // A spot light beside the cascades.
    let with_spot = resized(grid(4, 4), short, (5, 8, long));
    assert_eq!(with_spot, Some((grid(4, 4), long)));
    assert_eq!(resized(grid(4, 4), long, (4, 8, short)), None);
    let more = resized(grid(2, 2), long, (5, 8, short));
    assert_eq!(more, Some((grid(4, 2), long)));
}

#[test]
fn images_of_another_tile_size_have_the_needed_count_and_format() {
    let [short, long] = SHADOW_FORMATS;
    let larger = resized(grid(4, 4), long, (3, 16, short));
    let tiles = TileGrid {
        side: 16,
        columns: 2,
        rows: 2,
    };
    assert_eq!(larger, Some((tiles, short)));
}
