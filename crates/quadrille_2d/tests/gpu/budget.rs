//! Images without a placeholder, while other images use up the upload budget.

use bevy_app::Startup;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::{Image, ImageSampler};
use bevy_math::Vec2;
use quadrille_2d::content::images::DeviceImages;
use quadrille_2d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Picture, Rig, log};

const RED: [u8; 4] = [200, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 200, 255];

/// A square image of one color.
fn square(side: u32, color: [u8; 4], usages: RenderAssetUsages) -> Image {
    let size = Extent3d {
        width: side,
        height: side,
        depth_or_array_layers: 1,
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    Image::new_fill(size, TextureDimension::D2, &color, format, usages)
}

#[derive(Resource)]
struct Shown(Handle<Image>);

/// A sprite of 16 pixels with an image of 4 texels, queued after a large image under a budget of one byte a frame.
fn crowded(usages: RenderAssetUsages) -> Rig {
    let mut rig = Rig::scene(
        64,
        32,
        move |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            commands.insert_resource(ClearColor(Color::BLACK));
            commands.spawn(Camera2d);
            let image = images.add(square(4, RED, usages));
            commands.spawn(Sprite {
                image: image.clone(),
                custom_size: Some(Vec2::splat(16.0)),
                ..Sprite::default()
            });
            commands.insert_resource(Shown(image));
        },
    );
    rig.update(3);
    assert_eq!(rig.picture().at(32, 16), RED);
    rig.app.insert_resource(UploadBudget { bytes: 1 });
    let large = square(4096, BLUE, RenderAssetUsages::default());
    let large = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Image>>()
        .add(large);
    rig.app.world_mut().spawn((
        Sprite::from_image(large),
        Transform::from_xyz(5000.0, 0.0, 0.0),
    ));
    rig.update(1);
    assert_eq!(pending(&rig), 1);
    rig
}

fn pending(rig: &Rig) -> usize {
    rig.app.world().resource::<DeviceImages>().pending()
}

fn change(rig: &mut Rig, change: impl FnOnce(&mut Image)) {
    let world = rig.app.world_mut();
    let id = world.resource::<Shown>().0.id();
    let mut images = world.resource_mut::<Assets<Image>>();
    change(&mut images.get_mut(id).expect("the image is there"));
}

#[test]
#[ignore = "needs a device"]
fn changed_image_is_drawn_in_same_frame() {
    let mut rig = crowded(RenderAssetUsages::default());
    for color in [BLUE, RED, BLUE] {
        change(&mut rig, |image| {
            let texels = image.data.as_mut().expect("it has texels");
            texels.as_chunks_mut::<4>().0.fill(color);
        });
        assert_eq!(rig.picture().at(32, 16), color);
        assert_eq!(pending(&rig), 1, "the large image goes on waiting");
    }
}

#[test]
#[ignore = "needs a device"]
fn resized_image_keeps_old_texels_until_uploaded() {
    let mut rig = crowded(RenderAssetUsages::default());
    change(&mut rig, |image| {
        *image = square(70, BLUE, RenderAssetUsages::default());
    });
    let mut frames = 0;
    while rig.picture().at(32, 16) == RED {
        frames += 1;
        assert!(frames < 2000, "it does not come");
    }
    assert!(frames > 3, "it came within {frames} frames");
    assert_eq!(rig.picture().at(32, 16), BLUE);
}

#[test]
#[ignore = "needs a device"]
fn glyphs_are_complete_in_first_frame() {
    fn letters(mut commands: Commands) {
        for size in 0..40 {
            let font = TextFont::from_font_size(8.0 + 0.5 * size as f32);
            let [x, y] = [size % 10, size / 10].map(|at| at as f32);
            let place = Transform::from_xyz(30.0 * x - 135.0, 30.0 * y - 45.0, 0.0);
            commands.spawn((Text2d::new("M"), font, place));
        }
    }
    let mut rig = Rig::new(300, 120);
    rig.app.insert_resource(UploadBudget { bytes: 1 });
    let setup = |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
    };
    rig.app.add_systems(Startup, (setup, letters));
    rig.start();
    // Text is laid out in the frame after a camera that sees it was found.
    let is_drawn = |picture: &Picture| picture.pixels.iter().any(|it| it[0] > 0);
    let first = (0..8).map(|_| rig.picture()).find(is_drawn);
    let first = first.expect("letters appear");
    rig.update(4);
    let later = rig.picture();
    let drawn = later.pixels.iter().filter(|it| it[0] > 128).count();
    assert!(drawn > 40 * 20, "{drawn} pixels of letters");
    let differs = std::iter::zip(&first.pixels, &later.pixels);
    let missing = differs.filter(|(first, later)| first != later).count();
    assert_eq!(missing, 0, "pixels of the first frame are others later");
}

#[cfg(feature = "ui")]
#[test]
#[ignore = "needs a device"]
fn node_glyphs_and_colors_are_complete_in_first_frame() {
    use bevy_ui::prelude::*;
    let mut rig = Rig::new(120, 60);
    rig.app.insert_resource(UploadBudget { bytes: 1 });
    rig.app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn(Camera2d);
        let node = Node {
            width: Val::Px(120.0),
            height: Val::Px(60.0),
            ..Node::default()
        };
        let color = BackgroundColor(Color::srgb_u8(0, 0, 200));
        let mut node = commands.spawn((node, color));
        node.with_child((Text::new("MMM"), TextFont::from_font_size(30.0)));
    });
    rig.start();
    let first = rig.picture();
    rig.update(4);
    assert!(first == rig.picture(), "the first frame lacks something");
    assert_eq!(first.at(110, 50), BLUE);
    let drawn = first.pixels.iter().filter(|it| it[0] > 128).count();
    assert!(drawn > 100, "{drawn} pixels of letters");
}

#[test]
#[ignore = "needs a device"]
fn gpu_only_texels_survive_asset_change() {
    let mut rig = crowded(RenderAssetUsages::RENDER_WORLD);
    log::collect();
    for sampler in [ImageSampler::nearest(), ImageSampler::linear()] {
        change(&mut rig, |image| {
            assert_eq!(image.data, None, "it was released");
            image.sampler = sampler;
        });
        assert_eq!(rig.picture().at(32, 16), RED);
    }
    // An image resized without new texels is not uploaded either: the old one stays.
    change(&mut rig, |image| {
        image.texture_descriptor.size.width = 8;
    });
    assert_eq!(rig.picture().at(32, 16), RED);
    let reported = log::take();
    let reported: Vec<_> = reported
        .iter()
        .filter(|it| it.contains("the Image"))
        .collect();
    assert_eq!(reported.len(), 1, "{reported:#?}");
    assert!(reported[0].contains("MAIN_WORLD"), "{reported:#?}");
    // A complete image replaces it.
    change(&mut rig, |image| {
        *image = square(4, BLUE, RenderAssetUsages::RENDER_WORLD);
    });
    assert_eq!(rig.picture().at(32, 16), BLUE);
}
