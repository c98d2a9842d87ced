//! Textures: image assets from files and from code.

use std::path::PathBuf;

use bevy_app::App;
use bevy_asset::{AssetServer, Assets, Handle, RenderAssetUsages};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{GpuImage, View};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Errors, Rig, read_back};

#[derive(Resource, Deref)]
struct Albedo(GpuImage);

/// How often a pass that samples it has run.
#[derive(Resource, Default)]
struct Seen(u32);

fn look(_: Recorder, _: Sampled<Albedo>, mut seen: ResMut<Seen>) {
    seen.0 += 1;
}

/// A folder of assets of one test: programs run side by side on several topologies.
fn folder(test: &str) -> PathBuf {
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("textures {queues}"))
        .join(test);
    std::fs::create_dir_all(&folder).expect("folders can be made");
    folder
}

/// A PNG file of grey texels.
fn png(width: u32, height: u32, texels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&grey(texels)).expect("texels");
    drop(writer);
    file
}

/// A KTX2 file (its specification, section 3) of 2 x 2 texels and 1, each level of one grey.
fn ktx2(levels: [u8; 2]) -> Vec<u8> {
    let format = Format::R8G8B8A8_SRGB.as_raw() as u32;
    let channel = |at: u32| {
        [
            (at * 8) | (7 << 16) | ([0, 1, 2, 31][at as usize] << 24),
            0,
            0,
            255,
        ]
    };
    let descriptor: Vec<u32> = [92, 0, 2 | (88 << 16), 1 | (1 << 8) | (2 << 16), 0, 4, 0]
        .into_iter()
        .chain((0..4).flat_map(channel))
        .collect();
    let mut file = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    let header = [format, 1, 2, 2, 0, 0, 1, 2, 0, 128, 92, 0, 0, 0, 0, 0, 0];
    file.extend(header.into_iter().flat_map(u32::to_le_bytes));
    for number in [224_u64, 16, 16, 240, 4, 4] {
        file.extend(number.to_le_bytes());
    }
    file.extend(descriptor.into_iter().flat_map(u32::to_le_bytes));
    file.resize(224, 0);
    file.extend(grey(&[levels[0]; 4]));
    file.extend(grey(&[levels[1]]));
    file
}

fn grey(values: &[u8]) -> Vec<u8> {
    values.iter().flat_map(|&v| [v, v, v, 255]).collect()
}

fn asset(width: u32, height: u32, format: TextureFormat, texels: Vec<u8>) -> ImageAsset {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let usage = RenderAssetUsages::default();
    ImageAsset::new(size, TextureDimension::D2, texels, format, usage)
}

fn rig(test: &str) -> Rig {
    let plugin = TexturePlugin {
        asset_folder: folder(test).to_str().expect("plain").to_owned(),
        ..TexturePlugin::default()
    };
    let mut rig = without_passes(plugin);
    rig.app.add_systems(Render, look);
    rig
}

fn without_passes(plugin: TexturePlugin) -> Rig {
    let add = |app: &mut App| {
        app.add_plugins(plugin).init_resource::<Seen>();
    };
    Rig::with_more(|_| {}, add)
}

/// Has a file loaded as `Albedo`, with all mip levels.
fn load(rig: &mut Rig, path: &str) {
    let world = rig.app.world_mut();
    let handle = world.resource::<AssetServer>().load(path.to_owned());
    world
        .commands()
        .queue(LoadTexture::new(Albedo, handle).mips());
}

/// Has an image that was made in code loaded as `Albedo`.
fn add(rig: &mut Rig, image: ImageAsset, mips: bool) -> Handle<ImageAsset> {
    let world = rig.app.world_mut();
    let handle = world.resource_mut::<Assets<ImageAsset>>().add(image);
    let texture = LoadTexture::new(Albedo, handle.clone());
    let texture = if mips { texture.mips() } else { texture };
    world.commands().queue(texture);
    handle
}

