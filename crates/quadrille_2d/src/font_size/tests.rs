use super::*;

#[test]
fn valid_font_sizes_are_unchanged() {
    let sizes = [
        FontSize::Px(24.0),
        FontSize::Px(MAX_PIXELS),
        FontSize::Vw(100.0),
        FontSize::Rem(1.5),
    ];
    for size in sizes {
        assert_eq!(limit(size, 20.0), None, "{size:?}");
    }
}

#[test]
fn extreme_font_sizes_are_clamped() {
    for size in [1e9, f32::MAX, f32::INFINITY] {
        assert_eq!(limit(FontSize::Px(size), 20.0), Some(FontSize::Px(2000.0)));
        assert_eq!(limit(FontSize::Rem(size), 20.0), Some(FontSize::Px(2000.0)));
        assert_eq!(limit(FontSize::Vh(size), 20.0), Some(FontSize::Vh(100.0)));
    }
    assert_eq!(limit(FontSize::Rem(1.0), 1e9), Some(FontSize::Px(2000.0)));
    assert_eq!(limit(FontSize::Px(f32::NAN), 20.0), Some(FontSize::Px(0.0)));
    assert_eq!(limit(FontSize::Vw(-1.0), 20.0), Some(FontSize::Vw(0.0)));
    let none = limit(FontSize::Rem(f32::INFINITY), 0.0);
    assert_eq!(none, Some(FontSize::Px(0.0)));
}
