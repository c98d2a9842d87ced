//! The files of the checkout known to git, and Rust code without comments and literals.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::host::paths;

/// All text files that are or would be tracked, by path from the root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the names from git, and then the files.
    ///
    /// # Errors
    /// When this is not a git checkout.
    pub(super) fn read() -> Result<Self> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(paths::root())
            .output()
            .context("cannot start git")?;
        if !output.status.success() {
            bail!(
                "git ls-files failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        // Images and fonts are not text; a tracked file may have been deleted.
        let files = names.split_terminator('\0').filter_map(|name| {
            let text = std::fs::read_to_string(paths::root().join(name)).ok()?;
            Some((name.to_owned(), text))
        });
        Ok(Self {
            files: files.collect(),
        })
    }

    /// Creates a synthetic tree for tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self {
            files: files.iter().map(own).collect(),
        }
    }

    /// Number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the text of a file.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Iterates over all files.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Iterates over the Rust files, with comments and literals blanked.
    pub(super) fn code(&self) -> impl Iterator<Item = (&str, String)> {
        self.files()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| (path, blank(text)))
    }
}

/// Whether a file contains only tests.
pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

/// Replaces comments and contents of literals by blanks, keeping line numbers, so that the remaining words and braces
/// are code.
pub(super) fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let hidden = hidden_bytes(rest, out.chars().next_back());
        if hidden > 0 {
            out.extend(
                rest[..hidden]
                    .chars()
                    .map(|c| if c == '\n' { '\n' } else { ' ' }),
            );
            rest = &rest[hidden..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Returns the number of bytes of a comment or literal at the start of `rest`.
fn hidden_bytes(rest: &str, before: Option<char>) -> usize {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment_bytes(rest)
    } else if rest.starts_with('"') {
        quoted_bytes(rest, '"')
    } else if rest.starts_with('\'') {
        char_bytes(rest)
    } else if in_word {
        0
    } else {
        raw_string_bytes(rest)
    }
}

fn block_comment_bytes(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let step = if rest[at..].starts_with("/*") {
            depth += 1;
            2
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the number of bytes from an opening quote through the closing one.
fn quoted_bytes(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the number of bytes of a character literal; 0 for a lifetime.
fn char_bytes(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted_bytes(rest, '\''),
        _ => 0,
    }
}

/// Returns the number of bytes of a raw string: `r"..."`, `r#"..."#`, and those with `b` and `c`.
fn raw_string_bytes(rest: &str) -> usize {
    let word = rest.len() - rest.trim_start_matches(['b', 'c']).len();
    let Some(after) = rest
        .get(word..)
        .and_then(|rest| rest.strip_prefix('r'))
        .filter(|_| word <= 1)
    else {
        return 0;
    };
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let inside = word + 1 + hashes + 1;
    rest[inside..]
        .find(&end)
        .map_or(rest.len(), |at| inside + at + end.len())
}
