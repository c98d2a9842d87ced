//! Programs of the workspace, built once: a build of a single package would select other features of shared
//! dependencies, and compile and link them again.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::host::cargo;

/// Arguments with which all cargo commands share build artifacts. They include the features of viewer and cinema; one of
/// the viewer's dependencies declares a newer Rust than it needs.
pub(crate) const WHOLE: [&str; 4] = [
    "--workspace",
    "--features",
    "examples/gltf,examples/cinema,examples/sound,examples/gamepad,quadrille_3d/experimental_pbr_pcss",
    "--ignore-rust-version",
];

/// The programs of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Built {
    programs: Vec<Program>,
}

/// A program that cargo has built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Folder of its package's manifest.
    folder: PathBuf,
    /// Name of its target.
    pub(crate) name: String,
    /// Whether it is an integration test.
    is_test: bool,
    /// Path of the executable.
    pub(crate) path: PathBuf,
}

impl Program {
    /// Name of its package, which is that of its folder.
    pub(crate) fn package(&self) -> &str {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    /// Working directory of its tests, as in cargo.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Whether its tests need a GPU: its name is `gpu` or `gpu_*`.
    fn needs_gpu(&self) -> bool {
        self.is_test && (self.name == "gpu" || self.name.starts_with("gpu_"))
    }
}

impl Built {
    /// Builds the tests and the programs of all packages.
    ///
    /// # Errors
    /// When something does not build.
    pub(crate) fn workspace() -> Result<Self> {
        // Quietly, so that only messages are printed.
        let arguments = [
            "test",
            "--no-run",
            "--quiet",
            "--message-format=json-render-diagnostics",
        ];
        let output = cargo::run("build", &[&arguments[..], &WHOLE].concat())?;
        Ok(Self::named(&output))
    }

    /// Returns the programs in cargo's messages.
    fn named(messages: &str) -> Self {
        let messages = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let programs = messages.filter_map(|message| program(&message));
        Self {
            programs: programs.collect(),
        }
    }

    /// Returns the test programs that need a GPU.
    pub(crate) fn gpu_tests(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(|program| program.needs_gpu())
    }

    /// Returns the GPU test program of a package, which is named `gpu`.
    ///
    /// # Errors
    /// When the package has none.
    pub(crate) fn gpu_test(&self, package: &str) -> Result<&Program> {
        self.gpu_tests()
            .find(|program| program.name == "gpu" && program.package() == package)
            .with_context(|| format!("{package} has no test program `gpu`"))
    }

    /// Returns the programs of the examples package, by name and path.
    pub(crate) fn examples(&self) -> Vec<(String, PathBuf)> {
        let programs = self.programs.iter();
        programs
            .filter(|program| !program.is_test && program.package() == "examples")
            .map(|program| (program.name.clone(), program.path.clone()))
            .collect()
    }

    /// Returns the path of an example.
    pub(crate) fn example(&self, name: &str) -> Option<PathBuf> {
        self.program("examples", name)
    }

    /// Returns the path of a package's program.
    pub(crate) fn program(&self, package: &str, name: &str) -> Option<PathBuf> {
        let is_it = |it: &&Program| !it.is_test && it.package() == package && it.name == name;
        self.programs.iter().find(is_it).map(|it| it.path.clone())
    }
}

/// Returns the program of an artifact message (The Cargo Book, "External tools"): an integration test or a binary.
fn program(message: &Value) -> Option<Program> {
    let kind = message["target"]["kind"][0].as_str()?;
    let is_test = message["profile"]["test"].as_bool()?;
    let counts: &[_] = if is_test {
        &["test"]
    } else {
        &["bin", "example"]
    };
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    counts.contains(&kind).then_some(())?;
    Some(Program {
        folder: manifest.parent()?.to_owned(),
        name: message["target"]["name"].as_str()?.to_owned(),
        is_test,
        path: message["executable"].as_str()?.into(),
    })
}

#[cfg(test)]
mod tests;
