//! `timings-for-device`: bevy's stress tests on Quadrille and on bevy_render, packed for a machine that has a GPU and
//! no cargo. A script runs both in turns and writes the table of record. `effects.rs.in` and
//! `materials.rs.in` are programs of our own, with one effect and with many materials; `bevy-examples` builds them by name for both
//! renderers.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::device::libraries;
use crate::host::paths;
use crate::host::process;

/// Programs with their arguments, each a line of the table.
const LINES: [&str; 23] = [
    "many_cubes --benchmark --instance-count 160000",
    "many_cubes --benchmark --instance-count 160000 --no-cpu-culling",
    "many_cubes --benchmark",
    "many_cubes --benchmark --no-cpu-culling",
    "many_cubes --benchmark --instance-count 160000 --rotate-cubes",
    "many_cubes --benchmark --instance-count 160000 --shadows",
    "many_cubes --benchmark --instance-count 160000 --vary-material-data-per-instance",
    "many_foxes --count 1000",
    "many_lights",
    "many_materials",
    "materials standard",
    "materials extended",
    "materials standard --count 1000 --change",
    "materials extended --count 1000 --change",
    "many_cameras_lights",
    "bevymark_3d --benchmark --waves 50 --per-wave 1000",
    "bevymark --benchmark --waves 100 --per-wave 1000",
    "many_sprites",
    "many_animated_sprites",
    "many_buttons",
    "many_text2d",
    "many_glyphs",
    "many_gizmos",
];

/// Effects that `effects.rs.in` switches on, each by itself; `none` and `translucent` are the scenes without.
const EFFECTS: [&str; 21] = [
    "none",
    "prepass",
    "bloom",
    "fxaa",
    "smaa",
    "taa",
    "upscaling",
    "cas",
    "motion_blur",
    "dof_gaussian",
    "dof_bokeh",
    "auto_exposure",
    "ssao",
    "volumetric_fog",
    "atmosphere",
    "contact_shadows",
    "lens",
    "transmission",
    "translucent",
    "oit",
    "chain",
];

/// Folders of bevy's data files that these programs load from.
const ASSETS: [&str; 6] = [
    "branding",
    "fonts",
    "models/animated",
    "shaders",
    "textures/Game Icons",
    "textures/rpg",
];

/// Packages and libraries that the programs load or link besides those of drivers: Vulkan's loader, sound.
const LOADED: [(&str, &str); 2] = [("libvulkan1", "libvulkan."), ("libasound2", "libasound.")];

/// Limit of the pack's size: transfers to such machines are limited.
const MOST_BYTES: u64 = 60 << 20;

/// Limit of each tool: compression takes minutes on one core.
const LIMIT: Duration = Duration::from_secs(3600);

const SCRIPT: &str = include_str!("timings/run.sh.in");
const TABLE: &str = include_str!("timings/table.py.in");
const EFFECTS_TABLE: &str = include_str!("timings/effects.py.in");

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// Where archive and script are written
    folder: PathBuf,
    /// Quadrille's side: the one program of `bevy-examples DIR NAMES --tier1 --optimised`
    #[arg(long, value_name = "FILE")]
    ours: PathBuf,
    /// bevy's side: the program that `--beside` adds to that command, or another with the same names that prints the same
    /// line of JSON after `BENCH_FRAMES` frames
    #[arg(long, value_name = "FILE")]
    theirs: PathBuf,
    /// bevy's data files
    #[arg(long, value_name = "DIR")]
    assets: PathBuf,
}

/// Packs both programs, their data files, libraries for drivers and the script.
///
/// # Errors
/// When a file is missing, a tool fails, or the pack becomes too large.
pub(crate) fn pack(request: &Request) -> Result<ExitCode> {
    let staged = paths::target("timings");
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(staged.join("root/assets"))
        .with_context(|| format!("cannot make {}", staged.display()))?;
    for (name, program) in [("ours", &request.ours), ("theirs", &request.theirs)] {
        let mut strip = Command::new("strip");
        strip.arg("--strip-all").arg("-o").arg(staged.join(name));
        process::run("timings-strip", strip.arg(program), LIMIT)?;
    }
    for folder in ASSETS {
        let to = staged.join("root/assets").join(folder);
        fs::create_dir_all(&to).with_context(|| format!("cannot make {}", to.display()))?;
        let mut copy = Command::new("cp");
        copy.arg("-r")
            .arg(request.assets.join(folder).join("."))
            .arg(&to);
        process::run("timings-copy", &mut copy, LIMIT)?;
    }
    libraries(&staged.join("gl"), &LOADED)?;
    write(&staged.join("table.py"), TABLE)?;
    write(&staged.join("lines"), &format!("{}\n", LINES.join("\n")))?;
    write(&staged.join("effects.py"), EFFECTS_TABLE)?;
    let effects = format!("{}\n", EFFECTS.join("\n"));
    write(&staged.join("effects"), &effects)?;
    let folder = &request.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let archive = folder.join("timings.tar.xz");
    let mut compress = Command::new("bash");
    // Two programs of the same crates share most of their code: the window holds both.
    let script =
        "set -o pipefail; tar -C \"$1\" -c . | xz -T1 --x86 --lzma2=preset=4,dict=384MiB >\"$2\"";
    compress
        .args(["-c", script, "bash"])
        .arg(&staged)
        .arg(&archive);
    process::run("timings-pack", &mut compress, LIMIT)?;
    let script = folder.join("run.sh");
    write(&script, &script_text(&commit()?))?;
    let bytes = fs::metadata(&archive)
        .with_context(|| format!("no {}", archive.display()))?
        .len();
    println!("{}: {} MiB", archive.display(), bytes >> 20);
    ensure!(
        bytes <= MOST_BYTES,
        "the pack takes {bytes} bytes, more than {MOST_BYTES}"
    );
    println!("on the device: bash {} [OUT]", script.display());
    Ok(ExitCode::SUCCESS)
}

/// The commit that the table names.
fn commit() -> Result<String> {
    let mut describe = Command::new("git");
    describe
        .current_dir(paths::root())
        .args(["describe", "--always", "--dirty"]);
    let commit = process::run("timings-commit", &mut describe, LIMIT)?;
    Ok(commit.trim().to_owned())
}

fn script_text(commit: &str) -> String {
    SCRIPT.replace("@COMMIT@", commit)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
