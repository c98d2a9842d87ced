use super::*;

#[test]
fn a_font_is_a_font() {
    assert_eq!(check(DEFAULT_FONT_DATA), Ok(()));
}

#[test]
fn what_is_no_font_is_said_to_be_none() {
    let error = check(b"<html>not found</html>").unwrap_err();
    assert!(error.contains("begins with `<htm`"), "{error}");
    assert!(check(b"").unwrap_err().contains("header"));
    assert!(check(b"ttcf").unwrap_err().contains("header"));
    // The offset of the first font of a collection is anything.
    let mut collection = b"ttcf\0\x01\0\0\0\0\0\x01".to_vec();
    collection.extend(u32::MAX.to_be_bytes());
    assert!(check(&collection).unwrap_err().contains("header"));
    // Tables, but none that a font needs.
    let empty = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(check(&empty).unwrap_err().contains("no font"));
}

#[test]
fn a_font_that_is_cut_off_is_refused_wherever_that_is() {
    let length = DEFAULT_FONT_DATA.len();
    // Up to three bytes at the end only fill the last table up to a multiple of four.
    for cut in (0..length - 4).step_by(97).chain([length - 4]) {
        let result = check(&DEFAULT_FONT_DATA[..cut]);
        assert!(result.is_err(), "the first {cut} bytes of {length}");
    }
}

#[test]
fn a_font_that_is_too_long_is_refused() {
    let mut long = DEFAULT_FONT_DATA.to_vec();
    long.resize(MOST_BYTES + 1, 0);
    assert!(check(&long).unwrap_err().contains("the limit of 67108864"));
}
