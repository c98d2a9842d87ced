//! Text with bad fonts and sizes.

use crate::common::Rig;
use bevy_app::Startup;
use bevy_camera::ImageRenderTarget;
use bevy_ecs::prelude::*;
use bevy_ui::prelude::*;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

const BACKGROUND: [u8; 4] = [0, 0, 0, 255];

/// Number of pixels in a column of the picture that differ from the background.
fn drawn(picture: &crate::common::Picture, columns: std::ops::Range<u32>) -> usize {
    let places = columns.flat_map(|x| (0..picture.height).map(move |y| (x, y)));
    places
        .filter(|&(x, y)| picture.at(x, y) != BACKGROUND)
        .count()
}

#[test]
#[ignore = "needs a device"]
fn text_with_invalid_font_uses_default_font() {
    let folder = crate::common::temporary("fonts");
    std::fs::create_dir_all(&folder).expect("a folder");
    let default = bevy_text::DEFAULT_FONT_DATA;
    let half = &default[..default.len() / 2];
    std::fs::write(folder.join("half.ttf"), half).expect("written");
    // A font with valid tables and random outlines.
    let mut rotten = default.to_vec();
    let middle = rotten.len() / 2;
    rotten[middle - 5000..middle + 5000].fill(0x9C);
    std::fs::write(folder.join("rotten.ttf"), rotten).expect("written");
    std::fs::write(folder.join("page.ttf"), "<html>no</html>").expect("written");
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    let mut rig = Rig::with(200, 40, plugin);
    rig.app.add_systems(
        Startup,
        |mut commands: Commands, assets: Res<AssetServer>| {
            commands.insert_resource(ClearColor(Color::BLACK));
            commands.spawn(Camera2d);
            let fonts = ["half.ttf", "page.ttf", "missing.ttf", "rotten.ttf"];
            let fonts = fonts.map(|name| assets.load(name)).into_iter();
            for (index, font) in [Handle::default()].into_iter().chain(fonts).enumerate() {
                let font = TextFont::from_font_size(24.0).with_font(font);
                let x = -80.0 + 40.0 * index as f32;
                commands.spawn((Text2d::new("M"), font, Transform::from_xyz(x, 0.0, 0.0)));
            }
        },
    );
    rig.start();
    for _ in 0..2000 {
        let picture = rig.picture();
        let letters = [0, 1, 2, 3, 4].map(|index| drawn(&picture, index * 40..(index + 1) * 40));
        if letters[0] > 50 && letters.iter().all(|&pixels| pixels == letters[0]) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the letters are not the same");
}

#[test]
#[ignore = "needs a device"]
fn extreme_font_sizes_do_not_crash() {
    let mut rig = Rig::scene(160, 40, |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
        for size in [1e9, f32::INFINITY, f32::NAN, -4.0, 0.0] {
            for size in [FontSize::Px(size), FontSize::Rem(size), FontSize::Vw(size)] {
                commands.spawn((Text2d::new("M"), TextFont::from_font_size(size)));
            }
        }
    });
    rig.update(4);
    let picture = rig.picture();
    assert!(drawn(&picture, 0..160) > 0, "a part of the letters is seen");
}

#[test]
#[ignore = "needs a device"]
fn font_sizes_of_nodes_are_limited_by_their_camera() {
    let mut rig = Rig::scene(64, 64, |mut commands: Commands| {
        commands.spawn(Camera2d);
    });
    let mut image = crate::common::scenes::image(8, 8, vec![0; 256]);
    image.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
    let world = rig.app.world_mut();
    let handle = world.resource_mut::<Assets<Image>>().add(image);
    let target = RenderTarget::Image(ImageRenderTarget {
        handle,
        scale_factor: 20.0,
    });
    let dense = world.spawn((Camera2d, target)).id();
    let font = || TextFont::from_font_size(300.0);
    let near = world.spawn((Text::default(), font())).id();
    let far = (Text::default(), font(), UiTargetCamera(dense));
    let far = world.spawn(far).id();
    let span = (TextSpan::default(), font(), ChildOf(far));
    let span = world.spawn(span).id();
    let sizes = |rig: &mut Rig| {
        rig.update(2);
        [near, far, span].map(|text| {
            let font = rig.app.world().get::<TextFont>(text);
            font.expect("texts have fonts").font_size
        })
    };
    let (whole, limited) = (FontSize::Px(300.0), FontSize::Px(200.0));
    assert_eq!(sizes(&mut rig), [whole, limited, limited]);
    let mut far = rig.app.world_mut().entity_mut(far);
    far.remove::<UiTargetCamera>();
    assert_eq!(
        sizes(&mut rig),
        [whole; 3],
        "the node moves to another camera"
    );
}
