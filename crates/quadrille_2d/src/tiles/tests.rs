use super::*;

fn tiles(count: usize, index: u16) -> Vec<Option<TileData>> {
    vec![Some(TileData::from_tileset_index(index)); count]
}

fn shown(tilemaps: &Tilemaps, chunk: Entity, count: usize) -> Vec<Tile> {
    let first = tilemaps.first_tile(chunk).unwrap() as usize;
    tilemaps.tiles[first..][..count].to_vec()
}

fn expected(count: usize, index: u16) -> Vec<Tile> {
    tiles(count, index).into_iter().map(Tile::from).collect()
}

#[test]
fn chunks_keep_their_place_while_they_keep_their_size() {
    let [one, other] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
    let mut tilemaps = Tilemaps::default();
    tilemaps.put(one, &tiles(3, 1));
    tilemaps.put(other, &tiles(2, 2));
    tilemaps.put(one, &tiles(3, 4));
    assert_eq!(tilemaps.first_tile(one), Some(0));
    assert_eq!(shown(&tilemaps, one, 3), expected(3, 4));
    tilemaps.put(one, &tiles(4, 5));
    assert_eq!(tilemaps.first_tile(one), Some(5));
    assert_eq!(tilemaps.garbage, 3);
    assert_eq!(shown(&tilemaps, other, 2), expected(2, 2));
}

#[test]
fn gaps_are_closed_once_they_are_more_than_half() {
    const MANY: usize = 5000;
    let [one, other] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
    let mut tilemaps = Tilemaps::default();
    tilemaps.put(one, &tiles(MANY, 1));
    tilemaps.put(other, &tiles(10, 2));
    tilemaps.changed.clear();
    tilemaps.remove(one);
    tilemaps.tidy();
    assert_eq!(tilemaps.first_tile(one), None);
    assert_eq!(tilemaps.first_tile(other), Some(0));
    assert_eq!(shown(&tilemaps, other, 10), expected(10, 2));
    assert_eq!((tilemaps.tiles.len(), tilemaps.garbage), (10, 0));
    // All of it is sent anew.
    let all = Place {
        first: 0,
        count: 10,
    };
    assert_eq!(tilemaps.changed, [all]);
}
