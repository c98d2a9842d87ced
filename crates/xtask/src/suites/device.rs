//! `suites-for-device`: an archive of the GPU test suites for a machine with a GPU and without cargo.
//!
//! Contains the stripped test programs, the Khronos layer with its loader and C library, and libraries that drivers
//! need. All are in one archive, compressed with a window that spans several programs, because these have most of their
//! code in common. A script next to it unpacks and runs them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::host::built::Built;
use crate::host::paths;
use crate::host::process;
use crate::setup::apt::{self, Apt, Installed};
use crate::setup::machine;
use crate::setup::validation;

/// The suites: package and test program. Their names in the archive are the packages' without `quadrille_`. Similar
/// ones are adjacent.
const SUITES: [(&str, &str); 6] = [
    ("quadrille_2d", "gpu"),
    ("quadrille_video", "gpu"),
    ("quadrille_3d", "gpu"),
    ("quadrille_ecs", "gpu"),
    ("quadrille_vulkan", "gpu"),
    ("quadrille_oracle", "gpu_differential"),
];

/// Packages with libraries that drivers need and machines without a desktop may lack.
const PACKAGES: [&str; 5] = ["libx11-6", "libxext6", "libgl1", "libegl1", "libglvnd0"];

/// Prefixes of the names of these libraries; other files of the packages come with the layer.
const LIBRARIES: [&str; 11] = [
    "libX11.",
    "libXext.",
    "libxcb.",
    "libXau.",
    "libXdmcp.",
    "libbsd.",
    "libmd.",
    "libGL",
    "libEGL",
    "libOpenGL",
    "libGLX",
];

/// Maximum size of the archive, since transfers to such machines are limited.
const MOST_BYTES: u64 = 60 << 20;

/// Timeout of compression, which takes minutes on one core.
const PACK_LIMIT: Duration = Duration::from_secs(3600);
const LIMIT: Duration = Duration::from_secs(300);

const SCRIPT: &str = include_str!("device/run.sh.in");

/// Suites to pack, and the folder for archive and script.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// Where archive and script are written
    folder: PathBuf,
    /// Suites to pack: 2d, video, 3d, ecs, vulkan or oracle; all unless given
    suites: Vec<String>,
}

impl Request {
    /// Returns the requested suites.
    ///
    /// # Errors
    /// Names the suites that exist if one does not.
    fn suites(&self) -> Result<Vec<(&'static str, &'static str)>> {
        let known = SUITES.map(|(package, _)| short(package));
        if let Some(unknown) = self.suites.iter().find(|it| !known.contains(&it.as_str())) {
            bail!("no suite `{unknown}`: there are {}", known.join(", "));
        }
        let is_asked =
            |package| self.suites.is_empty() || self.suites.iter().any(|it| it == short(package));
        let suites = SUITES.into_iter();
        Ok(suites.filter(|(package, _)| is_asked(package)).collect())
    }
}

