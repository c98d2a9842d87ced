use super::*;

fn limit(size: FontSize, rem: f32) -> Option<FontSize> {
    super::limit(size, rem, Most::default())
}

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

#[test]
fn glyphs_have_no_more_physical_pixels_where_targets_are_scaled() {
    let limit = |size, scale, viewport| super::limit(size, 20.0, Most::new(scale, viewport));
    assert_eq!(limit(FontSize::Px(2000.0), 2.0, 1920.0), None);
    assert_eq!(limit(FontSize::Vw(100.0), 2.0, 1920.0), None);
    let odd = [
        (FontSize::Px(10.0), FontSize::Px(4.0)),
        (FontSize::Rem(1.0), FontSize::Px(4.0)),
        (FontSize::Vh(1.0), FontSize::Vh(0.4)),
    ];
    for (size, wanted) in odd {
        assert_eq!(limit(size, 1000.0, 1000.0), Some(wanted), "{size:?}");
    }
    let tiny = [FontSize::Px(2000.0), FontSize::Vw(100.0)];
    for size in tiny {
        assert_eq!(limit(size, 1e-3, 1000.0), None, "{size:?}");
    }
}

#[test]
fn sizes_return_with_their_limits() {
    let mut app = bevy_app::App::new();
    app.init_resource::<RemSize>()
        .add_systems(bevy_app::Update, limit_font_sizes);
    let sizes = [FontSize::Rem(2.0), FontSize::Px(9000.0)];
    let fonts = sizes.map(TextFont::from_font_size);
    let texts = fonts.map(|font| app.world_mut().spawn(font).id());
    let mut taken = |rem| {
        app.insert_resource(RemSize(rem));
        app.update();
        app.update();
        texts.map(|text| app.world().get::<TextFont>(text).map(|font| font.font_size))
    };
    let ordinary = [Some(FontSize::Rem(2.0)), Some(FontSize::Px(2000.0))];
    assert_eq!(taken(20.0), ordinary);
    assert_eq!(taken(1e9), [Some(FontSize::Px(2000.0)); 2]);
    assert_eq!(taken(f32::NAN)[0], Some(FontSize::Px(0.0)));
    assert_eq!(taken(20.0), ordinary);
}
