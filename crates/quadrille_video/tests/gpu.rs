//! Videos on a device. `cargo test -p quadrille_video --features openh264 --test gpu -- --ignored`; without a device,
//! or with one that decodes no video and without the feature, these tests fail. Those of H.265 and AV1, which the CPU
//! does not decode, check on other devices that the player says so, and print `NOT RUN`.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

#[path = "gpu/av1.rs"]
mod av1;
#[path = "gpu/record.rs"]
mod record;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bevy_app::App;
use bevy_asset::{Assets, Handle};
use bevy_camera::Camera2d;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_log::LogPlugin;
use bevy_time::TimeUpdateStrategy;
use quadrille::ecs::{QuadrillePlugin, RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::{GpuDevice, QuadrillePlugins, Readback, ReadbackComplete, Renderer};
use quadrille::sync::topology::Capabilities;
use quadrille::vulkan::Format;
use quadrille::vulkan::instance::Settings;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::Sprite;
use quadrille_video::{
    Video, VideoPlayer, VideoPlugin, VideoState, VideoStream, with_decode_queue,
};

const CLOCK: &[u8] = include_bytes!("../../../assets/video/clock.mp4");
/// The picture of second 1.25 as ffmpeg decodes it.
const PICTURE_30: &[u8] = include_bytes!("../../../assets/video/clock_30.nv12");
/// H.265 of 192 x 144 pixels with open groups of pictures: a CRA picture at second 16/24, with four leading pictures.
const OPEN_GOP: &[u8] = include_bytes!("../../../assets/video/open_gop.mp4");
/// The picture of second 14/24, a leading one, as ffmpeg decodes it.
const OPEN_GOP_14: &[u8] = include_bytes!("../../../assets/video/open_gop_14.nv12");
const OPEN_GOP_SIZE: [u32; 2] = [192, 144];
/// H.265 byte stream of 150 x 150 pixels, cropped, with two slices a picture and scaling lists.
const RADL: &[u8] = include_bytes!("../../../assets/video/radl.h265");
/// Its picture of second 15/24 as ffmpeg decodes it.
const RADL_15: &[u8] = include_bytes!("../../../assets/video/radl_15.nv12");
const RADL_SIZE: [u32; 2] = [150, 150];
/// Pictures of 160 x 96 pixels for half a second, then of 96 x 64.
const RESIZED: &[u8] = include_bytes!("../../../assets/video/resized.h264");
/// Its picture of second 0.75 as ffmpeg decodes it.
const PICTURE_18: &[u8] = include_bytes!("../../../assets/video/resized_18.nv12");
/// Pixels of the window and of large pictures.
const SIZE: [u32; 2] = [160, 96];
const SMALL: [u32; 2] = [96, 64];

/// Errors of frames.
#[derive(Resource, Default)]
struct Errors(Vec<String>);

/// Whether the device has decoded a picture.
#[derive(Resource, Default)]
struct DecodedByDevice(bool);

/// An app with a sprite that shows a file; each frame takes a 24th of a second.
fn app(file: &[u8]) -> (App, Entity) {
    app_of_size(file, SIZE)
}

/// An app whose window has a size.
fn app_of_size(file: &[u8], size: [u32; 2]) -> (App, Entity) {
    let renderer = QuadrillePlugin {
        settings: with_decode_queue(Settings::headless("video")),
        ..QuadrillePlugin::default()
    };
    let plugins = QuadrillePlugins::headless(size[0], size[1])
        .set(renderer)
        .disable::<LogPlugin>();
    let mut app = App::new();
    let step = Duration::from_secs_f64(1.0 / 24.0);
    app.add_plugins((
        plugins,
        Quadrille2dPlugin::default(),
        VideoPlugin::default(),
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(step))
    .init_resource::<Errors>()
    .init_resource::<DecodedByDevice>()
    .insert_resource(RenderErrorHandler(|error, world| {
        world.resource_mut::<Errors>().0.push(error.to_string());
        RenderErrorPolicy::Ignore
    }));
    app.finish();
    app.cleanup();
    let world = app.world_mut();
    world.spawn(Camera2d);
    let stream = VideoStream::parse(file).unwrap();
    let video = world.resource_mut::<Assets<Video>>().add(Video { stream });
    let player = VideoPlayer::new(video, &mut world.resource_mut::<Assets<Image>>());
    let sprite = Sprite::from_image(player.image.clone());
    let entity = world.spawn((sprite, player)).id();
    (app, entity)
}

fn update(app: &mut App, frames: u32) {
    for _ in 0..frames {
        app.update();
        let world = app.world_mut();
        let Some(mut renderer) = world.get_resource_mut::<Renderer>() else {
            continue;
        };
        renderer.keep_frames(true);
        let plan = renderer.plan_text().unwrap_or_default();
        world.resource_mut::<DecodedByDevice>().0 |= plan.contains("decode_videos");
    }
    let errors = &app.world().resource::<Errors>().0;
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Pauses the player at a time, and returns the contents of the window, in RGBA, once its picture is shown.
fn picture_at(app: &mut App, player: Entity, seconds: f64) -> Vec<[u8; 4]> {
    let mut state = app.world_mut().get_mut::<VideoPlayer>(player).unwrap();
    state.is_playing = false;
    state.seek(seconds);
    update(app, 12);
    // A player reads its file on another thread, and a fast device draws many frames before it has. Pictures are shown
    // for 1/24 s or less.
    for _ in 0..100 {
        if shown_time(app, player).is_some_and(|shown| (seconds - shown).abs() < 0.05) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
        update(app, 1);
    }
    let world = app.world();
    let mut queues = world.resource::<GpuDevice>().topology().queues.iter();
    let can_decode = queues.any(|it| it.capabilities.contains(Capabilities::VIDEO_DECODE));
    let decoded = world.resource::<DecodedByDevice>().0;
    assert_eq!(
        decoded, can_decode,
        "the CPU decodes only where the device cannot"
    );
    picture(app)
}

/// Time of the shown picture in seconds.
fn shown_time(app: &App, player: Entity) -> Option<f64> {
    app.world().get::<VideoState>(player).unwrap().shown_time()
}

/// Contents of the window in RGBA, whatever the order of channels in its image.
fn picture(app: &mut App) -> Vec<[u8; 4]> {
    let done: Arc<Mutex<Option<ReadbackComplete>>> = Arc::default();
    let slot = Arc::clone(&done);
    app.world_mut().spawn(Readback::primary_window()).observe(
        move |event: On<ReadbackComplete>| {
            *slot.lock().unwrap() = Some(event.event().clone());
        },
    );
    for _ in 0..20 {
        update(app, 1);
        if let Some(done) = done.lock().unwrap().take() {
            return rgba(&done);
        }
    }
    panic!("the picture does not come");
}

/// Texels of an image of 8 bits per channel. Headless windows have `B8G8R8A8_SRGB`.
fn rgba(done: &ReadbackComplete) -> Vec<[u8; 4]> {
    let (_, format) = done.image.unwrap();
    let order = match format {
        Format::R8G8B8A8_SRGB | Format::R8G8B8A8_UNORM => [0, 1, 2, 3],
        Format::B8G8R8A8_SRGB | Format::B8G8R8A8_UNORM => [2, 1, 0, 3],
        other => panic!("the window has the format {other:?}"),
    };
    let texels = done.bytes.chunks_exact(4);
    texels
        .map(|texel| order.map(|channel| texel[channel]))
        .collect()
}

/// Colors of NV12 planes of a size.
fn expected(planes: &[u8], size: [u32; 2]) -> Vec<[f64; 3]> {
    expected_of(&|at| f64::from(planes[at]), size)
}

/// Colors of planes of a size, by their values in units of 8 bits.
fn expected_of(planes: &dyn Fn(usize) -> f64, size: [u32; 2]) -> Vec<[f64; 3]> {
    let size = size.map(|it| it as usize);
    let pixels = (0..size[0] * size[1]).map(|at| (at % size[0], at / size[0]));
    pixels.map(|(x, y)| color(planes, size, x, y)).collect()
}

/// Color of a pixel of planes in limited range by the matrix of ITU-R BT.601, with linear interpolation of chroma.
fn color(
    planes: &dyn Fn(usize) -> f64,
    [width, height]: [usize; 2],
    x: usize,
    y: usize,
) -> [f64; 3] {
    let luma = (planes(y * width + x) - 16.0) / 219.0;
    let chroma = |x: usize, y: isize, channel: usize| {
        let x = x.min(width / 2 - 1);
        let y = y.clamp(0, height as isize / 2 - 1) as usize;
        let at = width * height + y * width + 2 * x + channel;
        (planes(at) - 128.0) / 224.0
    };
    let at = |channel: usize| {
        let row = |row: isize| match x % 2 {
            0 => chroma(x / 2, row, channel),
            _ => (chroma(x / 2, row, channel) + chroma(x / 2 + 1, row, channel)) / 2.0,
        };
        let near = (y / 2) as isize;
        let far = if y.is_multiple_of(2) {
            near - 1
        } else {
            near + 1
        };
        0.75 * row(near) + 0.25 * row(far)
    };
    let (blue, red) = (at(0), at(1));
    [
        luma + 1.402 * red,
        luma - 0.344_136 * blue - 0.714_136 * red,
        luma + 1.772 * blue,
    ]
    .map(|it| (it.clamp(0.0, 1.0) * 255.0).round())
}

#[test]
#[ignore = "needs a device"]
fn sprite_shows_the_picture_that_ffmpeg_decodes() {
    let (mut app, player) = app(CLOCK);
    let shown = picture_at(&mut app, player, 1.25);
    let time = shown_time(&app, player);
    assert!(shown.iter().all(|pixel| pixel[3] == 255), "it is opaque");
    let shown = colors(shown.iter());
    let wanted = expected(PICTURE_30, SIZE);
    let psnr = psnr(&shown, &wanted);
    assert!(
        psnr > 50.0,
        "PSNR {psnr:.1} dB; the picture of second {time:?} is shown; mean of red, green and blue: {:.1?} instead of \
         {:.1?}; top left pixel: {:?} instead of {:?}",
        mean(&shown),
        mean(&wanted),
        shown[0],
        wanted[0],
    );
    assert!(
        time.is_some_and(|time| (time - 1.25).abs() < 1e-3),
        "{time:?}"
    );
}

/// Colors without alpha.
fn colors<'a>(pixels: impl Iterator<Item = &'a [u8; 4]>) -> Vec<[f64; 3]> {
    pixels
        .map(|&[red, green, blue, _]| [red, green, blue].map(f64::from))
        .collect()
}

/// Peak signal-to-noise ratio of two pictures in dB.
fn psnr(one: &[[f64; 3]], other: &[[f64; 3]]) -> f64 {
    assert_eq!(one.len(), other.len());
    let channels = one.as_flattened().iter().zip(other.as_flattened());
    let sum: f64 = channels.map(|(one, other)| (one - other).powi(2)).sum();
    let mean = sum / one.as_flattened().len() as f64;
    10.0 * (255.0_f64.powi(2) / mean.max(1e-9)).log10()
}

/// Mean of each channel.
fn mean(picture: &[[f64; 3]]) -> [f64; 3] {
    let sum = |channel: usize| picture.iter().map(|pixel| pixel[channel]).sum::<f64>();
    [0, 1, 2].map(|channel| sum(channel) / picture.len() as f64)
}

/// Whether the device decodes H.265. Says plainly that a test does not run if not.
fn decodes_h265(app: &App, test: &str) -> bool {
    decodes(app, c"VK_KHR_video_decode_h265", test)
}

/// Whether the device has an extension that decodes. Says plainly that a test does not run if not.
#[expect(clippy::print_stderr, reason = "a test says that it does not run")]
fn decodes(app: &App, extension: &std::ffi::CStr, test: &str) -> bool {
    let gpu = app.world().resource::<GpuDevice>();
    let decodes = gpu.is_enabled(extension);
    if !decodes {
        eprintln!(
            "NOT RUN: {test}: the device `{}` has no {}",
            gpu.info().name,
            extension.to_string_lossy()
        );
    }
    decodes
}

/// PSNR in dB of two pictures of a size without their edges: chroma at the edges of a cropped picture is interpolated
/// with pixels beyond them.
fn inner_psnr(one: &[[f64; 3]], other: &[[f64; 3]], size: [u32; 2]) -> f64 {
    let [width, height] = size.map(|it| it as usize);
    let inner = |picture: &[[f64; 3]]| -> Vec<[f64; 3]> {
        let rows = picture.chunks_exact(width).take(height - 2).skip(2);
        rows.flat_map(|row| &row[2..width - 2]).copied().collect()
    };
    psnr(&inner(one), &inner(other))
}

#[test]
#[ignore = "needs a device"]
fn h265_sprite_shows_the_picture_that_ffmpeg_decodes() {
    let clips = [
        (OPEN_GOP, OPEN_GOP_SIZE, 14.0 / 24.0, OPEN_GOP_14),
        (RADL, RADL_SIZE, 15.0 / 24.0, RADL_15),
    ];
    for (file, size, seconds, planes) in clips {
        let (mut app, player) = app_of_size(file, size);
        if !decodes_h265(&app, "h265_sprite_shows_the_picture_that_ffmpeg_decodes") {
            // The player fails once, without an error of the frame.
            update(&mut app, 4);
            assert_eq!(shown_time(&app, player), None);
            continue;
        }
        let shown = colors(picture_at(&mut app, player, seconds).iter());
        let time = shown_time(&app, player).unwrap();
        assert!((time - seconds).abs() < 1e-3, "{time} instead of {seconds}");
        let wanted = expected(planes, size);
        let psnr = inner_psnr(&shown, &wanted, size);
        assert!(psnr > 50.0, "PSNR {psnr:.1} dB of {size:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn h265_picture_is_the_same_after_play_and_after_a_seek_to_an_open_group() {
    let (mut app, player) = app_of_size(OPEN_GOP, OPEN_GOP_SIZE);
    let test = "h265_picture_is_the_same_after_play_and_after_a_seek_to_an_open_group";
    if !decodes_h265(&app, test) {
        return;
    }
    // The picture of second 20/24 and those before it are decoded from the begin, with all leading pictures.
    let seconds = 20.0 / 24.0;
    for _ in 0..60 {
        if shown_time(&app, player).is_some_and(|time| time > seconds - 1e-3) {
            break;
        }
        update(&mut app, 1);
    }
    let mut paused = app.world_mut().get_mut::<VideoPlayer>(player).unwrap();
    paused.is_playing = false;
    update(&mut app, 2);
    let at = shown_time(&app, player).unwrap();
    assert!((seconds - 1e-3..1.3).contains(&at), "{at}");
    let first = picture(&mut app);
    // Back to the first group, then to the CRA picture, whose leading ones are skipped.
    let earlier = picture_at(&mut app, player, 3.0 / 24.0);
    assert!(first != earlier, "the same picture at both times");
    let again = picture_at(&mut app, player, at);
    assert_eq!(shown_time(&app, player), Some(at));
    assert!(again == first, "another picture after the seek");
}

#[test]
#[ignore = "needs a device"]
fn h265_broken_samples_leave_the_last_good_picture() {
    let mut file = OPEN_GOP.to_vec();
    let whole = VideoStream::parse(OPEN_GOP).unwrap();
    // All samples from the first CRA picture on.
    for sample in &whole.samples()[12..] {
        file[sample.range.clone()].fill(0);
    }
    let (mut broken, _) = app_of_size(&file, OPEN_GOP_SIZE);
    if !decodes_h265(&broken, "h265_broken_samples_leave_the_last_good_picture") {
        return;
    }
    update(&mut broken, 30);
    let shown = picture(&mut broken);
    let (mut whole, player) = app_of_size(OPEN_GOP, OPEN_GOP_SIZE);
    let last = picture_at(&mut whole, player, 11.0 / 24.0);
    assert!(shown == last, "another picture than the last good one");
}

#[test]
#[ignore = "needs a device"]
fn seek_back_shows_the_same_picture() {
    let (mut app, player) = app(CLOCK);
    let first = picture_at(&mut app, player, 0.5);
    assert_eq!(shown_time(&app, player), Some(0.5));
    let later = picture_at(&mut app, player, 1.8);
    assert!(first != later, "the same picture at both times");
    let again = picture_at(&mut app, player, 0.5);
    assert_eq!(shown_time(&app, player), Some(0.5));
    assert!(again == first, "another picture after the seek back");
}

/// Size of the image of a player in pixels.
fn image_size(app: &App, player: Entity) -> [u32; 2] {
    let image = &app.world().get::<VideoPlayer>(player).unwrap().image;
    let image = app.world().resource::<Assets<Image>>().get(image).unwrap();
    [image.width(), image.height()]
}

#[test]
#[ignore = "needs a device"]
fn image_follows_the_size_of_pictures_in_mid_stream() {
    let (mut app, player) = app(RESIZED);
    update(&mut app, 8);
    assert_eq!(image_size(&app, player), SIZE);
    // Playing reaches the change without a seek.
    update(&mut app, 10);
    assert!(shown_time(&app, player).is_some_and(|time| time > 0.5));
    assert_eq!(image_size(&app, player), SMALL);

    let first = picture_at(&mut app, player, 0.25);
    assert_eq!(image_size(&app, player), SIZE);
    let shown = picture_at(&mut app, player, 0.75);
    assert_eq!(image_size(&app, player), SMALL);
    let [left, top] = [0, 1].map(|axis| ((SIZE[axis] - SMALL[axis]) / 2) as usize);
    let [width, height] = SMALL.map(|it| it as usize);
    let rows = shown.chunks_exact(SIZE[0] as usize).skip(top).take(height);
    let sprite = colors(rows.flat_map(|row| &row[left..left + width]));
    let psnr = psnr(&sprite, &expected(PICTURE_18, SMALL));
    assert!(psnr > 50.0, "PSNR {psnr:.1} dB");
    assert!(
        picture_at(&mut app, player, 0.25) == first,
        "another picture of the larger size after the seek back"
    );
}

#[test]
#[ignore = "needs a device"]
fn broken_samples_leave_the_last_good_picture() {
    let mut file = CLOCK.to_vec();
    let whole = VideoStream::parse(CLOCK).unwrap();
    // All samples of the second group of pictures.
    for sample in &whole.samples()[24..] {
        file[sample.range.clone()].fill(0);
    }
    let (mut broken, _) = app(&file);
    update(&mut broken, 40);
    let shown = picture(&mut broken);
    assert!(shown.iter().any(|it| it != &shown[0]), "a picture is shown");
    let (mut whole, player) = app(CLOCK);
    let last = picture_at(&mut whole, player, 23.0 / 24.0);
    assert!(shown == last, "another picture than the last good one");
}

#[test]
#[ignore = "needs a device"]
fn player_without_its_file_draws_nothing_and_is_no_error() {
    let (mut app, player) = app(CLOCK);
    let mut other = app.world_mut().get_mut::<VideoPlayer>(player).unwrap();
    other.video = Handle::default();
    update(&mut app, 4);
}
