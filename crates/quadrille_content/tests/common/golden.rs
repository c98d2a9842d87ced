//! Pictures compared with those that were looked at before.

use std::path::PathBuf;

use super::{Picture, temporary, write_png};

/// How far a channel may be off: drivers round differently.
const TOLERANCE: u8 = 6;

/// How many pixels may be off further, of 10,000: edges of slanted shapes and glyphs fall on one
/// side or the other.
const STRAY_PIXELS: usize = 4;

/// Why two pictures are not the same; none if they are.
pub(crate) fn difference(picture: &Picture, golden: &Picture) -> Option<String> {
    let size = |picture: &Picture| (picture.width, picture.height);
    if size(picture) != size(golden) {
        return Some(format!(
            "{:?} pixels, not {:?}",
            size(picture),
            size(golden)
        ));
    }
    let is_off = |(a, b): (&[u8; 4], &[u8; 4])| {
        (0..4).any(|channel| a[channel].abs_diff(b[channel]) > TOLERANCE)
    };
    let pairs = || picture.pixels.iter().zip(&golden.pixels);
    let count = pairs().filter(|&pair| is_off(pair)).count();
    if count * 10_000 <= STRAY_PIXELS * golden.pixels.len() {
        return None;
    }
    let first = pairs().position(is_off).unwrap_or(0);
    let (x, y) = (first as u32 % golden.width, first as u32 / golden.width);
    let (found, wanted) = (picture.at(x, y), golden.at(x, y));
    Some(format!(
        "{count} of {} pixels are off, the first at {x}, {y}: {found:?}, not {wanted:?}",
        golden.pixels.len()
    ))
}

/// Compares a picture with the one of this name. `QUADRILLE_GOLDEN=write` writes it instead: look
/// at it before you commit it.
pub(crate) fn expect(name: &str, picture: &Picture) {
    let path = golden_path(name);
    if std::env::var_os("QUADRILLE_GOLDEN").is_some_and(|value| value == "write") {
        write_png(&path, picture);
    }
    let golden = read(name);
    if let Some(difference) = difference(picture, &golden) {
        let actual = temporary(&format!("{name}.png"));
        write_png(&actual, picture);
        panic!(
            "the picture {} differs from {}: {difference}",
            actual.display(),
            path.display()
        );
    }
    assert_changes_are_detected(&golden);
}

/// The picture of this name that was looked at before.
pub(crate) fn read(name: &str) -> Picture {
    let path = golden_path(name);
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .expect("a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("its size")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    let (pixels, _) = bytes.as_chunks::<4>();
    Picture {
        width: info.width,
        height: info.height,
        pixels: pixels.to_vec(),
    }
}

/// A comparison that lets these through would prove nothing.
fn assert_changes_are_detected(golden: &Picture) {
    let noticed = |what: &str, picture: &Picture| {
        assert!(
            difference(picture, golden).is_some(),
            "the comparison does not notice {what}"
        );
    };
    let mut shifted = golden.clone();
    shifted.pixels.rotate_right(1);
    noticed("a shift to the right", &shifted);
    let mut shifted = golden.clone();
    shifted.pixels.rotate_left(golden.width as usize);
    noticed("a shift up", &shifted);
    let mut swapped = golden.clone();
    for pixel in &mut swapped.pixels {
        pixel.swap(0, 2);
    }
    noticed("swapped channels", &swapped);
}

fn golden_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.png"))
}
