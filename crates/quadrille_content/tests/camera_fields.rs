//! Names of tests in the table of camera fields, checked against the sources of the workspace.

/// Rows of the table: field, state, tests.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let table = include_str!("camera_fields.txt");
    let rows = table
        .lines()
        .filter(|row| !row.is_empty() && !row.starts_with('#'));
    rows.map(|row| {
        let mut words = row.split_whitespace();
        let field = words.next().expect("a field");
        (field, words.next().expect("a state"), words.collect())
    })
}

/// All source text below a folder of the workspace's crates.
fn sources(folder: &std::path::Path) -> String {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let text = |path: std::path::PathBuf| match path.extension() {
        Some(ending) if ending == "rs" => std::fs::read_to_string(path).expect("it is text"),
        None if path.is_dir() => sources(&path),
        _ => String::new(),
    };
    paths.map(text).collect()
}

#[test]
fn camera_fields_table_names_existing_tests() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |folder: &str| sources(&crates.join(folder));
    let known = [
        ("2d", read("quadrille_2d/tests")),
        ("3d", read("quadrille_3d/tests")),
        ("content", read("quadrille_content/src")),
    ];
    for (field, state, words) in rows() {
        assert_eq!(state == "done", !words.is_empty(), "{field}");
        assert!(["done", "warned"].contains(&state), "{field}: {state}");
        let mut text = None;
        for word in words {
            match known.iter().find(|(name, _)| *name == word) {
                Some((_, found)) => text = Some(found),
                None => {
                    let text = text.unwrap_or_else(|| panic!("{field}: name a crate"));
                    assert!(
                        text.contains(&format!("fn {word}()")),
                        "{field}: no test {word}"
                    );
                }
            }
        }
    }
}
