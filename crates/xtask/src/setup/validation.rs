//! The validation stack: the newest Khronos layer, with the loader and C library that it needs.
//!
//! Only the newest layer tracks timeline semaphores across queues, and only a suite newer than most machines has it. So
//! the suite's packages are unpacked below `target/validation`, and nothing is installed. The script
//! `target/validation/run` starts programs through that suite's own dynamic loader. The driver is the machine's own
//! lavapipe.

use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::host::paths;
use crate::host::process::{self, Running};
use crate::setup::allowed;
use crate::setup::apt::{self, Apt, Installed};
use crate::setup::machine;
use crate::setup::packages;
use crate::setup::version::Version;

/// Oldest layer that detects the errors this project relies on. Older ones do not check timeline semaphores, and miss
/// about half of the errors of ownership transfers.
const OLDEST_LAYER: Version = Version([1, 4, 309]);

/// Path of the layer's manifest below the root folder.
const MANIFEST: &str = "usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";

/// Packages to unpack; apt adds their dependencies.
const PACKAGES: [&str; 2] = ["vulkan-validationlayers", "libvulkan1"];

/// Files of the layer and its libraries. Some are symbolic links, which copies of the folder may have lost.
const LIBRARIES: [&str; 6] = [
    "libVkLayer_khronos_validation.so",
    "libvulkan.so.1",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "libc.so.6",
];

const UNPACK_LIMIT: Duration = Duration::from_secs(120);

/// Settings of the layer, one per line. All checks of synchronization are enabled, including accesses of shaders
/// through descriptors, for which no false positive was seen. Every occurrence of a message is reported, since counts
/// would otherwise be wrong. Messages are also printed if the program receives them, so that the program's own count is
/// not the only evidence.
const SETTINGS: &str = "\
khronos_validation.validate_sync = true
khronos_validation.syncval_load_op_after_store_op_validation = true
khronos_validation.syncval_message_extra_properties = true
khronos_validation.syncval_shader_accesses_heuristic = true
khronos_validation.thread_safety = true
khronos_validation.enable_message_limit = false
khronos_validation.report_flags = error,warn
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
";

/// A validation stack that is ready for use.
pub(crate) struct Stack {
    folder: PathBuf,
    layer: Version,
    parts: String,
}

impl Stack {
    /// Returns a command that starts a program under the layer, on lavapipe unless the environment selects drivers by
    /// `VK_DRIVER_FILES`.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(self.runner());
        command.arg(program.as_ref());
        command
    }

    /// The folder with the stack's libraries (`root`), the layer's settings and the script `run`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The script that starts programs, for tools that start them themselves.
    pub(crate) fn runner(&self) -> PathBuf {
        self.folder.join("run")
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "validation layer {} ({})", self.layer, self.parts)
    }
}

/// Returns lavapipe's manifest, from the paths that the script `run` tries.
pub(crate) fn lavapipe() -> Option<PathBuf> {
    let arch = std::env::consts::ARCH;
    ["lvp_icd.json".to_owned(), format!("lvp_icd.{arch}.json")]
        .map(|name| Path::new("/usr/share/vulkan/icd.d").join(name))
        .into_iter()
        .find(|path| path.is_file())
}

/// Returns the names of the layer's messages in a program's output.
pub(crate) fn messages(output: &str) -> Vec<&str> {
    ["Validation Error: [ ", "Validation Warning: [ "]
        .into_iter()
        .flat_map(|mark| output.split(mark).skip(1))
        .map(|rest| rest.split(" ]").next().unwrap_or_default())
        .filter(|name| !allowed::ALLOWED.iter().any(|entry| entry.name == *name))
        .collect()
}

/// Runs a command under the layer to its end, like [`process::run`].
///
/// # Errors
/// As for [`process::run`], and when the layer reported a message. The messages of a command that fails precede its
/// last lines, because they may be the cause.
pub(crate) fn run(name: &str, command: &mut Command, limit: Duration) -> Result<String> {
    let mut running = Running::start(name, command)?;
    let ended = running.finish(limit);
    let silence = check_silence(name, &running.output());
    match (ended, silence) {
        (Ok(output), Ok(())) => Ok(output),
        (Ok(_), Err(messages)) => Err(messages),
        (Err(error), Ok(())) => Err(error),
        (Err(error), Err(messages)) => bail!("{messages}\n{error}"),
    }
}

