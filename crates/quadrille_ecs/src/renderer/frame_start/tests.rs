use std::time::Duration;

use super::{FRAMES, FrameStart, LATEST, Spare};

const MS: Duration = Duration::from_millis(1);

/// Simulates frames with these costs, each shown at the next refresh. Returns the delay of the frame after them.
fn run(spare: &mut Spare, costs: &[Duration]) -> Duration {
    let refresh = 16 * MS;
    let mut late = Duration::ZERO;
    for cost in costs {
        let waited = refresh.saturating_sub(late + *cost);
        late = spare.next(waited, FrameStart::late());
    }
    late
}

#[test]
fn frames_begin_at_once_unless_it_is_wanted_otherwise() {
    let mut spare = Spare::default();
    for _ in 0..2 * FRAMES {
        assert_eq!(spare.next(10 * MS, FrameStart::NoDelay), Duration::ZERO);
    }
}

#[test]
fn frames_begin_as_late_as_their_cost_allows() {
    let mut spare = Spare::default();
    assert_eq!(run(&mut spare, &[3 * MS; FRAMES - 1]), Duration::ZERO);
    // 16 ms less the cost of 3 and the margin of 2, from now on.
    assert_eq!(run(&mut spare, &[3 * MS; 1]), 11 * MS);
    for _ in 0..100 {
        let waited = 2 * MS;
        assert_eq!(spare.next(waited, FrameStart::late()), 11 * MS);
    }
}

#[test]
fn a_frame_that_takes_longer_makes_the_next_begin_earlier_at_once() {
    let mut spare = Spare::default();
    run(&mut spare, &[3 * MS; FRAMES]);
    // The frame began 11 ms late, and nothing was left to wait for.
    assert_eq!(spare.next(Duration::ZERO, FrameStart::late()), 9 * MS);
    // The delay stays until the long frame leaves the window of recent frames.
    for _ in 1..FRAMES {
        assert_eq!(spare.next(4 * MS, FrameStart::late()), 9 * MS);
    }
    assert_eq!(spare.next(4 * MS, FrameStart::late()), 11 * MS);
}

#[test]
fn no_frame_begins_later_than_the_latest() {
    let mut spare = Spare::default();
    for _ in 0..FRAMES {
        spare.next(250 * MS, FrameStart::late());
    }
    assert_eq!(spare.next(250 * MS, FrameStart::late()), LATEST);
}

#[test]
fn no_delay_discards_measurements() {
    let mut spare = Spare::default();
    run(&mut spare, &[3 * MS; FRAMES]);
    spare.next(MS, FrameStart::NoDelay);
    assert_eq!(run(&mut spare, &[3 * MS; 1]), Duration::ZERO);
}
