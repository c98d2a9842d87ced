//! Pages for readers, which must list all crates and examples.

use super::complaint::Complaint;
use super::tree::Tree;
use crate::host::cargo::Workspace;

/// Required files, such as licences and entry pages.
const NEEDED: [&str; 9] = [
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "crates/README.md",
    "examples/README.md",
    "docs/CONTRIBUTING.md",
    "docs/glossary.md",
    "docs/recipes.md",
    "docs/troubleshooting.md",
];

/// Finds missing pages, crates that the code map does not list, and examples that no table lists.
pub(super) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Complaint> {
    let mut complaints: Vec<Complaint> = NEEDED
        .into_iter()
        .filter(|path| tree.get(path).is_none())
        .map(|path| Complaint::new(path, 0, "this file must exist"))
        .collect();
    let mut demand = |page: &str, word: &str, what: &str| {
        if tree
            .get(page)
            .is_some_and(|text| !super::code::has_word(text, word))
        {
            complaints.push(Complaint::new(
                page,
                0,
                format!("does not name the {what} `{word}`"),
            ));
        }
    };
    for package in workspace
        .packages
        .iter()
        .filter(|package| package.name != "examples")
    {
        demand("crates/README.md", &package.name, "crate");
    }
    for example in workspace.examples() {
        demand("examples/README.md", example, "example");
        demand("README.md", example, "example");
    }
    complaints
}