/// Runs frames until something holds.
fn until(rig: &mut Rig, holds: impl Fn(&World) -> bool) {
    for _ in 0..5000 {
        rig.update(1);
        if holds(rig.app.world()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!(
        "it never comes: {:#?}",
        rig.app.world().resource::<Errors>().0
    );
}

fn image(rig: &Rig) -> GpuImage {
    rig.app.world().resource::<Albedo>().0.clone()
}

/// The texels of a mip level of `Albedo`.
fn level(rig: &mut Rig, mip: u8) -> Vec<u8> {
    let image = image(rig);
    let texels = read_back(rig, Readback::view(&image, View::WHOLE.mip(mip)));
    rig.expect_no_errors();
    texels.expect("a mip level is read back within ten frames")
}

/// The one error that there is within some frames.
fn only_error(rig: &mut Rig) -> String {
    until(rig, |world| !world.resource::<Errors>().0.is_empty());
    rig.update(3);
    let errors = rig.app.world().resource::<Errors>().0.clone();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(
        rig.app.world().resource::<Seen>().0,
        0,
        "the pass is left out"
    );
    errors[0].clone()
}

/// From the start, and once passes run: what waits for it is left out without an error.
#[test]
#[ignore = "needs a device"]
fn a_png_file_becomes_an_image_with_mip_levels() {
    let file = png(4, 2, &[0, 255, 50, 50, 0, 255, 50, 50]);
    std::fs::write(folder("png").join("tiles.png"), file).expect("written");
    let mut rig = rig("png");
    let setup = |mut commands: Commands, assets: Res<AssetServer>| {
        commands.queue(LoadTexture::new(Albedo, assets.load("tiles.png")).mips());
    };
    rig.app.add_systems(RenderStartup, setup);
    until(&mut rig, |world| world.contains_resource::<Albedo>());
    rig.expect_no_errors();
    let made = image(&rig);
    assert_eq!((made.extent(), made.desc().mip_levels), ([4, 2, 1], 3));
    assert_eq!(
        (made.format(), made.name()),
        (Format::R8G8B8A8_SRGB, "Albedo")
    );
    assert_eq!(level(&mut rig, 0), grey(&[0, 255, 50, 50, 0, 255, 50, 50]));
    let second = level(&mut rig, 1);
    assert!(
        (187..=188).contains(&second[0]) && second[4] == 50,
        "{second:?}"
    );
    assert!(rig.app.world().resource::<Seen>().0 > 0, "the pass runs");
}

/// Its own levels count.
#[test]
#[ignore = "needs a device"]
fn a_ktx2_file_brings_its_mip_levels() {
    std::fs::write(folder("ktx2").join("plain.ktx2"), ktx2([200, 20])).expect("written");
    let mut rig = rig("ktx2");
    load(&mut rig, "plain.ktx2");
    until(&mut rig, |world| world.contains_resource::<Albedo>());
    assert_eq!(level(&mut rig, 0), grey(&[200; 4]));
    assert_eq!(level(&mut rig, 1), grey(&[20]));
}

/// Queued after passes have begun to run.
#[test]
#[ignore = "needs a device"]
fn an_image_made_in_code_is_followed() {
    let mut rig = without_passes(TexturePlugin::default());
    let black = asset(2, 1, TextureFormat::Rgba8Unorm, grey(&[0, 255]));
    let handle = add(&mut rig, black, true);
    rig.app.add_systems(Render, look);
    rig.update(1);
    assert_eq!(rig.app.world().resource::<Seen>().0, 1, "at once");
    let half = level(&mut rig, 1);
    assert!((127..=128).contains(&half[0]), "{half:?}");

    let before = image(&rig);
    let change = |rig: &mut Rig, new: ImageAsset| {
        let mut assets = rig.app.world_mut().resource_mut::<Assets<ImageAsset>>();
        assets.insert(&handle, new).expect("it is there");
        rig.update(2);
    };
    change(
        &mut rig,
        asset(2, 1, TextureFormat::Rgba8Unorm, grey(&[60, 60])),
    );
    assert!(
        image(&rig).id() == before.id(),
        "the same image with other texels"
    );
    assert_eq!(level(&mut rig, 1), grey(&[60]));
    change(
        &mut rig,
        asset(3, 3, TextureFormat::Rgba8Unorm, grey(&[7; 9])),
    );
    assert_eq!(image(&rig).extent(), [3, 3, 1], "another image");
    assert_eq!(level(&mut rig, 1), grey(&[7]));
}

#[test]
#[ignore = "needs a device"]
fn a_resource_may_become_a_texture_after_frames_without_one() {
    let mut rig = rig("late");
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert!(
        errors.len() == 1 && errors[0].contains("does not exist"),
        "{errors:?}"
    );
    let world = rig.app.world_mut();
    let waits = world.resource::<Assets<ImageAsset>>().reserve_handle();
    world.commands().queue(LoadTexture::new(Albedo, waits));
    rig.update(2);
    rig.expect_no_errors();
    add(&mut rig, asset(1, 1, TextureFormat::R8Unorm, vec![9]), true);
    rig.update(2);
    assert_eq!(level(&mut rig, 0), [9]);
}

/// A broken file leaves the texture as it is.
#[test]
#[ignore = "needs a device"]
fn a_file_is_followed_when_it_is_loaded_again() {
    let path = folder("again").join("one.png");
    std::fs::write(&path, png(1, 1, &[10])).expect("written");
    let mut rig = rig("again");
    load(&mut rig, "one.png");
    until(&mut rig, |world| world.contains_resource::<Albedo>());
    assert_eq!(level(&mut rig, 0), grey(&[10]));
    std::fs::write(&path, "no PNG file").expect("written");
    rig.app.world().resource::<AssetServer>().reload("one.png");
    for _ in 0..20 {
        rig.update(1);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(level(&mut rig, 0), grey(&[10]));
    std::fs::write(&path, png(2, 1, &[30, 30])).expect("written");
    rig.app.world().resource::<AssetServer>().reload("one.png");
    until(&mut rig, |world| {
        world.resource::<Albedo>().extent() == [2, 1, 1]
    });
    assert_eq!(level(&mut rig, 0), grey(&[30, 30]));
}

/// Also where it is not asked for again.
#[test]
#[ignore = "needs a device"]
fn another_device_has_the_textures_of_the_one_before() {
    fn fail(_: Recorder, mut frame: Local<u32>) -> Result {
        *frame += 1;
        if *frame == 2 {
            Err("refused by the test".into())
        } else {
            Ok(())
        }
    }
    let mut rig = rig("device");
    add(
        &mut rig,
        asset(2, 2, TextureFormat::Rgba8Unorm, grey(&[80; 4])),
        true,
    );
    rig.app
        .insert_resource(RenderErrorHandler(|error, world| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            _ => {
                world.resource_mut::<Errors>().0.push(error.to_string());
                RenderErrorPolicy::Ignore
            }
        }))
        .add_systems(Render, fail);
    rig.update(1);
    let before = image(&rig);
    rig.update(3);
    assert!(image(&rig) != before, "the device was recreated");
    assert_eq!(level(&mut rig, 1), grey(&[80]));
}

#[test]
#[ignore = "needs a device"]
fn each_mistake_has_one_message() {
    let at = folder("mistakes");
    std::fs::write(at.join("text.png"), "no PNG file").expect("written");
    std::fs::write(at.join("photo.tga"), "of a kind that nobody loads").expect("written");
    std::fs::write(at.join("wide.png"), png(20_000, 1, &[0; 20_000])).expect("written");
    let loader = "with asset loader 'bevy_image::image_loader::ImageLoader'";
    let files = [
        ("none.png", "Path not found: ".to_owned()),
        (
            "text.png",
            format!("Failed to load asset 'text.png' {loader}: Could not load texture file: "),
        ),
        (
            "photo.tga",
            format!(
                "Failed to load asset 'photo.tga' {loader}: files that end in `tga` are not loaded; \
                 take one that ends in "
            ),
        ),
        (
            "wide.png",
            format!(
                "Failed to load asset 'wide.png' {loader}: the image claims to have 20000x1 pixels, \
                 more than the limit of 16384 on a side, which `ImageLimits::side` sets"
            ),
        ),
    ];
    for (path, problem) in files {
        let mut rig = rig("mistakes");
        load(&mut rig, path);
        let error = only_error(&mut rig);
        let expected = format!("the texture `Albedo` cannot be made: {problem}");
        assert!(error.starts_with(&expected), "{error}");
    }
    use TextureFormat as T;
    let images = [
        (
            asset(1, 1, T::Rgba8Uint, vec![0; 4]),
            "its format Rgba8Uint is not supported; use one such as Rgba8UnormSrgb or Bc7RgbaUnormSrgb",
        ),
        (
            asset(4, 4, T::Bc1RgbaUnormSrgb, vec![0; 8]),
            "the device cannot make mip levels of Bc1RgbaUnormSrgb; have them in the file, or leave \
             out `.mips()`",
        ),
    ];
    for (image, problem) in images {
        let mut rig = rig("mistakes");
        add(&mut rig, image, true);
        let expected = format!("the texture `Albedo` cannot be made: {problem}");
        assert_eq!(only_error(&mut rig), expected);
    }
}

#[test]
#[ignore = "needs a device"]
fn without_the_plugin_there_is_an_error() {
    let mut rig = Rig::new();
    let setup = |mut commands: Commands| {
        commands.queue(LoadTexture::new(Albedo, Handle::default()));
    };
    rig.app
        .init_resource::<Seen>()
        .add_systems(RenderStartup, setup)
        .add_systems(Render, look);
    let error = only_error(&mut rig);
    assert!(
        error.contains(
            "the texture `Albedo` cannot be made: nobody loads images; add `TexturePlugin::default()`"
        ),
        "{error}"
    );
}
