//! All programs as modules of one executable: it is linked once, where each program alone would be linked with all of
//! bevy.
//!
//! The name by which the executable is called (`argv[0]`) selects the program, so that each keeps its arguments.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::programs::Program;

/// The line that begins `main`.
const MAIN: &str = "\nfn main(";

/// Returns the source of a program with a public `main`, and with paths from its own module in the place of those from the
/// crate's root, which it was. (An escape keeps the path out of the imports of this file.)
pub(super) fn opened(source: &str) -> String {
    source
        .replacen(MAIN, "\npub fn main(", 1)
        .replace("\nuse crate\u{3a}:", "\nuse self::")
}

/// Calls that seed random numbers from the system, with replacements by a fixed seed: two runs then produce the same
/// image.
const SEEDED: [(&str, &str); 3] = [
    (
        "rand::rng()",
        "<rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(1)",
    ),
    ("rand::make_rng()", "rand::SeedableRng::seed_from_u64(1)"),
    // `rand::rng`, imported.
    (
        "= rng();",
        "= <rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(1);",
    ),
];

/// Returns the source of a program with fixed random seeds.
pub(super) fn seeded(source: &str) -> String {
    SEEDED
        .iter()
        .fold(source.to_owned(), |text, (call, seeded)| {
            text.replace(call, seeded)
        })
}

/// Returns the root file of the executable. The files of the programs are in `examples`, next to the folder of this
/// file.
pub(super) fn root(programs: &[Program], examples: &Path) -> String {
    let mut text = String::from(
        "//! Written by `cargo xtask bevy-examples`: programs of bevy, each a module.\n\
         #![allow(warnings)]\n\n",
    );
    // One program may have several runs with different arguments.
    let mut files: Vec<&Path> = Vec::new();
    for program in programs {
        if files.contains(&&*program.path) {
            continue;
        }
        let index = files.len();
        files.push(&program.path);
        let path = match program.path.strip_prefix(examples) {
            Ok(inside) => Path::new("../examples").join(inside),
            Err(_) => program.path.clone(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "#[path = {:?}]\nmod program_{index};",
            path.to_string_lossy()
        );
    }
    text.push_str(
        "\nfn main() {\n    let called = std::env::args().next().unwrap_or_default();\n    \
         let name = called.rsplit('/').next().unwrap_or_default();\n    match name {\n",
    );
    for program in programs {
        let name = &program.name;
        let index = files.iter().position(|file| *file == program.path);
        let index = index.unwrap_or_default();
        let _ = writeln!(
            text,
            "        {name:?} => {{ let _ = program_{index}::main(); }}"
        );
    }
    text.push_str("        _ => panic!(\"there is no program {name}\"),\n    }\n}\n");
    text
}

/// Returns the programs with compile errors in cargo's messages, each with its first error.
pub(super) fn failures(messages: &str, programs: &[Program]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for message in messages {
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default();
        for span in message["spans"].as_array().into_iter().flatten() {
            let file = Path::new(span["file_name"].as_str().unwrap_or_default());
            let program = programs
                .iter()
                .find(|program| file.file_name() == program.path.file_name());
            if let Some(program) = program {
                let name = program.name.clone();
                found.entry(name).or_insert_with(|| text.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
