use super::{MAX_MISSES, Unseen};

fn present(unseen: &mut Unseen, queued: bool) -> u64 {
    let id = unseen.next_id();
    unseen.presented(id, queued);
    id
}

#[test]
fn the_oldest_is_waited_for_once_there_are_enough() {
    let mut unseen = Unseen::default();
    let first = present(&mut unseen, true);
    assert_eq!(unseen.due(2), None, "one more may be on its way");
    present(&mut unseen, true);
    assert_eq!(unseen.due(2), Some(first));
    unseen.seen(first);
    assert_eq!(unseen.due(2), None);
    assert_eq!(unseen.due(0), Some(first + 1), "0 counts as 1");
}

#[test]
fn ids_rise_and_failed_ones_are_not_waited_for() {
    let mut unseen = Unseen::default();
    let first = present(&mut unseen, false);
    let second = present(&mut unseen, true);
    assert!(second > first);
    assert_eq!(unseen.due(1), Some(second));
}

#[test]
fn a_shown_present_proves_all_earlier_ones() {
    let mut unseen = Unseen::default();
    let ids = [(); 3].map(|()| present(&mut unseen, true));
    unseen.seen(ids[1]);
    assert_eq!(unseen.due(1), Some(ids[2]));
}

#[test]
fn a_window_that_shows_nothing_is_waited_for_no_more() {
    let mut unseen = Unseen::default();
    for miss in 0..MAX_MISSES {
        assert!(unseen.due(1).is_some() || miss == 0, "after {miss} misses");
        present(&mut unseen, true);
        unseen.missed();
    }
    assert_eq!(unseen.due(1), None);
    for _ in 0..100 {
        present(&mut unseen, true);
    }
    assert_eq!(unseen.due(1), None, "and nothing piles up");
    assert!(unseen.queued.is_empty());
}
