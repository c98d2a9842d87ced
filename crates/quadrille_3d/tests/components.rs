//! Table of all public components of the bevy crates that Quadrille is built on: `components.txt`. The test fails if a
//! new version of bevy adds a component, or if a component is listed wrongly as ignored or drawn. Drawn components, and
//! those of 2D and 3D, have a part in the random lives of the GPU tests, or a row in `lifecycle_exceptions.txt`.
#![cfg(all(feature = "gltf", feature = "gizmos"))]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use quadrille::ecs::{DRAWN_COMPONENTS, IGNORED_COMPONENTS};
use serde_json::Value;

/// Support of components by their type names: the first word of each line in `components.txt`.
fn table() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("components.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let mut words = row.split_whitespace();
        let verdict = words.next().expect("a verdict");
        (words.next().expect("the name of a type"), verdict)
    })
    .collect()
}

/// Folders of the sources of bevy's crates that 2D and 3D depend on, by name.
fn bevy_crates() -> BTreeMap<String, PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--all-features",
            "--filter-platform",
            "host-tuple",
        ])
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, (String, PathBuf)> = list(&metadata["packages"])
        .iter()
        .map(|package| {
            let manifest = PathBuf::from(text(&package["manifest_path"]));
            (text(&package["id"]), (text(&package["name"]), manifest))
        })
        .collect();
    let is_normal = |dependency: &Value| {
        list(&dependency["dep_kinds"])
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    let needs: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let dependencies = list(&node["deps"]);
            let normal = dependencies
                .iter()
                .filter(|dependency| is_normal(dependency));
            (
                text(&node["id"]),
                normal.map(|dependency| text(&dependency["pkg"])).collect(),
            )
        })
        .collect();
    let roots = ["quadrille_2d", "quadrille_3d"];
    let mut open: Vec<&String> = packages
        .iter()
        .filter(|(_, (name, _))| roots.contains(&name.as_str()))
        .map(|(id, _)| id)
        .collect();
    let mut found: BTreeSet<&String> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        for next in needs.get(id).into_iter().flatten() {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    let found = found.into_iter().filter_map(|id| packages.get(id));
    found
        .filter(|(name, _)| name.starts_with("bevy_"))
        .map(|(name, manifest)| (name.clone(), manifest.with_file_name("src")))
        .collect()
}

/// Rust files below a folder, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("it is there").path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with("test") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}

/// The module path of a file: `point_light` for `src/point_light.rs`.
fn module(file: &Path, root: &Path) -> String {
    let relative = file
        .strip_prefix(root)
        .expect("it is below")
        .with_extension("");
    let parts = relative
        .iter()
        .map(|part| part.to_string_lossy().into_owned());
    let parts = parts.filter(|part| part != "mod" && part != "lib");
    parts.map(|part| format!("{part}::")).collect()
}

/// A source without the modules of its tests.
fn strip_tests(source: &str) -> String {
    const TESTS: &str = "#[cfg(test)]\nmod ";
    let mut parts = source.split(TESTS);
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, body) = part.split_once('\n').unwrap_or_default();
        let after = body.split_once("\n}\n").map_or("", |(_, after)| after);
        rest += if name.ends_with('{') { after } else { body };
    }
    rest
}

/// The public types of a source that derive or implement `Component`.
fn components_of(source: &str) -> Vec<String> {
    let source = strip_tests(source);
    let code: Vec<&str> = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let mut found = Vec::new();
    // Attributes after the previous item.
    let mut attributes = String::new();
    for line in code {
        let trimmed = line.trim_start();
        let item = ["pub struct ", "pub enum "]
            .iter()
            .find_map(|it| trimmed.strip_prefix(it));
        if let Some(item) = item {
            if derives_component(&attributes) {
                found.push(identifier(item));
            }
            attributes.clear();
        } else if trimmed.starts_with("impl") && trimmed.contains("Component for ") {
            let (before, name) = trimmed.split_once("Component for ").unwrap_or_default();
            if before.ends_with(char::is_whitespace) {
                found.push(identifier(name));
            }
        } else if trimmed.ends_with(['{', ';', '}']) && !trimmed.starts_with('#') {
            attributes.clear();
        } else {
            attributes += trimmed;
            attributes.push('\n');
        }
    }
    found
}

fn identifier(text: &str) -> String {
    let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    text.chars().take_while(is_part).collect()
}

/// Whether attributes have a `derive(..)` with the word `Component`.
fn derives_component(attributes: &str) -> bool {
    attributes.split("derive(").skip(1).any(|derive| {
        let list = derive.split(')').next().unwrap_or_default();
        list.split(',').any(|name| name.trim() == "Component")
    })
}

#[test]
fn every_bevy_component_is_in_table() {
    let crates = bevy_crates();
    for name in [
        "bevy_camera",
        "bevy_light",
        "bevy_sprite",
        "bevy_text",
        "bevy_ui",
        "bevy_gltf",
    ] {
        assert!(
            crates.contains_key(name),
            "{name} is not among {:?}",
            crates.keys()
        );
    }
    let mut found = BTreeSet::new();
    for (name, root) in &crates {
        for file in sources(root) {
            let source = std::fs::read_to_string(&file).expect("sources are text");
            let module = module(&file, root);
            let types = components_of(&source).into_iter();
            found.extend(types.map(|component| format!("{name}::{module}{component}")));
        }
    }
    let table = table();
    let known: BTreeSet<String> = table.keys().map(|&name| name.to_owned()).collect();
    let new: Vec<_> = found.difference(&known).collect();
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new: {new:#?}, gone: {gone:#?}"
    );
}

