//! The test layer: built, announced to the Vulkan loader, put below the validation layer.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::host::cargo::{self, Workspace};
use crate::host::place;

const NAME: &str = "VK_LAYER_QUADRILLE_test";

/// The queue topologies that every GPU program must run on, in the layer's own words:
/// one queue, several of one family, and what discrete GPUs have.
pub(crate) const TOPOLOGIES: [&str; 6] = [
    "gct:1",
    "gct:4",
    "gct:1,t:1",
    "gct:1,ct:1,t:1",
    "gct:1,ct:2,t:1",
    "gct:16,ct:8,t:2",
];

/// Words of the layer about a setting, or a line of a script, that it does not know.
const REFUSED: &str = "is not allowed here";

/// Fails if the layer has refused what it was told: without a device, which is all that is left
/// then, many a program ends as it would by a fault.
///
/// # Errors
/// Quotes the message of the layer.
pub(crate) fn check_taken(output: &str) -> Result<()> {
    match output.lines().find(|line| line.contains(REFUSED)) {
        Some(line) => bail!("{line}"),
        None => Ok(()),
    }
}

/// How the layer is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Quickly: for tests.
    Debug,
    /// So that calls through it cost next to nothing: for measurements.
    Release,
}

impl Build {
    /// The folder below cargo's that it is built in.
    fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// Cargo's arguments for it.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}

/// The built layer.
pub(crate) struct Layer {
    /// The folder of its manifest.
    folder: PathBuf,
}

impl Layer {
    /// Builds the layer and writes its manifest.
    ///
    /// # Errors
    /// When it does not build or the manifest cannot be written.
    pub(crate) fn build(workspace: &Workspace, build: Build) -> Result<Self> {
        let package = ["build", "--package", "quadrille_layer"];
        cargo::run("layer-build", &[&package, build.arguments()].concat())?;
        let built = workspace.target.join(build.folder());
        let library = built.join(format!(
            "{}quadrille_layer{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        ));
        // Programs that look for a layer find the one beside them first.
        let folder = match build {
            Build::Debug => place::made("layer"),
            Build::Release => built.join("layer"),
        };
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("VkLayer_quadrille_test.json");
        std::fs::write(&path, manifest(&library, build)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { folder })
    }

    /// The folder of its manifest, as `VK_LAYER_PATH` wants it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts the layer below a validated program, with some queue families.
    pub(crate) fn apply(&self, command: &mut Command, families: &str) {
        command
            .env("VK_LAYER_PATH", &self.folder)
            .env("VK_INSTANCE_LAYERS", NAME)
            .env("QUADRILLE_LAYER_FAMILIES", families);
    }
}

/// Parses the lines of the layer's log.
///
/// # Errors
/// In place of a line that is not JSON.
pub(crate) fn entries(log: &str) -> impl Iterator<Item = Result<Value>> {
    let entry = |line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}"));
    log.lines().map(entry)
}

/// Writes the layer's manifest, by its own program.
///
/// # Errors
/// When that does not build.
fn manifest(library: &Path, build: Build) -> Result<Vec<u8>> {
    let run = ["run", "--quiet", "--package", "quadrille_layer"];
    let output = cargo::command(&[&run, build.arguments()].concat())
        .args(["--example", "manifest", "--"])
        .arg(library)
        .output()
        .context("cannot start cargo")?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        bail!(
            "the layer's manifest cannot be written\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::check_taken;

    #[test]
    fn refused_setting_fails_the_run() {
        let line = "VK_LAYER_QUADRILLE_test: a.txt:1: `vkNothing` is not allowed here; expected ..";
        assert!(
            check_taken(&format!("one\n{line}\ntwo")).is_err(),
            "refused"
        );
        assert!(check_taken("no device: out of memory").is_ok(), "a fault");
    }
}
