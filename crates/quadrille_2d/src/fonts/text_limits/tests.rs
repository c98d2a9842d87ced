use super::*;

#[test]
fn text_numbers_are_clamped() {
    let mut odd = None;
    for (number, wanted) in [
        (3.0, 3.0),
        (-2.0, 0.0),
        (f32::NAN, 0.0),
        (f32::INFINITY, MAX_LAYOUT_VALUE),
    ] {
        let mut limited = number;
        limit("height", &mut limited, 0.0, &mut odd);
        assert_eq!(limited, wanted);
    }
    assert_eq!(odd, Some(("height", -2.0)), "the first one that was not");
}
