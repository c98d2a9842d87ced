//! Maximum lengths of files and functions, in lines of code: without comments, blank lines and tests.

use super::complaint::{Complaint, Findings};
use super::tree::{Tree, is_test};

/// Length of a file that is a warning.
const FILE_WARNING: usize = 500;
const FUNCTION_WARNING: usize = 70;
/// Length of a file that is an error.
const FILE_LIMIT: usize = 800;
const FUNCTION_LIMIT: usize = 100;

/// Finds files and functions that are too long.
pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for (path, code) in tree.code().filter(|(path, _)| !is_test(path)) {
        let lines = count(code.lines());
        if lines > FILE_WARNING {
            let what =
                format!("{lines} lines of code; aim under {FILE_WARNING}, at most {FILE_LIMIT}");
            findings.add(lines > FILE_LIMIT, Complaint::new(path, 0, what));
        }
        for function in functions(&code) {
            if function.lines > FUNCTION_WARNING {
                let what = format!(
                    "function `{}` has {} lines of code; aim under {FUNCTION_WARNING}, at most {FUNCTION_LIMIT}",
                    function.name, function.lines
                );
                findings.add(
                    function.lines > FUNCTION_LIMIT,
                    Complaint::new(path, function.line, what),
                );
            }
        }
    }
}

impl Findings {
    fn add(&mut self, is_error: bool, complaint: Complaint) {
        let list = if is_error {
            &mut self.errors
        } else {
            &mut self.warnings
        };
        list.push(complaint);
    }
}

fn count<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines.filter(|line| !line.trim().is_empty()).count()
}

/// A function, with the length of its body including first and last line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// Line of its beginning, from 1.
    pub(super) line: usize,
    pub(super) lines: usize,
}

/// Returns the functions of a file with blanked comments and literals. A nested function also counts for the outer one.
pub(super) fn functions(code: &str) -> Vec<Function> {
    let lines: Vec<&str> = code.lines().collect();
    (0..lines.len())
        .filter_map(|start| {
            let name = function_name(lines[start])?;
            let end = body_end(&lines[start..])?;
            Some(Function {
                name: name.to_owned(),
                line: start + 1,
                lines: count(lines[start..=start + end].iter().copied()),
            })
        })
        .collect()
}

/// Returns the name after a `fn` that begins an item on this line.
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (before, after) = match line.strip_prefix("fn ") {
        Some(after) => ("", after),
        None => line.split_once(" fn ")?,
    };
    let is_item = before.split_whitespace().all(|word| {
        word.starts_with("pub")
            || matches!(
                word,
                "const" | "async" | "unsafe" | "extern" | "in" | "crate"
            )
            || word.ends_with(')')
    });
    let name = after.split(['(', '<']).next()?;
    (is_item && !name.is_empty()).then_some(name)
}

/// Returns the line, from 0, on which the braces of the body close; `None` without a body.
fn body_end(lines: &[&str]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut brackets = 0_usize;
    for (index, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets = brackets.saturating_sub(1),
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(index);
                    }
                }
                // A declaration in a trait or of a foreign function.
                ';' if depth == 0 && brackets == 0 => return None,
                _ => {}
            }
        }
    }
    None
}
