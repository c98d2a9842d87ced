//! Repository rules that the compiler does not check, one file per rule.
//!
//! Each rule is a function from the tree to complaints, so it can be tested on a synthetic tree.

mod code;
mod complaint;
mod dead_files;
mod dependencies;
mod exhaustive;
mod lengths;
mod maps;
mod packages;
mod text;
mod tree;
mod voice;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::host::cargo::Workspace;
use crate::tidy::complaint::{Complaint, Findings};
use crate::tidy::tree::Tree;

/// Checks all rules; returns a summary in one line.
///
/// # Errors
/// When a rule is violated; the error lists every violation.
pub(crate) fn check() -> Result<String> {
    let tree = Tree::read()?;
    let mut findings = judge(&tree, &Workspace::read()?);
    findings.warnings.sort();
    for warning in &findings.warnings {
        println!("    warning: {warning}");
    }
    findings.errors.sort();
    match findings.errors.len() {
        0 => Ok(format!(
            "{} files, {} warnings",
            tree.len(),
            findings.warnings.len()
        )),
        1 => bail!("{}", findings.errors[0]),
        count => {
            let lines: Vec<String> = findings.errors.iter().map(Complaint::to_string).collect();
            bail!("{count} rules broken\n{}", lines.join("\n"))
        }
    }
}

/// [`check`] as a command.
///
/// # Errors
/// As [`check`].
pub(crate) fn report() -> Result<ExitCode> {
    println!("tidy: {}", check()?);
    Ok(ExitCode::SUCCESS)
}

fn judge(tree: &Tree, workspace: &Workspace) -> Findings {
    let mut findings = Findings::default();
    findings.errors.extend(dependencies::check(tree, workspace));
    findings.errors.extend(code::check(tree));
    findings.errors.extend(dead_files::check(tree, workspace));
    findings.errors.extend(text::check(tree));
    findings.errors.extend(voice::check(tree));
    findings.errors.extend(maps::check(tree, workspace));
    findings.errors.extend(packages::check(tree));
    findings.errors.extend(exhaustive::check(tree));
    lengths::check(tree, &mut findings);
    findings
}

#[cfg(test)]
mod tests;
