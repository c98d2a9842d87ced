use super::*;

#[test]
fn display_and_parse_round_trip() {
    for text in ["1x1", "640x480", "8192x8192", "33x7"] {
        assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
    }
    assert_eq!("5X6".parse(), Size::new(5, 6));
}

#[test]
fn refuses_other_forms() {
    for text in [
        "", "x", "5", "5x", "x5", "5x6x7", "-5x6", "+5x6", "5 x 6", "5.0x6", "axb",
    ] {
        let error = text.parse::<Size>().unwrap_err();
        assert_eq!(error, SizeError::Form(text.to_owned()));
    }
}

#[test]
fn names_the_side_and_the_limit() {
    let message = |text: &str| text.parse::<Size>().unwrap_err().to_string();
    assert_eq!(
        message("0x6"),
        "the width 0 is out of range; a side has 1 to 8192 cells"
    );
    assert_eq!(
        message("6x8193"),
        "the height 8193 is out of range; a side has 1 to 8192 cells"
    );
    assert_eq!(
        message("99999999999x1"),
        "the width 99999999999 is out of range; a side has 1 to 8192 cells"
    );
}
