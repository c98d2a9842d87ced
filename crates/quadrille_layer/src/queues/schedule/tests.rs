use std::collections::BTreeSet;

use super::{Random, Schedule};
use crate::queues::fifo::{Fifo, Point, Ticket};

/// Returns the order in which a schedule forwards three queues of two independent submissions each.
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
    // 6! / (2! 2! 2!) interleavings preserve the order within each queue.
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

/// Submissions wait for earlier ones in a hidden order, and are pushed queue by queue in random interleavings. All must
/// be forwarded, each after its dependencies, even if a wait is pushed before its signal.
#[test]
fn random_graphs_drain_in_a_legal_order() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let (queues, count) = (1 + random.below(5), 1 + random.below(40));
        let mut fifo = Fifo::new(queues as usize);
        let mut lists = vec![Vec::new(); queues as usize];
        for one in 0..count {
            fifo.create_timeline(one, 0);
            let waits: Vec<u64> = (0..random.below(4).min(one))
                .map(|_| random.below(one))
                .collect();
            lists[random.below(queues) as usize].push((one, waits));
        }
        let point = |semaphore| Point {
            semaphore,
            value: 1,
        };
        let mut pending: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
        let mut schedule = Schedule::new(seed.is_multiple_of(5).then_some(seed), queues as usize);
        let mut done = BTreeSet::new();
        let mut left = count;
        while left > 0 {
            let queue = random.below(queues) as usize;
            let Some((one, waits)) = pending[queue].next() else {
                continue;
            };
            left -= 1;
            let points: Vec<_> = waits.iter().copied().map(point).collect();
            fifo.push(queue, &points, vec![point(one)], (one, waits));
            for _ in 0..schedule.unasked(fifo.len()) {
                let Some(queue) = schedule.choose(&fifo.runnable()) else {
                    break;
                };
                let (one, waits) = fifo.take(queue).unwrap();
                assert!(
                    waits.iter().all(|wait| done.contains(wait)),
                    "seed {seed}: {one}"
                );
                done.insert(one);
            }
        }
        while let Some(queue) = schedule.choose(&fifo.runnable()) {
            let (one, waits) = fifo.take(queue).unwrap();
            assert!(
                waits.iter().all(|wait| done.contains(wait)),
                "seed {seed}: {one}"
            );
            done.insert(one);
        }
        assert_eq!(
            done.len() as u64,
            count,
            "seed {seed}: {:?}",
            fifo.blocked()
        );
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
