//! Checks that the folders of a crate are in an order: each knows those before it, and none after it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Checks that a file declares these modules and no others, and that none of them imports a later
/// one. `path` is that of the file's module, such as `crate`; a module's files are the one that has
/// its name and those in the folder that has its name.
pub(crate) fn check(file: &Path, path: &str, order: &[&str]) {
    let text = fs::read_to_string(file).unwrap();
    let mut modules: Vec<&str> = text.lines().filter_map(module).collect();
    let mut expected = order.to_vec();
    modules.sort_unstable();
    expected.sort_unstable();
    assert_eq!(modules, expected, "the modules of {}", file.display());
    let folder = match file.file_stem() {
        Some(stem) if stem != "lib" && stem != "main" => file.with_file_name(stem),
        _ => file.with_file_name(""),
    };
    for (at, module) in order.iter().enumerate() {
        let code = code(&folder, module);
        let imported = imports(&code, path);
        for later in &order[at + 1..] {
            assert!(!imported.contains(later), "{module} imports {later}");
        }
    }
}

/// The modules of `path` that code names, as `path::one` or in a list, `path::{one, two::Item}`.
fn imports<'a>(code: &'a str, path: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for rest in code.split(&format!("{path}::")).skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(identifier(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, letter) in list.char_indices() {
            match letter {
                '{' => depth += 1,
                ',' if depth == 0 => {
                    found.insert(identifier(&list[start..at]));
                    start = at + 1;
                }
                '}' if depth == 0 => {
                    found.insert(identifier(&list[start..at]));
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    found
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The module that a line declares, if it does and it is not of tests.
fn module(line: &str) -> Option<&str> {
    let visible = ["pub(crate) ", "pub "].iter();
    let line = visible.fold(line, |line, it| line.strip_prefix(it).unwrap_or(line));
    let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
    (name != "tests").then_some(name)
}

/// Tests may look at what a frame does with their module.
fn is_of_tests(path: &Path) -> bool {
    let stem = path.file_stem().unwrap().to_string_lossy();
    stem == "tests" || stem.ends_with("_tests")
}

/// The lines of a module's files that are no comments.
fn code(folder: &Path, module: &str) -> String {
    let mut code = String::new();
    let mut add = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        for line in text.lines().filter(is_code) {
            code += line;
            code.push('\n');
        }
    };
    add(&folder.join(format!("{module}.rs")));
    let mut folders = vec![folder.join(module)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !is_of_tests(&path) {
                add(&path);
            }
        }
    }
    code
}
