//! The project in which bevy's programs are built: a stand-in for the crate `bevy`, and a package
//! whose programs are bevy's own files. To compare, the same programs are built with bevy's own
//! crate `bevy` as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::programs::Program;
use crate::cargo::{self, BUILD_LIMIT};
use crate::{place, process};

const BEVY_MANIFEST: &str = include_str!("bevy.toml.in");
const BEVY_LIBRARY: &str = include_str!("bevy.rs.in");
const BEVY_RUN: &str = include_str!("run.rs.in");

/// The published crate with optimisation on two slow cores that others use as well.
const TIMING_BUILD_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// What no program has that runs without bevy's renderer.
const LEFT_OUT: &str = "bevy_render";

/// What programs get when they ask for `bevy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bevy {
    /// The stand-in.
    Ours,
    /// The published crate, with the least of bevy_render that draws 2D.
    Theirs,
}

/// What [`Bevy::Theirs`] needs to draw sprites, nodes and text in a window.
const THEIR_FEATURES: &str = r#"["async_executor", "bevy_asset", "bevy_camera", "bevy_color",
    "bevy_core_pipeline", "bevy_image", "bevy_log", "bevy_mesh", "bevy_render", "bevy_sprite",
    "bevy_sprite_render", "bevy_state", "bevy_text", "bevy_ui", "bevy_ui_render", "bevy_window",
    "bevy_winit", "default_font", "multi_threaded", "png", "std", "x11"]"#;

impl Bevy {
    /// The name of its package of programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }
}

/// How programs are built on the stand-in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Build {
    /// With 3D.
    pub(super) scenes: bool,
    pub(super) optimised: bool,
}

impl Build {
    /// What cargo is told, and what it calls the folder of what it built.
    fn profile(self) -> (&'static [&'static str], &'static str) {
        if self.optimised {
            (&["--release"], "release")
        } else {
            (&[], "debug")
        }
    }
}

/// A project on disk.
pub(super) struct Project {
    folder: PathBuf,
    build: Build,
}

/// Where programs are built to be timed.
pub(super) fn folder_of_timing() -> PathBuf {
    place::made("bevy-examples-time")
}

