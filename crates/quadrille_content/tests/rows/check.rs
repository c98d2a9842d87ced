//! Comparison of a crate's rows with the structs of its shaders.

use std::fs;
use std::path::Path;

use quadrille::rows::RowLayout;

/// Checks these rows, and that they are all for which the crate in this folder derives `ShaderRow`.
pub(crate) fn check(package: &str, rows: &[RowLayout]) {
    let package = Path::new(package);
    let derived = count_rows(&package.join("src"));
    assert_eq!(
        rows.len(),
        derived,
        "rows that are checked, and that are derived"
    );
    for row in rows {
        let (_, file) = row.shader.split_once('/').expect("a folder and a file");
        let file = package.join("shaders").join(file);
        let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        row.check(&source).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Number of structs with `#[row(…)]` in a folder.
fn count_rows(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let counts = entries.map(|entry| {
        let path = entry.expect("the entry is there").path();
        if path.is_dir() {
            return count_rows(&path);
        }
        let source = fs::read_to_string(&path).unwrap_or_default();
        let is_row = |line: &&str| line.trim_start().starts_with("#[row(");
        source.lines().filter(is_row).count()
    });
    counts.sum()
}
