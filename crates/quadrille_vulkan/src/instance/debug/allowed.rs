//! Messages of the validation layer that are not counted.

/// The list, documented at its top. `xtask` checks that entries expire.
const LIST: &str = include_str!("../../../allowed_messages.txt");

/// Whether a message is on the list.
pub(super) fn is_allowed(name: &str) -> bool {
    names(LIST).any(|allowed| allowed == name)
}

/// Returns the names in a list: the first field of each line that is not a comment.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let entries = list
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    entries
        .filter_map(|line| line.split('|').next())
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
#[path = "allowed_tests.rs"]
mod tests;
