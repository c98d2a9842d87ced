use super::OrderIndependentTransparencySettings;

#[test]
fn numbers_are_within_their_ranges() {
    let capacity = |fragments_per_pixel_average| {
        let settings = OrderIndependentTransparencySettings {
            fragments_per_pixel_average,
            ..OrderIndependentTransparencySettings::default()
        };
        settings.capacity(1000)
    };
    assert_eq!([4.0, 0.0001, -1.0, f32::NAN].map(capacity), [4000, 1, 0, 0]);
    assert_eq!(capacity(f32::INFINITY), u64::MAX);
    let sorted = |sorted_fragment_max_count| {
        let settings = OrderIndependentTransparencySettings {
            sorted_fragment_max_count,
            ..OrderIndependentTransparencySettings::default()
        };
        settings.sorted_count()
    };
    assert_eq!([0, 8, 1000].map(sorted), [1, 8, 32]);
}
