use super::*;

#[test]
fn tiles_are_row_major() {
    let tiles = TileGrid {
        side: 8,
        columns: 4,
        rows: 2,
    };
    assert_eq!(tiles.corner(0), Some([0, 0]));
    assert_eq!(tiles.corner(5), Some([8, 8]));
    assert_eq!(tiles.uv_rect(5), [0.25, 0.5, 0.25, 0.5]);
}

#[test]
fn tiles_outside_image_are_none() {
    let tiles = TileGrid {
        side: 8,
        columns: 4,
        rows: 2,
    };
    assert_eq!(tiles.corner(8), None);
    assert_eq!(tiles.uv_rect(8), [0.0; 4]);
    assert_eq!(TileGrid::default().corner(0), None);
}
