use bevy_math::{IVec2, Vec3};

use super::*;

const ALL: [TileOrientation; 8] = [
    TileOrientation::Default,
    TileOrientation::Rotate90,
    TileOrientation::Rotate180,
    TileOrientation::Rotate270,
    TileOrientation::MirrorH,
    TileOrientation::MirrorHRotate90,
    TileOrientation::MirrorHRotate180,
    TileOrientation::MirrorHRotate270,
];

/// Orientations as matrices: an optional mirror, then quarter turns.
fn by_matrix(index: usize, position: IVec2) -> IVec2 {
    let mirrored = if index < 4 {
        position
    } else {
        IVec2::new(-position.x, position.y)
    };
    (0..index % 4).fold(mirrored, |position, _| IVec2::new(-position.y, position.x))
}

#[test]
fn tile_orientations_match_matrices() {
    let position = IVec2::new(1, 2);
    for (index, orientation) in ALL.into_iter().enumerate() {
        assert_eq!(
            orientation.apply_to_ivec2(&position),
            by_matrix(index, position),
            "{orientation:?}"
        );
        let swaps = [
            orientation.mirror_h(),
            orientation.mirror_v(),
            orientation.mirror_d(),
        ];
        let [h, v, d] = swaps;
        assert_eq!(TileOrientation::from_bools(h, v, d), orientation);
    }
}

#[test]
fn tile_orientations_compose_and_invert() {
    let position = IVec2::new(1, 2);
    for first in ALL {
        assert_eq!(first.and_then(first.inverse()), TileOrientation::Default);
        for then in ALL {
            let both = then.apply_to_ivec2(&first.apply_to_ivec2(&position));
            assert_eq!(first.and_then(then).apply_to_ivec2(&position), both);
        }
    }
}

#[test]
fn tiles_are_centered_on_chunk() {
    let chunk = TilemapChunk {
        chunk_size: UVec2::new(4, 3),
        tile_display_size: UVec2::new(10, 8),
        ..TilemapChunk::default()
    };
    let center = |x, y| chunk.calculate_tile_transform(UVec2::new(x, y)).translation;
    assert_eq!(center(0, 0), Vec3::new(-15.0, -8.0, 0.0));
    assert_eq!(center(3, 1), Vec3::new(15.0, 0.0, 0.0));
}

#[test]
fn y_down_tile_rows_are_reversed() {
    let tile = |index| Some(TileData::from_tileset_index(index));
    let size = UVec2::new(2, 3);
    let rows = vec![tile(1), tile(2), tile(3), None, tile(5), tile(6)];
    let data = TilemapChunkTileData::from_y_down_tiles(size, rows);
    let at = |x, y| {
        let tile = data.tile_data_from_tile_pos(size, UVec2::new(x, y))?;
        Some(tile.tileset_index)
    };
    assert_eq!([at(0, 0), at(1, 0)], [Some(5), Some(6)]);
    assert_eq!([at(0, 1), at(1, 1)], [Some(3), None]);
    assert_eq!([at(0, 2), at(1, 2)], [Some(1), Some(2)]);
    assert_eq!(at(0, 3), None);
}
