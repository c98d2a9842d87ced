use std::path::{Path, PathBuf};

use super::*;

fn program(name: &str) -> Program {
    Program {
        name: name.to_owned(),
        path: PathBuf::from(format!("/bevy/examples/3d/{name}.rs")),
        arguments: Vec::new(),
    }
}

#[test]
fn programs_are_modules_of_one() {
    let opened =
        opened("//! Fog.\nuse bevy::prelude::*;\nuse crate\u{3a}:radio::main;\n\nfn main() {\n}\n");
    assert!(opened.contains("\npub fn main() {"), "{opened}");
    assert!(opened.contains("\nuse self::radio::main;"), "{opened}");
    let root = root(
        &[program("3d_scene"), program("fog")],
        Path::new("/bevy/examples"),
    );
    assert!(
        root.contains("\"../examples/3d/fog.rs\"]\nmod program_1;"),
        "{root}"
    );
    assert!(
        root.contains("\"3d_scene\" => { let _ = program_0::main(); }"),
        "{root}"
    );
}

#[test]
fn runs_of_one_program_share_its_module() {
    let run = |name: &str| Program {
        name: name.to_owned(),
        path: PathBuf::from("/made/view.rs"),
        arguments: vec![name.to_owned()],
    };
    let root = root(
        &[run("a"), program("fog"), run("b")],
        Path::new("/bevy/examples"),
    );
    assert_eq!(root.matches("\"/made/view.rs\"").count(), 1, "{root}");
    for line in [
        "\"a\" => { let _ = program_0::main(); }",
        "\"b\" => { let _ = program_0::main(); }",
    ] {
        assert!(root.contains(line), "{root}");
    }
}

#[test]
fn an_error_belongs_to_the_program_whose_file_it_names() {
    let error = |level: &str, file: &str| {
        format!(
            r#"{{"reason":"compiler-message","message":{{"level":"{level}","message":"no `Fog`","spans":[{{"file_name":"{file}"}}]}}}}"#
        )
    };
    let messages = [
        error("warning", "programs/src/../examples/3d/3d_scene.rs"),
        error("error", "programs/src/../examples/3d/fog.rs"),
        error("error", "bevy/src/lib.rs"),
    ];
    let found = failures(&messages.join("\n"), &[program("3d_scene"), program("fog")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found["fog"], "no `Fog`");
}

#[test]
fn seeds_are_fixed() {
    let source = "let a: ChaCha8Rng = rand::make_rng();\nrand::rng().random_bool(0.5);";
    let text = seeded(source);
    assert_eq!(text.matches("seed_from_u64(1)").count(), 2, "{text}");
    assert!(!text.contains("rng()"), "{text}");
}