/// Fails if the layer printed a message.
///
/// # Errors
/// Names all messages and quotes the first.
pub(crate) fn check_silence(name: &str, output: &str) -> Result<()> {
    let mut names = messages(output);
    let count = names.len();
    if count == 0 {
        return Ok(());
    }
    names.sort_unstable();
    names.dedup();
    let start = output.find("Validation ").unwrap_or(0);
    let first: Vec<&str> = output[start..].lines().take(MESSAGE_LINES).collect();
    bail!(
        "{name}: {count} validation messages: {}\n{}",
        names.join(", "),
        first.join("\n")
    )
}

/// Number of lines of a message to show: it names its objects at its end.
const MESSAGE_LINES: usize = 40;

/// Prepares the stack: unpacks it if it is missing, and checks the layer's version.
///
/// # Errors
/// When the packages cannot be fetched, or the layer is too old.
pub(crate) fn prepare() -> Result<Stack> {
    let folder = paths::target("validation");
    let has_apt = packages::has_program("apt-get") && packages::has_program("dpkg");
    let (root, script) = if has_apt {
        let root = folder.join("root");
        let loader = foreign_loader()?;
        let is_new = layer_version(&root).is_ok_and(|layer| layer >= OLDEST_LAYER);
        let is_whole = is_whole(&root, &loader) && folder.join("versions").is_file();
        if !is_new || !is_whole {
            unpack(&folder).context("cannot get the validation layer")?;
        }
        (root, script(Some(loader)))
    } else {
        (PathBuf::from("/"), script(None))
    };
    let layer = layer_version(&root).context(
        "no Khronos validation layer (Fedora: vulkan-validation-layers, Arch: vulkan-validation-layers)",
    )?;
    if layer < OLDEST_LAYER {
        bail!(
            "the Khronos validation layer is {layer}; it takes {OLDEST_LAYER} or newer to judge timeline semaphores"
        );
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    replace(&folder.join("vk_layer_settings.txt"), SETTINGS, 0o644)?;
    replace(&folder.join("run"), &script, 0o755)?;
    allowed::check(layer)?;
    let parts =
        fs::read_to_string(folder.join("versions")).unwrap_or_else(|_| "of this system".to_owned());
    Ok(Stack {
        folder,
        layer,
        parts,
    })
}

/// Whether all libraries of the layer exist. A loader that cannot load the layer would continue without it, and
/// programs would run without validation.
fn is_whole(root: &Path, loader: &ForeignLoader) -> bool {
    let folder = root.join("usr/lib").join(loader.triplet);
    LIBRARIES
        .iter()
        .all(|library| folder.join(library).exists())
}

/// Returns the version in the layer's manifest.
fn layer_version(root: &Path) -> Result<Version> {
    let path = root.join(MANIFEST);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    manifest["layer"]["api_version"]
        .as_str()
        .and_then(Version::parse)
        .with_context(|| format!("{} has no layer.api_version", path.display()))
}

/// Fetches and unpacks the newest suite's packages.
fn unpack(folder: &Path) -> Result<()> {
    println!("    fetching the validation layer");
    let sources = apt::machine_sources()?;
    let codename = machine::release("VERSION_CODENAME")?;
    let suite = newest_suite(&machine::release("ID")?)?;
    let source = sources
        .iter()
        .find(|source| source.suites.contains(&codename))
        .with_context(|| format!("no entry of apt's sources is for {codename}"))?;
    let apt = Apt::new(
        folder.join("apt"),
        &apt::stanza(source, &[suite]),
        Installed::Nothing,
    )?;
    apt.update()?;
    let archives = apt.download(&PACKAGES)?;

    // Unpacked to another folder and renamed, so that an interrupted run leaves no incomplete folder.
    let aside = folder.join("root.new");
    let root = folder.join("root");
    remove(&aside)?;
    // Fails if a link of that name exists.
    fs::create_dir(&aside).with_context(|| format!("cannot make {}", aside.display()))?;
    for archive in &archives {
        let mut command = Command::new("dpkg");
        command.arg("-x").arg(archive).arg(&aside);
        process::run("setup-unpack", &mut command, UNPACK_LIMIT)?;
    }
    remove(&root)?;
    fs::rename(&aside, &root).with_context(|| format!("cannot rename {}", aside.display()))?;
    replace(&folder.join("versions"), &versions(&archives), 0o644)
}

/// Returns the suite with the newest packages of a distribution.
fn newest_suite(distribution: &str) -> Result<&'static str> {
    match distribution {
        "debian" => Ok("unstable"),
        "ubuntu" => Ok("devel"),
        other => bail!(
            "which suite of {other} has the newest packages is not known; Debian's and Ubuntu's are"
        ),
    }
}

