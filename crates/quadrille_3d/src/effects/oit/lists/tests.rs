use super::size;

#[test]
fn lists_fit_into_limit() {
    // A header of 8 words, 2 by 3 heads, nodes of 16 bytes.
    assert_eq!(size([2, 3], 4, u64::MAX), (4, 32 + 24 + 64));
    assert_eq!(size([2, 3], 1000, 100), (2, 32 + 24 + 32));
    assert_eq!(size([2, 3], 1000, 10), (0, 56));
}
