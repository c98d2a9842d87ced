//! Cargo: contents of the workspace, and builds.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::host::paths;
use crate::host::process;

/// Timeout of a cold build of the whole workspace on two slow cores.
pub(crate) const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The workspace, as cargo describes it.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Target folder of cargo.
    pub(crate) target: PathBuf,
    /// The workspace's own packages.
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Package {
    /// Name.
    pub(crate) name: String,
    /// Targets that it builds.
    pub(crate) targets: Vec<Target>,
    /// Direct dependencies.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A target of cargo, with one root file.
#[derive(Debug)]
pub(crate) struct Target {
    /// Name.
    pub(crate) name: String,
    /// `lib`, `bin`, `example`, `test`, ...
    pub(crate) kind: String,
    /// Root file.
    pub(crate) source: PathBuf,
}

/// A dependency in a manifest.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The package.
    pub(crate) name: String,
    /// Whether it is a dev-dependency.
    pub(crate) is_dev: bool,
}

impl Workspace {
    /// Reads the workspace with `cargo metadata`.
    ///
    /// # Errors
    /// When cargo cannot read a manifest.
    pub(crate) fn read() -> Result<Self> {
        let output = command(&["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!(
                "cargo metadata failed\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let value: Value =
            serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
        Ok(Self {
            target: text(&value["target_directory"]).into(),
            packages: list(&value["packages"]).iter().map(package).collect(),
        })
    }

    /// Returns the names of the programs of the examples package.
    pub(crate) fn examples(&self) -> Vec<&str> {
        let examples = self
            .packages
            .iter()
            .find(|package| package.name == "examples");
        let targets = examples.into_iter().flat_map(|package| &package.targets);
        targets
            .filter(|target| matches!(target.kind.as_str(), "bin" | "example"))
            .map(|target| target.name.as_str())
            .collect()
    }
}

fn package(value: &Value) -> Package {
    Package {
        name: text(&value["name"]),
        targets: list(&value["targets"]).iter().map(target).collect(),
        dependencies: list(&value["dependencies"])
            .iter()
            .map(|dependency| Dependency {
                name: text(&dependency["name"]),
                is_dev: dependency["kind"] == "dev",
            })
            .collect(),
    }
}

fn target(value: &Value) -> Target {
    Target {
        name: text(&value["name"]),
        kind: text(&value["kind"][0]),
        source: text(&value["src_path"]).into(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a cargo command at the root of the workspace.
pub(crate) fn command(arguments: &[&str]) -> Command {
    // The cargo that started this tool, if any.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(paths::root());
    command
}

/// Runs cargo with its output in a log.
///
/// # Errors
/// When cargo fails or takes longer than [`BUILD_LIMIT`].
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<String> {
    process::run(name, &mut command(arguments), BUILD_LIMIT)
}
