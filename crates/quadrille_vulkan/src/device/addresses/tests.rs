use ash::vk::{self, Handle as _};

use super::{Addresses, MAX_REMOVED_BUFFERS};

fn buffer(number: u64) -> vk::Buffer {
    vk::Buffer::from_raw(number)
}

#[test]
fn buffers_are_named_by_any_of_their_addresses() {
    let ranges = Addresses::default();
    ranges.add(buffer(1), 0x1000, 0x100, "cells");
    ranges.add(buffer(2), 0x1100, 0x100, "next");
    for (first, last, reported) in [
        (0x1000, 0x1000, "which `cells` has"),
        (0x10ff, 0x10ff, "which `cells` has"),
        (0x1100, 0x1100, "which `next` has"),
        (0x0fff, 0x1000, "which `cells` has"),
        (0x1000, 0x1fff, "which `cells` or `next` has"),
        (0x0000, 0x0fff, "which no buffer has"),
        (0x1200, 0x1200, "which no buffer has"),
    ] {
        assert_eq!(
            ranges.describe(first, last),
            reported,
            "{first:#x} to {last:#x}"
        );
    }
}

#[test]
fn destroyed_buffers_are_remembered_for_a_while() {
    let ranges = Addresses::default();
    ranges.add(buffer(1), 0x1000, 0x100, "old");
    ranges.remove(buffer(1));
    assert_eq!(
        ranges.describe(0x1010, 0x1010),
        "which `old` had, now destroyed"
    );
    // The current object is listed before the former one.
    ranges.add(buffer(2), 0x1000, 0x10, "new");
    assert_eq!(ranges.describe(0x1000, 0x1fff), "which `new` has");
    ranges.remove(buffer(2));
    assert_eq!(
        ranges.describe(0x1000, 0x1000),
        "which `new` or `old` had, now destroyed"
    );
    for number in 10..10 + MAX_REMOVED_BUFFERS as u64 {
        ranges.add(buffer(number), number << 20, 1, "other");
        ranges.remove(buffer(number));
    }
    assert_eq!(ranges.describe(0x1010, 0x1010), "which no buffer has");
    // A buffer that was never added is ignored.
    ranges.remove(buffer(99));
}

#[test]
fn a_page_of_buffers_is_not_a_page_of_names() {
    let ranges = Addresses::default();
    for number in 0..10 {
        ranges.add(buffer(number), number, 1, &format!("b{number}"));
    }
    let reported = ranges.describe(0, 0xfff);
    assert_eq!(
        reported,
        "which `b0` or `b1` or `b2` or `b3` or one of 6 others has"
    );
    // Sizes and addresses at the limits do not overflow.
    ranges.add(buffer(20), u64::MAX, 2, "end");
    ranges.add(buffer(21), 0x9000, 0, "empty");
    assert_eq!(ranges.describe(u64::MAX, u64::MAX), "which `end` has");
    assert_eq!(ranges.describe(0x9000, 0x9000), "which `empty` has");
}
