//! The cargo project in which bevy's programs are built: a replacement of the crate `bevy`, and a package whose
//! programs are bevy's own files. For comparison, the same programs are also built with bevy's own crate.

mod assets;
mod together;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::programs::{self, Program};
use crate::host::cargo::{self, BUILD_LIMIT};
use crate::host::paths;
use crate::host::process;

const BEVY_MANIFEST: &str = include_str!("bevy.toml.in");
const BEVY_LIBRARY: &str = include_str!("bevy.rs.in");
const BEVY_RUN: &str = include_str!("run.rs.in");
/// Library that replaces bevy's crate with bevy's own renderer.
const THEIR_LIBRARY: &str = include_str!("theirs.rs.in");
const THEIR_MANIFEST: &str = include_str!("theirs.toml.in");

/// Manifest of the image comparison: a separate project, because it needs a C++ compiler.
const FLIP_MANIFEST: &str = include_str!("flip.toml.in");
const FLIP_PROGRAM: &str = include_str!("flip.rs.in");
const FLIP: &str = "flip";

/// Timeout of a build of most of bevy, its renderer included, on two slow, shared cores: 75 minutes were measured.
const BEVY_BUILD_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// Package that no program may depend on without bevy's renderer.
const LEFT_OUT: &str = "bevy_render";

/// Programs that need bevy's feature of lights with a size. It changes bevy's shaders, so builds without them do not have it.
const SOFT_SHADOWS: [&str; 1] = ["pcss"];

/// The condition under which our own programs use what bevy_render does not have.
const OURS_FEATURE: &str = "\n[features]\ndefault = [\"quadrille\"]\nquadrille = []\n";

/// The crate that programs use as `bevy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bevy {
    /// The replacement with Quadrille.
    Ours,
    /// The published crate.
    Theirs,
}

/// Features with which [`Bevy::Theirs`] draws sprites, nodes and text in a timed window.
const THEIR_FEATURES: &str = r#"["async_executor", "bevy_asset", "bevy_camera", "bevy_color",
    "bevy_core_pipeline", "bevy_image", "bevy_log", "bevy_mesh", "bevy_render", "bevy_sprite",
    "bevy_sprite_render", "bevy_state", "bevy_text", "bevy_ui", "bevy_ui_render", "bevy_window",
    "bevy_winit", "default_font", "multi_threaded", "png", "std", "x11"]"#;

impl Bevy {
    /// Name of its package of programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }
}

/// Build options of programs on Quadrille.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Build {
    /// Whether 3D is included.
    pub(super) scenes: bool,
    pub(super) optimised: bool,
}

impl Build {
    /// Arguments of cargo, and the name of its output folder.
    fn profile(self) -> (&'static [&'static str], &'static str) {
        if self.optimised {
            (&["--release"], "release")
        } else {
            (&[], "debug")
        }
    }
}

/// A generated project.
pub(super) struct Project {
    folder: PathBuf,
    /// Target folder of cargo: projects that share it build common dependencies once.
    target: PathBuf,
    /// Package of the programs, and the name of the executable.
    package: &'static str,
    build: Build,
}

/// Program that renders a glTF file.
const VIEW_GLTF: &str = include_str!("view_gltf.rs.in");

/// Writes the program that renders a glTF file, and returns its path.
///
/// # Errors
/// When it cannot be written.
pub(super) fn save_view_gltf() -> Result<PathBuf> {
    let path = paths::target("bevy-examples-gltf/view_gltf.rs");
    save(&path, VIEW_GLTF)?;
    Ok(path)
}

/// Folder in which programs are built for timing.
pub(super) fn folder_of_timing() -> PathBuf {
    paths::target("bevy-examples-time")
}

