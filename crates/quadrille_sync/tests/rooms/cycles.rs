//! Checks that the files of a crate import each other in no cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The files that each file imports, by module path; `""` is the crate's root.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Checks the files below a folder `src`, but for those of tests.
pub(crate) fn check(src: &Path) {
    let mut files = BTreeMap::new();
    read(src, "", &mut files);
    let modules: BTreeSet<String> = files.keys().cloned().collect();
    let imported = |(module, code): (&String, &String)| {
        let mut found = BTreeSet::new();
        for path in paths(code) {
            found.extend(resolve(module, &path, &modules));
        }
        found.remove(module);
        (module.clone(), found)
    };
    let mut graph: Graph = files.iter().map(imported).collect();
    assert!(graph.len() > 10, "only {} files", graph.len());
    // Files that import none of the rest are taken away, until those of cycles are left.
    loop {
        let rest: BTreeSet<String> = graph.keys().cloned().collect();
        graph.retain(|_, imported| !imported.is_disjoint(&rest));
        if graph.len() == rest.len() {
            break;
        }
    }
    assert_eq!(graph, Graph::new(), "files on the way to a cycle");
}

/// Reads the code of each module below a folder.
fn read(folder: &Path, parent: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        let module = match (parent, stem.as_str()) {
            ("", "lib" | "main") => String::new(),
            ("", stem) => stem.to_owned(),
            (parent, stem) => format!("{parent}::{stem}"),
        };
        if path.is_dir() {
            read(&path, &module, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap());
            files.insert(module, code.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The paths in code, `a::{b, c::d}` as `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut found, mut prefixes) = (Vec::new(), Vec::new());
    let (mut path, mut rest) = (String::new(), code);
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        if end > 0 {
            if !path.ends_with("::") {
                path = prefixes
                    .iter()
                    .rev()
                    .find(|it: &&String| !it.is_empty())
                    .cloned()
                    .unwrap_or_default();
            }
            path += &rest[..end];
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix("::") {
            path += "::";
            rest = after;
        } else {
            match letter {
                '{' if path.ends_with("::") => prefixes.push(path.clone()),
                '{' => prefixes.push(String::new()),
                '}' => drop(prefixes.pop()),
                _ => {}
            }
            found.push(std::mem::take(&mut path));
            rest = &rest[letter.len_utf8()..];
        }
    }
    found.retain(|path| path.contains("::"));
    found
}

/// The module that a path in a module leads into, if it is one of the crate.
fn resolve(module: &str, path: &str, modules: &BTreeSet<String>) -> Option<String> {
    let mut at: Vec<&str> = module.split("::").filter(|it| !it.is_empty()).collect();
    let mut parts = path.split("::").peekable();
    match *parts.peek()? {
        "crate" => at.clear(),
        "self" | "super" => {}
        child => {
            let own = [&at[..], &[child]].concat().join("::");
            modules.contains(&own).then_some(())?;
        }
    }
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            part => at.push(part),
        }
    }
    while !modules.contains(&at.join("::")) {
        at.pop()?;
    }
    Some(at.join("::"))
}
