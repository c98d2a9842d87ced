use std::collections::BTreeSet;

use super::Schedule;
use crate::fifo::{Fifo, Point, Ticket};

/// The order in which a schedule forwards three queues of two independent submissions each.
fn order(seed: Option<u64>) -> Vec<u32> {
    let mut fifo = Fifo::new(3);
    for work in 0..6_u32 {
        fifo.push(work as usize / 2, &[], vec![], work);
    }
    let mut schedule = Schedule::new(seed, 3);
    std::iter::from_fn(|| fifo.take(schedule.choose(&fifo.runnable())?)).collect()
}

#[test]
fn eager_is_submission_order() {
    assert_eq!(order(None), [0, 1, 2, 3, 4, 5], "the lowest ticket first");
    assert_eq!(Schedule::new(None, 3).unasked(5), 5, "all at once");
}

#[test]
fn one_seed_one_order() {
    assert_eq!(order(Some(17)), order(Some(17)), "reproducible");
}

#[test]
fn seeds_reach_every_legal_order() {
    let orders: BTreeSet<_> = (0..5_000).map(|seed| order(Some(seed))).collect();
    // 6! / (2! 2! 2!) interleavings keep each queue's own order.
    assert_eq!(
        orders.len(),
        90,
        "every interleaving, and none that breaks a FIFO"
    );
}

#[test]
fn seeds_keep_waits() {
    for seed in 0..200 {
        let mut fifo = Fifo::new(2);
        fifo.create_timeline(1, 0);
        let one = Point {
            semaphore: 1,
            value: 1,
        };
        fifo.push(0, &[one], vec![], "wait");
        fifo.push(1, &[], vec![one], "signal");
        let mut schedule = Schedule::new(Some(seed), 2);
        let next = std::iter::from_fn(|| fifo.take(schedule.choose(&fifo.runnable())?));
        assert_eq!(next.collect::<Vec<_>>(), ["signal", "wait"], "seed {seed}");
    }
}

#[test]
fn polling_makes_progress() {
    let mut schedule = Schedule::new(Some(3), 1);
    assert!(
        (0..100).all(|_| (1..=9).contains(&schedule.polled(9))),
        "one to all"
    );
    assert_eq!(schedule.choose(&[]), None, "nothing to choose from");
    assert_eq!(schedule.choose(&[(0, Ticket(4))]), Some(0), "the only one");
}
