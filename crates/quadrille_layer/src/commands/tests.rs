//! Tests of the table against the Vulkan registry in ash.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use super::lookup::{all, find, injectable};
use super::table::{HIDDEN, QUERIES, Reason, is_hidden};

/// The Vulkan registry, parsed from ash's sources.
struct Registry {
    /// Structures, with the text of their fields.
    structures: BTreeMap<String, String>,
    /// Structures with the structures that they may extend.
    extensions: Vec<(String, String)>,
    /// Commands, with the text of arguments and result.
    commands: BTreeMap<String, String>,
}

fn ash_sources() -> PathBuf {
    let output = Process::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        // Packages of other platforms may not be available offline.
        .args(["--filter-platform", &host_triple(), "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ash = packages
        .iter()
        .find(|package| package["name"] == "ash")
        .unwrap();
    let manifest = PathBuf::from(ash["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().join("src/vk")
}

fn host_triple() -> String {
    let output = Process::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.unwrap().to_owned()
}

/// Returns the parts of `text` between each `begin` and `end`.
fn parts<'a>(text: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(begin)
        .skip(1)
        .filter_map(move |rest| Some(rest.split_once(end)?.0))
}

fn identifier(text: &str) -> String {
    text.chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect()
}

impl Registry {
    fn read() -> Self {
        let folder = ash_sources();
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let definitions = read("definitions.rs");
        let structures = parts(&definitions, "\npub struct ", "\n}");
        let structures = structures
            .map(|body| (identifier(body), body.to_owned()))
            .collect();
        let extensions = parts(&definitions, "\nunsafe impl Extends", "{").map(|text| {
            let by = text
                .split_once(" for")
                .map(|(_, by)| identifier(by.trim_start()))
                .unwrap();
            (identifier(text), by)
        });
        let extensions = extensions.collect();
        let functions = [read("features.rs"), read("extensions.rs")].concat();
        let commands = parts(&functions, "pub type PFN_", ";");
        let commands = commands
            .map(|text| (identifier(text), text.to_owned()))
            .collect();
        Self {
            structures,
            extensions,
            commands,
        }
    }

    /// Structures that contain a queue or a family index, directly, through pointers, or in their chain.
    fn carriers(&self) -> BTreeSet<String> {
        let fields = ["queue_family_ind", "queue_families"];
        let mut carriers: BTreeSet<String> = self
            .structures
            .iter()
            .filter(|(_, body)| fields.iter().any(|field| body.contains(field)) || has_queue(body))
            .map(|(name, _)| name.clone())
            .collect();
        loop {
            let holders = self
                .structures
                .iter()
                .filter(|(_, body)| mentions(body, &carriers));
            let holders = holders.map(|(name, _)| name.clone());
            let extended = self
                .extensions
                .iter()
                .filter(|(_, by)| carriers.contains(by));
            let extended = extended.map(|(extended, _)| extended.clone());
            let more: BTreeSet<_> = holders.chain(extended).collect();
            if more.is_subset(&carriers) {
                return carriers;
            }
            carriers.extend(more);
        }
    }
}

/// Whether a text names the type `Queue`.
fn has_queue(text: &str) -> bool {
    words(text).any(|word| word == "Queue")
}

fn mentions(text: &str, names: &BTreeSet<String>) -> bool {
    words(text).skip(1).any(|word| names.contains(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

#[test]
fn every_command_with_a_queue_or_a_family_is_in_the_table() {
    let registry = Registry::read();
    let carriers = registry.carriers();
    for expected in [
        "DeviceCreateInfo",
        "DependencyInfo",
        "ImageCreateInfo",
        "BufferCreateInfo",
    ] {
        assert!(
            carriers.contains(expected),
            "the reading of ash's sources misses {expected}"
        );
    }
    let concerned = registry.commands.iter().filter(|(_, text)| {
        text.contains("queue_family_ind") || has_queue(text) || mentions(text, &carriers)
    });
    let concerned: Vec<_> = concerned.map(|(name, _)| name.as_str()).collect();
    assert!(
        concerned.len() > 40,
        "the reading of ash's sources finds too few: {concerned:?}"
    );
    let missing: Vec<_> = concerned
        .into_iter()
        .filter(|name| {
            let name = std::ffi::CString::new(*name).unwrap();
            find(&name).is_none() && !is_hidden(&name) && !QUERIES.contains(&name.as_c_str())
        })
        .collect();
    assert_eq!(
        missing, [""; 0],
        "these take a queue or a family and are not intercepted"
    );
}

#[test]
fn every_entry_is_a_command_and_says_rightly_whether_it_has_a_result() {
    let registry = Registry::read();
    for command in all() {
        let name = command.names[0].to_str().unwrap();
        let text = registry.commands.get(name).or_else(|| {
            // Promoted after the Vulkan version of ash.
            registry
                .commands
                .get(command.names.last().unwrap().to_str().unwrap())
        });
        let text = text.unwrap_or_else(|| panic!("{name} is not a Vulkan command"));
        let result = text
            .split_once("->")
            .is_some_and(|(_, result)| result.trim() == "Result");
        assert_eq!(command.returns_result, result, "{name}");
        let family = command.reason == Reason::Family || command.reason == Reason::Queue;
        assert!(
            !family || !is_hidden(command.names[0]),
            "{name} cannot be hidden too"
        );
    }
    for other in HIDDEN.iter().chain(&QUERIES) {
        assert!(find(other).is_none(), "{other:?} is intercepted");
    }
}

#[test]
fn names_are_unique_and_aliases_count_as_one() {
    let names: Vec<_> = all().flat_map(|command| command.names).collect();
    assert_eq!(
        names.iter().collect::<BTreeSet<_>>().len(),
        names.len(),
        "no name twice"
    );
    assert_eq!(
        injectable("vkQueueSubmit2KHR"),
        Some("vkQueueSubmit2"),
        "an alias"
    );
    assert_eq!(
        injectable("vkCmdPipelineBarrier2"),
        None,
        "no result to change"
    );
    assert_eq!(injectable("vkFly"), None, "not a command");
}
