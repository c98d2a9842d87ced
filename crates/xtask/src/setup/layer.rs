//! The test layer: builds it, and configures the Vulkan loader to load it below the validation layer.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::host::cargo::{self, Workspace};
use crate::host::paths;

const NAME: &str = "VK_LAYER_QUADRILLE_test";

/// Queue topologies for all GPU programs, in the layer's syntax: one queue, several queues of one family, and
/// topologies of discrete GPUs.
pub(crate) const TOPOLOGIES: [&str; 6] = [
    "gct:1",
    "gct:4",
    "gct:1,t:1",
    "gct:1,ct:1,t:1",
    "gct:1,ct:2,t:1",
    "gct:16,ct:8,t:2",
];

/// Part of the layer's message about an unknown setting or script line.
const REFUSED: &str = "is not allowed here";

/// Fails if the layer has rejected its settings: without this check, the missing device would look like an effect of a
/// fault.
///
/// # Errors
/// Quotes the layer's message.
pub(crate) fn check_taken(output: &str) -> Result<()> {
    match output.lines().find(|line| line.contains(REFUSED)) {
        Some(line) => bail!("{line}"),
        None => Ok(()),
    }
}

/// Profile with which the layer is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Fast to build, for tests.
    Debug,
    /// Optimized, so that calls through it cost little, for measurements.
    Release,
}

impl Build {
    /// Output folder below cargo's target folder.
    fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// Arguments of cargo.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}

/// The built layer.
pub(crate) struct Layer {
    /// Folder of its manifest.
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
        // Programs that search for a layer find the one next to them first.
        let folder = match build {
            Build::Debug => paths::target("layer"),
            Build::Release => built.join("layer"),
        };
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("VkLayer_quadrille_test.json");
        std::fs::write(&path, manifest(&library, build)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { folder })
    }

    /// Folder of its manifest, for `VK_LAYER_PATH`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts the layer below a validated program, with these queue families.
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
/// Returned in place of a line that is not JSON.
pub(crate) fn entries(log: &str) -> impl Iterator<Item = Result<Value>> {
    let entry = |line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}"));
    log.lines().map(entry)
}

/// Runs the program that prints the layer's manifest.
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