impl Project {
    /// Writes the project for some programs of a package.
    ///
    /// # Errors
    /// When the package cannot be read, has another version than the stand-in, or the project
    /// cannot be written.
    pub(super) fn write(
        package: &Path,
        programs: &[Program],
        assets: &Path,
        build: Build,
    ) -> Result<Self> {
        let (folder, bevy) = if build.scenes {
            let features = r#"default-features = false, features = ["scenes", "sound"]"#;
            let bevy = format!(r#"{{ path = "../bevy", {features} }}"#);
            (place::made("bevy-examples-3d"), bevy)
        } else {
            let bevy = r#"{ path = "../bevy" }"#.to_owned();
            (place::made("bevy-examples"), bevy)
        };
        let project = Self { folder, build };
        let metadata = metadata(package)?;
        project.save_stand_in()?;
        project.save(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"bevy\", \"programs\"]\n\n\
             [profile.dev]\ndebug = false\n",
        )?;
        let manifest = manifest("programs", &bevy, &metadata, programs)?;
        project.save("programs/Cargo.toml", &manifest)?;
        fs::create_dir_all(project.pictures()).context("cannot make the folder of pictures")?;
        project.link_assets(assets)?;
        Ok(project)
    }

    /// Writes the project that builds programs with both, with `sprites` as one of the files that
    /// may be among them.
    ///
    /// # Errors
    /// As [`Project::write`].
    pub(super) fn write_timing(
        package: &Path,
        programs: &[Program],
        assets: &Path,
        sprites: &str,
    ) -> Result<Self> {
        let folder = folder_of_timing();
        let build = Build::default();
        let project = Self { folder, build };
        let metadata = metadata(package)?;
        project.save_stand_in()?;
        project.save("sprites.rs", sprites)?;
        project.save(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"bevy\", \"ours\", \"theirs\"]\n",
        )?;
        let version = metadata["version"].as_str().unwrap_or_default();
        let ours = "{ path = \"../bevy\", default-features = false, features = [\"window\"] }";
        let theirs = format!(
            "{{ version = \"={version}\", default-features = false, features = {THEIR_FEATURES} }}"
        );
        for (bevy, dependency) in [(Bevy::Ours, ours), (Bevy::Theirs, &theirs)] {
            let manifest = manifest(bevy.name(), dependency, &metadata, programs)?;
            project.save(&format!("{}/Cargo.toml", bevy.name()), &manifest)?;
        }
        project.link_assets(assets)?;
        Ok(project)
    }

    fn save_stand_in(&self) -> Result<()> {
        let root = place::root().to_string_lossy();
        self.save("bevy/Cargo.toml", &BEVY_MANIFEST.replace("@ROOT@", &root))?;
        self.save("bevy/src/lib.rs", BEVY_LIBRARY)?;
        self.save("bevy/src/run.rs", BEVY_RUN)
    }

    /// Where the pictures go.
    pub(super) fn pictures(&self) -> PathBuf {
        self.folder.join("pictures")
    }

    /// The folder whose `assets` the programs load from.
    pub(super) fn asset_root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Builds what can be built, so that what they share is built by all cores at once.
    pub(super) fn build_all(&self) {
        let mut command = self.cargo("programs", &["--keep-going", "--bins"]);
        command.args(self.build.profile().0);
        // Programs that do not build are looked at one by one afterwards.
        let _ = process::run("bevy-examples-build", &mut command, BUILD_LIMIT);
    }

    /// Builds one program and says where it is.
    ///
    /// # Errors
    /// When it does not build; the message ends with the compiler's first error.
    pub(super) fn build(&self, program: &Program) -> Result<PathBuf> {
        let (arguments, folder) = self.build.profile();
        let mut command = self.cargo("programs", &["--bin", &program.name]);
        command.args(arguments);
        let log = format!("bevy-{}-build", program.name);
        process::run(&log, &mut command, BUILD_LIMIT)
            .map_err(|error| anyhow!("does not compile: {}", first_error(&format!("{error:#}"))))?;
        Ok(self.folder.join("build").join(folder).join(&program.name))
    }

    /// Builds one program to be timed.
    ///
    /// # Errors
    /// When it does not build.
    pub(super) fn build_with(&self, bevy: Bevy, program: &Program) -> Result<()> {
        // Programs of both packages have the same names: they are moved out of each other's way.
        let name = bevy.name();
        let mut command = self.cargo(name, &["--release", "--bin", &program.name]);
        let log = format!("time-{name}-{}-build", program.name);
        process::run(&log, &mut command, TIMING_BUILD_LIMIT)?;
        let built = self.folder.join("build/release").join(&program.name);
        let kept = self.program(bevy, &program.name);
        fs::create_dir_all(self.folder.join(name).join("built")).context("cannot make a folder")?;
        fs::copy(&built, &kept).with_context(|| format!("cannot copy {}", built.display()))?;
        Ok(())
    }

    /// Where a program lies that was built to be timed.
    pub(super) fn program(&self, bevy: Bevy, name: &str) -> PathBuf {
        self.folder.join(bevy.name()).join("built").join(name)
    }

    fn cargo(&self, package: &str, arguments: &[&str]) -> Command {
        let mut command = cargo::command(&["build", "--quiet", "--package", package]);
        command
            .args(arguments)
            // Some of bevy's crates ask for a newer compiler than they need.
            .arg("--ignore-rust-version")
            .arg("--target-dir")
            .arg(self.folder.join("build"))
            .current_dir(&self.folder);
        command
    }

    fn save(&self, path: &str, text: &str) -> Result<()> {
        let path = self.folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            // Unchanged, so that cargo does not build it anew.
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    #[cfg(unix)]
    fn link_assets(&self, assets: &Path) -> Result<()> {
        fs::create_dir_all(self.asset_root()).context("cannot make the folder for assets")?;
        let link = self.asset_root().join("assets");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(assets, &link)
            .with_context(|| format!("cannot link {}", link.display()))
    }

    #[cfg(not(unix))]
    fn link_assets(&self, _assets: &Path) -> Result<()> {
        bail!("bevy's examples are run on Unix only")
    }
}

/// What cargo says about the package.
fn metadata(package: &Path) -> Result<Value> {
    let manifest = package.join("Cargo.toml");
    let output = cargo::command(&["metadata", "--no-deps", "--format-version", "1"])
        .arg("--manifest-path")
        .arg(&manifest)
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!(
            "{} cannot be read\n{}",
            manifest.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let value: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata is no JSON")?;
    let bevy = list(&value["packages"])
        .iter()
        .find(|package| package["name"] == "bevy")
        .with_context(|| format!("{} is not bevy's package", manifest.display()))?;
    match bevy["version"].as_str() {
        Some(version) if version.starts_with("0.20.") => Ok(bevy.clone()),
        version => bail!(
            "{} is bevy {}, and the crates here are of 0.20",
            manifest.display(),
            version.unwrap_or("without a version")
        ),
    }
}

/// The manifest of a package of programs: each program, and the crates beside bevy's that
/// they use.
fn manifest(name: &str, dependency: &str, bevy: &Value, programs: &[Program]) -> Result<String> {
    let mut text = format!(
        "# Written by `cargo xtask bevy-examples`.\n[package]\nname = \"{name}\"\n\
         version = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nbevy = {dependency}\n"
    );
    let mut sources = String::new();
    for Program { path, .. } in programs {
        let source =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        for module in modules(&source) {
            let file = path.with_file_name(format!("{module}.rs"));
            // A module that is elsewhere is the compiler's to find.
            sources.push_str(&fs::read_to_string(file).unwrap_or_default());
        }
        sources.push_str(&source);
    }
    for dependency in list(&bevy["dependencies"]) {
        let name = dependency["name"].as_str().unwrap_or_default();
        let is_used = sources.contains(&format!("{}::", name.replace('-', "_")));
        if dependency["kind"] == "dev"
            && dependency["target"].is_null()
            && name != LEFT_OUT
            && is_used
        {
            text.push_str(&format!(
                "{name} = {{ version = {}, features = {}, default-features = {} }}\n",
                dependency["req"], dependency["features"], dependency["uses_default_features"]
            ));
        }
    }
    for Program { name, path } in programs {
        let path = path.to_string_lossy();
        text.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n"));
    }
    Ok(text)
}

/// The modules that a program has in files of their own.
fn modules(source: &str) -> impl Iterator<Item = &str> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The compiler's first error in a log, in one line.
fn first_error(log: &str) -> &str {
    let error = log.lines().find(|line| line.starts_with("error"));
    error.or_else(|| log.lines().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
