use ash::vk;

use super::believe;

#[test]
fn a_counter_that_nobody_has_brought_there_is_a_lost_device() {
    let lost = Err(vk::Result::ERROR_DEVICE_LOST);
    assert_eq!(believe(0, 0), Ok(0));
    assert_eq!(believe(7, 7), Ok(7), "the last that was submitted");
    assert_eq!(believe(7, 9), Ok(7));
    assert_eq!(believe(8, 7), lost);
    assert_eq!(believe(u64::MAX, 7), lost);
}
