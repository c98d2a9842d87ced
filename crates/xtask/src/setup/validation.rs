//! The validation stack: the newest Khronos layer with the loader and C library it needs.
//!
//! Only the newest layer follows timeline semaphores across queues, and only a suite newer
//! than most machines has it. So the suite's packages are unpacked below `target/validation`,
//! nothing is installed, and programs are started through that suite's own dynamic loader
//! by the script `target/validation/run`. The driver is the machine's own lavapipe.

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

use crate::host::place;
use crate::host::process;
use crate::setup::allowed;
use crate::setup::apt::{self, Apt, Installed};
use crate::setup::machine;
use crate::setup::packages;
use crate::setup::version::Version;

/// The first layer that judges what this project relies on; older ones are silent about
/// timeline semaphores and about half of the errors of ownership transfers.
const OLDEST_LAYER: Version = Version([1, 4, 309]);

/// The layer's manifest below a system's root.
const MANIFEST: &str = "usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";

/// The packages to unpack; apt adds what they need.
const PACKAGES: [&str; 2] = ["vulkan-validationlayers", "libvulkan1"];

/// Files of the layer and libraries that it is linked with; some are links, which copies of the folder may
/// have lost.
const LIBRARIES: [&str; 6] = [
    "libVkLayer_khronos_validation.so",
    "libvulkan.so.1",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "libc.so.6",
];

const UNPACK_LIMIT: Duration = Duration::from_secs(120);

/// Settings of the layer, one a line. All that it checks about synchronization is on, also what
/// shaders touch through descriptors (no plan of ours was seen to be blamed wrongly by that);
/// a message is reported every time, or counts would lie; and it is printed even if the program
/// receives it too, so that the program's own count is not the only witness.
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
    /// A command that starts a program under the layer, on lavapipe unless the caller's
    /// environment names drivers by `VK_DRIVER_FILES`.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(self.runner());
        command.arg(program.as_ref());
        command
    }

    /// The folder with the stack's libraries (`root`), the layer's settings and the script `run`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The script that starts programs: for tools that start them by themselves.
    pub(crate) fn runner(&self) -> PathBuf {
        self.folder.join("run")
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "validation layer {} ({})", self.layer, self.parts)
    }
}

/// The names of the messages that the layer printed into a program's output.
pub(crate) fn messages(output: &str) -> Vec<&str> {
    ["Validation Error: [ ", "Validation Warning: [ "]
        .into_iter()
        .flat_map(|mark| output.split(mark).skip(1))
        .map(|rest| rest.split(" ]").next().unwrap_or_default())
        .filter(|name| !allowed::ALLOWED.iter().any(|entry| entry.name == *name))
        .collect()
}

/// Runs a command that is under the layer to its end, as [`process::run`] does.
///
/// # Errors
/// As there, and when the layer had anything to say.
pub(crate) fn run(name: &str, command: &mut Command, limit: Duration) -> Result<String> {
    let output = process::run(name, command, limit)?;
    check_silence(name, &output)?;
    Ok(output)
}

/// Fails if the layer printed a message.
///
/// # Errors
/// With the messages' names and the whole of the first.
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

/// How much of a message is shown: it names its objects at its end.
const MESSAGE_LINES: usize = 40;

/// Makes the stack ready: unpacks it if it is not there, and checks how old it is.
///
/// # Errors
/// When the packages cannot be fetched, or the layer is too old to be a judge.
pub(crate) fn prepare() -> Result<Stack> {
    let folder = place::made("validation");
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

/// Whether the layer has what it is linked with. A loader that does not find it goes on without the
/// layer, and programs are judged by nobody.
fn is_whole(root: &Path, loader: &ForeignLoader) -> bool {
    let folder = root.join("usr/lib").join(loader.triplet);
    LIBRARIES
        .iter()
        .all(|library| folder.join(library).exists())
}

/// The version in the layer's manifest.
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

    // Unpacked aside and renamed, so that a run that was cut off leaves nothing half done.
    let aside = folder.join("root.new");
    let root = folder.join("root");
    remove(&aside)?;
    // Fails where a link waits by that name.
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

/// The suite with the newest packages of a distribution.
fn newest_suite(distribution: &str) -> Result<&'static str> {
    match distribution {
        "debian" => Ok("unstable"),
        "ubuntu" => Ok("devel"),
        other => bail!(
            "which suite of {other} has the newest packages is not known; Debian's and Ubuntu's are"
        ),
    }
}

/// The versions of the packages that matter, read from the archives' file names.
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

/// How programs are started with another C library than the machine's.
struct ForeignLoader {
    /// The folder of this architecture's libraries, below `usr/lib` and `lib`.
    triplet: &'static str,
    /// The dynamic loader's file name.
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

/// The text of `run`. The caller's own layers go below the Khronos layer, next to the driver.
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

/// Writes a file as a whole, and only if its text changes: others may be running it. The text goes to a new file
/// of a random name first, so that no link that waits there is followed.
fn replace(path: &Path, text: &str, mode: u32) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    // The standard library seeds these hashers by the system's generator.
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
                    // Not left half written; if that fails too, so be it.
                    let _ = fs::remove_file(&aside);
                })
        })
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