/// Returns the versions of the main packages, from the archives' file names.
fn versions(archives: &[PathBuf]) -> String {
    let parts: Vec<String> = archives
        .iter()
        .filter_map(|path| {
            let mut words = path.file_stem()?.to_str()?.split('_');
            let name = words.next()?;
            let version = words.next()?.replace("%3a", ":");
            let matters = name == "libc6" || PACKAGES.contains(&name);
            matters.then(|| format!("{name} {version}"))
        })
        .collect();
    parts.join(", ")
}

/// Start of programs with another C library than the machine's.
struct ForeignLoader {
    /// Name of the architecture's library folder, below `usr/lib` and `lib`.
    triplet: &'static str,
    /// File name of the dynamic loader.
    program: &'static str,
}

fn foreign_loader() -> Result<ForeignLoader> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(ForeignLoader {
            triplet: "x86_64-linux-gnu",
            program: "ld-linux-x86-64.so.2",
        }),
        "aarch64" => Ok(ForeignLoader {
            triplet: "aarch64-linux-gnu",
            program: "ld-linux-aarch64.so.1",
        }),
        other => bail!("the validation stack is known for x86_64 and aarch64, not for {other}"),
    }
}

/// Returns the script `run`. The caller's own layers are below the Khronos layer, next to the driver.
fn script(loader: Option<ForeignLoader>) -> String {
    let (layers, start) = match loader {
        Some(ForeignLoader { triplet, program }) => (
            "$here/root/usr/share/vulkan/explicit_layer.d",
            format!(
                "lib=$here/root/usr/lib/{triplet}\n\
                 path=$lib:/usr/local/lib:/lib/{triplet}:/usr/lib/{triplet}\n\
                 exec \"$lib/{program}\" --library-path \"$path${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\" \"$program\" \"$@\""
            ),
        ),
        None => (
            "/usr/share/vulkan/explicit_layer.d",
            "exec \"$program\" \"$@\"".to_owned(),
        ),
    };
    format!(
        r#"#!/bin/sh
# Written by `cargo xtask setup`. Runs a program under the validation layer: run PROGRAM [ARGS]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || {{ echo "usage: $0 PROGRAM [ARGS]" >&2; exit 2; }}
program=$(command -v "$1") || {{ echo "error: $1 is not a program" >&2; exit 2; }}
shift
export VK_LAYER_PATH="{layers}${{VK_LAYER_PATH:+:$VK_LAYER_PATH}}"
export VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation${{VK_INSTANCE_LAYERS:+:$VK_INSTANCE_LAYERS}}"
export VK_LAYER_SETTINGS_PATH="$here/vk_layer_settings.txt"
export VK_VALIDATION_VALIDATE_SYNC=1
# Layers that a desktop adds to every program are none of a test's business.
export VK_LOADER_LAYERS_DISABLE="~implicit~"
if [ -z "${{VK_DRIVER_FILES:-}}" ]; then
    VK_DRIVER_FILES=
    for manifest in /usr/share/vulkan/icd.d/lvp_icd.json "/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json"; do
        [ ! -f "$manifest" ] || VK_DRIVER_FILES=$manifest
    done
    [ -n "$VK_DRIVER_FILES" ] || {{ echo "error: no lavapipe on this system; cargo xtask setup" >&2; exit 1; }}
    export VK_DRIVER_FILES
fi
# A child of the program that is to be validated too is started through this script.
export QUADRILLE_VALIDATED="$here/run"
{start}
"#
    )
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// Replaces a file atomically if its text changes, because other processes may be running it. The text is first written
/// to a new file with a random name, so that existing links are not followed.
fn replace(path: &Path, text: &str, mode: u32) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    // The standard library seeds `RandomState` from the system's random generator.
    let random = RandomState::new().hash_one(std::process::id());
    let aside = path.with_extension(format!("{random:016x}.new"));
    let mut new = OpenOptions::new();
    new.write(true)
        .create_new(true)
        .open(&aside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())
                .and_then(|()| file.set_permissions(Permissions::from_mode(mode)))
                .and_then(|()| fs::rename(&aside, path))
                .inspect_err(|_| {
                    // Removes the incomplete file; an error of that is ignored.
                    let _ = fs::remove_file(&aside);
                })
        })
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
