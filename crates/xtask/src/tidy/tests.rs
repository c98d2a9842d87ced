use std::path::PathBuf;

use super::complaint::{Complaint, Findings};
use super::lengths::functions;
use super::tree::{Tree, blank};
use super::{code, dead_files, dependencies, exhaustive, lengths, maps, packages, text, voice};
use crate::host::cargo::{Dependency, Package, Target, Workspace};
use crate::host::paths;

fn lines(complaints: &[Complaint]) -> Vec<String> {
    complaints.iter().map(Complaint::to_string).collect()
}

fn package(name: &str, dependencies: &[&str]) -> Package {
    let dependency = |name: &&str| Dependency {
        name: (*name).to_owned(),
        is_dev: false,
    };
    Package {
        name: name.to_owned(),
        targets: Vec::new(),
        dependencies: dependencies.iter().map(dependency).collect(),
    }
}

fn workspace(packages: Vec<Package>) -> Workspace {
    Workspace {
        target: PathBuf::new(),
        packages,
    }
}

#[test]
fn the_tree_is_tidy() {
    let findings = super::judge(&Tree::read().unwrap(), &Workspace::read().unwrap());
    assert!(findings.errors.is_empty(), "{:#?}", lines(&findings.errors));
}

#[test]
fn words_are_blanked_and_code_is_kept() {
    for (text, blanked) in [
        ("a // b { \"\nc", "a         \nc"),
        ("a /* x /* y */ z */ b", "a                   b"),
        (
            r#"f("a \" {", 'x', '\'', '{')"#,
            "f(        ,    ,     ,    )",
        ),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("r#\"{ \" }\"# + br\"}\" + x", "            +        + x"),
        ("for r in c {}", "for r in c {}"),
    ] {
        let out = blank(text);
        let tight = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(tight(&out), tight(blanked), "{text}");
        assert_eq!(
            out.lines().count(),
            text.lines().count(),
            "lines stay lines: {text}"
        );
    }
}

#[test]
fn published_packages_are_complete_and_closed() {
    let keys = "description = 1\nlicense = 1\nrust-version = 1\nrepository = 1\nkeywords = 1\n\
                categories = 1\nreadme = 1\n[package.metadata.docs.rs]\n";
    let source = "const A: &str = include_str!(\"../shaders/a.wgsl\");\n\
                  const B: &[u8] = include_bytes!(\n    \"../../../assets/b.ktx2\",\n);";
    let private = format!("{keys}publish.workspace = true\n");
    let short = keys.replace("keywords = 1\n", "");
    let excluding = format!("exclude = [\"cases\", \"tests/*\", \"!tests/rows\"]\n{keys}");
    let tests = "#[path = \"../tests/rows/check.rs\"]\nconst A: &str = include_str!(\"../tests/rows.txt\");";
    let tree = Tree::of(&[
        ("crates/a/Cargo.toml", &excluding),
        ("crates/a/LICENSE-APACHE", ""),
        ("crates/a/LICENSE-MIT", ""),
        ("crates/a/src/lib.rs", source),
        ("crates/a/src/tests.rs", tests),
        ("crates/b/Cargo.toml", &private),
        ("crates/b/src/lib.rs", source),
        ("crates/c/Cargo.toml", &short),
        ("crates/c/LICENSE-MIT", ""),
    ]);
    let found = lines(&packages::check(&tree));
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].starts_with("crates/a/src/lib.rs:2: `../../../assets/b.ktx2`"));
    assert!(found[1].starts_with("crates/a/src/tests.rs:2: `../tests/rows.txt`"));
    assert!(found[2].starts_with("crates/c/Cargo.toml: a published package has `keywords`"));
    assert!(found[3].starts_with("crates/c/Cargo.toml: a published package has `LICENSE-APACHE`"));
}

