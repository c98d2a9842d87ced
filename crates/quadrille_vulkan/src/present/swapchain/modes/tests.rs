use std::convert::Infallible;

use ash::vk::PresentModeKHR;

use super::Modes;

const FIFO: PresentModeKHR = PresentModeKHR::FIFO;
const RELAXED: PresentModeKHR = PresentModeKHR::FIFO_RELAXED;
const MAILBOX: PresentModeKHR = PresentModeKHR::MAILBOX;
const IMMEDIATE: PresentModeKHR = PresentModeKHR::IMMEDIATE;

fn modes(
    available: &[PresentModeKHR],
    wanted: &[PresentModeKHR],
    compatible: &[PresentModeKHR],
) -> Modes {
    let compatible = |_| Ok::<_, Infallible>(compatible.to_vec());
    Modes::choose(available, wanted, compatible).unwrap()
}

#[test]
fn present_modes_fall_back_to_fifo() {
    let available = [MAILBOX, FIFO];
    let chosen = |wanted: &[PresentModeKHR]| modes(&available, wanted, &[]).current();
    assert_eq!(chosen(&[IMMEDIATE, MAILBOX]), MAILBOX);
    assert_eq!(chosen(&[IMMEDIATE]), FIFO);
    assert_eq!(chosen(&[]), FIFO);
    assert_eq!(modes(&[], &[MAILBOX], &[]).current(), FIFO);
}

#[test]
fn the_next_present_tells_of_another_mode_once() {
    let all = [FIFO, MAILBOX, IMMEDIATE];
    let mut modes = modes(&all, &[FIFO], &all);
    assert_eq!(modes.news(), None, "it was made with this one");
    assert!(modes.change(&[MAILBOX]));
    assert_eq!((modes.current(), modes.news()), (MAILBOX, Some(MAILBOX)));
    modes.mark_applied();
    assert_eq!(modes.news(), None);
    assert!(modes.change(&[IMMEDIATE]) && modes.change(&[MAILBOX]));
    assert_eq!(modes.news(), None, "there and back between two presents");
    assert!(modes.change(&[]), "back to FIFO");
    assert_eq!(modes.news(), Some(FIFO));
}

#[test]
fn other_modes_take_another_swapchain() {
    let mut only_one = modes(&[FIFO, MAILBOX], &[FIFO], &[FIFO]);
    assert!(only_one.compatible().is_empty());
    assert!(!only_one.change(&[MAILBOX]));
    assert_eq!(only_one.current(), FIFO, "it stays as it was");
    assert!(only_one.change(&[RELAXED]), "not there, so FIFO it is");
    let mut some = modes(&[FIFO, RELAXED, MAILBOX], &[FIFO], &[FIFO, RELAXED]);
    assert!(some.change(&[RELAXED]) && !some.change(&[MAILBOX]));
}

#[test]
fn invalid_compatible_modes_of_a_driver_are_ignored() {
    let shared = PresentModeKHR::SHARED_DEMAND_REFRESH;
    let available = [FIFO, MAILBOX, shared];
    let with_others = modes(&available, &[FIFO], &[FIFO, MAILBOX, shared, IMMEDIATE]);
    assert_eq!(with_others.compatible(), [FIFO, MAILBOX]);
    let without_itself = modes(&available, &[FIFO], &[MAILBOX, shared]);
    assert!(without_itself.compatible().is_empty());
}
