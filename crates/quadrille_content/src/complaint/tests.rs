use super::*;

#[test]
fn there_is_one_warning_a_second_and_the_rest_is_counted() {
    let mut said = Said::default();
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let times = [0, 1, 999, 1000, 1500, 2500, 9000];
    let answers = times.map(|milliseconds| said.say(after(milliseconds)));
    assert_eq!(
        answers,
        [Some(0), None, None, Some(2), None, Some(1), Some(0)]
    );
}

#[test]
fn the_first_value_that_is_not_finite_is_named() {
    let fine: (&str, &[f32]) = ("anchor", &[0.0, 1.0]);
    let odd: (&str, &[f32]) = ("size", &[1.0, f32::NAN]);
    assert_eq!(first_odd(&[fine, odd, odd]), "its size is [1.0, NaN]");
    assert!(first_odd(&[fine]).contains("too large"));
}
