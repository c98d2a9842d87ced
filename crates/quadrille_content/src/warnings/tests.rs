use super::*;

#[test]
fn warnings_are_rate_limited_and_counted() {
    let mut limiter = WarningLimiter::default();
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let times = [0, 1, 999, 1000, 1500, 2500, 9000];
    let answers = times.map(|milliseconds| limiter.next_warning(after(milliseconds)));
    assert_eq!(
        answers,
        [Some(0), None, None, Some(2), None, Some(1), Some(0)]
    );
}

#[test]
fn first_non_finite_value_is_reported() {
    let fine: (&str, &[f32]) = ("anchor", &[0.0, 1.0]);
    let odd: (&str, &[f32]) = ("size", &[1.0, f32::NAN]);
    assert_eq!(
        first_non_finite(&[fine, odd, odd]),
        "its size is [1.0, NaN]"
    );
    assert!(first_non_finite(&[fine]).contains("too large"));
}