/// Builds and packs suites, and writes archive and script into a folder.
///
/// # Errors
/// When something does not build, a tool is missing, or the archive is too large.
pub(crate) fn pack(request: &Request) -> Result<ExitCode> {
    let (folder, suites) = (&request.folder, request.suites()?);
    let stack = validation::prepare()?;
    let built = Built::workspace()?;
    let staged = paths::target("suites");
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(&staged).with_context(|| format!("cannot make {}", staged.display()))?;
    for &(package, test) in &suites {
        let program = built
            .gpu_tests()
            .find(|it| it.package() == package && it.name == test);
        let program = program.with_context(|| format!("{package} has no test program `{test}`"))?;
        let mut strip = Command::new("strip");
        strip
            .arg("--strip-all")
            .arg("-o")
            .arg(staged.join(short(package)))
            .arg(&program.path);
        process::run("suites-strip", &mut strip, LIMIT)?;
    }
    libraries(&staged.join("gl"), &[])?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let archive = folder.join("suites.tar.xz");
    compress(&suites, [&staged, stack.folder()], &archive)?;
    let bytes = fs::metadata(&archive)
        .with_context(|| format!("no {}", archive.display()))?
        .len();
    let script = folder.join("run.sh");
    fs::write(&script, script_text(&suites))
        .and_then(|()| fs::set_permissions(&script, Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot write {}", script.display()))?;
    println!(
        "{}: {:.1} MiB",
        archive.display(),
        bytes as f64 / f64::from(1 << 20)
    );
    ensure!(
        bytes <= MOST_BYTES,
        "the pack takes {bytes} bytes, more than {MOST_BYTES}: name some suites after the folder, and the others for \
         another pack"
    );
    println!(
        "on the device, in the root of a checkout: bash {}",
        script.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Name of a package in the archive.
fn short(package: &str) -> &str {
    package.strip_prefix("quadrille_").unwrap_or(package)
}

/// Names of suites in the archive.
fn names(suites: &[(&str, &str)]) -> String {
    let names: Vec<_> = suites.iter().map(|(package, _)| short(package)).collect();
    names.join(" ")
}

fn script_text(suites: &[(&str, &str)]) -> String {
    SCRIPT
        .replace("@SUITES@", &names(suites))
        .replace("@ROOT@", &paths::root().display().to_string())
}

/// Fetches the libraries that drivers need, and those of `more`: packages with the prefix of a library's name.
pub(crate) fn libraries(to: &Path, more: &[(&str, &str)]) -> Result<()> {
    let codename = machine::release("VERSION_CODENAME")?;
    let sources = apt::machine_sources()?;
    let source = sources
        .iter()
        .find(|source| source.suites.contains(&codename));
    let source = source.with_context(|| format!("no entry of apt's sources is for {codename}"))?;
    let folder = paths::target("suites-apt");
    let stanza = apt::stanza(source, &[codename.as_str()]);
    let apt = Apt::new(folder.join("apt"), &stanza, Installed::Nothing)?;
    apt.update()?;
    let root = folder.join("root");
    let packages: Vec<_> = PACKAGES
        .into_iter()
        .chain(more.iter().map(|(package, _)| *package))
        .collect();
    for archive in apt.download(&packages)? {
        let mut unpack = Command::new("dpkg");
        unpack.arg("-x").arg(archive).arg(&root);
        process::run("suites-unpack", &mut unpack, LIMIT)?;
    }
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let found: Vec<PathBuf> = ["usr/lib", "lib"]
        .iter()
        .map(|it| {
            root.join(it)
                .join(format!("{}-linux-gnu", std::env::consts::ARCH))
        })
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    let is_wanted = |path: &&PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let more = more.iter().map(|(_, start)| start);
        LIBRARIES
            .iter()
            .chain(more)
            .any(|start| name.starts_with(start))
    };
    let mut count = 0;
    for path in found.iter().filter(is_wanted) {
        let to = to.join(path.file_name().unwrap_or_default());
        fs::copy(path, &to).with_context(|| format!("cannot copy {}", path.display()))?;
        count += 1;
    }
    if count == 0 {
        bail!("{} has none of the libraries", root.display());
    }
    Ok(())
}

/// Packs what is staged and the validation stack. The window of 384 MiB holds all programs, and addresses of calls are made
/// alike first (`--x86`, also what `python3` unpacks).
fn compress(suites: &[(&str, &str)], [staged, stack]: [&Path; 2], archive: &Path) -> Result<()> {
    println!("    compressing: some minutes");
    let suites = names(suites);
    let script = format!(
        "set -o pipefail; tar -C \"$1\" -c {suites} gl -C \"$2\" --exclude=root/usr/share/doc --exclude=gconv \
         root vk_layer_settings.txt run | xz -T1 --x86 --lzma2=preset=4,dict=384MiB >\"$3\""
    );
    let mut command = Command::new("bash");
    command
        .args(["-c", &script, "bash"])
        .arg(staged)
        .arg(stack)
        .arg(archive);
    process::run("suites-pack", &mut command, PACK_LIMIT).map(drop)
}

#[cfg(test)]
mod tests;
