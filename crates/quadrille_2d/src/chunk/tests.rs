use bevy_color::Color;

use super::*;
use crate::tilemap::TileOrientation;

#[test]
fn the_layout_is_that_of_the_struct() {
    assert_eq!(Chunk::layout().stride as usize, size_of::<Chunk>());
}

#[test]
fn tiles_are_packed() {
    let tile = TileData {
        tileset_index: 0x1234,
        color: Color::srgba_u8(1, 2, 3, 4),
        visible: true,
        orientation: TileOrientation::Rotate180,
    };
    let packed = Tile::from(Some(tile));
    assert_eq!((packed.what, packed.color), (0xD_1234, 0x0403_0201));
    assert_eq!(Tile::from(None), Tile::default());
    let hidden = TileData {
        visible: false,
        ..tile
    };
    assert_eq!(Tile::from(Some(hidden)).what, 0xC_1234);
}
