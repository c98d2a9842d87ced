use super::*;

#[test]
fn tiles_lie_row_by_row() {
    let tiles = Tiles {
        side: 8,
        columns: 4,
        rows: 2,
    };
    assert_eq!(tiles.corner(0), Some([0, 0]));
    assert_eq!(tiles.corner(5), Some([8, 8]));
    assert_eq!(tiles.fraction(5), [0.25, 0.5, 0.25, 0.5]);
}

#[test]
fn tiles_beyond_the_image_are_none() {
    let tiles = Tiles {
        side: 8,
        columns: 4,
        rows: 2,
    };
    assert_eq!(tiles.corner(8), None);
    assert_eq!(tiles.fraction(8), [0.0; 4]);
    assert_eq!(Tiles::default().corner(0), None);
}
