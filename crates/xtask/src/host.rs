//! The machine and the checkout: folders, processes, cargo, an X server.

pub(crate) mod built;
pub(crate) mod cargo;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod xvfb;

/// The exit code for bad input of the user, as opposed to work that failed.
pub(crate) const EXIT_USAGE: u8 = 2;
