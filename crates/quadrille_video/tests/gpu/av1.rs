//! AV1, and pictures of 10 bits.

use std::ffi::CStr;
use std::path::Path;

use super::*;

const AV1: &CStr = c"VK_KHR_video_decode_av1";
const H265: &CStr = c"VK_KHR_video_decode_h265";

const LAYERS: &[u8] = include_bytes!("../../../../assets/video/layers.mp4");
const SIZE: [u32; 2] = [192, 144];

/// Clip, and one of its pictures as ffmpeg decodes it.
struct Clip {
    name: &'static str,
    extension: &'static CStr,
    file: &'static [u8],
    size: [u32; 2],
    /// Number of the picture in output order, and its planes: NV12 or, of 10 bits, P010.
    picture: Option<(u32, &'static [u8])>,
    is_deep: bool,
}

macro_rules! bytes {
    ($name:literal) => {
        include_bytes!(concat!("../../../../assets/video/", $name)).as_slice()
    };
}

fn clips() -> [Clip; 8] {
    let clip = |name, file, picture| Clip {
        name,
        extension: AV1,
        file,
        size: SIZE,
        picture,
        is_deep: false,
    };
    [
        clip("layers", LAYERS, Some((23, bytes!("layers_23.nv12")))),
        Clip {
            size: [150, 130],
            ..clip(
                "restored",
                bytes!("restored.ivf"),
                Some((11, bytes!("restored_11.nv12"))),
            )
        },
        Clip {
            size: [320, 192],
            ..clip("tiles", bytes!("tiles.obu"), None)
        },
        clip("turned", bytes!("turned.obu"), None),
        clip(
            "superres",
            bytes!("superres.ivf"),
            Some((11, bytes!("superres_11.nv12"))),
        ),
        clip(
            "grain",
            bytes!("grain.mp4"),
            Some((7, bytes!("grain_7.nv12"))),
        ),
        Clip {
            is_deep: true,
            ..clip(
                "ten_bits",
                bytes!("ten_bits.mp4"),
                Some((11, bytes!("ten_bits_11.p010le"))),
            )
        },
        Clip {
            extension: H265,
            is_deep: true,
            ..clip(
                "main10",
                bytes!("main10.mp4"),
                Some((11, bytes!("main10_11.p010le"))),
            )
        },
    ]
}

impl Clip {
    /// Colors of planes.
    fn colors(&self, planes: &[u8]) -> Vec<[f64; 3]> {
        if !self.is_deep {
            return expected(planes, self.size);
        }
        let value = |at: usize| {
            let word = u16::from_le_bytes([planes[2 * at], planes[2 * at + 1]]);
            f64::from(word >> 6) / 4.0
        };
        expected_of(&value, self.size)
    }

    /// Bytes of the planes of a picture.
    fn bytes(&self) -> usize {
        let pixels = (self.size[0] * self.size[1] * 3 / 2) as usize;
        pixels * if self.is_deep { 2 } else { 1 }
    }

