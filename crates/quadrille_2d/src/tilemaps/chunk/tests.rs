use bevy_color::Color;

use super::*;
use crate::components::tilemap::TileOrientation;

#[test]
fn vertex_layout_matches_struct() {
    assert_eq!(Chunk::layout().stride as usize, size_of::<Chunk>());
}

#[test]
fn tile_data_is_packed() {
    let tile = TileData {
        tileset_index: 0x1234,
        color: Color::srgba_u8(1, 2, 3, 4),
        visible: true,
        orientation: TileOrientation::Rotate180,
    };
    let packed = PackedTileData::from(Some(tile));
    assert_eq!(
        (packed.index_and_flags, packed.color),
        (0xD_1234, 0x0403_0201)
    );
    assert_eq!(PackedTileData::from(None), PackedTileData::default());
    let hidden = TileData {
        visible: false,
        ..tile
    };
    assert_eq!(PackedTileData::from(Some(hidden)).index_and_flags, 0xC_1234);
}
