//! First words of comments, docs and headings, by the rule in `docs/glossary.md`.

use super::complaint::Complaint;
use super::tree::Tree;

/// Refused first words, which postpone the subject of the sentence; also with `ever` appended.
const REFUSED: [&str; 20] = [
    "What",
    "Which",
    "Who",
    "Whose",
    "Whom",
    "Of",
    "Those",
    "It",
    "They",
    "He",
    "This is",
    "These",
    "That",
    "By what",
    "With what",
    "For what",
    "In which",
    "By which",
    "With which",
    "To which",
];

/// Exceptions, by path and first words.
const ALLOWED: [(&str, &str); 0] = [];

/// Finds paragraphs of comments, and headings of pages, that open with a refused word.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.files() {
        let openings = match path.rsplit_once('.') {
            Some((_, "rs" | "wgsl")) => comment_openings(text),
            Some((_, "md")) => headings(text),
            _ => continue,
        };
        for (line, opening) in openings {
            let is_allowed = ALLOWED
                .iter()
                .any(|(file, start)| *file == path && opening.starts_with(start));
            if let (Some(word), false) = (refused(opening), is_allowed) {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("opens with `{word}`; begin with a noun phrase or a verb in the third person"),
                ));
            }
        }
    }
    complaints
}

/// Returns the refused word that a text opens with.
fn refused(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(['-', '*', ' ']);
    REFUSED.into_iter().find(|word| {
        text.strip_prefix(word).is_some_and(|rest| {
            let rest = rest.strip_prefix("ever").unwrap_or(rest);
            !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    })
}

/// Returns the first line of each paragraph and heading in comments, with line numbers from 1. A paragraph begins after
/// a blank line or a heading. Fenced code in docs is skipped.
fn comment_openings(text: &str) -> Vec<(usize, &str)> {
    let mut openings = Vec::new();
    let (mut is_paragraph, mut is_fenced) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            (is_paragraph, is_fenced) = (false, false);
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim();
        if comment.starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !is_paragraph && !comment.is_empty() {
            openings.push((number, comment.trim_start_matches('#').trim_start()));
        }
        is_paragraph = !comment.is_empty() && !comment.starts_with("# ") && !is_fenced;
    }
    openings
}

/// Returns the headings of a page, with line numbers from 1. Fenced code is skipped.
fn headings(text: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| {
        is_fenced ^= line.starts_with("```");
        !is_fenced && line.starts_with('#')
    });
    lines
        .map(|(number, line)| (number, line.trim_start_matches('#').trim()))
        .collect()
}