#[test]
fn errors_and_events_can_be_extended() {
    let source = "#[derive(Debug)]\npub enum AError {}\n\n#[non_exhaustive]\npub enum BError {}\n\n\
                  #[derive(EntityEvent, Debug)]\npub struct Done {\n    pub a: u32,\n}\n\n\
                  #[derive(\n    Event,\n    Debug,\n)]\n#[non_exhaustive]\n/// A word.\npub struct Lost;\n\
                  #[derive(Component)]\npub struct Eventful;\n";
    let tree = Tree::of(&[
        ("crates/a/Cargo.toml", "[package]\n"),
        ("crates/a/src/lib.rs", source),
        ("crates/b/Cargo.toml", "publish.workspace = true\n"),
        ("crates/b/src/lib.rs", source),
    ]);
    let found = lines(&exhaustive::check(&tree));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("crates/a/src/lib.rs:2:"));
    assert!(found[1].starts_with("crates/a/src/lib.rs:8:"));
}

#[test]
fn unsafe_code_stays_where_it_belongs() {
    let tree = Tree::of(&[
        (
            "crates/quadrille_vulkan/src/a.rs",
            "fn f() { unsafe { g() } }",
        ),
        (
            "crates/quadrille/src/a.rs",
            "// unsafe\n#![deny(unsafe_code)]\nunsafe fn g() {}",
        ),
        ("crates/quadrille_sync/src/a.rs", "use std::time::Instant;"),
    ]);
    let found = lines(&code::check(&tree));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("crates/quadrille/src/a.rs:3: unsafe"),
        "{found:?}"
    );
    assert!(found[1].contains("std::time"), "{found:?}");
}

#[test]
fn dependencies_point_one_way() {
    let packages = vec![
        package(
            "quadrille_sync",
            &["bevy_ecs", "quadrille_vulkan", "indexmap"],
        ),
        package("quadrille_vulkan", &["quadrille_sync", "ash"]),
        package("quadrille_ecs", &["quadrille_vulkan", "ash"]),
        package("quadrille", &["quadrille_ecs"]),
        package("examples", &["quadrille", "quadrille_ecs"]),
    ];
    let tree = Tree::of(&[("Cargo.lock", "name = \"wgpu-types\"\nname = \"wgpu\"\n")]);
    let found = lines(&dependencies::check(&tree, &workspace(packages)));
    let has = |path: &str, name: &str| {
        found
            .iter()
            .any(|line| line.starts_with(path) && line.contains(name))
    };
    assert!(
        has("crates/quadrille_sync", "`quadrille_vulkan`"),
        "upwards: {found:?}"
    );
    assert!(
        has("crates/quadrille_sync", "`bevy_ecs`"),
        "impure: {found:?}"
    );
    assert!(has("crates/quadrille_ecs", "`ash`"), "reserved: {found:?}");
    assert!(
        has("examples/Cargo.toml", "`quadrille_ecs`"),
        "past the facade: {found:?}"
    );
    assert!(has("Cargo.lock:2", "`wgpu`"), "forbidden: {found:?}");
    assert_eq!(found.len(), 5, "nothing else: {found:?}");
}

#[test]
fn files_that_no_module_names_are_dead() {
    let source = paths::root().join("crates/a/src/lib.rs");
    let mut a = package("a", &[]);
    a.targets.push(Target {
        name: "a".to_owned(),
        kind: "lib".to_owned(),
        source,
    });
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", "pub mod b;\n// mod dead;\n"),
        (
            "crates/a/src/b.rs",
            "mod c;\n#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n",
        ),
        ("crates/a/src/b/c.rs", ""),
        ("crates/a/src/b_tests.rs", ""),
        ("crates/a/src/dead.rs", ""),
        ("crates/a/fuzz/Cargo.toml", "[package]\n\n[workspace]\n"),
        ("crates/a/fuzz/src/bin/text.rs", "mod lost;\n"),
    ]);
    let found = lines(&dead_files::check(&tree, &workspace(vec![a])));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("crates/a/src/dead.rs"), "{found:?}");
}

