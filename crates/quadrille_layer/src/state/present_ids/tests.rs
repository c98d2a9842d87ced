use std::time::{Duration, Instant};

use ash::vk;
use ash::vk::Handle as _;

use super::Shown;
use crate::settings::script::FenceFault;

const NO_TIME: Duration = Duration::ZERO;

#[test]
fn an_id_counts_once_it_or_a_later_one_is_shown() {
    let (shown, chain) = (Shown::default(), vk::SwapchainKHR::from_raw(1));
    assert_eq!(shown.wait(chain, 1, NO_TIME), vk::Result::TIMEOUT);
    shown.presented(chain, 1, Some(FenceFault::Never));
    assert_eq!(shown.wait(chain, 1, NO_TIME), vk::Result::TIMEOUT);
    shown.presented(chain, 2, None);
    assert_eq!(shown.wait(chain, 1, NO_TIME), vk::Result::SUCCESS);
    assert_eq!(shown.wait(chain, 3, NO_TIME), vk::Result::TIMEOUT);
    let other = vk::SwapchainKHR::from_raw(2);
    assert_eq!(shown.wait(other, 1, NO_TIME), vk::Result::TIMEOUT);
    shown.forget(chain);
    assert_eq!(shown.wait(chain, 1, NO_TIME), vk::Result::TIMEOUT);
}

#[test]
fn a_late_one_is_waited_for() {
    let (shown, chain) = (Shown::default(), vk::SwapchainKHR::from_raw(1));
    let (start, late) = (Instant::now(), Duration::from_millis(20));
    shown.presented(chain, 1, Some(FenceFault::Late(late)));
    assert_eq!(
        shown.wait(chain, 1, Duration::from_secs(60)),
        vk::Result::SUCCESS
    );
    assert!(start.elapsed() >= late);
}

#[test]
fn old_presents_are_dropped_and_still_count() {
    let (shown, chain) = (Shown::default(), vk::SwapchainKHR::from_raw(1));
    for id in 1..=1000 {
        shown.presented(chain, id, None);
    }
    shown.presented(chain, 1001, Some(FenceFault::Never));
    let kept = shown.presents.lock().unwrap()[&chain].len();
    assert!(kept <= 3, "{kept} presents are kept");
    assert_eq!(shown.wait(chain, 1, NO_TIME), vk::Result::SUCCESS);
    assert_eq!(shown.wait(chain, 1000, NO_TIME), vk::Result::SUCCESS);
    assert_eq!(shown.wait(chain, 1001, NO_TIME), vk::Result::TIMEOUT);
}
