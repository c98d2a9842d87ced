//! The machine and the checkout: folders, processes, cargo, X server.

pub(crate) mod built;
pub(crate) mod cargo;
pub(crate) mod paths;
pub(crate) mod process;
pub(crate) mod xvfb;

/// Exit code for invalid input, as opposed to a failed check.
pub(crate) const EXIT_USAGE: u8 = 2;
