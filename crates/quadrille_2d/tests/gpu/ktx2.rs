//! KTX2 images with compressed texels.

use crate::common::{Rig, log};
use bevy_app::Startup;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille::prelude::GpuDevice;
use quadrille::vulkan::Format;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

/// A KTX2 file (its specification, section 3) of 6 x 6 texels with all mip levels of one color.
fn ktx2(format: Format, block: &[u8]) -> Vec<u8> {
    // 6 x 6 texels are 2 x 2 blocks of 4 x 4; 3 x 3 and 1 x 1 one each.
    let levels = [block.repeat(4), block.to_vec(), block.to_vec()];
    let mut file = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    let words = |file: &mut Vec<u8>, words: &[u32]| {
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    // Format, type size, width, height, depth, layers, faces, levels, no supercompression.
    let format = u32::try_from(format.as_raw()).expect("no extension's");
    words(
        &mut file,
        &[format, 1, 6, 6, 0, 0, 1, levels.len() as u32, 0],
    );
    let descriptor = [
        44,
        0,
        40 << 16 | 2,
        1,
        3 | 3 << 8,
        0,
        0,
        63 << 16,
        0,
        0,
        u32::MAX,
    ];
    let descriptor_at = 80 + 24 * levels.len() as u32;
    let descriptor_bytes = 4 * descriptor.len() as u32;
    // The data format descriptor; no key values; no supercompression data.
    words(
        &mut file,
        &[descriptor_at, descriptor_bytes, 0, 0, 0, 0, 0, 0],
    );
    let mut at = u64::from(descriptor_at + descriptor_bytes).next_multiple_of(16);
    let first = at as usize;
    for level in &levels {
        let bytes = level.len() as u64;
        file.extend(
            [at, bytes, bytes]
                .iter()
                .flat_map(|word| word.to_le_bytes()),
        );
        at += bytes;
    }
    words(&mut file, &descriptor);
    file.resize(first, 0);
    file.extend(levels.concat());
    file
}

/// A BC7 block of mode 6: endpoints of 7 bits per channel, with one shared lowest bit each.
fn bc7(color: [u8; 3]) -> Vec<u8> {
    let mut bits: u128 = 1 << 6;
    let mut at = 7;
    let mut put = |value: u8, count: u32| {
        bits |= u128::from(value) << at;
        at += count;
    };
    for channel in [color[0], color[1], color[2], 255] {
        put(channel >> 1, 7);
        put(channel >> 1, 7);
    }
    put(1, 1);
    put(1, 1);
    bits.to_le_bytes().to_vec()
}

/// A block of one color in each format. Channels are 0 or 255.
fn files() -> [(&'static str, Format, Vec<u8>, [u8; 3]); 5] {
    // The first of two colors of 5, 6 and 5 bits, for all texels.
    let bc1 = |color: u16| [&color.to_le_bytes()[..], &[0; 6]].concat();
    let bc3 = [vec![255, 255, 0, 0, 0, 0, 0, 0], bc1(0x07E0)].concat();
    // Two equal colors of 4 bits. The modifier adds 2, which is within the tolerance.
    let etc2 = vec![0x00, 0xFF, 0xFF, 0, 0, 0, 0, 0];
    // A "void extent" block: one color with 16 bits per channel.
    let void: u64 = 0xFFFF_FFFF_FFFF_FDFC;
    let yellow = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF];
    let astc = [&void.to_le_bytes()[..], &yellow].concat();
    [
        (
            "bc1.ktx2",
            Format::BC1_RGBA_SRGB_BLOCK,
            bc1(0xF800),
            [255, 0, 0],
        ),
        ("bc3.ktx2", Format::BC3_SRGB_BLOCK, bc3, [0, 255, 0]),
        (
            "bc7.ktx2",
            Format::BC7_SRGB_BLOCK,
            bc7([1, 1, 255]),
            [0, 0, 255],
        ),
        (
            "etc2.ktx2",
            Format::ETC2_R8G8B8_SRGB_BLOCK,
            etc2,
            [0, 255, 255],
        ),
        (
            "astc.ktx2",
            Format::ASTC_4X4_SRGB_BLOCK,
            astc,
            [255, 255, 0],
        ),
    ]
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(Camera2d);
    for (index, (name, ..)) in files().iter().enumerate() {
        let sprite = Sprite {
            custom_size: Some(Vec2::splat(12.0)),
            ..Sprite::from_image(assets.load(*name))
        };
        let x = -32.0 + 16.0 * index as f32;
        commands.spawn((sprite, Transform::from_xyz(x, 0.0, 0.0)));
    }
}

#[test]
#[ignore = "needs a device"]
fn compressed_images_are_drawn_if_format_is_supported() {
    let folder = crate::common::temporary("ktx2");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, format, block, _) in files() {
        std::fs::write(folder.join(name), ktx2(format, &block)).expect("written");
    }
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    let mut rig = Rig::with(80, 32, plugin);
    rig.app.add_systems(Startup, setup);
    rig.start();
    let gpu = rig.app.world().resource::<GpuDevice>();
    let has = files().map(|(_, format, ..)| gpu.can_sample(format));
    println!("BC1, BC3, BC7, ETC2, ASTC: {has:?}");
    let is_loud = |pixel: [u8; 4]| pixel == [255, 0, 255, 255] || pixel == [20, 20, 20, 255];
    for _ in 0..2000 {
        let picture = rig.picture();
        let is_right = |index: usize| {
            let pixel = picture.at(8 + 16 * index as u32, 16);
            let color = files()[index].3;
            match has[index] {
                true => (0..3).all(|channel| pixel[channel].abs_diff(color[channel]) < 8),
                // The line in the log names the format.
                false => is_loud(pixel),
            }
        };
        if (0..files().len()).all(is_right) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let picture = rig.picture();
    let pixels: Vec<_> = (0..5).map(|index| picture.at(8 + 16 * index, 16)).collect();
    panic!("{pixels:?}");
}

/// The header of a PNG file with this number of pixels, without the pixels.
fn png_header(side: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let encoder = png::Encoder::new(&mut file, side, side);
    let mut writer = encoder.write_header().expect("a header");
    let empty = writer.write_chunk(png::chunk::IDAT, &[]);
    empty.expect("memory can be written");
    drop(writer);
    file
}

#[test]
#[ignore = "needs a device"]
fn oversized_or_inconsistent_image_files_are_rejected() {
    let folder = crate::common::temporary("refused");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("zeros.png"), png_header(16_384)).expect("written");
    let [(_, format, block, _), ..] = files();
    let mut file = ktx2(format, &block);
    file[80] = 40;
    std::fs::write(folder.join("header.ktx2"), file).expect("written");
    let plugin = Quadrille2dPlugin {
        asset_folder: folder.to_str().expect("plain").to_owned(),
        ..Quadrille2dPlugin::default()
    };
    log::collect();
    let mut rig = Rig::with(32, 32, plugin);
    rig.app.add_systems(
        Startup,
        |mut commands: Commands, assets: Res<AssetServer>| {
            commands.spawn(Camera2d);
            for name in ["zeros.png", "header.ktx2"] {
                commands.spawn(Sprite::from_image(assets.load(name)));
            }
        },
    );
    rig.start();
    let device = rig.app.world().resource::<GpuDevice>();
    let limit = (device.info().memory_bytes / 8).min(512 << 20).to_string();
    let mut lines = Vec::new();
    for _ in 0..2000 {
        rig.update(1);
        lines.extend(log::take());
        if lines.len() >= 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let has = |words: &[&str]| {
        let mut found = lines.iter();
        found.any(|line| words.iter().all(|word| line.contains(word)))
    };
    assert!(
        has(&[
            "zeros.png",
            "1073741824 bytes",
            &limit,
            "ImageLimits::decoded_bytes"
        ]),
        "{lines:#?}"
    );
    assert!(
        has(&[
            "header.ktx2",
            "its level 0 begins at byte 40, in its header"
        ]),
        "{lines:#?}"
    );
}
