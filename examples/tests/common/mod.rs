//! The pictures of example programs, beside those that were looked at.
//!
//! Pictures are compared at a quarter of their size, each pixel the mean of sixteen: drivers put
//! edges on one side or the other, and means hardly notice. `QUADRILLE_GOLDEN=write` writes the
//! picture instead: look at it before you commit it.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many pixels, in each direction, become one.
const BLOCK: usize = 4;

/// How far a channel may be off: drivers round differently.
const TOLERANCE: u8 = 6;

/// How many pixels may be off further, of 10,000.
const STRAY_PIXELS: usize = 4;

/// A picture without transparency.
#[derive(Clone, PartialEq)]
pub(crate) struct Picture {
    width: usize,
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl Picture {
    pub(crate) fn read(path: &Path) -> Self {
        let file =
            File::open(path).unwrap_or_else(|error| panic!("no {}: {error}", path.display()));
        let decoder = png::Decoder::new(BufReader::new(file));
        let mut reader = decoder.read_info().expect("a PNG file");
        let mut bytes = vec![0; reader.output_buffer_size().expect("its size")];
        let info = reader.next_frame(&mut bytes).expect("a picture");
        let channels = info.color_type.samples();
        let pixels = bytes[..info.buffer_size()].chunks_exact(channels);
        Self {
            width: info.width as usize,
            pixels: pixels.map(|it| [it[0], it[1], it[2]]).collect(),
        }
    }

    fn write(&self, path: &Path) {
        let file = BufWriter::new(File::create(path).expect("the picture can be written"));
        let height = self.pixels.len() / self.width;
        let mut encoder = png::Encoder::new(file, self.width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("a header");
        let bytes = self.pixels.as_flattened();
        writer
            .write_image_data(bytes)
            .expect("the picture is written");
    }

    /// The mean of each block of pixels.
    pub(crate) fn reduced(&self) -> Self {
        let (width, height) = (self.width / BLOCK, self.pixels.len() / self.width / BLOCK);
        let mean = |at: usize, channel: usize| {
            let (left, top) = (at % width * BLOCK, at / width * BLOCK);
            let rows = (top..top + BLOCK).map(|y| y * self.width + left);
            let all = rows.flat_map(|first| &self.pixels[first..first + BLOCK]);
            let sum: u32 = all.map(|pixel| u32::from(pixel[channel])).sum();
            (sum / (BLOCK * BLOCK) as u32) as u8
        };
        let pixel = |at| [0, 1, 2].map(|channel| mean(at, channel));
        Self {
            width,
            pixels: (0..width * height).map(pixel).collect(),
        }
    }

    /// Why two pictures are not the same; none if they are.
    pub(crate) fn difference(&self, golden: &Self) -> Option<String> {
        if (self.width, self.pixels.len()) != (golden.width, golden.pixels.len()) {
            return Some("the sizes differ".to_owned());
        }
        let is_off = |(a, b): (&[u8; 3], &[u8; 3])| {
            (0..3).any(|channel| a[channel].abs_diff(b[channel]) > TOLERANCE)
        };
        let pairs = self.pixels.iter().zip(&golden.pixels);
        let count = pairs.filter(|&pair| is_off(pair)).count();
        let all = self.pixels.len();
        (count * 10_000 > STRAY_PIXELS * all).then(|| format!("{count} of {all} pixels are off"))
    }
}

/// The last picture of a program, run through the script that `QUADRILLE_VALIDATED` names if it does.
pub(crate) fn draw(program: &str, name: &str, args: &[&str]) -> Picture {
    // Programs run side by side on several topologies.
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("examples {queues}"));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    let path = folder.join(format!("{name}.png"));
    let mut command = match std::env::var_os("QUADRILLE_VALIDATED") {
        Some(script) => {
            let mut command = Command::new(script);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(["--headless", "--screenshot"]).arg(&path);
    let output = command.args(args).output().expect("the program starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{err}", output.status);
    Picture::read(&path).reduced()
}

/// The picture of this name that was looked at, after `picture` was compared with it.
pub(crate) fn expect(name: &str, picture: &Picture) -> Picture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
    if std::env::var_os("QUADRILLE_GOLDEN").is_some_and(|value| value == "write") {
        picture.write(&path);
    }
    let golden = Picture::read(&path);
    if let Some(difference) = picture.difference(&golden) {
        panic!("{name} differs from {}: {difference}", path.display());
    }
    golden
}