impl Project {
    /// Writes the project for programs of a package, on Quadrille or on bevy's own renderer.
    ///
    /// # Errors
    /// When the package cannot be read, has another version than the stand-in, or the project
    /// cannot be written.
    pub(super) fn write(
        package: &Path,
        programs: &[Program],
        assets: &Path,
        build: Build,
        bevy: Bevy,
    ) -> Result<Self> {
        let (name, mut features) = match (bevy, build.scenes) {
            (Bevy::Theirs, _) => ("bevy-examples-beside", Vec::new()),
            (Bevy::Ours, true) => ("bevy-examples-3d", vec!["scenes", "sound"]),
            (Bevy::Ours, false) => ("bevy-examples", vec!["default"]),
        };
        if needs_soft_shadows(programs) {
            features.push("soft_shadows");
        }
        let project = Self {
            folder: paths::target(name),
            target: paths::target("bevy-examples-build"),
            package: name,
            build,
        };
        let metadata = metadata(package)?;
        let is_theirs = bevy == Bevy::Theirs;
        if is_theirs {
            project.save("bevy/Cargo.toml", THEIR_MANIFEST)?;
            project.save("bevy/src/lib.rs", THEIR_LIBRARY)?;
            project.save("bevy/src/timed.rs", include_str!("theirs_timed.rs.in"))?;
        } else {
            project.save_stand_in()?;
        }
        project.save(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"bevy\", \"programs\"]\n\n\
             [profile.dev]\ndebug = false\nincremental = false\n\n[profile.release]\nstrip = true\n",
        )?;
        let bevy =
            format!(r#"{{ path = "../bevy", default-features = false, features = {features:?} }}"#);
        let mut manifest = manifest(name, &bevy, &metadata, programs)?;
        if !is_theirs {
            manifest.push_str(&derives_crate());
            manifest.push_str(OURS_FEATURE);
        }
        project.save("programs/Cargo.toml", &manifest)?;
        let examples = package.join("examples");
        project.copy(&examples, &examples)?;
        fs::create_dir_all(project.pictures()).context("cannot make the folder of pictures")?;
        project.copy_assets(assets)?;
        Ok(project)
    }

    /// Writes the project that builds programs with both renderers. `sprites` is the source of a program file of our
    /// own that may be among them.
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
        let project = Self {
            target: folder.join("build"),
            folder,
            package: "",
            build: Build::default(),
        };
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
            let mut manifest = manifest(bevy.name(), dependency, &metadata, programs)?;
            manifest.push_str(&programs_alone(programs));
            project.save(&format!("{}/Cargo.toml", bevy.name()), &manifest)?;
        }
        project.link_assets(assets)?;
        Ok(project)
    }

    fn save_stand_in(&self) -> Result<()> {
        let root = paths::root().to_string_lossy();
        self.save("bevy/Cargo.toml", &BEVY_MANIFEST.replace("@ROOT@", &root))?;
        self.save("bevy/src/lib.rs", BEVY_LIBRARY)?;
        self.save("bevy/src/run.rs", BEVY_RUN)
    }

    /// Folder of the images.
    pub(super) fn pictures(&self) -> PathBuf {
        self.folder.join("pictures")
    }

    /// Folder whose `assets` the programs load.
    pub(super) fn asset_root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Builds the programs. Returns the reason for each program that does not compile.
    ///
    /// # Errors
    /// When something else does not compile.
    pub(super) fn build_all(
        &self,
        package: &Path,
        programs: &[Program],
    ) -> Result<BTreeMap<String, String>> {
        let examples = package.join("examples");
        let mut failed = BTreeMap::new();
        let (arguments, folder) = self.build.profile();
        loop {
            let mut left = programs.to_vec();
            left.retain(|program| !failed.contains_key(&program.name));
            self.save("programs/src/main.rs", &together::root(&left, &examples))?;
            let mut command = self.cargo(self.package, &["--message-format=json"]);
            command.args(arguments);
            let Err(error) = process::run("bevy-examples-build", &mut command, BEVY_BUILD_LIMIT)
            else {
                break;
            };
            let messages = fs::read_to_string(paths::target("verify/bevy-examples-build.log"));
            let found = together::failures(&messages.unwrap_or_default(), &left);
            if found.is_empty() || process::interrupted() {
                return Err(error);
            }
            failed.extend(found);
        }
        let built = self.target.join(folder).join(self.package);
        for program in programs {
            link(&built, &self.program_of_all(&program.name))?;
        }
        Ok(failed)
    }

    /// Path of a program that was built with all others.
    pub(super) fn program_of_all(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Builds the image comparison, and returns its path.
    ///
    /// # Errors
    /// When it does not build.
    pub(super) fn build_flip() -> Result<PathBuf> {
        let folder = paths::target("flip");
        let project = Self {
            target: folder.join("build"),
            folder,
            package: FLIP,
            build: Build::default(),
        };
        project.save("Cargo.toml", FLIP_MANIFEST)?;
        project.save("src/main.rs", FLIP_PROGRAM)?;
        let mut command = project.cargo(FLIP, &["--release"]);
        process::run("flip-build", &mut command, BUILD_LIMIT)?;
        Ok(project.target.join("release").join(FLIP))
    }

    /// Builds one program for timing.
    ///
    /// # Errors
    /// When it does not build.
    pub(super) fn build_with(&self, bevy: Bevy, program: &Program) -> Result<()> {
        // Programs of both packages have the same names, so the executables are moved apart.
        let name = bevy.name();
        let mut command = self.cargo(name, &["--release", "--bin", &program.name]);
        let log = format!("time-{name}-{}-build", program.name);
        process::run(&log, &mut command, BEVY_BUILD_LIMIT)?;
        let built = self.target.join("release").join(&program.name);
        let kept = self.program(bevy, &program.name);
        fs::create_dir_all(self.folder.join(name).join("built")).context("cannot make a folder")?;
        fs::copy(&built, &kept).with_context(|| format!("cannot copy {}", built.display()))?;
        Ok(())
    }

    /// Path of a program that was built for timing.
    pub(super) fn program(&self, bevy: Bevy, name: &str) -> PathBuf {
        self.folder.join(bevy.name()).join("built").join(name)
    }

    fn cargo(&self, package: &str, arguments: &[&str]) -> Command {
        let mut command = cargo::command(&["build", "--quiet", "--package", package]);
        command
            .args(arguments)
            // Several of bevy's crates declare a newer compiler than they need.
            .arg("--ignore-rust-version")
            .arg("--target-dir")
            .arg(&self.target)
            .current_dir(&self.folder);
        command
    }

    fn save(&self, path: &str, text: &str) -> Result<()> {
        save(&self.folder.join(path), text)
    }

    /// Copies the files of a folder of bevy's examples, with their `main` made callable from other modules.
    fn copy(&self, folder: &Path, examples: &Path) -> Result<()> {
        for path in programs::entries(folder)? {
            if path.is_dir() {
                self.copy(&path, examples)?;
            } else if let Ok(text) = fs::read_to_string(&path) {
                let inside = path.strip_prefix(examples).unwrap_or(&path);
                let copy = Path::new("programs/examples").join(inside);
                let text = together::seeded(&together::opened(&text));
                self.save(&copy.to_string_lossy(), &text)?;
            }
        }
        Ok(())
    }

    fn link_assets(&self, assets: &Path) -> Result<()> {
        link(assets, &self.asset_root().join("assets"))
    }

    /// Copies the assets, because some programs write files beside them.
    fn copy_assets(&self, files: &Path) -> Result<()> {
        let copy = self.asset_root().join("assets");
        if copy.is_symlink() {
            fs::remove_file(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
        }
        assets::copy_changed(files, &copy)?;
        assets::substitute_missing(&copy)
    }
}

/// Writes a file unless its contents are unchanged, so that cargo does not rebuild it.
fn save(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a symbolic link and its parent folders.
#[cfg(unix)]
fn link(to: &Path, link: &Path) -> Result<()> {
    let folder = link.parent().unwrap_or(link);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(to, link).with_context(|| format!("cannot link {}", link.display()))
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    bail!("bevy's examples are run on Unix only")
}

fn needs_soft_shadows(programs: &[Program]) -> bool {
    let mut names = programs.iter().map(|program| &*program.name);
    names.any(|name| SOFT_SHADOWS.contains(&name))
}

/// Reads the metadata of the package.
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

/// Returns the manifest of a package of programs, with the crates besides bevy's that they use.
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
            // A module at another path is reported by the compiler.
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
    Ok(text)
}

/// Dependency of a manifest whose programs derive `AsBindGroup` or `ShaderType`: the derives name this crate.
fn derives_crate() -> String {
    let path = paths::root().join("crates/quadrille");
    format!("quadrille = {{ path = {path:?}, default-features = false }}\n")
}

/// Returns the part of a manifest that builds each program separately.
fn programs_alone(programs: &[Program]) -> String {
    let programs = programs.iter().map(|Program { name, path, .. }| {
        let path = path.to_string_lossy();
        format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n")
    });
    programs.collect()
}

/// Returns the modules of a program in separate files.
fn modules(source: &str) -> impl Iterator<Item = &str> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
