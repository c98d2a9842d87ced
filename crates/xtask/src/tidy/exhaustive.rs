//! `#[non_exhaustive]` on errors and events of published packages, which later versions may extend.

use super::complaint::Complaint;
use super::packages::published;
use super::tree::Tree;

/// Derives of events.
const EVENTS: [&str; 3] = ["Event", "EntityEvent", "Message"];

/// Finds public error enums and public event structs that programs could match or construct exhaustively.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in published(tree) {
        let sources = format!("{package}/src/");
        for (path, text) in tree.files() {
            if path.starts_with(&sources) && path.ends_with(".rs") && !path.ends_with("tests.rs") {
                complaints.extend(exhaustive(path, text));
            }
        }
    }
    complaints
}

/// Finds such types in a source.
fn exhaustive(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut attributes = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_error = name_of(line, "pub enum ").is_some_and(|name| name.ends_with("Error"));
        let is_event = name_of(line, "pub struct ").is_some() && derives_event(&attributes);
        if (is_error || is_event) && !attributes.contains("#[non_exhaustive]") {
            let what = "errors and events of a published package are `#[non_exhaustive]`";
            complaints.push(Complaint::new(path, number, what.to_owned()));
        }
        // Attributes of several lines end with a separate line.
        let is_attribute =
            line.starts_with('#') || line.starts_with("    ") || line.starts_with(')');
        if is_attribute {
            attributes.push_str(line);
        } else if !line.starts_with("///") {
            attributes.clear();
        }
    }
    complaints
}

/// Returns the name of the item that begins on a line.
fn name_of<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(start)?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

/// Whether one of the derives is for an event.
fn derives_event(attributes: &str) -> bool {
    let lists = attributes.split("#[derive(").skip(1);
    let mut names = lists.flat_map(|list| list.split(')').next().unwrap_or_default().split(','));
    names.any(|name| EVENTS.contains(&name.trim()))
}
