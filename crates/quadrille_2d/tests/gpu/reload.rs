//! Files that change while a program runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Picture, Rig};
use bevy_app::Startup;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

/// A program with a separate asset folder.
fn program(name: &str) -> (Rig, PathBuf) {
    let folder = crate::common::temporary(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    (Rig::with(64, 32, plugin), folder)
}

/// Runs frames until the picture is as expected, since tests are not notified of a reload.
fn wait(rig: &mut Rig, what: &str, is_so: impl Fn(&Picture) -> bool) {
    for _ in 0..3000 {
        if is_so(&rig.picture()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} does not show");
}

fn write_square(path: &Path, color: [u8; 4]) {
    let picture = Picture {
        width: 4,
        height: 4,
        pixels: vec![color; 16],
    };
    crate::common::write_png(path, &picture);
}

#[test]
#[ignore = "needs a device"]
fn changed_image_file_is_reloaded() {
    let (mut rig, folder) = program("reload_image");
    let path = folder.join("square.png");
    write_square(&path, [0, 200, 0, 255]);
    rig.app.add_systems(
        Startup,
        |mut commands: Commands, assets: Res<AssetServer>| {
            commands.spawn(Camera2d);
            commands.spawn(Sprite {
                custom_size: Some(Vec2::splat(16.0)),
                ..Sprite::from_image(assets.load("square.png"))
            });
        },
    );
    rig.start();
    let shows = |color: [u8; 4]| move |picture: &Picture| picture.at(32, 16) == color;
    wait(&mut rig, "the first image", shows([0, 200, 0, 255]));
    write_square(&path, [200, 0, 0, 255]);
    wait(&mut rig, "the second image", shows([200, 0, 0, 255]));
    // A file that is temporarily invalid changes nothing.
    std::fs::write(&path, b"\x89PNG\r\n\x1a\nno").expect("written");
    rig.update(20);
    assert_eq!(rig.picture().at(32, 16), [200, 0, 0, 255]);
    write_square(&path, [0, 0, 200, 255]);
    wait(&mut rig, "the third image", shows([0, 0, 200, 255]));
}

/// The default font with letters of half the size.
fn small_font() -> Vec<u8> {
    let mut font = bevy_text::DEFAULT_FONT_DATA.to_vec();
    let record = font.windows(4).position(|tag| tag == b"head");
    let record = record.expect("the font has the table");
    let word = |at: usize| u32::from_be_bytes(font[at..at + 4].try_into().expect("4 bytes"));
    // The units per em (OpenType specification, "head").
    let at = word(record + 8) as usize + 18;
    let units = u16::from_be_bytes([font[at], font[at + 1]]);
    font[at..at + 2].copy_from_slice(&(units * 2).to_be_bytes());
    font
}

/// Number of rows of the picture that contain a part of a letter.
fn rows(picture: &Picture) -> usize {
    let is_drawn = |&y: &u32| (0..picture.width).any(|x| picture.at(x, y) != [0, 0, 0, 255]);
    (0..picture.height).filter(is_drawn).count()
}

#[test]
#[ignore = "needs a device"]
fn changed_font_file_is_reloaded() {
    let (mut rig, folder) = program("reload_font");
    let path = folder.join("font.ttf");
    std::fs::write(&path, bevy_text::DEFAULT_FONT_DATA).expect("written");
    rig.app.add_systems(
        Startup,
        |mut commands: Commands, assets: Res<AssetServer>| {
            commands.insert_resource(ClearColor(Color::BLACK));
            commands.spawn(Camera2d);
            let font = TextFont::from_font_size(30.0).with_font(assets.load("font.ttf"));
            commands.spawn((Text2d::new("M"), font));
        },
    );
    rig.start();
    wait(&mut rig, "the first font", |picture| rows(picture) > 15);
    let large = rows(&rig.picture());
    std::fs::write(&path, small_font()).expect("written");
    let is_half = |picture: &Picture| rows(picture).abs_diff(large / 2) < 3;
    wait(&mut rig, "the second font", is_half);
    // A font that is temporarily invalid changes nothing.
    let mut rotten = small_font();
    let middle = rotten.len() / 2;
    rotten[middle - 5000..middle + 5000].fill(0x9C);
    std::fs::write(&path, rotten).expect("written");
    rig.update(20);
    assert!(is_half(&rig.picture()));
    std::fs::write(&path, bevy_text::DEFAULT_FONT_DATA).expect("written");
    wait(&mut rig, "the first font again", |picture| {
        rows(picture) == large
    });
}
