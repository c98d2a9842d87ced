//! Input that the layer refuses.

use std::fmt;

/// Why a setting is refused: one line that names the token and what is allowed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    place: String,
    token: String,
    allowed: String,
}

impl Refusal {
    /// The `token` stands where `allowed` should.
    pub(crate) fn of(token: &str, allowed: &str) -> Self {
        Self {
            place: String::new(),
            token: token.to_owned(),
            allowed: allowed.to_owned(),
        }
    }

    /// Adds where the token was found: a variable, or a file and a line.
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = format!("{place}: ");
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}`{}` is not allowed here; expected {}",
            self.place, self.token, self.allowed
        )
    }
}
