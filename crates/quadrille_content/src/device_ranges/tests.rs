use super::*;

/// Bytes of the buffer that blocks of 4 bytes an item ask for.
fn bytes(blocks: &DeviceRanges<u32>) -> usize {
    4 * (blocks.capacity + blocks.room) as usize
}

/// Ends a frame without a device: what waited is there.
fn finish(blocks: &mut DeviceRanges<u32>) {
    blocks.arrange();
    blocks.moves();
    blocks.has_moved = false;
    for key in std::mem::take(&mut blocks.pending).into_keys() {
        let block = blocks.blocks[key as usize].as_mut().unwrap();
        block.on_device = Some(block.range.start);
    }
}

#[test]
fn buffer_follows_what_lives_up_and_down() {
    let mut blocks = DeviceRanges::<u32>::default();
    let mut keys = Vec::new();
    let slack = 2 * SLACK;
    for round in 0..200 {
        keys.push(blocks.add(vec![round; 30_000]).unwrap());
        finish(&mut blocks);
        let live = keys.len() * 30_000 * 4;
        assert!((live..=live * 5 / 4 + slack).contains(&bytes(&blocks)));
    }
    while keys.len() > 1 {
        blocks.remove(keys.remove(keys.len() / 2));
        finish(&mut blocks);
        let live = keys.len() * 30_000 * 4;
        assert!((live..=live * 3 / 2 + slack).contains(&bytes(&blocks)));
    }
    assert_eq!(blocks.range(keys[0]).len(), 30_000);
}

#[test]
fn block_that_is_replaced_again_and_again_takes_no_more_room() {
    let mut blocks = DeviceRanges::<u32>::default();
    let _other = blocks.add(vec![0; 10]).unwrap();
    let mut key = blocks.add(vec![0; 40_401]).unwrap();
    for turn in 0..120 {
        blocks.remove(key);
        key = blocks.add(vec![turn; 40_401 + turn as usize % 7]).unwrap();
        finish(&mut blocks);
    }
    assert!(bytes(&blocks) <= 2 * 4 * 40_500, "{}", bytes(&blocks));
    assert!(blocks.blocks.len() <= 3 && blocks.pending.is_empty());
}

#[test]
fn blocks_that_move_are_copied_from_where_the_device_has_them() {
    let mut blocks = DeviceRanges::<u32>::default();
    let many = SLACK as u32 / 4 + 100_000;
    let [a, b, c, d] = [3, many, 5, 7].map(|count| blocks.add(vec![0; count as usize]).unwrap());
    finish(&mut blocks);
    let before = [a, c, d].map(|key| blocks.range(key).start);
    assert_eq!(before, [0, 3 + many, 8 + many]);
    blocks.remove(b);
    let e = blocks.add(vec![0; 2]).unwrap();
    assert!(blocks.arrange());
    // The new block took a part of the gap, and is on the device nowhere.
    let after = [a, e, c, d].map(|key| blocks.range(key));
    assert_eq!(after, [0..3, 3..5, 5..10, 10..17]);
    let moves = blocks.moves();
    assert_eq!(moves, [(0, 0..3), (3 + many, 5..10), (8 + many, 10..17)]);
    assert_eq!(blocks.pending.len(), 1);
}

#[test]
fn room_behind_the_blocks_follows_what_is_wanted() {
    let mut blocks = DeviceRanges::<u32>::default();
    let few = SLACK as u32;
    blocks.keep_room(few);
    assert_eq!((blocks.room, blocks.has_moved), (few + few / 4, true));
    blocks.has_moved = false;
    blocks.keep_room(few - 1);
    assert!(!blocks.has_moved);
    blocks.keep_room(10);
    assert_eq!((blocks.room, blocks.has_moved), (12, true));
}

#[test]
fn more_items_than_vulkan_can_count_are_refused() {
    let mut blocks = DeviceRanges::<u32>::default();
    blocks.ranges.take(i32::MAX.cast_unsigned() - 5);
    assert_eq!(blocks.add(vec![0; 6]), None);
    assert!(blocks.add(vec![0; 5]).is_some());
}
