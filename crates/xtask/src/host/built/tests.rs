use std::path::PathBuf;

use super::{Built, Program};

/// Returns an artifact message of cargo.
fn message(package: &str, kind: &str, name: &str, is_test: bool) -> String {
    format!(
        r#"{{"reason":"compiler-artifact","manifest_path":"/w/{package}/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":{is_test}}},"executable":"/w/target/{name}"}}"#
    )
}

#[test]
fn programs_are_those_that_cargo_names() {
    let messages = [
        message("quadrille_2d", "test", "gpu", true),
        message("quadrille_2d", "test", "names", true),
        message("quadrille_2d", "lib", "quadrille_2d", true),
        message("examples", "bin", "life", false),
        message("examples", "bin", "life", true),
        "   Compiling examples".to_owned(),
        r#"{"reason":"build-finished","success":true}"#.to_owned(),
    ];
    let built = Built::named(&messages.join("\n"));
    let gpu = Program {
        folder: PathBuf::from("/w/quadrille_2d"),
        name: "gpu".to_owned(),
        is_test: true,
        path: PathBuf::from("/w/target/gpu"),
    };
    assert_eq!(built.gpu_tests().collect::<Vec<_>>(), [&gpu]);
    assert_eq!(built.gpu_test("quadrille_2d").ok(), Some(&gpu));
    assert!(built.gpu_test("examples").is_err(), "no such test");
    let life = ("life".to_owned(), PathBuf::from("/w/target/life"));
    assert_eq!(built.examples(), [life]);
    assert_eq!(built.example("life"), Some("/w/target/life".into()));
    assert_eq!(built.example("dead"), None, "no such program");
}
