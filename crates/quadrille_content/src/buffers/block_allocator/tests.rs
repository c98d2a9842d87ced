use super::*;

/// Bytes of the buffer for blocks with items of 4 bytes.
fn bytes(blocks: &BlockAllocator<u32>) -> usize {
    4 * (blocks.capacity + blocks.tail) as usize
}

/// Ends a frame without a device: pending blocks count as uploaded.
fn finish(blocks: &mut BlockAllocator<u32>) {
    blocks.compact();
    blocks.moves();
    blocks.has_moved = false;
    for key in std::mem::take(&mut blocks.pending).into_keys() {
        let block = blocks.blocks[key as usize].as_mut().unwrap();
        block.on_device = Some(block.range.start);
    }
}

#[test]
fn buffer_grows_and_shrinks_with_live_blocks() {
    let mut blocks = BlockAllocator::<u32>::default();
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
fn repeated_replacement_does_not_grow_buffer() {
    let mut blocks = BlockAllocator::<u32>::default();
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
fn moved_blocks_are_copied_on_device() {
    let mut blocks = BlockAllocator::<u32>::default();
    let many = SLACK as u32 / 4 + 100_000;
    let [a, b, c, d] = [3, many, 5, 7].map(|count| blocks.add(vec![0; count as usize]).unwrap());
    finish(&mut blocks);
    let before = [a, c, d].map(|key| blocks.range(key).start);
    assert_eq!(before, [0, 3 + many, 8 + many]);
    blocks.remove(b);
    let e = blocks.add(vec![0; 2]).unwrap();
    assert!(blocks.compact());
    // The new block uses a part of the gap, and is not uploaded yet.
    let after = [a, e, c, d].map(|key| blocks.range(key));
    assert_eq!(after, [0..3, 3..5, 5..10, 10..17]);
    let moves = blocks.moves();
    assert_eq!(moves, [(0, 0..3), (3 + many, 5..10), (8 + many, 10..17)]);
    assert_eq!(blocks.pending.len(), 1);
}

#[test]
fn tail_reservation_grows_and_shrinks() {
    let mut blocks = BlockAllocator::<u32>::default();
    let few = SLACK as u32;
    blocks.reserve_tail(few);
    assert_eq!((blocks.tail, blocks.has_moved), (few + few / 4, true));
    blocks.has_moved = false;
    blocks.reserve_tail(few - 1);
    assert!(!blocks.has_moved);
    blocks.reserve_tail(10);
    assert_eq!((blocks.tail, blocks.has_moved), (12, true));
}

#[test]
fn item_count_overflow_is_rejected() {
    let mut blocks = BlockAllocator::<u32>::default();
    blocks.ranges.allocate(i32::MAX.cast_unsigned() - 5);
    assert_eq!(blocks.add(vec![0; 6]), None);
    assert!(blocks.add(vec![0; 5]).is_some());
}
