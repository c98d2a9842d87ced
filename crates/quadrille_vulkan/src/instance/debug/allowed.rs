//! Messages of the validation layer that do not count.

/// The list, with its own explanation at the top. `xtask` sees to it that entries expire.
const LIST: &str = include_str!("../../../allowed_messages.txt");

/// Whether a message is on the list.
pub(super) fn is_allowed(name: &str) -> bool {
    names(LIST).any(|allowed| allowed == name)
}

/// The names in a list: the first fields of lines that are no comments.
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