#[test]
fn ignored_components_match_warnings() {
    let table = table();
    let ignored = table.iter().filter(|(_, verdict)| **verdict == "ignored");
    let ignored: BTreeSet<&str> = ignored.map(|(name, _)| *name).collect();
    let warned: BTreeSet<&str> = IGNORED_COMPONENTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(ignored, warned);
    for (name, _) in DRAWN_COMPONENTS {
        let verdict = table.get(name).copied();
        assert!(
            matches!(verdict, Some("drawn" | "bevy")),
            "{name}: {verdict:?}"
        );
    }
}

#[test]
fn drawn_components_are_used_in_sources() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ours = ["quadrille_content", "quadrille_2d", "quadrille_3d"];
    let ours: Vec<PathBuf> = ours
        .iter()
        .flat_map(|name| sources(&crates.join(name).join("src")))
        .collect();
    let ours: String = ours
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("sources are text"))
        .collect();
    let code: Vec<&str> = ours
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: BTreeSet<&str> = code
        .iter()
        .flat_map(|line| line.split(|letter| !is_part(letter)))
        .collect();
    for (name, verdict) in table() {
        let short = name.rsplit("::").next().unwrap_or(name);
        match verdict {
            "drawn" | "warned" => assert!(words.contains(short), "{name} is drawn by nothing"),
            "ignored" | "bevy" | "none" => {}
            other => panic!("{name}: {other} is no verdict"),
        }
    }
}

/// A source without the lines and statements that use nothing: comments and imports.
fn code_of(source: &str) -> String {
    let mut in_import = false;
    let code = source.lines().filter(|line| {
        let line = line.trim_start();
        in_import |= ["use ", "pub use ", "pub(crate) use "]
            .iter()
            .any(|it| line.starts_with(it));
        let is_code = !in_import && !line.starts_with("//");
        in_import &= !line.contains(';');
        is_code
    });
    code.map(|line| format!("{line}\n")).collect()
}

/// All words of the code of some files.
fn words_of(files: &[PathBuf]) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let code = files.iter().map(|file| {
        let source = std::fs::read_to_string(file).expect("sources are text");
        code_of(&source)
    });
    let words = code.flat_map(|code| {
        let words = code.split(|letter| !is_part(letter)).map(str::to_owned);
        words.collect::<Vec<_>>()
    });
    words.collect()
}

/// Crate and component of each row of `lifecycle_exceptions.txt`.
fn exceptions() -> BTreeSet<(String, String)> {
    let lines = include_str!("lifecycle_exceptions.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let mut words = row.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (name, component) = (word(), word());
        assert!(!word().is_empty(), "{component} has no reason");
        (name, component)
    })
    .collect()
}

/// The public components of a crate of ours.
fn own_components(name: &str, root: &Path) -> Vec<String> {
    let files = sources(root).into_iter();
    files
        .flat_map(|file| {
            let source = std::fs::read_to_string(&file).expect("sources are text");
            let module = module(&file, root);
            let found = components_of(&source).into_iter();
            found
                .map(|it| format!("{name}::{module}{it}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Each crate whose sources name a drawn component has it among the parts of its random lives, or an exception.
#[test]
fn drawn_components_have_parts_in_random_lives() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let of_crate = |short: &str| {
        let root = crates.join(format!("quadrille_{short}"));
        let mut lives = sources(&root.join("tests/gpu/lifecycle"));
        lives.push(root.join("tests/gpu/lifecycle.rs"));
        let src = root.join("src");
        let own = own_components(&format!("quadrille_{short}"), &src);
        (words_of(&sources(&src)), words_of(&lives), own)
    };
    let ours = ["2d", "3d"].map(|short| (short, of_crate(short)));
    let table = table();
    let drawn = table.iter().filter(|(_, verdict)| **verdict == "drawn");
    let drawn = drawn.map(|(name, _)| (*name).to_owned());
    let own = ours.iter().flat_map(|(_, (_, _, own))| own.clone());
    let mut missing = BTreeSet::new();
    for component in drawn.chain(own) {
        let short = component.rsplit("::").next().unwrap_or_default();
        let users = ours.iter().filter(|(_, (src, ..))| src.contains(short));
        let users: Vec<_> = users.collect();
        let without = users
            .iter()
            .filter(|(_, (_, lives, _))| !lives.contains(short));
        missing.extend(without.map(|(user, _)| ((*user).to_owned(), component.clone())));
        let has_life = ours.iter().any(|(_, (_, lives, _))| lives.contains(short));
        if users.is_empty() && !has_life {
            missing.insert(("any".to_owned(), component.clone()));
        }
    }
    let known = exceptions();
    let new: Vec<_> = missing.difference(&known).collect();
    let gone: Vec<_> = known.difference(&missing).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "add a part, or a row in `lifecycle_exceptions.txt`: {new:#?}; remove rows: {gone:#?}"
    );
}
