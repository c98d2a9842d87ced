use super::*;

fn tiles(count: usize, index: u16) -> Vec<Option<TileData>> {
    vec![Some(TileData::from_tileset_index(index)); count]
}

fn shown(tilemaps: &Tilemaps, chunk: Entity, count: usize) -> Vec<PackedTileData> {
    let first = tilemaps.first_tile(chunk).unwrap() as usize;
    tilemaps.tiles[first..][..count].to_vec()
}

fn expected(count: usize, index: u16) -> Vec<PackedTileData> {
    tiles(count, index)
        .into_iter()
        .map(PackedTileData::from)
        .collect()
}

#[test]
fn chunk_of_same_size_keeps_its_range() {
    let [one, other] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
    let mut tilemaps = Tilemaps::default();
    tilemaps.insert(one, &tiles(3, 1));
    tilemaps.insert(other, &tiles(2, 2));
    tilemaps.insert(one, &tiles(3, 4));
    assert_eq!(tilemaps.first_tile(one), Some(0));
    assert_eq!(shown(&tilemaps, one, 3), expected(3, 4));
    tilemaps.insert(one, &tiles(4, 5));
    assert_eq!(tilemaps.first_tile(one), Some(5));
    assert_eq!(tilemaps.unused, 3);
    assert_eq!(shown(&tilemaps, other, 2), expected(2, 2));
}

#[test]
fn tiles_are_compacted_when_mostly_unused() {
    const MANY: usize = 5000;
    let [one, other] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
    let mut tilemaps = Tilemaps::default();
    tilemaps.insert(one, &tiles(MANY, 1));
    tilemaps.insert(other, &tiles(10, 2));
    tilemaps.changed.clear();
    tilemaps.remove(one);
    tilemaps.compact();
    assert_eq!(tilemaps.first_tile(one), None);
    assert_eq!(tilemaps.first_tile(other), Some(0));
    assert_eq!(shown(&tilemaps, other, 10), expected(10, 2));
    assert_eq!((tilemaps.tiles.len(), tilemaps.unused), (10, 0));
    // All tiles are uploaded again.
    let all = TileRange {
        first: 0,
        count: 10,
    };
    assert_eq!(tilemaps.changed, [all]);
}
