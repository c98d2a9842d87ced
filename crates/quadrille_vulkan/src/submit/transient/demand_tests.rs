use super::*;

/// Returns the sizes to which a block of 8 MiB should shrink, with the frame, for frames with these needs in bytes.
fn shrinks(needs: impl IntoIterator<Item = u64>) -> Vec<(usize, u64)> {
    let mut demand = Demand::default();
    let mut known = None;
    let mut found = Vec::new();
    for (frame, bytes) in needs.into_iter().enumerate() {
        if known != Some(bytes) {
            demand.place(bytes);
            known = Some(bytes);
        }
        found.extend(demand.count_frame(8 << 20).map(|bytes| (frame, bytes)));
    }
    found
}

const FRAMES: usize = WINDOW as usize;

#[test]
fn a_block_that_is_needed_stays() {
    assert!(shrinks(vec![8 << 20; 4 * FRAMES]).is_empty());
    assert!(
        shrinks(vec![5 << 20; 4 * FRAMES]).is_empty(),
        "not worth it"
    );
}

#[test]
fn a_block_shrinks_after_a_window_of_small_frames() {
    let needs = [vec![8 << 20; 10], vec![1000; 2 * FRAMES]].concat();
    assert_eq!(shrinks(needs)[0], (2 * FRAMES - 1, 1000));
}

#[test]
fn it_shrinks_to_the_most_that_was_needed_meanwhile() {
    let mut needs = vec![1000; 2 * FRAMES];
    needs[FRAMES + 7] = 2 << 20;
    assert_eq!(
        shrinks(needs),
        [(FRAMES - 1, 1000), (2 * FRAMES - 1, 2 << 20)]
    );
}

#[test]
fn periodic_needs_keep_their_memory() {
    let needs = (0..10 * FRAMES).map(|frame| match frame % (FRAMES - 1) {
        0 => 8 << 20,
        _ => 1000,
    });
    assert!(shrinks(needs).is_empty());
}

#[test]
fn unused_blocks_are_freed() {
    assert_eq!(shrinks(vec![0; FRAMES]), [(FRAMES - 1, 0)]);
}

#[test]
fn small_blocks_stay() {
    let mut demand = Demand::default();
    demand.place(0);
    assert!((0..FRAMES).all(|_| demand.count_frame(LEAST).is_none()));
}
