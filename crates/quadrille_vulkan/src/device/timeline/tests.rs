use std::convert::Infallible;

use ash::vk;

use super::{believe, last_reached};

#[test]
fn a_counter_that_nobody_has_brought_there_is_a_lost_device() {
    let lost = Err(vk::Result::ERROR_DEVICE_LOST);
    assert_eq!(believe(0, 0), Ok(0));
    assert_eq!(believe(7, 7), Ok(7), "the last that was submitted");
    assert_eq!(believe(7, 9), Ok(7));
    assert_eq!(believe(8, 7), lost);
    assert_eq!(believe(u64::MAX, 7), lost);
}

#[test]
fn the_last_reached_value_is_found_with_few_questions() {
    for known in [0, 5, 6, u64::MAX - 90] {
        for ahead in 0..40 {
            for further in [0, 1, 2, 50] {
                let (value, limit) = (known + ahead, known + ahead + further);
                let mut questions = 0;
                let found = last_reached(known, limit, |asked| {
                    assert!(asked > known && asked <= limit, "{asked}");
                    questions += 1;
                    Ok::<_, Infallible>(asked <= value)
                });
                assert_eq!(found, Ok(value), "{known} to {limit}");
                assert!(questions <= 12, "{questions} for {known} to {value}");
            }
        }
    }
    // A resting timeline takes one question, or none if nothing is announced.
    let failing = |_| Err("asked");
    assert_eq!(last_reached(7, 7, failing), Ok(7));
    assert_eq!(last_reached(7, 6, failing), Ok(7));
    assert_eq!(last_reached(7, 8, failing), Err("asked"));
}
