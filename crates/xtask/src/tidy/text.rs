//! Words that must not occur in any file.

use super::code::has_word;
use super::complaint::Complaint;
use super::tree::Tree;

/// Markers of postponed work. Describe it in an issue, or do it.
const PUT_OFF: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// Words that `docs/glossary.md` replaces.
const REPLACED: [&str; 3] = [
    concat!("an", "ew"),
    concat!("var", "nish"),
    concat!("who", "ever"),
];

/// Folders that exist only on one machine.
const MACHINE: [&str; 4] = ["/work/", "/tmp/", "/root/", "/home/"];

/// Hosts of package registries, whose use would bypass a configured mirror.
const HOSTS: [&str; 9] = [
    "deb.debian.org",
    "security.debian.org",
    "snapshot.debian.org",
    "archive.ubuntu.com",
    "static.crates.io",
    "index.crates.io",
    "registry.npmjs.org",
    "pypi.org",
    "proxy.golang.org",
];

/// Exempt files: this one, which lists the forbidden words, and the lock file, which cargo writes.
const EXEMPT: [&str; 2] = ["crates/xtask/src/tidy/text.rs", "Cargo.lock"];

/// Finds forbidden words.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| !EXEMPT.contains(path)) {
        for (line, words) in (1..).zip(text.lines()) {
            let mut refused = PUT_OFF.iter().chain(&REPLACED);
            let refused = refused.find(|word| has_word(words, word));
            let host = || HOSTS.iter().find(|host| words.contains(**host));
            let folder = || MACHINE.iter().find(|folder| has_absolute(words, folder));
            let found = refused.or_else(host).or_else(folder);
            if let Some(word) = found {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("`{word}` must not stand here"),
                ));
            }
        }
    }
    complaints
}

/// Whether a line has a path that begins with a folder, not one that merely contains it.
fn has_absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '*' | '/'))
    })
}
