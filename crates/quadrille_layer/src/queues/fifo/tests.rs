use super::{Fifo, Kind, Point};

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const TIMELINE: u64 = 7;
const BINARY: u64 = 8;

fn point(semaphore: u64, value: u64) -> Point {
    Point { semaphore, value }
}

/// Returns a model with three queues, a timeline at 0 and a binary semaphore.
fn model() -> Fifo<&'static str> {
    let mut fifo = Fifo::new(3);
    fifo.create_timeline(TIMELINE, 0);
    fifo.create_binary(BINARY);
    fifo
}

/// Forwards in submission order until nothing is runnable.
fn drain(fifo: &mut Fifo<&'static str>) -> Vec<&'static str> {
    let mut order = Vec::new();
    while let Some((queue, _)) = fifo.runnable().into_iter().min_by_key(|head| head.1) {
        order.push(fifo.take(queue).unwrap());
    }
    order
}

#[test]
fn wait_before_signal_is_held_until_the_signal_is_forwarded() {
    let mut fifo = model();
    fifo.push(B, &[point(TIMELINE, 1)], vec![point(TIMELINE, 2)], "wait");
    assert_eq!(drain(&mut fifo), [""; 0], "nobody has signalled 1");
    fifo.push(A, &[], vec![point(TIMELINE, 1)], "signal");
    assert_eq!(
        drain(&mut fifo),
        ["signal", "wait"],
        "the wait follows its signal"
    );
}

#[test]
fn a_queue_is_a_fifo() {
    let mut fifo = model();
    fifo.push(A, &[point(TIMELINE, 1)], vec![], "first");
    fifo.push(A, &[], vec![], "second");
    assert_eq!(
        drain(&mut fifo),
        [""; 0],
        "a submission without waits does not overtake"
    );
    fifo.signal(point(TIMELINE, 1));
    assert_eq!(
        drain(&mut fifo),
        ["first", "second"],
        "a host signal lets both go"
    );
}

#[test]
fn a_binary_wait_takes_its_own_signal() {
    let mut fifo = model();
    fifo.push(A, &[], vec![point(BINARY, 0)], "signal 1");
    fifo.push(B, &[point(BINARY, 0)], vec![point(TIMELINE, 1)], "wait 1");
    fifo.push(A, &[point(TIMELINE, 1)], vec![point(BINARY, 0)], "signal 2");
    fifo.push(C, &[point(BINARY, 0)], vec![], "wait 2");
    assert_eq!(fifo.take(A), Some("signal 1"), "nothing to wait for");
    let queues: Vec<_> = fifo.runnable().into_iter().map(|head| head.0).collect();
    assert_eq!(
        queues,
        [B],
        "the first signal belongs to the first wait, not to the second"
    );
    assert_eq!(
        drain(&mut fifo),
        ["wait 1", "signal 2", "wait 2"],
        "then all goes in order"
    );
}

#[test]
fn a_deadlock_names_every_wait_of_the_heads() {
    let mut fifo = model();
    fifo.create_timeline(9, 4);
    fifo.push(A, &[point(TIMELINE, 1)], vec![point(9, 5)], "a");
    fifo.push(B, &[point(9, 5)], vec![point(TIMELINE, 1)], "b");
    assert_eq!(drain(&mut fifo), [""; 0], "a cycle");
    let blocked: Vec<_> = fifo
        .blocked()
        .iter()
        .map(|one| (one.queue, one.wait))
        .collect();
    assert_eq!(
        blocked,
        [(A, point(TIMELINE, 1)), (B, point(9, 5))],
        "both waits are named"
    );
}

#[test]
fn events_move_the_epoch_and_queries_do_not() {
    let mut fifo = model();
    let before = fifo.epoch();
    fifo.push(A, &[], vec![], "work");
    let pushed = fifo.epoch();
    assert!(pushed > before, "a push may let somebody go on");
    fifo.observe(point(TIMELINE, 0));
    assert_eq!(fifo.epoch(), pushed, "0 was covered already");
    fifo.observe(point(TIMELINE, 3));
    assert!(fifo.epoch() > pushed, "the driver reports progress");
}

#[test]
fn a_destroyed_semaphore_is_never_signalled() {
    let mut fifo = model();
    fifo.push(A, &[point(TIMELINE, 1)], vec![], "wait");
    fifo.destroy(TIMELINE);
    assert_eq!(
        drain(&mut fifo),
        [""; 0],
        "its handle must not reach the driver"
    );
    assert_eq!(fifo.blocked()[0].kind, Kind::Gone, "and the report says so");
}
