//! Moving pictures of the launcher's tiles: sheets of 4 x 4 frames, drawn by the programs themselves.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use png::{BitDepth, ColorType, Compression, Encoder, Filter};

use crate::host::{cargo, paths};
use crate::scenarios::picture;

/// Frames in a row of a sheet, and rows.
const SIDE: usize = 4;
/// Width and height of a frame in a sheet, in pixels.
const FRAME: [usize; 2] = [224, 126];

/// Run of a program whose frames are taken.
struct Scene {
    program: &'static str,
    arguments: &'static [&'static str],
    /// Frames of the run; the last ones are taken.
    frames: usize,
    /// Frames of the run for each that is taken.
    stride: usize,
}

const SCENES: [Scene; 6] = [
    Scene {
        program: "courier",
        arguments: &[
            "--autoplay",
            "--skip",
            "1500",
            "--steps",
            "8",
            "--size",
            "448x252",
        ],
        frames: 16,
        stride: 1,
    },
    Scene {
        program: "swarm",
        arguments: &["--script", "assets/scripts/swarm.txt"],
        frames: 224,
        stride: 8,
    },
    Scene {
        program: "breakout",
        arguments: &["--autoplay"],
        frames: 520,
        stride: 8,
    },
    Scene {
        program: "life",
        arguments: &[
            "--pattern",
            "assets/patterns/acorn.rle",
            "--size",
            "160x90",
            "--speed",
            "12",
        ],
        frames: 60,
        stride: 1,
    },
    Scene {
        program: "scene3d",
        arguments: &["--effects", "bloom"],
        frames: 128,
        stride: 8,
    },
    Scene {
        program: "many_cubes",
        arguments: &["--cubes", "40000"],
        frames: 64,
        stride: 4,
    },
];

/// Draws the sheets into `assets/launcher`; of one program if it is named.
///
/// # Errors
/// When a program fails, or a file cannot be read or written.
pub(crate) fn run(only: Option<&str>) -> Result<ExitCode> {
    let scenes: Vec<&Scene> = SCENES
        .iter()
        .filter(|scene| only.is_none_or(|name| scene.program == name))
        .collect();
    ensure!(
        !scenes.is_empty(),
        "no such tile; there are {}",
        SCENES.map(|scene| scene.program).join(", ")
    );
    for scene in scenes {
        let frames = paths::target("thumbnails").join(scene.program);
        if frames.exists() {
            std::fs::remove_dir_all(&frames)?;
        }
        let status = cargo::command(&["run", "--quiet", "--package", "examples", "--bin"])
            .arg(scene.program)
            .args(["--", "--headless", "--frames"])
            .arg(scene.frames.to_string())
            .args(scene.arguments)
            .arg("--record")
            .arg(&frames)
            .status()?;
        ensure!(status.success(), "{} ended with {status}", scene.program);
        let file = paths::root().join(format!("assets/launcher/{}.png", scene.program));
        let bytes = sheet(&frames, scene.stride)?;
        std::fs::write(&file, &bytes)
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("    {}: {} KiB", file.display(), bytes.len() / 1024);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a sheet of the last frames in a folder, `stride` apart, as a PNG file.
fn sheet(folder: &Path, stride: usize) -> Result<Vec<u8>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("no frames in {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    // Their names are numbers of five digits.
    files.sort_unstable();
    let count = SIDE * SIDE;
    ensure!(
        files.len() >= count * stride,
        "{} has {} frames, not {}",
        folder.display(),
        files.len(),
        count * stride
    );
    let first = files.len() - count * stride;
    let [width, height] = FRAME.map(|side| side * SIDE);
    let mut colors = vec![0; 3 * width * height];
    for at in 0..count {
        let (size, pixels) = picture::colors(&files[first + at * stride])?;
        let small = shrunk(size.map(|side| side as usize), &pixels);
        let (left, top) = (at % SIDE * FRAME[0], at / SIDE * FRAME[1]);
        for (y, row) in small.chunks_exact(FRAME[0]).enumerate() {
            let begin = 3 * ((top + y) * width + left);
            colors[begin..begin + 3 * FRAME[0]].copy_from_slice(row.as_flattened());
        }
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_filter(Filter::Adaptive);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colors)?;
    writer.finish()?;
    Ok(file)
}

/// Returns a picture in the size of a frame: means of the pixels that each one covers.
fn shrunk([width, height]: [usize; 2], pixels: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let span = |at: usize, from: usize, to: usize| {
        let begin = at * from / to;
        begin..((at + 1) * from / to).max(begin + 1)
    };
    let mean = |x: usize, y: usize| {
        let (mut sum, mut count) = ([0_usize; 3], 0);
        for row in span(y, height, FRAME[1]) {
            for column in span(x, width, FRAME[0]) {
                let color = pixels[row * width + column];
                sum = std::array::from_fn(|at| sum[at] + usize::from(color[at]));
                count += 1;
            }
        }
        sum.map(|sum| u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX))
    };
    let places = (0..FRAME[1]).flat_map(|y| (0..FRAME[0]).map(move |x| (x, y)));
    places.map(|(x, y)| mean(x, y)).collect()
}

#[cfg(test)]
#[path = "thumbnails_tests.rs"]
mod tests;
