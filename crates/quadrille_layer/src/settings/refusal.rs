//! Errors of settings.

use std::fmt;

/// Error of an invalid setting: one line that names the token and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    location: String,
    token: String,
    allowed: String,
}

impl Refusal {
    /// Creates the error of a `token` in place of `allowed`.
    pub(crate) fn of(token: &str, allowed: &str) -> Self {
        Self {
            location: String::new(),
            token: token.to_owned(),
            allowed: allowed.to_owned(),
        }
    }

    /// Adds the location of the token: a variable, or a file and a line.
    pub(crate) fn at(mut self, location: impl fmt::Display) -> Self {
        self.location = format!("{location}: ");
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}`{}` is not allowed here; expected {}",
            self.location, self.token, self.allowed
        )
    }
}
