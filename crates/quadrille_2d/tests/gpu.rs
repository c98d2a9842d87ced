//! Pictures of 2D scenes on a device. `cargo test -p quadrille_2d --test gpu -- --ignored`;
//! without a device these tests fail.

#[path = "gpu/budget.rs"]
mod budget;
mod common;
#[path = "gpu/compositing.rs"]
mod compositing;
#[cfg(feature = "gizmos")]
#[path = "gpu/gizmos.rs"]
mod gizmos;
#[cfg(feature = "ui")]
#[path = "gpu/gradients.rs"]
mod gradients;
#[path = "gpu/ktx2.rs"]
mod ktx2;
#[cfg(all(feature = "ui", feature = "gizmos"))]
#[path = "gpu/lifecycle.rs"]
mod lifecycle;
#[path = "gpu/material_attributes.rs"]
mod material_attributes;
#[path = "gpu/material_storage.rs"]
mod material_storage;
#[path = "gpu/material_variants.rs"]
mod material_variants;
#[path = "gpu/materials.rs"]
mod materials;
#[path = "gpu/msaa.rs"]
mod msaa;
#[path = "gpu/recover.rs"]
mod recover;
#[cfg(feature = "hot_reload")]
#[path = "gpu/reload.rs"]
mod reload;
#[path = "gpu/retained.rs"]
mod retained;
#[path = "gpu/schedule.rs"]
mod schedule;
#[path = "gpu/sprite_materials.rs"]
mod sprite_materials;
#[path = "gpu/text.rs"]
mod text;
#[path = "gpu/tilemap.rs"]
mod tilemap;
#[cfg(feature = "ui")]
#[path = "gpu/ui.rs"]
mod ui;
#[cfg(feature = "ui")]
#[path = "gpu/ui_parts.rs"]
mod ui_parts;
#[path = "gpu/windows.rs"]
mod windows;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use bevy_math::Vec2;
use common::{Rig, golden, log, scenes};
use quadrille::ecs::Pass;
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, Quadrille2dPlugin};

#[test]
#[ignore = "needs a device"]
fn colored_sprite_covers_clear_color() {
    let mut rig = Rig::scene(64, 48, |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::srgb_u8(10, 20, 30)));
        commands.spawn(Camera2d);
        commands.spawn((
            Sprite::from_color(Color::srgb_u8(200, 100, 50), Vec2::new(20.0, 10.0)),
            Transform::from_xyz(10.0, 5.0, 0.0),
        ));
    });
    let picture = rig.picture();
    assert_eq!(picture.at(5, 45), [10, 20, 30, 255]);
    assert_eq!(picture.at(32, 14), [200, 100, 50, 255]);
    assert_eq!(picture.at(51, 23), [200, 100, 50, 255]);
    assert_eq!(picture.at(52, 23), [10, 20, 30, 255]);
}