#[test]
fn functions_are_measured_to_their_brace() {
    let code = blank(
        "trait T { fn no_body(&self) -> [u8; 2]; }\n\
         pub(crate) const fn a(x: [u8; 3]) -> u8 {\n    // a comment\n\n    if x { 1 } else { 2 }\n}\n\
         impl X {\n    fn b() {}\n}\n\
         let f: fn (u8) = g;\n",
    );
    let found: Vec<(String, usize, usize)> = functions(&code)
        .into_iter()
        .map(|function| (function.name, function.line, function.lines))
        .collect();
    assert_eq!(
        found,
        [("a".to_owned(), 2, 3), ("b".to_owned(), 8, 1)],
        "names, places, lengths"
    );
}

#[test]
fn long_functions_and_files_are_found() {
    let body = "    x();\n".repeat(120);
    let long = format!("fn long() {{\n{body}}}\n");
    let warned = format!("fn warned() {{\n{}}}\n", "    x();\n".repeat(80));
    let tree = Tree::of(&[
        ("a/src/a.rs", &long),
        ("a/src/b.rs", &warned),
        ("a/src/a/tests.rs", &long),
    ]);
    let mut findings = Findings::default();
    lengths::check(&tree, &mut findings);
    assert_eq!(findings.errors.len(), 1, "too long: {:?}", findings.errors);
    assert_eq!(findings.warnings.len(), 1, "long: {:?}", findings.warnings);
}

#[test]
fn forbidden_words_are_found_whole() {
    let put_off = ["TO", "DO"].concat();
    let folder = ["/wo", "rk/"].concat();
    let replaced = ["an", "ew"].concat();
    let source = format!(
        "// {put_off}: later\n// {put_off}S are fine\nlet path = \"{folder}x\";\nlet fine = \"$here{folder}x\";\n\
         // begins {replaced}\nlet begin_{replaced} = 1;\n"
    );
    let found = lines(&text::check(&Tree::of(&[("a.rs", &source)])));
    assert_eq!(found.len(), 3, "{found:?}");
    let places = ["a.rs:1:", "a.rs:3:", "a.rs:5:"];
    assert!(
        found
            .iter()
            .zip(places)
            .all(|(it, place)| it.starts_with(place)),
        "{found:?}"
    );
}

#[test]
fn openings_that_postpone_the_subject_are_found() {
    let source = [
        "//! Of no file.",
        "//!",
        "//! Whatever follows is not the subject.",
        "",
        "/// Returns one.",
        "/// What follows is no opening.",
        "///",
        "/// It is a paragraph.",
        "///",
        "/// ```",
        "/// // Those are code.",
        "/// ```",
        "///",
        "/// # Errors",
        "/// Whose fault it is.",
        "/// What follows is no opening.",
        "///",
        "/// # What is left",
        "fn a() {}",
        "let x = 1; // It counts nothing",
    ]
    .join("\n");
    let page = "# Whose page\n\nWhat stands below is text.\n\n```sh\n# What a shell ignores\n```\n";
    let tree = Tree::of(&[("a/src/a.rs", source.as_str()), ("a/README.md", page)]);
    let found = lines(&voice::check(&tree));
    let places: Vec<&str> = found
        .iter()
        .filter_map(|it| it.split(": ").next())
        .collect();
    assert_eq!(
        places,
        [
            "a/README.md:1",
            "a/src/a.rs:1",
            "a/src/a.rs:3",
            "a/src/a.rs:8",
            "a/src/a.rs:15",
            "a/src/a.rs:18"
        ]
    );
}

#[test]
fn pages_name_existing_files() {
    let tree = Tree::of(&[
        ("README.md", ""),
        ("LICENSE-MIT", ""),
        ("crates/README.md", "quadrille_sync"),
        ("examples/README.md", ""),
        ("docs/CONTRIBUTING.md", ""),
        ("docs/glossary.md", ""),
        ("docs/recipes.md", ""),
        ("docs/troubleshooting.md", ""),
    ]);
    let packages = vec![package("quadrille_sync", &[]), package("quadrille", &[])];
    let found = lines(&maps::check(&tree, &workspace(packages)));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("LICENSE-APACHE"),
        "a missing file: {found:?}"
    );
    assert!(
        found[1].contains("`quadrille`"),
        "a crate that only seems named: {found:?}"
    );
}
