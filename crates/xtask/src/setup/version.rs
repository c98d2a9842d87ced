//! Versions of the validation layer.

use std::fmt;

/// A version of three numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl Version {
    /// Parses a version such as `1.4.309`; `None` for other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        Some(Self([numbers.next()??, numbers.next()??, numbers.next()??]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}