#[test]
#[ignore = "needs a device"]
fn sprites_match_golden() {
    let mut rig = Rig::scene(200, 120, scenes::sprites);
    golden::expect("sprites", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn text_matches_golden() {
    let mut rig = Rig::scene(220, 130, scenes::text);
    // Text is laid out only after a camera that sees it was found.
    rig.update(3);
    golden::expect("text", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn meshes_match_golden() {
    let mut rig = Rig::scene(160, 100, scenes::meshes);
    golden::expect("meshes", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn cameras_match_golden() {
    let mut rig = Rig::scene(160, 100, scenes::cameras);
    golden::expect("cameras", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn disabled_pass_changes_picture() {
    let mut rig = Rig::scene(200, 120, scenes::sprites);
    let _ = rig.picture();
    let world = rig.app.world_mut();
    let mut passes = world.query_filtered::<(Entity, &Name), With<Pass>>();
    let found = passes
        .iter(world)
        .find(|(_, name)| name.as_str() == "draw_2d");
    let (draw_2d, _) = found.expect("the pass has its name");
    world.entity_mut(draw_2d).insert(Disabled);
    let golden = golden::read("sprites");
    let picture = rig.picture();
    // Without a pass that draws, the picture stays that of the previous frame. A missing pass becomes visible when the
    // scene changes.
    assert_eq!(golden::difference(&picture, &golden), None);
    let world = rig.app.world_mut();
    let sprites: Vec<Entity> = world
        .query_filtered::<Entity, With<Sprite>>()
        .iter(world)
        .collect();
    for sprite in sprites {
        world.despawn(sprite);
    }
    let picture = rig.picture();
    assert_eq!(
        golden::difference(&picture, &golden),
        None,
        "it is disabled"
    );
    rig.app.world_mut().entity_mut(draw_2d).remove::<Disabled>();
    let picture = rig.picture();
    assert!(golden::difference(&picture, &golden).is_some());
}

#[test]
#[ignore = "needs a device"]
fn ten_thousand_sprites_batch_into_one_draw() {
    let mut rig = Rig::scene(
        64,
        64,
        |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            let image = images.add(scenes::test_image());
            commands.spawn(Camera2d);
            for index in 0..10_000 {
                let (x, y) = ((index % 100) as f32, (index / 100) as f32);
                let sprite = Sprite::from_image(image.clone());
                let place = Transform::from_xyz((x - 50.0) * 0.6, (y - 50.0) * 0.6, x * 0.01);
                commands.spawn((sprite, place));
            }
        },
    );
    rig.update(2);
    let phase = rig.app.world().resource::<Phase2d>();
    assert_eq!((phase.instances(), phase.draws()), (10_000, 1));
}

#[test]
#[ignore = "needs a device"]
fn images_without_sampler_use_image_plugin_default() {
    let row = |image_plugin: ImagePlugin| {
        let assets = AssetPlugin::default();
        let mut rig = Rig::with(32, 8, (assets, image_plugin, Quadrille2dPlugin::default()));
        rig.app.add_systems(bevy_app::Startup, two_pixels);
        rig.start();
        rig.update(1);
        let picture = rig.picture();
        [4, 12, 15, 16, 28].map(|x| picture.at(x, 4)[0])
    };
    assert_eq!(row(ImagePlugin::default_nearest()), [0, 0, 0, 255, 255]);
    let [left, _, before, after, right] = row(ImagePlugin::default_linear());
    assert_eq!((left, right), (0, 255));
    assert!(
        0 < before && before < after && after < 255,
        "{before}, {after}"
    );
}

/// A black pixel and a white one, each 16 pixels wide.
fn two_pixels(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let image = Image {
        sampler: ImageSampler::Default,
        ..scenes::image(2, 1, [[0, 0, 0, 255], [255; 4]].concat())
    };
    commands.spawn(Camera2d);
    commands.spawn(Sprite {
        custom_size: Some(Vec2::new(32.0, 8.0)),
        ..Sprite::from_image(images.add(image))
    });
}

#[test]
#[ignore = "needs a device"]
fn images_load_asynchronously_and_report_failures() {
    let folder = common::temporary("assets");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("square.png");
    common::write_png(&path, &square([0, 200, 0, 255]));
    std::fs::write(folder.join("broken.png"), b"\x89PNG\r\n\x1a\nno").expect("written");
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    let mut rig = Rig::with(64, 32, plugin);
    rig.app.add_systems(
        bevy_app::Startup,
        |mut commands: Commands, assets: Res<AssetServer>| {
            commands.spawn(Camera2d);
            let files = ["square.png", "broken.png", "missing.png", "../outside.png"];
            for (index, file) in files.into_iter().enumerate() {
                let sprite = Sprite {
                    custom_size: Some(Vec2::splat(12.0)),
                    ..Sprite::from_image(assets.load(file))
                };
                let x = -24.0 + 16.0 * index as f32;
                commands.spawn((sprite, Transform::from_xyz(x, 0.0, 0.0)));
            }
        },
    );
    rig.start();
    let is_loud = |pixel: [u8; 4]| pixel == [255, 0, 255, 255] || pixel == [20, 20, 20, 255];
    let wait = |rig: &mut Rig, done: &dyn Fn(&common::Picture) -> bool| {
        for _ in 0..2000 {
            let picture = rig.picture();
            if done(&picture) {
                return picture;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        panic!("what is waited for does not come");
    };
    wait(&mut rig, &|picture| {
        picture.at(8, 16) == [0, 200, 0, 255]
            && is_loud(picture.at(24, 16))
            && is_loud(picture.at(40, 16))
    });
    // A file outside the folder is not read; bevy substitutes its own image.
    assert_eq!(rig.picture().at(56, 16), [255, 255, 255, 255]);
    common::write_png(&path, &square([200, 0, 0, 255]));
    let world = rig.app.world_mut();
    world.resource::<AssetServer>().reload("square.png");
    wait(&mut rig, &|picture| picture.at(8, 16) == [200, 0, 0, 255]);
}

/// A picture of one color.
fn square(color: [u8; 4]) -> common::Picture {
    common::Picture {
        width: 4,
        height: 4,
        pixels: vec![color; 16],
    }
}

#[test]
#[ignore = "needs a device"]
fn camera_3d_without_plugin_warns_once() {
    log::collect();
    let mut rig = Rig::scene(8, 8, |mut commands: Commands| {
        commands.spawn(Camera2d);
    });
    rig.update(2);
    let lines = log::take();
    assert!(lines.is_empty(), "{lines:#?}");
    let world = rig.app.world_mut();
    let camera = world.spawn(Camera3d::default()).id();
    world.spawn(Camera3d::default());
    rig.update(3);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let wanted = format!("entity {camera} (no `Name`) has a `Camera3d`");
    assert!(lines[0].contains(&wanted), "{lines:#?}");
    assert!(lines[0].contains("Quadrille3dPlugin"), "{lines:#?}");
}
