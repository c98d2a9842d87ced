//! 2D pictures after the device was lost.
//!
//! A pass returns an error, and the error handler requests another device. Recovery is the same as from a device that
//! is really lost.

use crate::common::{Picture, Rig, scenes};
use bevy_app::Startup;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::ImageLoaderSettings;
use bevy_math::Vec2;
use quadrille::ecs::{DeviceRebuilt, RenderError, RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::{Recorder, Render};
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

/// Whether the next frame loses the device.
#[derive(Resource, Default)]
struct Lose(bool);

#[derive(Resource, Default)]
struct Rebuilt(u32);

fn fail(_: Recorder, mut lose: ResMut<Lose>) -> Result {
    if std::mem::take(&mut lose.0) {
        Err("refused by the test".into())
    } else {
        Ok(())
    }
}

/// Lets the rig lose its device on request.
fn prepare(rig: &mut Rig) {
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        .init_resource::<Rebuilt>()
        .add_observer(|on: On<DeviceRebuilt>, mut rebuilt: ResMut<Rebuilt>| {
            rebuilt.0 = on.event().times;
        })
        .add_systems(Render, fail);
}

fn lose(rig: &mut Rig) {
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(1);
    assert_eq!(rig.app.world().resource::<Rebuilt>().0, 1);
}

/// Draws until the picture is as expected.
fn wait(rig: &mut Rig, is_right: &dyn Fn(&Picture) -> bool) {
    for _ in 0..2000 {
        if is_right(&rig.picture()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("what is waited for does not come");
}

#[test]
#[ignore = "needs a device"]
fn picture_is_equal_after_device_loss() {
    let mut rig = Rig::new(220, 130);
    prepare(&mut rig);
    rig.app.add_systems(
        Startup,
        (scenes::sprites, scenes::text, scenes::meshes).chain(),
    );
    rig.start();
    rig.update(5);
    let before = rig.picture();
    lose(&mut rig);
    rig.update(2);
    assert!(rig.picture() == before, "another picture than before");
}

#[derive(Resource)]
struct Handles(Vec<Handle<Image>>);

#[test]
#[ignore = "needs a device"]
fn gpu_only_images_reload_after_device_loss() {
    let folder = crate::common::temporary("recovered");
    std::fs::create_dir_all(&folder).expect("a folder");
    let green = Picture {
        width: 4,
        height: 4,
        pixels: vec![[0, 200, 0, 255]; 16],
    };
    crate::common::write_png(&folder.join("square.png"), &green);
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    let mut rig = Rig::with(64, 32, plugin);
    prepare(&mut rig);
    rig.app.add_systems(
        Startup,
        |mut commands: Commands, assets: Res<AssetServer>, mut images: ResMut<Assets<Image>>| {
            commands.spawn(Camera2d);
            let only_device = RenderAssetUsages::RENDER_WORLD;
            let from_file = assets
                .load_builder()
                .with_settings(move |settings: &mut ImageLoaderSettings| {
                    settings.asset_usage = only_device;
                })
                .load("square.png");
            let mut made = scenes::test_image();
            made.asset_usage = only_device;
            let handles = vec![from_file, images.add(made)];
            for (index, image) in handles.iter().enumerate() {
                let sprite = Sprite {
                    custom_size: Some(Vec2::splat(12.0)),
                    ..Sprite::from_image(image.clone())
                };
                let x = -24.0 + 16.0 * index as f32;
                commands.spawn((sprite, Transform::from_xyz(x, 0.0, 0.0)));
            }
            commands.insert_resource(Handles(handles));
        },
    );
    rig.start();
    let is_green = |picture: &Picture| picture.at(8, 16) == [0, 200, 0, 255];
    let is_loud = |picture: &Picture| picture.at(24, 16)[0] == 255 && picture.at(24, 16)[1] == 0;
    wait(&mut rig, &|picture| is_green(picture) && !is_loud(picture));
    let world = rig.app.world();
    let handles = world.resource::<Handles>().0.iter();
    let images = world.resource::<Assets<Image>>();
    for image in handles {
        let image = images.get(image).expect("the image is there");
        assert!(image.data.is_none(), "its texels are still on the CPU");
    }
    lose(&mut rig);
    // The first image is reloaded from its file. The second cannot be restored, and this is visible.
    wait(&mut rig, &|picture| is_green(picture) && is_loud(picture));
}

#[test]
#[ignore = "needs a device"]
fn materials_are_drawn_after_device_loss() {
    let mut rig = crate::materials::rig_with_two_materials(prepare);
    let before = rig.picture();
    assert_ne!(before.at(8, 16), before.at(24, 16));
    lose(&mut rig);
    rig.update(2);
    assert!(rig.picture() == before, "another picture than before");
}