    /// Time of a picture in seconds; byte streams have 25 pictures a second.
    fn seconds(&self, picture: u32) -> f64 {
        let rate = if self.file.starts_with(&[0x12, 0]) {
            25.0
        } else {
            24.0
        };
        f64::from(picture) / rate
    }
}

#[test]
#[ignore = "needs a device"]
fn av1_and_main_10_sprites_show_the_pictures_that_ffmpeg_decodes() {
    let test = "av1_and_main_10_sprites_show_the_pictures_that_ffmpeg_decodes";
    let mut bad = Vec::new();
    for clip in clips() {
        let Some((picture, planes)) = clip.picture else {
            continue;
        };
        let (mut app, player) = app_of_size(clip.file, clip.size);
        if !decodes(&app, clip.extension, test) {
            // The player fails once, without an error of the frame.
            update(&mut app, 4);
            assert_eq!(shown_time(&app, player), None);
            continue;
        }
        let seconds = clip.seconds(picture);
        let shown = colors(picture_at(&mut app, player, seconds + 1e-3).iter());
        let psnr = inner_psnr(&shown, &clip.colors(planes), clip.size);
        let time = shown_time(&app, player);
        if psnr < 50.0 || time.is_none_or(|time| (time - seconds).abs() > 2e-3) {
            bad.push(format!(
                "{}: PSNR {psnr:.1} dB at {time:?} instead of {seconds}",
                clip.name
            ));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// All pictures of all clips, if `QUADRILLE_VIDEO_FRAMES` names a folder with their planes as ffmpeg decodes them:
/// `ffmpeg -i CLIP -pix_fmt nv12 (or p010le) -f rawvideo NAME.raw`.
#[test]
#[ignore = "needs a device and a folder of pictures"]
fn av1_and_main_10_clips_show_each_picture_that_ffmpeg_decodes() {
    let test = "av1_and_main_10_clips_show_each_picture_that_ffmpeg_decodes";
    let Ok(folder) = std::env::var("QUADRILLE_VIDEO_FRAMES") else {
        eprintln!("NOT RUN: {test}: QUADRILLE_VIDEO_FRAMES names no folder");
        return;
    };
    let mut bad = Vec::new();
    for clip in clips() {
        let (mut app, player) = app_of_size(clip.file, clip.size);
        if !decodes(&app, clip.extension, test) {
            continue;
        }
        let all = std::fs::read(Path::new(&folder).join(format!("{}.raw", clip.name))).unwrap();
        let (mut least, mut total) = (f64::INFINITY, 0);
        for (picture, planes) in (0..).zip(all.chunks_exact(clip.bytes())) {
            let shown = picture_at(&mut app, player, clip.seconds(picture) + 1e-3);
            let shown = colors(shown.iter());
            let psnr = inner_psnr(&shown, &clip.colors(planes), clip.size);
            if psnr < 50.0 {
                bad.push(format!("{} {picture}: PSNR {psnr:.1} dB", clip.name));
            }
            least = least.min(psnr);
            total += 1;
        }
        eprintln!(
            "{}: {total} pictures, PSNR at least {least:.1} dB",
            clip.name
        );
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
#[ignore = "needs a device"]
fn av1_picture_is_the_same_after_play_and_after_a_seek() {
    let (mut app, player) = app_of_size(LAYERS, SIZE);
    let test = "av1_picture_is_the_same_after_play_and_after_a_seek";
    if !decodes(&app, AV1, test) {
        return;
    }
    let seconds = 30.0 / 24.0;
    for _ in 0..80 {
        if shown_time(&app, player).is_some_and(|time| time > seconds - 1e-3) {
            break;
        }
        update(&mut app, 1);
    }
    let mut paused = app.world_mut().get_mut::<VideoPlayer>(player).unwrap();
    paused.is_playing = false;
    update(&mut app, 2);
    let at = shown_time(&app, player).unwrap();
    assert!((seconds - 1e-3..1.6).contains(&at), "{at}");
    let first = picture(&mut app);
    let earlier = picture_at(&mut app, player, 3.0 / 24.0);
    assert!(first != earlier, "the same picture at both times");
    let again = picture_at(&mut app, player, at + 1e-3);
    assert_eq!(shown_time(&app, player), Some(at));
    assert!(again == first, "another picture after the seek");
}

#[test]
#[ignore = "needs a device"]
fn av1_plays_in_a_loop() {
    let (mut app, player) = app_of_size(LAYERS, SIZE);
    if !decodes(&app, AV1, "av1_plays_in_a_loop") {
        return;
    }
    app.world_mut()
        .get_mut::<VideoPlayer>(player)
        .unwrap()
        .is_looping = true;
    let mut times = Vec::new();
    for _ in 0..120 {
        update(&mut app, 1);
        times.extend(shown_time(&app, player));
    }
    times.dedup();
    let back = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert_eq!(back, 2, "{times:?}");
    // Nearly each picture is shown: a begin takes some frames.
    assert!(times.len() > 100, "{} pictures", times.len());
}

#[test]
#[ignore = "needs a device"]
fn av1_broken_samples_leave_the_last_good_picture() {
    let mut file = LAYERS.to_vec();
    let whole = VideoStream::parse(LAYERS).unwrap();
    let second = whole.samples().iter().skip(1).position(|it| it.is_sync);
    // Zeros are one unit of a reserved type: no frame is left.
    for sample in &whole.samples()[second.unwrap() + 1..] {
        file[sample.range.clone()].fill(0);
    }
    let (mut broken, _) = app_of_size(&file, SIZE);
    if !decodes(
        &broken,
        AV1,
        "av1_broken_samples_leave_the_last_good_picture",
    ) {
        return;
    }
    update(&mut broken, 40);
    let shown = picture(&mut broken);
    let (mut whole, player) = app_of_size(LAYERS, SIZE);
    let last = picture_at(&mut whole, player, 23.0 / 24.0 + 1e-3);
    assert!(shown == last, "another picture than the last good one");
}
