use super::*;

fn tiles(count: usize, index: u16) -> Vec<Option<TileData>> {
    vec![Some(TileData::from_tileset_index(index)); count]
}

fn shown(tilemaps: &Tilemaps, chunk: Entity) -> &[PackedTileData] {
    let range = &tilemaps.ranges[&chunk];
    &tilemaps.tiles.rows()[range.start as usize..range.end as usize]
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
    assert_eq!(shown(&tilemaps, one), expected(3, 4));
    tilemaps.insert(one, &tiles(4, 5));
    assert_eq!(tilemaps.first_tile(one), Some(5));
    assert_eq!(shown(&tilemaps, one), expected(4, 5));
    assert_eq!(shown(&tilemaps, other), expected(2, 2));
}

#[test]
fn tiles_of_removed_chunks_are_reused() {
    let [one, two, three] = [1, 2, 3].map(|index| Entity::from_raw_u32(index).unwrap());
    let mut tilemaps = Tilemaps::default();
    tilemaps.insert(one, &tiles(5000, 1));
    tilemaps.insert(two, &tiles(10, 2));
    tilemaps.remove(one);
    assert_eq!(tilemaps.first_tile(one), None);
    tilemaps.insert(three, &tiles(4000, 3));
    assert_eq!(tilemaps.first_tile(three), Some(0));
    assert_eq!(shown(&tilemaps, two), expected(10, 2));
}
