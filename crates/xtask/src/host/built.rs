//! Programs of the workspace, built once: a build of one package alone would choose other features of shared
//! dependencies, and compile and link them again.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::host::cargo;

/// Arguments by which cargo commands share what they build. The viewer's feature is among it; one of its
/// dependencies declares a newer Rust than it needs.
pub(crate) const WHOLE: [&str; 4] = [
    "--workspace",
    "--features",
    "examples/gltf",
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
    /// The folder of its package's manifest.
    folder: PathBuf,
    /// The name of its target.
    pub(crate) name: String,
    /// Whether it is an integration test, and no program of its own.
    is_test: bool,
    /// The file to run.
    pub(crate) path: PathBuf,
}

impl Program {
    /// The name of its package, which is that of its folder.
    pub(crate) fn package(&self) -> &str {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    /// The folder that its tests expect to be run in, as cargo does.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Whether its tests need a GPU: it is called `gpu` or `gpu_*`.
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
        // Quietly, so that nothing is written into the messages.
        let arguments = [
            "test",
            "--no-run",
            "--quiet",
            "--message-format=json-render-diagnostics",
        ];
        let output = cargo::run("build", &[&arguments[..], &WHOLE].concat())?;
        Ok(Self::named(&output))
    }

    /// The programs that cargo names in its messages.
    fn named(messages: &str) -> Self {
        let messages = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let programs = messages.filter_map(|message| program(&message));
        Self {
            programs: programs.collect(),
        }
    }

    /// The test programs that need a GPU.
    pub(crate) fn gpu_tests(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(|program| program.needs_gpu())
    }

    /// The test program of a package that needs a GPU and is called `gpu`.
    ///
    /// # Errors
    /// When the package has none.
    pub(crate) fn gpu_test(&self, package: &str) -> Result<&Program> {
        self.gpu_tests()
            .find(|program| program.name == "gpu" && program.package() == package)
            .with_context(|| format!("{package} has no test program `gpu`"))
    }

    /// The programs of the examples package, by name and path.
    pub(crate) fn examples(&self) -> Vec<(String, PathBuf)> {
        let programs = self.programs.iter();
        programs
            .filter(|program| !program.is_test && program.package() == "examples")
            .map(|program| (program.name.clone(), program.path.clone()))
            .collect()
    }

    /// The path of an example's program.
    pub(crate) fn example(&self, name: &str) -> Option<PathBuf> {
        self.program("examples", name)
    }

    /// The path of a program that a package has.
    pub(crate) fn program(&self, package: &str, name: &str) -> Option<PathBuf> {
        let is_it = |it: &&Program| !it.is_test && it.package() == package && it.name == name;
        self.programs.iter().find(is_it).map(|it| it.path.clone())
    }
}

/// The program of one of cargo's messages (The Cargo Book, "External tools", artifact messages): an
/// integration test, or a program as users run it.
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
