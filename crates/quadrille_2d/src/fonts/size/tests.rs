use bevy_camera::RenderTargetInfo;
use bevy_math::UVec2;

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

/// A camera whose target has a scale factor, and the layer that it draws.
fn camera(scale: f32, layer: usize) -> (Camera, RenderLayers) {
    let mut camera = Camera::default();
    camera.computed.target_info = Some(RenderTargetInfo {
        physical_size: UVec2::splat(1000),
        scale_factor: scale,
    });
    (camera, RenderLayers::layer(layer))
}

fn font_size(world: &World, text: Entity) -> FontSize {
    let font = world.get::<TextFont>(text);
    font.expect("texts have fonts").font_size
}

#[test]
fn font_sizes_are_limited_by_cameras_that_draw_the_text() {
    let mut app = bevy_app::App::new();
    app.init_resource::<RemSize>()
        .add_systems(bevy_app::Update, limit_font_sizes);
    let world = app.world_mut();
    world.spawn(camera(1.0, 0));
    let dense = world.spawn(camera(20.0, 1)).id();
    let font = || TextFont::from_font_size(1500.0);
    let near = world.spawn((Text2d::new("a"), font())).id();
    let far = (Text2d::new("b"), font(), RenderLayers::layer(1));
    let far = world.spawn(far).id();
    let span = (TextSpan::new("c"), font(), ChildOf(far));
    let span = world.spawn(span).id();
    let mut sizes = |change: &mut dyn FnMut(&mut World)| {
        change(app.world_mut());
        app.update();
        app.update();
        [near, far, span].map(|text| font_size(app.world(), text))
    };
    let (whole, limited) = (FontSize::Px(1500.0), FontSize::Px(200.0));
    assert_eq!(sizes(&mut |_| {}), [whole, limited, limited]);
    let sizes_moved = sizes(&mut |world| {
        world.entity_mut(far).remove::<RenderLayers>();
    });
    assert_eq!(sizes_moved, [whole; 3], "text moves to another camera");
    let sizes_of_all = sizes(&mut |world| {
        world
            .entity_mut(dense)
            .insert(RenderLayers::from_layers(&[0, 1]));
    });
    assert_eq!(sizes_of_all, [limited; 3], "a camera draws more layers");
    let sizes_without = sizes(&mut |world| {
        world.despawn(dense);
    });
    assert_eq!(sizes_without, [whole; 3], "a camera is gone");
}
